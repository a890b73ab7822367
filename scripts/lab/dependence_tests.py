#!/usr/bin/env python
"""Type I error rate, power and time of the tests of dependence.

Shares of p-values up to 0.05 over the runs (standard error 0.007 at 0.05 and 1000 runs), and
seconds of a test on one thread.

kci     error, m = 200, Z of 1 and of 3 columns. ``linear``, ``post``, ``post-even`` fixed the
        constants of the test (alphas, widths, signs); ``sine``, ``cubic-t``, ``scale`` confirm them
kci-power  power on the same designs if a part of X's own noise goes into Y, in a fifth of the runs
time    processor seconds of 999 permutations: least and most over four kernels or kinds of samples
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from _studies import clock, publish, quiet, study, threads

import alignlearn as al

M = 200


def conditional(name, columns, share, rng, m=M):
    """X, Y and Z of a design, X and Y independent given Z where ``share`` is 0."""
    Z = rng.normal(size=(m, columns))
    u = Z.sum(axis=1) / np.sqrt(columns)
    e, f = rng.normal(size=(2, m))
    f += share * e
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
    """{name: (share of p-values up to 0.05, seconds of a test)} of tests of (samples, a seed)."""
    p, spent = np.zeros((2, runs, len(tests)))
    rng = np.random.default_rng(seed)
    for run in range(runs):
        samples = draw(rng)
        for k, test in enumerate(tests.values()):
            spent[run, k], p[run, k] = clock(partial(test, samples, run), timer=time.process_time)
    usual = spent[1:] if runs > 1 else spent  # the first call compiles
    found = dict(zip(tests, zip((p <= 0.05).mean(axis=0), usual.mean(axis=0))))
    for name, (share, seconds) in found.items():
        print(f"    {name:<28} {share:6.3f} {runs:6.0f} runs {1e3 * seconds:10.2f} ms", flush=True)
    return found


def p_of(test, **how):
    """The p-value of a test as a function of samples and a seed."""

    def p_value(samples, seed):
        with quiet():
            return test(*samples, random_state=seed, **how).p_value

    return p_value


def kci(args, share=0.0, key="conditional-independence"):
    """Conditional independence."""
    ms = []

    def row(name):
        for columns in (1, 3):
            print(f"  {name}, {columns} columns, {share:g} of the noise")
            runs = max(args.runs // 5, 1) if share else args.runs
            draw = partial(conditional, name, columns, share)
            rate, seconds = measured(draw, {"kci_test": p_of(al.kci_test)}, runs)["kci_test"]
            ms.append(1e3 * seconds)
            yield f"{rate:.{2 if share else 3}f}"

    publish(args, key, ([f"`{name}`: {words}", *row(name)] for name, words in DESIGNS.items()))
    if not share:
        error = f"{np.sqrt(0.05 * 0.95 / args.runs):.3f}"
        numbers = {"se-1000": error, "kci-ms": f"{min(ms):.0f} to {max(ms):.0f}"}
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
            with quiet():
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
    "time": seconds,
}


if __name__ == "__main__":
    args = study(__doc__, PARTS, runs=(1000, 2), most=(8000, 1000))
    with threads(1):
        for name in args.rows:
            PARTS[name](args)
