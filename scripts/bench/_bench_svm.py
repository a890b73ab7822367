"""Rows of bench_large.py: support vector machines, and the weights of many kernels."""

from __future__ import annotations

from functools import partial

import numpy as np
from _bench import best_of
from bench_core import _quadratic_programs, overlapping_classes

import alignlearn as al
from alignlearn import datasets
from alignlearn.machines import SupportVectorClassifier
from alignlearn.machines.gram_rows import gram_or_rows
from alignlearn.sources import open_source

GIGABYTE = 10**9


def _source(X, gamma):
    return open_source(X, [al.Gaussian(gamma)]).single(0)


def _rows_fit(X, y, C, memory):
    rows = gram_or_rows(_source(X, 1.0 / X.shape[1]), memory)
    return SupportVectorClassifier(C).fit(rows, y, check=False)


def ijcnn1():
    """All samples in random order."""
    found = datasets.load("ijcnn1")
    order = np.random.default_rng(0).permutation(len(found.y))
    return np.asarray(found.X, dtype=float)[order], found.y[order]


def objective(machine, X, gamma):
    """The dual function of a LIBSVM fit of two classes, by exact kernel values."""
    coef, Z = machine.dual_coef_[0], X[machine.support_]
    value = np.abs(coef).sum()
    for i in range(0, len(Z), 1000):
        value -= 0.5 * coef[i : i + 1000] @ (al.Gaussian(gamma)(Z[i : i + 1000], Z) @ coef)
    return value


def svc_rows(m=20_000):
    """C-SVC on rows of the Gram matrix, 1 GB, ijcnn1, standardized; each side makes its kernel."""
    from sklearn.svm import SVC

    X, y = (part[:m] for part in ijcnn1())
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    _rows_fit(X[:2500], y[:2500], 1.0, 10**7)
    gamma = 1.0 / X.shape[1]
    for C in (1.0, 10.0):
        base = SVC(C=C, gamma=gamma, cache_size=1000)
        times = best_of(2, partial(base.fit, X, y), partial(_rows_fit, X, y, C, GIGABYTE))
        ours = _rows_fit(X, y, C, GIGABYTE).objective_[0]
        apart = ours / objective(base, X, gamma) - 1.0
        what = f"SVC ijcnn1 m={m} C={C:g}, memory=1 GB (objective +{apart:.0e})"
        yield what, *times, 3.0


def svc_dense(m=4000, d=20):
    """C-SVC at m = 4000 with the matrix; the time of the kernel is counted on both sides."""
    from sklearn.svm import SVC

    X, y = overlapping_classes(m, d)

    def ours(C):
        return SupportVectorClassifier(C).fit(_source(X, 1.0 / d).gram(), y, check=False)

    SupportVectorClassifier().fit(_source(X[:300], 1.0 / d).gram(), y[:300])
    for C in (1.0, 10.0, 100.0):
        base = partial(SVC(C=C, gamma=1.0 / d, cache_size=1000).fit, X, y)
        yield f"SVC m={m} C={C:g}, with the kernel", *best_of(3, base, partial(ours, C)), 4.0


def alignf_many():
    """AlignF with 200 true kernels of 1000, rank 500, against nnls on a factor given free."""
    from scipy.optimize import nnls

    from alignlearn.solvers.nnqp import nonnegative_qp

    for label, A, b in _quadratic_programs():
        M, a = A.T @ A, A.T @ b
        ours = partial(nonnegative_qp, M, a, check_psd=False)
        residual = ours().kkt_residual
        times = best_of(7, partial(nnls, A, b, maxiter=100_000), ours)
        target = 6.0 if "true" in label else 0.5
        yield f"AlignF p=1000 rank 500, {label} (KKT {residual:.0e})", *times, target
