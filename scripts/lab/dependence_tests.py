#!/usr/bin/env python
"""Type I error rate, power and time of the tests of dependence, beside causal-learn's and hyppo's.

Shares of p-values up to 0.05 over the runs (standard error 0.007 at 0.05 and 1000 runs), and
seconds of a test on one thread. Other packages are measured on the same samples if they are
installed. The slow tests, causal-learn's Gaussian process and hyppo, run on some of the samples
only.

kci     error, m = 200, Z of 1 and of 3 columns. ``linear``, ``post``, ``post-even`` fixed the
        constants of the test (alphas, widths, signs); ``sine``, ``cubic-t``, ``scale`` confirm them
kci-power  power on the same designs if a part of X's own noise goes into Y, in a fifth of the runs
hsic    error of the default and of "gamma" with normal samples, ties and heavy tails, m = 100
large   100,000 samples: power of "low-rank" by the number of centers, error with 20
several error of mmd_test, 100 and 150 samples, and its time to hyppo's; of dhsic_test error, and
        power against dependence of three variables of which no two are dependent
time    processor seconds of 999 permutations: least and most over four kernels or kinds of samples
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
from _studies import publish, study, threads

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


DESIGNS = {
    "linear": "sums with noise",
    "post": "tanh and cube of such sums",
    "post-even": "even functions of Z inside",
    "sine": "a sine, and an exponential of a cosine",
    "cubic-t": "a cube, heavy tails",
    "scale": "the variance of both noises depends on Z",
}


def measured(draw, tests, runs, seed=0):
    """{name: (share of p-values up to 0.05, seconds of a test, number of runs)}.

    ``tests`` is a dict of (test of the drawn samples and a seed, giving a p-value; share of runs).
    """
    rejected, spent, done = ({name: 0.0 for name in tests} for _ in range(3))
    rng = np.random.default_rng(seed)
    for run in range(runs):
        samples = draw(rng)
        for name, (test, part) in tests.items():
            if run % round(1.0 / part) == 0:
                start = time.process_time()
                p = test(samples, run)
                # The first call compiles.
                spent[name] += (time.process_time() - start) * (run > 0 or runs == 1)
                rejected[name] += p <= 0.05
                done[name] += 1
    found = {n: (rejected[n] / done[n], spent[n] / max(done[n] - 1, 1), done[n]) for n in tests}
    for name, (share, seconds, n) in found.items():
        print(f"    {name:<28} {share:6.3f} {n:6.0f} runs {1e3 * seconds:10.2f} ms", flush=True)
    return found


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


def _with_peers(ours, peers):
    """Tests, and those of other installed packages."""
    return {**ours, **{name: (test, part) for name, (test, part) in peers.items() if test}}


def kci(args, share=0.0, key="conditional-independence"):
    """Conditional independence."""
    tests = _with_peers(
        {"kci_test": (_given(), 1.0), 'kci_test "gamma"': (_given(method="gamma"), 0.2)},
        {
            "causal-learn": (_causal_learn(), 1.0),
            "causal-learn, GP": (_causal_learn(use_gp=True), 0.02),
        },
    )
    seen = []

    def row(name):
        for columns in (1, 3):
            print(f"  {name}, {columns} columns, {share:g} of the noise")
            runs = max(args.runs // 5, 1) if share else args.runs
            found = measured(partial(conditional, name, columns, share), tests, runs)
            seen.append((name, columns, found))
            yield f"{found['kci_test'][0]:.{2 if share else 3}f}"

    publish(args, key, ([f"`{name}`: {words}", *row(name)] for name, words in DESIGNS.items()))
    ms = [1e3 * found["kci_test"][1] for *_, found in seen]
    numbers = {
        "se-1000": f"{np.sqrt(0.05 * 0.95 / args.runs):.3f}",
        "kci-ms": f"{min(ms):.0f} to {max(ms):.0f}",
    }
    numbers = kci_numbers(seen, share) | ({} if share else numbers)
    if numbers:
        publish(args, "tests-of-dependence", numbers)


def kci_numbers(seen, share):
    """Numbers for sentences: what causal-learn has where it is installed."""
    numbers, slower, wrong = {}, [], []
    names = {"linear": "linear", "sine": "sine", "post-even": "even"}
    for name, columns, found in seen:
        if name in names and "causal-learn" in found:
            rate, end = found["causal-learn"][0], f"{names[name]}-{columns}"
            power = {f"causal-power-{end}": f"{rate:.2f}"} if name != "post-even" else {}
            numbers |= power if share else {f"causal-{end}": f"{rate:.3f}"}
        if "causal-learn, GP" in found:
            slower.append(found["causal-learn, GP"][1] / found["kci_test"][1])
            wrong += [] if share else [found["causal-learn, GP"][0]]
    if wrong:
        numbers["causal-gp-time"] = f"{min(slower):.0f} to {max(slower):.0f}"
        numbers["causal-gp-error"] = f"{min(wrong):.2f} to {max(wrong):.2f}"
    return numbers


LAWS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "Poisson with mean 1": lambda rng, m: rng.poisson(1.0, m) * 1.0,
    "5% ones": lambda rng, m: (rng.random(m) < 0.05) * 1.0,
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
    """Two variables."""
    tests = _with_peers(
        {"hsic_test": (_pair_test(), 1.0), "gamma": (_pair_test(method="gamma"), 1.0)},
        {"hyppo, 1000 permutations": (_hyppo("independence", "Hsic", reps=1000, auto=False), 0.02)},
    )

    def row(draw):
        def pair(rng):
            while True:
                x, y = draw(rng, 100), draw(rng, 100)
                if np.ptp(x) and np.ptp(y):
                    return x, y

        found = measured(pair, tests, args.runs)
        return [f"{found[name][0]:.3f}" for name in ("hsic_test", "gamma")]

    publish(args, "hsic-error", ([name, *row(draw)] for name, draw in LAWS.items()))


def large(args, m=100_000):
    """Many samples: power by the number of centers, and the error with few."""
    runs = max(args.runs // 50, 2)

    def thinned(samples, seed):
        rows = np.random.default_rng(seed).choice(m, 2000, replace=False)
        return _pair_test()([A[rows] for A in samples], seed)

    centers = {r: (_pair_test(n_centers=r), 1.0) for r in (20, 100)}
    tests = {
        "20 centers": centers[20],
        "100 centers (default)": centers[100],
        "`hsic_test` on 2000 of the samples": (thinned, 1.0),
    }

    def wave(k):
        def dependent(rng):
            x = rng.uniform(-1.0, 1.0, m)
            return x, 0.03 * np.sin(np.pi * k * x) + rng.normal(size=m)

        return dependent

    one, six = (measured(wave(k), tests, runs) for k in (1.0, 6.0))
    publish(args, "hsic-centers", ([n, f"{one[n][0]:.2f}", f"{six[n][0]:.2f}"] for n in tests))
    nulls = [
        measured(lambda rng, draw=draw: (draw(rng, m), draw(rng, m)), {"20": centers[20]}, 5 * runs)
        for draw in (LAWS["Cauchy"], LAWS["Poisson with mean 1"])
    ]
    error = np.mean([found["20"][0] for found in nulls])
    times = {f"{found['100 centers (default)'][1]:.1g}" for found in (one, six)}
    numbers = {"20-centers": f"{error:.3f}", "100000-samples": " to ".join(sorted(times))}
    publish(args, "tests-of-dependence", numbers)


def several(args):
    """Three variables, and two samples."""

    def joint(samples, seed):
        return al.dhsic_test(*samples, random_state=seed).p_value

    def draw_joint(share):
        def draw(rng):
            x, y, z = rng.normal(size=(3, 100))
            agree = rng.random(100) < share
            return x, y, np.where(agree, np.sign(x * y) * np.abs(z), z)

        return draw

    def two(samples, seed):
        return al.mmd_test(*samples, random_state=seed).p_value

    for share in (0.0, 0.5):
        measured(draw_joint(share), {"dhsic_test": (joint, 1.0)}, args.runs)
    tests = _with_peers(
        {"mmd_test": (two, 1.0)},
        {"hyppo": (_hyppo("ksample", "MMD", reps=1000, auto=False), 0.02)},
    )
    sizes = (100, 2), (150, 2)
    found = measured(lambda rng: [rng.normal(size=size) for size in sizes], tests, args.runs)
    numbers = {"mmd-error": f"{found['mmd_test'][0]:.3f}"}
    if "hyppo" in found:
        numbers["hyppo-mmd-ratio"] = f"{found['hyppo'][1] / found['mmd_test'][1]:.0f}"
    publish(args, "tests-of-dependence", numbers)


def seconds(args):
    """Permutations by the number of samples."""
    kernels = {"gaussian": None, "narrow": al.Gaussian(50.0), "linear": al.Linear()}

    def span(test, m, views):
        rng, found = np.random.default_rng(0), []
        for name, kernel in (*kernels.items(), ("discrete", None)):
            X = rng.normal(size=(views, m))
            X = np.round(X) if name == "discrete" else X
            how = {} if kernel is None else {"kernels": [kernel] * views}
            if test is al.mmd_test:
                how = {} if kernel is None else {"kernel": kernel}
                X = X.reshape(2, m // 2)
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test(*X, random_state=0, **how)
            found.append(time.process_time() - start)
        ends = dict.fromkeys(f"{end:.2g}" for end in (min(found), max(found)))
        return " to ".join(ends)

    tests = {
        "`hsic_test`": (al.hsic_test, 2),
        "`mmd_test` (m samples, both groups)": (al.mmd_test, 1),
        "`dhsic_test` (three variables)": (al.dhsic_test, 3),
    }
    sizes = (500, 1000, 2000, 4000, 8000)
    for test, views in tests.values():
        span(test, 100, views)  # compiles
    rows = (
        [name, *("" if m > args.most else span(test, m, views) for m in sizes)]
        for name, (test, views) in tests.items()
    )
    publish(args, "permutation-time", rows)


PARTS = {
    "kci": kci,
    "kci-power": partial(kci, share=0.3, key="conditional-power"),
    "hsic": hsic,
    "large": large,
    "several": several,
    "time": seconds,
}


if __name__ == "__main__":
    args = study(__doc__, PARTS, runs=(1000, 2), most=(8000, 1000))
    with threads(1):
        for name in args.rows:
            PARTS[name](args)
