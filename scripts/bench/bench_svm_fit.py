#!/usr/bin/env python
"""One Gaussian from samples to a fitted classifier, against LIBSVM and scikit-learn-intelex.

    scripts/bench/bench_svm_fit.py                          # every row, several minutes
    scripts/bench/bench_svm_fit.py --sizes 2000 4000 --half second

CPU seconds of one thread, stage 1 included, best of interleaved repeats; compilation is done
before. The halves of ijcnn1 share no samples. The last column is the relative difference of our
dual objective from LIBSVM's. scikit-learn-intelex is a development dependency of this script
alone, and its column is empty without it.
"""

from __future__ import annotations

import argparse
import time

import numba
import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import alignlearn as al
from alignlearn import datasets

COSTS = (1.0, 10.0, 100.0)


def intelex():
    """The class of scikit-learn-intelex on one thread, or None."""
    try:
        import daal4py
        from sklearnex.svm import SVC as Other
    except ImportError:
        return None
    daal4py.daalinit(1)
    return Other


def ijcnn1(half):
    """Half of the samples in random order."""
    found = datasets.load("ijcnn1")
    order = np.random.default_rng(0).permutation(len(found.y))
    order = order if half == "both" else order[half == "second" :: 2]
    return np.asarray(found.X, dtype=float)[order], found.y[order]


def digits():
    """Ten classes."""
    X, y = load_digits(return_X_y=True)
    return X[:1500] / 16.0, y[:1500]


def ours(X, y, C, gamma):
    """The whole fit."""
    model = al.MKLClassifier([al.Gaussian(gamma)], weighting="uniform", normalize=None, C=C)
    return model.set_params(machine="svm").fit(X, y)


def objective(model, X, gamma):
    """The dual function of a LIBSVM fit of two classes, by exact kernel values."""
    coef, Z = model.dual_coef_[0], X[model.support_]
    value = np.abs(coef).sum()
    for i in range(0, len(Z), 1000):
        value -= 0.5 * coef[i : i + 1000] @ (al.Gaussian(gamma)(Z[i : i + 1000], Z) @ coef)
    return value


def row(name, X, y, C, gamma, repeats):
    """Print a line; the ratios."""
    options = {"C": C, "gamma": gamma, "cache_size": 1000}
    sides = [lambda: ours(X, y, C, gamma), lambda: SVC(**options).fit(X, y)]
    other = intelex()
    if other is not None:
        sides.append(lambda: other(**options).fit(X, y))
    times, fitted = np.empty((repeats, len(sides))), [None] * len(sides)
    for t in times:
        for k, fit in enumerate(sides):
            start = time.process_time()
            fitted[k] = fit()
            t[k] = time.process_time() - start
    best = times.min(axis=0)
    apart = ""
    if len(np.unique(y)) == 2:
        reached = fitted[0].machine_.objective_[0]
        apart = f", objective {reached / objective(fitted[1], X, gamma) - 1.0:+.1e}"
    seconds = ", ".join(f"{v:.3f}" for v in best)
    ratios = ", ".join(f"{v / best[0]:.2f}" for v in best[1:])
    print(f"{name} C={C:g}: {seconds} s, ratios {ratios}{apart}", flush=True)
    return best[1:] / best[0]


def main(argv=None):
    """Run the rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    sizes = [2000, 4000, 10_000, 20_000, 50_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=sizes)
    parser.add_argument("--half", choices=("first", "second", "both"), default="both")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args(argv)
    numba.set_num_threads(1)
    X, y = ijcnn1(args.half)
    found = []
    with threadpool_limits(1):
        for m in (500, 3500):
            ours(X[:m], y[:m], 1.0, 2.0)
        for C in COSTS:
            found.append(row("digits", *digits(), C, 0.05, args.repeats))
        for m in (m for m in args.sizes if m <= 50_000):
            repeats = args.repeats if m < 20_000 else 1
            for C in COSTS:
                found.append(row(f"ijcnn1 m={m}", X[:m], y[:m], C, 2.0, repeats))
    print("LIBSVM, scikit-learn-intelex: least", np.min(found, axis=0).round(2), end=", ")
    print("median", np.median(found, axis=0).round(2))


if __name__ == "__main__":
    main()
