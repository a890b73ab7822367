#!/usr/bin/env python
"""Kernel SGD: the regularized risk against the number of steps, and the cost of a budget.

    scripts/reproduce/p5_kernels/online.py            # a minute
    scripts/reproduce/p5_kernels/online.py --quick

On scikit-learn's breast_cancer (hinge, logistic) and diabetes (squared, epsilon-insensitive), a
Gaussian kernel on standardized columns and alpha = 0.01. The minimal regularized risk is that of
the batch models: C-SVC, logistic regression on an eigenfactor of the kernel matrix, kernel ridge
regression and epsilon-SVR. With steps eta0 / (1 + alpha eta0 t) the excess should decrease as
log(t) / t.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

import alignlearn as al
from alignlearn.machines import KernelRidge, SupportVectorClassifier, SupportVectorRegressor
from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor

ALPHA = 0.01
LOSSES = ("hinge", "logistic", "squared", "epsilon-insensitive")


def data(loss):
    """Standardized samples and the target of a loss: labels -1, +1, or standardized numbers."""
    from sklearn.datasets import load_breast_cancer, load_diabetes

    labels = loss in ("hinge", "logistic")
    X, y = (load_breast_cancer if labels else load_diabetes)(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.where(y > 0, 1.0, -1.0) if labels else (y - y.mean()) / y.std()


def kernel(X):
    """The Gaussian whose exponent is the mean of the squared differences of the columns."""
    return al.Gaussian(1.0 / X.shape[1])


def batch_risk(loss, X, y):
    """The minimal regularized risk, from a batch model."""
    K, C = kernel(X)(X), 1.0 / (ALPHA * len(y))
    if loss == "logistic":
        from sklearn.linear_model import LogisticRegression

        values, vectors = np.linalg.eigh(K)
        Z = vectors * np.sqrt(np.maximum(values, 0.0))
        found = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(Z, y)
        mean = np.logaddexp(0.0, -y * found.decision_function(Z)).mean()
        return mean + 0.5 * ALPHA * np.square(found.coef_).sum()
    if loss == "squared":
        machine = KernelRidge(ALPHA * len(y)).fit(K, y)
        coef, b = machine.dual_coef_, machine.intercept_
        mean = 0.5 * np.square(K @ coef + b - y).mean()
    else:
        svm = SupportVectorClassifier if loss == "hinge" else SupportVectorRegressor
        machine = svm(C, tol=1e-7).fit(K, y)
        coef, b = machine.full_dual_coef()[:, 0], machine.intercept_[0]
        f = K @ coef + b
        mean = np.maximum(0.0, 1.0 - y * f if loss == "hinge" else np.abs(f - y) - 0.1).mean()
    return mean + 0.5 * ALPHA * coef @ K @ coef


def estimator(loss, X, **options):
    """An online model for a loss."""
    kind = KernelSGDClassifier if loss in ("hinge", "logistic") else KernelSGDRegressor
    return kind(kernel(X), loss=loss, alpha=ALPHA, **options)


def convergence(loss, passes, seeds):
    """Steps, minimal risk, and the excess after so many passes for each seed, (seeds, passes)."""
    X, y = data(loss)
    least = batch_risk(loss, X, y)
    excess = [
        [
            estimator(loss, X, n_passes=n, random_state=seed).fit(X, y).regularized_risk(X, y)
            - least
            for n in passes
        ]
        for seed in range(seeds)
    ]
    return len(y) * np.array(passes), least, np.array(excess)


def truncation(budgets, n_passes):
    """Share of errors in training and the reported bound for each budget, hinge loss."""
    X, y = data("hinge")
    machines = [estimator("hinge", X, n_passes=n_passes, budget=b).fit(X, y) for b in budgets]
    errors = [1.0 - machine.score(X, y) for machine in machines]
    return np.array(errors), np.array([m.truncation_error_[0] for m in machines])


def main(argv=None):
    """Run, print and write."""
    args = shared.arguments(__doc__, argv)
    out = shared.Output("online", args)
    passes = (1, 4) if args.quick else tuple(2**k for k in range(9))
    seeds = 2 if args.quick else 5
    out.say("Regularized risk of kernel SGD minus that of the batch solution, mean over seeds", "")
    rows = []
    for loss in LOSSES:
        steps, least, excess = convergence(loss, passes, seeds)
        rate = np.polyfit(np.log(steps[-4:]), np.log(excess.mean(axis=0)[-4:]), 1)[0]
        rows.append([loss, f"{least:.5f}", *(f"{v:.1e}" for v in excess.mean(axis=0)[::2])])
        rows[-1].append(f"{rate:.2f}")
    out.table(["loss", "minimum", *(f"{n} passes" for n in passes[::2]), "slope"], rows)
    budgets = (20, 200) if args.quick else (5, 10, 20, 40, 80, 160, 320, 569)
    errors, bounds = truncation(budgets, 2 if args.quick else 10)
    out.say("", "Hinge loss with a budget, ten passes", "")
    pairs = zip(budgets, errors, bounds)
    out.table(["budget", "errors", "bound"], [[b, f"{e:.3f}", f"{v:.3g}"] for b, e, v in pairs])
    out.write()


if __name__ == "__main__":
    shared.run(main)
