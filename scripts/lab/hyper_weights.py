#!/usr/bin/env python3
"""Are weights of hyper-kernels by alignment better than the plain sum?

On each data set 60 points and 30 new ones, features in [0, 1]. Known kernels (Gaussians of two
widths, TL1, log): relative RMSE on pairs of new points. Labels: AUC of the learned similarity
between 80 new points and 80 training points. Ridge of `HyperKRRCV`, mean of the partitions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reproduce" / "p4_hyperkernels"))
from _studies import study
from example_similarity import auc
from hyper_measure import load, rmse

from alignlearn.hyper import HyperKRRCV, align_hyper_kernels, hyper_kernels
from alignlearn.kernels import TL1, Gaussian, Log

DATA = ("fertility", "australian", "wine", "sonar", "heart")
WEIGHTINGS = (None, "alignf", "align")


def learned(weighting, X, K, seed):
    """Ridge regression on the default ladder, with its own weights or those of alignment."""
    hyper = hyper_kernels()
    if weighting is not None:
        hyper = align_hyper_kernels(hyper, X, K, weighting=weighting, random_state=seed)
    return HyperKRRCV(hyper, max_rank=300, random_state=seed).fit(X, K).kernel_


def trial(name, target, seed):
    """RMSE, or AUC for labels, of each weighting."""
    X, y = load(name)
    order = np.random.default_rng(seed).permutation(len(X))
    X, y = X[order], np.asarray(y)[order]
    if target == "labels":
        X, U, same = X[:80], X[80:160], y[80:160, None] == y[None, :80]
        return [auc(learned(w, X, y[:80], seed)(U, X), same) for w in WEIGHTINGS]
    X, U = X[:60], X[60:90]
    kernel = target if callable(target) else Gaussian(target / (X.shape[1] * X.var()))
    return [rmse(learned(w, X, kernel(X), seed)(U), kernel(U)) for w in WEIGHTINGS]


def main(argv=None):
    """Print a row for each data set and target; return the geometric means."""
    args = study(__doc__, DATA, argv, repeats=(3, 1))
    targets = {"gaussian .1": 0.1, "gaussian 3": 3.0, "tl1": TL1(), "log": Log(1.0)}
    print(f"{'':<24}" + "".join(f"{w or 'plain sum':>12}" for w in WEIGHTINGS))
    errors, areas = [], []
    for name in args.rows:
        for title, target in (targets | {"labels": "labels"}).items():
            row = np.mean([trial(name, target, seed) for seed in range(args.repeats)], axis=0)
            (areas if title == "labels" else errors).append(row)
            print(f"{name + ', ' + title:<24}" + "".join(f"{v:12.4f}" for v in row), flush=True)
    means = np.exp(np.log(errors).mean(axis=0)), np.mean(areas, axis=0)
    for title, row in zip(("RMSE, geometric mean", "AUC of labels, mean"), means):
        print(f"{title:<24}" + "".join(f"{v:12.4f}" for v in row))
    return means


if __name__ == "__main__":
    main()
