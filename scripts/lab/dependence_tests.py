#!/usr/bin/env python
"""Level, power and time of the tests of dependence, beside causal-learn's and hyppo's.

    scripts/lab/dependence_tests.py                  # all rows, 1000 runs: some hours
    scripts/lab/dependence_tests.py kci --runs 200   # one of them, less precisely
    scripts/lab/dependence_tests.py kci --no-peers

Shares of p-values up to .05 over the runs (standard error .007 at a level of .05 and 1000 runs),
with milliseconds of a test on one thread. Peers are measured where they are installed, on the same
samples; what takes long, causal-learn's Gaussian process and hyppo, in some of the runs.

kci     m = 200, Z of 1 and of 3 columns. ``linear``, ``post``, ``post-even`` fixed the constants of
        the test (alphas, widths, signs); ``sine``, ``cubic-t``, ``scale`` confirm them. Level, and
        power where a part of X's own noise goes into Y.
hsic    level of the default and of "gamma" with normal samples, ties and heavy tails, m = 100
large   100,000 samples: level of "low-rank", and its power by the number of centers
dhsic   level, and power against dependence of three variables of which no two are dependent
mmd     level, and power against another spread, 100 and 150 values
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from _studies import options, threads

import alignlearn as al

M = 200


def _noises(rng, m, share):
    """Two noises; ``share`` of the first goes into the second."""
    first, second = rng.normal(size=(2, m))
    return first, second + share * first


def conditional(name, columns, share, rng, m=M):
    """X, Y and Z of a design, X and Y independent given Z where ``share`` is 0."""
    Z = rng.normal(size=(m, columns))
    u = Z.sum(axis=1) / np.sqrt(columns)
    e, f = _noises(rng, m, share)
    if name == "linear":
        x, y = u + e, u + f
    elif name == "post":
        x, y = np.tanh(u + e) + 0.3 * np.tanh(u + e) ** 3, (u + 0.5 * f) ** 3
    elif name == "post-even":
        x, y = np.tanh(u**2 / 1.5 + 0.5 * e), np.cos(u + 0.5 * f)
    elif name == "sine":
        x, y = np.sin(1.5 * u) + 0.5 * e, np.exp(0.5 * (np.cos(u) + 0.5 * f))
    elif name == "cubic-t":
        x, y = u + u**3 / 6.0 + rng.standard_t(3, m), np.tanh(u) + f
        x = x + share * f
    else:  # the spread depends on Z, too
        x, y = u + (0.5 + np.abs(Z[:, 0])) * e, u**2 + (0.5 + np.abs(Z[:, 0])) * f
    return x[:, None], y[:, None], Z


DESIGNS = ("linear", "post", "post-even", "sine", "cubic-t", "scale")


def measured(draw, tests, runs, seed=0):
    """Print a line for each test: the share of p-values up to .05, milliseconds.

    ``tests`` is a dict of (test of the drawn samples and a seed, giving a p-value; share of runs).
    """
    rejected, spent, done = ({name: 0.0 for name in tests} for _ in range(3))
    rng = np.random.default_rng(seed)
    for run in range(runs):
        samples = draw(rng)
        for name, (test, part) in tests.items():
            if run % round(1.0 / part) == 0:
                start = time.perf_counter()
                p = test(samples, run)
                # The first call compiles.
                spent[name] += (time.perf_counter() - start) * (run > 0 or runs == 1)
                rejected[name] += p <= 0.05
                done[name] += 1
    return {n: (rejected[n] / done[n], spent[n] / max(done[n] - 1, 1), done[n]) for n in tests}


def show(title, found, unit=1e3):
    base = found[next(iter(found))][1]
    for name, (share, seconds, runs) in found.items():
        print(
            f"{title:<28} {name:<26} {share:6.3f} {runs:6.0f} {unit * seconds:10.2f}"
            f" {seconds / base:7.2f}",
            flush=True,
        )


def _given(**how):
    def test(samples, seed):
        return al.kci_test(*samples, random_state=seed, **how).p_value

    return test


def _causal_learn(**how):
    try:
        from causallearn.utils.KCI.KCI import KCI_CInd
    except ImportError:
        return None

    def test(samples, seed):
        np.random.seed(seed)  # noqa: NPY002, it takes no other
        return KCI_CInd(**how).compute_pvalue(*samples)[0]

    return test


def _with_peers(ours, peers, wanted):
    return {**ours, **{n: (t, part) for n, (t, part) in peers.items() if wanted and t is not None}}


def kci(args):
    tests = _with_peers(
        {"kci_test": (_given(), 1.0), 'kci_test "gamma"': (_given(method="gamma"), 0.2)},
        {
            "causal-learn": (_causal_learn(), 1.0),
            "causal-learn, GP": (_causal_learn(use_gp=True), 0.02),
        },
        args.peers,
    )
    for share in (0.0, 0.3):
        for name in args.designs:
            for columns in args.columns:

                def draw(rng, name=name, columns=columns, share=share):
                    return conditional(name, columns, share, rng)

                # A level is .05 up to .007; of a power less is asked.
                found = measured(draw, tests, max(args.runs // 5, 1) if share else args.runs)
                show(f"{'power' if share else 'level'} {name}, {columns}", found)


LAWS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "ties (Poisson of 1)": lambda rng, m: rng.poisson(1.0, m) * 1.0,
    "rare (5 % ones)": lambda rng, m: (rng.random(m) < 0.05) * 1.0,
    "Cauchy": lambda rng, m: rng.standard_cauchy(m),
}


def _pair_test(**how):
    def test(samples, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return al.hsic_test(*samples, random_state=seed, **how).p_value

    return test


def _hyppo(module, name, **how):
    try:
        from importlib import import_module

        kind = getattr(import_module(f"hyppo.{module}"), name)
    except ImportError:
        return None

    def test(samples, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = [A.reshape(len(A), -1) for A in samples]
            return kind().test(*samples, workers=1, random_state=seed, **how)[1]

    return test


def hsic(args):
    tests = _with_peers(
        {"hsic_test": (_pair_test(), 1.0), 'hsic_test "gamma"': (_pair_test(method="gamma"), 1.0)},
        {"hyppo, 1000 permutations": (_hyppo("independence", "Hsic", reps=1000, auto=False), 0.02)},
        args.peers,
    )
    for law, draw in LAWS.items():

        def pair(rng, draw=draw):
            while True:
                x, y = draw(rng, 100), draw(rng, 100)
                if np.ptp(x) and np.ptp(y):
                    return x, y

        show(f"level {law}", measured(pair, tests, args.runs))

    def dependent(rng):
        angle = rng.uniform(0.0, 2.0 * np.pi, 100)
        noise = 0.5 * rng.normal(size=(2, 100))
        return np.cos(angle) + noise[0], np.sin(angle) + noise[1]

    show("power circle", measured(dependent, tests, args.runs))


def large(args, m=100_000):
    runs = max(args.runs // 10, 2)
    centers = {f"{r} centers": (_pair_test(n_centers=r), 1.0) for r in (20, 50, 100, 200)}
    for law in ("normal", "Cauchy"):

        def null(rng, law=law):
            return LAWS[law](rng, m), LAWS[law](rng, m)

        show(f"level {law}", measured(null, {"100 centers": centers["100 centers"]}, runs))

    def thinned(samples, seed):
        rows = np.random.default_rng(seed).choice(m, 2000, replace=False)
        return _pair_test()([A[rows] for A in samples], seed)

    tests = {**centers, "2000 of the samples": (thinned, 1.0)}
    for waves in (1.0, 3.0, 6.0):

        def dependent(rng, waves=waves):
            x = rng.uniform(-1.0, 1.0, m)
            return x, 0.03 * np.sin(np.pi * waves * x) + rng.normal(size=m)

        show(f"power .03 sin({waves:g} pi x)", measured(dependent, tests, runs))


def dhsic(args):
    tests = {"dhsic_test": (lambda s, seed: al.dhsic_test(*s, random_state=seed).p_value, 1.0)}
    # Of the pairs, each corrected for three.
    tests["3 hsic_test, Bonferroni"] = (
        lambda s, seed: (
            3.0 * min(_pair_test()((s[i], s[j]), seed) for i, j in ((0, 1), (0, 2), (1, 2)))
        ),
        1.0,
    )
    for share in (0.0, 0.5):

        def draw(rng, share=share):
            x, y, z = rng.normal(size=(3, 100))
            agree = rng.random(100) < share
            return x, y, np.where(agree, np.sign(x * y) * np.abs(z), z)

        show(f"{'power' if share else 'level'} sign of a product", measured(draw, tests, args.runs))


def mmd(args):
    def ours(samples, seed):
        return al.mmd_test(*samples, random_state=seed).p_value

    tests = _with_peers(
        {"mmd_test": (ours, 1.0)},
        {"hyppo, 1000 permutations": (_hyppo("ksample", "MMD", reps=1000, auto=False), 0.02)},
        args.peers,
    )
    for spread in (1.0, 1.5):

        def draw(rng, spread=spread):
            return rng.normal(size=(100, 2)), spread * rng.normal(size=(150, 2))

        show(f"{'level' if spread == 1.0 else 'power'} spread", measured(draw, tests, args.runs))


ROWS = {"kci": kci, "hsic": hsic, "large": large, "dhsic": dhsic, "mmd": mmd}


def main(argv=None):
    def extend(parser):
        parser.add_argument("--runs", type=int, default=1000)
        parser.add_argument("--designs", nargs="+", default=DESIGNS, choices=DESIGNS)
        parser.add_argument("--columns", nargs="+", type=int, default=(1, 3), help="of Z")
        parser.add_argument("--no-peers", dest="peers", action="store_false")

    args = options(__doc__, ROWS, argv, extend=extend)
    print(f"{'samples':<28} {'test':<26} {'p<=.05':>6} {'runs':>6} {'ms':>10} {'times':>7}")
    with threads(1):
        for name in args.rows:
            ROWS[name](args)


if __name__ == "__main__":
    main()
