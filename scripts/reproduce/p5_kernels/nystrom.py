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
STYLES = {  # color, marker, name in the legend
    "uniform": ("#0072B2", "o", "uniform sample"),
    "leverage": ("#D55E00", "^", "leverage scores"),
    "k-means++": ("#009E73", "D", "k-means++"),
}
TITLES = {"kin8nm": "kin8nm", "ijcnn1_train": "ijcnn1"}


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
    for centers in STYLES:  # compiles
        NystromRidge(kernel, alpha, n_centers=20, centers=centers).fit(X[:100], y[:100])
    exact = al.MKLRegressor([kernel], alpha=alpha, normalize=None, machine="krr")
    seconds = clock(exact, X, y)
    found = {"exact": (rmse(exact, X_test, y_test), seconds)}
    for centers in STYLES:
        rows = np.empty((seeds, len(counts), 2))
        for seed in range(seeds):
            for k, n in enumerate(counts):
                options = {"n_centers": n, "centers": centers, "random_state": seed}
                model = NystromRidge(kernel, alpha, **options)
                seconds = clock(model, X, y)
                rows[seed, k] = rmse(model, X_test, y_test), seconds
        found[centers] = rows
    return found


def draw(axes, name, n, counts, found):
    """Error and time divided by those of the exact model against the number of centers: medians."""
    for centers, (color, marker, label) in STYLES.items():
        ratios = np.median(found[centers], axis=0) / found["exact"]
        for axis, values in zip(axes, ratios.T):
            axis.plot(counts, values, color=color, marker=marker, markersize=5, label=label)
    for axis in axes:
        axis.axhline(1.0, color="#555555", linestyle=":", label="exact kernel ridge regression")
        axis.set(xscale="log", yscale="log", xticks=counts, xticklabels=counts)
        axis.minorticks_off()
    axes[0].set_title(f"{TITLES[name]}, {n:,} training samples", fontsize=10)
    axes[1].set_xlabel("number of centers")


def finish(figure, axes):
    """A title, plain numbers at the ticks, one range for each row and one legend."""
    rows = ((1.0, 1.2, 1.5, 2.0, 2.5), "test RMSE"), ((0.01, 0.1, 1.0), "fit time")
    for row, (ticks, label) in zip(axes, rows):
        limits = np.array([axis.get_ylim() for axis in row])
        row[0].set_ylabel(f"{label}, relative to exact")
        for axis in row:
            axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())
            axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.minorticks_off()
    figure.suptitle("Nystrom ridge regression with three choices of centers", fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)


def report(out, name, sizes, counts, found):
    """The table of one data set."""
    error, seconds = found["exact"]
    out.say("", f"{name}: {sizes[0]} train, {sizes[1]} test; exact: {error:.4f}, {seconds:.1f} s")
    header = ["centers", *(f"{kind}, error" for kind in STYLES), *(f"{kind}, s" for kind in STYLES)]
    medians = {kind: np.median(found[kind], axis=0) for kind in STYLES}
    out.table(
        header,
        [
            [n, *(f"{medians[kind][k, 0]:.4f}" for kind in STYLES)]
            + [f"{medians[kind][k, 1]:.2f}" for kind in STYLES]
            for k, n in enumerate(counts)
        ],
    )


def main(argv=None):
    """Measure, print, draw; what was found for each data set."""
    args = shared.arguments(__doc__, argv)
    out = shared.Output("nystrom", args)
    counts, seeds = ((25, 200), 1) if args.quick else (COUNTS, 3)
    figure, axes = shared.new_figure(2, 2, (8.0, 5.6))
    out.say("NystromRidge against exact kernel ridge: test error and seconds, medians of the seeds")
    results = {}
    for column, (name, sizes) in zip(axes.T, SIZES.items()):
        sizes = (800, 800) if args.quick else sizes
        results[name] = measure(name, sizes, counts, seeds)
        draw(column, name, sizes[0], counts, results[name])
        report(out, name, sizes, counts, results[name])
    finish(figure, axes)
    out.write(figure)
    return results


if __name__ == "__main__":
    shared.run(main)
