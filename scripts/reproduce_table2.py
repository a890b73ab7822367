#!/usr/bin/env python3
"""Table 2 of Cortes, Mohri and Rostamizadeh (2012), ours beside the paper's.

Three of its five data sets (spambase and splice are not registered): kinematics and ionosphere as
regression by kernel ridge, german by support vector machine; Gaussian kernels, centred, trace
normalised, 5 folds of which 3 train, 1 validates and 1 tests. Errors are RMSE or the fraction
misclassified. Data come from `alignlearn.datasets` (set ALIGNLEARN_DATA to a folder that has them).

Our figure is the mean over several random assignments of folds, so that it does not hang on one
draw; +- is the deviation over the folds of one assignment, averaged. A figure agrees when the means
are within one standard deviation of the paper. The alignment beside the paper's is that on the test
fold: the paper does not say on which part it is measured, but the values and the deviations of all
three sets fit the test fold, and those of german do not fit the training folds, whose alignment is
printed as well (alignment is biased upwards by an amount that grows as the part gets smaller).

usage: scripts/reproduce_table2.py [--quick] [--repeats N]
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

import numpy as np

from alignlearn import datasets
from alignlearn.compare import compare
from alignlearn.comparison import Protocol
from alignlearn.kernels import gaussian_kernels

METHODS = ("uniform", "align", "alignf")


@dataclass(frozen=True)
class Row:
    """One column of the paper's table: error and alignment as (mean, deviation) by method."""

    title: str
    name: str
    task: str
    exponents: tuple
    scale: str
    error: tuple
    alignment: tuple
    size: int | None = None
    notes: tuple = field(default=())


ROWS = (
    Row(
        "kinematics (kin8nm, 1000 points, raw features, gamma 2^-3..2^3)",
        "kin8nm", "regression", (-3, 3), "none",
        ((0.138, 0.005), (0.125, 0.004), (0.115, 0.004)),
        ((0.158, 0.013), (0.173, 0.016), (0.176, 0.017)),
        size=1000,
        notes=(
            "The paper says only 'kinematics' and 1000 points. Taken here: kin-8nm, one of eight",
            "variants in Delve, and its first 1000 points; random subsets of 1000 give errors of",
            "0.143, 0.129 and 0.122. The alignment of uniform may differ for the same reason.",
        ),
    ),
    Row(
        "ionosphere (as +-1 regression, raw features, gamma 2^-3..2^3)",
        "ionosphere", "regression", (-3, 3), "none",
        ((0.479, 0.033), (0.456, 0.036), (0.444, 0.034)),
        ((0.246, 0.033), (0.261, 0.040), (0.278, 0.057)),
    ),
    Row(
        "german (features scaled to [-1, 1], gamma 2^-4..2^3)",
        "german_numeric", "classification", (-4, 3), "minmax",
        ((0.259, 0.018), (0.255, 0.015), (0.242, 0.015)),
        ((0.089, 0.008), (0.089, 0.008), (0.093, 0.009)),
        notes=("The scaling and the grid of C are ours: the paper does not state them.",),
    ),
)  # fmt: skip


def measure(row, repeats):
    """Errors, and alignments on the test and training folds, each (repeats, methods, folds)."""
    data = datasets.load(row.name, task=row.task)
    kernels = gaussian_kernels(2.0 ** np.arange(row.exponents[0], row.exponents[1] + 1))
    X, y = data.X[: row.size], data.y[: row.size]
    out = []
    for seed in range(repeats):
        protocol = Protocol(scale=row.scale, random_state=seed)
        found = compare(X, y, kernels, methods=METHODS, task=row.task, protocol=protocol)
        out.append((found.error, found.test_alignment, found.alignment))
    return np.array(out).swapaxes(0, 1)


def show(what, ours, paper):
    """Print a block of the table; return the methods outside one deviation of the paper."""
    outside = []
    for i, method in enumerate(METHODS):
        mean = ours[:, i].mean()
        deviation = ours[:, i].std(axis=1, ddof=1).mean()
        distance = (mean - paper[i][0]) / paper[i][1]
        verdict = "agrees" if abs(distance) <= 1.0 else f"{distance:+.1f} sd"
        if abs(distance) > 1.0:
            outside.append(method)
        print(
            f"  {what:<10} {method:<8} ours {mean:.4f} +- {deviation:.4f}   "
            f"paper {paper[i][0]:.3f} +- {paper[i][1]:.3f}   {verdict}"
        )
    return outside


def main(argv=None):
    """Run the rows; return the number of figures outside one standard deviation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one assignment of folds")
    parser.add_argument("--repeats", type=int, default=10, help="random assignments (default 10)")
    args = parser.parse_args(argv)
    count = 0
    for row in ROWS:
        errors, alignments, in_training = measure(row, 1 if args.quick else args.repeats)
        print(row.title)
        outside = [f"error of {m}" for m in show("error", errors, row.error)]
        outside += [f"alignment of {m}" for m in show("alignment", alignments, row.alignment)]
        means = errors.mean(axis=(0, 2))
        order = " > ".join(METHODS[i] for i in np.argsort(-means, kind="stable"))
        inside = ", ".join(f"{m} {a:.3f}" for m, a in zip(METHODS, in_training.mean(axis=(0, 2))))
        print(f"  alignment on the training folds: {inside}")
        print(f"  errors in order: {order}   (paper: uniform > align > alignf)")
        if outside:
            print(f"  outside one standard deviation: {', '.join(outside)}")
        for note in row.notes:
            print(f"  {note}")
        print(flush=True)
        count += len(outside)
    return count


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"reproduce_table2: {error}")
