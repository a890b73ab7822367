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

import numpy as np
from _bench import clock, threads
from _bench_svm import ijcnn1, objective
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import alignlearn as al

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


def digits():
    """Ten classes."""
    X, y = load_digits(return_X_y=True)
    return X[:1500] / 16.0, y[:1500]


def ours(X, y, C, gamma):
    """The whole fit."""
    model = al.MKLClassifier([al.Gaussian(gamma)], weighting="uniform", normalize=None, C=C)
    return model.set_params(machine="svm").fit(X, y)


def row(name, X, y, C, gamma, repeats):
    """Print a line; the ratios."""
    options = {"C": C, "gamma": gamma, "cache_size": 1000}
    sides = [lambda: ours(X, y, C, gamma), lambda: SVC(**options).fit(X, y)]
    other = intelex()
    if other is not None:
        sides.append(lambda: other(**options).fit(X, y))
    runs = [[clock(fit, timer=time.process_time) for fit in sides] for _ in range(repeats)]
    best = np.min([[seconds for seconds, _ in run] for run in runs], axis=0)
    fitted = [model for _, model in runs[-1]]
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
    half = {"both": slice(None), "first": slice(0, None, 2), "second": slice(1, None, 2)}[args.half]
    X, y = (part[half] for part in ijcnn1())
    found = []
    with threads(1):
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
