#!/usr/bin/env python
"""Nystrom ridge regression against exact kernel ridge regression: error and time by centers.

    scripts/reproduce/p5_kernels/nystrom.py           # ten minutes
    scripts/reproduce/p5_kernels/nystrom.py --quick

kin8nm (6000 samples train, the others test) and ijcnn1 (10,000 each; labels -1 and +1 as targets).
The kernel is a combination of nine Gaussians learned by alignf from 1500 of the training samples,
with alpha by leave-one-out; exact ridge regression and NystromRidge use both unchanged.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

import alignlearn as al
from alignlearn import datasets
from alignlearn.large import NystromRidge

SIZES = {"kin8nm": (6000, 2192), "ijcnn1_train": (10_000, 10_000)}
COUNTS = (25, 50, 100, 200, 400, 800, 1600, 3200)
CENTERS = ("uniform", "leverage", "k-means++")


def samples(name, sizes, seed=0):
    """Training and test parts (X, y, X_test, y_test), standardized by the training part."""
    data, (n, n_test) = datasets.load(name), sizes
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:n], order[n : n + n_test]
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scale[scale == 0.0] = 1.0
    X = (X - mean) / scale
    return X[train], y[train], X[test], y[test]


def learned_kernel(X, y, size=1500):
    """A combination of Gaussians and alpha, from some of the samples."""
    ladder = al.gaussian_kernels(2.0 ** np.arange(-4, 5) / X.shape[1])
    model = al.MKLRegressorCV(ladder).fit(X[:size], y[:size])
    return model.kernel_, model.alpha_


def clock(model, X, y):
    """Seconds of a fit."""
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def rmse(model, X, y):
    """Root mean squared error."""
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def measure(name, sizes, counts, seeds):
    """Error and seconds of the exact model, and of each choice of centers (seeds, counts, 2)."""
    X, y, X_test, y_test = samples(name, sizes)
    kernel, alpha = learned_kernel(X, y)
    for centers in CENTERS:  # compiles
        NystromRidge(kernel, alpha, n_centers=20, centers=centers).fit(X[:100], y[:100])
    exact = al.MKLRegressor([kernel], alpha=alpha, normalize=None, machine="krr")
    seconds = clock(exact, X, y)
    found = {"exact": (rmse(exact, X_test, y_test), seconds)}
    for centers in CENTERS:
        rows = np.empty((seeds, len(counts), 2))
        for seed in range(seeds):
            for k, n in enumerate(counts):
                options = {"n_centers": n, "centers": centers, "random_state": seed}
                model = NystromRidge(kernel, alpha, **options)
                seconds = clock(model, X, y)
                rows[seed, k] = rmse(model, X_test, y_test), seconds
        found[centers] = rows
    return found


def report(out, name, sizes, counts, found):
    """The table of one data set."""
    error, seconds = found["exact"]
    out.say("", f"{name}: {sizes[0]} train, {sizes[1]} test; exact: {error:.4f}, {seconds:.1f} s")
    header = [
        "centers",
        *(f"{kind}, error" for kind in CENTERS),
        *(f"{kind}, s" for kind in CENTERS),
    ]
    medians = {kind: np.median(found[kind], axis=0) for kind in CENTERS}
    out.table(
        header,
        [
            [n, *(f"{medians[kind][k, 0]:.4f}" for kind in CENTERS)]
            + [f"{medians[kind][k, 1]:.2f}" for kind in CENTERS]
            for k, n in enumerate(counts)
        ],
    )


def main(argv=None):
    """Measure and print; return the results for each data set."""
    args = shared.arguments(__doc__, argv)
    out = shared.Output("nystrom", args)
    counts, seeds = ((25, 200), 1) if args.quick else (COUNTS, 3)
    out.say("NystromRidge against exact kernel ridge: test error and seconds, medians of the seeds")
    results = {}
    for name, sizes in SIZES.items():
        sizes = (800, 800) if args.quick else sizes
        results[name] = measure(name, sizes, counts, seeds)
        report(out, name, sizes, counts, results[name])
    out.write()
    return results


if __name__ == "__main__":
    shared.run(main)
