"""Pairs of training samples that differ in one point, for the statements about stability.

A case holds ``kernels`` (p, N, N) over N points: 0..m-2 are common, m-1 is x_m, m is x'_m, and all
N are test points; ``y`` (m,) and ``y_new`` (the label of x'_m); ``lam0``. ``mu`` and ``mu_new`` are
weights where the statement is about given weights. The learners in the statements are the library's
`KernelRidge` and, for alignf, `nonnegative_qp`.
"""

from __future__ import annotations

import numpy as np

from . import library
from .matrices import alignf_terms, combine

# The bounds of the stability are attained where the ridge tends to infinity.
LARGEST_RIDGE = 1e7


def rows_of(case):
    """Indices of the two samples."""
    m = len(case["y"])
    return np.arange(m), np.r_[np.arange(m - 1), m]


def labels_of(case):
    """Labels of the two samples."""
    return case["y"], np.r_[case["y"][:-1], case["y_new"]]


def fit_predict(kernel, rows, y, lam0):
    """Kernel ridge regression on the given rows of (N, N): predictions at all N points."""
    return library.ridge(kernel[np.ix_(rows, rows)], y, lam0 * len(y), kernel[:, rows])


def two_stage_change(case):
    """|h'(x) - h(x)| at all N points for weights mu on S and mu_new on S'."""
    (old, new), (y, y_new) = rows_of(case), labels_of(case)
    h = fit_predict(combine(case["mu"], case["kernels"]), old, y, case["lam0"])
    h_new = fit_predict(combine(case["mu_new"], case["kernels"]), new, y_new, case["lam0"])
    return np.abs(h_new - h)


def constants(case):
    """radius2, label bound and l1 of a two-stage case."""
    radius2 = max(np.diagonal(K).max() for K in case["kernels"])
    label_bound = max(np.abs(case["y"]).max(), abs(case["y_new"]))
    l1 = max(np.abs(case["mu"]).sum(), np.abs(case["mu_new"]).sum())
    return radius2, label_bound, l1


def alignf_weights(kernels, rows, y):
    """alignf's weights with sum 1 on the given rows; equal ones where a = 0."""
    v = library.alignf_minimizer(*alignf_terms(kernels[:, rows][:, :, rows], y))
    return v / v.sum() if v.sum() > 0 else np.full(len(v), 1 / len(v))


def random_pair(draw, p=None):
    """A case with random kernels, labels and weights of sum 1."""
    m = draw.integer(1, 6)
    p = p or draw.integer(1, 3)
    n = m + 1 + draw.integer(1, 2)
    form = draw.choice(("generic", "rank-one", "low-rank", "saturated"))
    kernels = np.array([draw.kernel(n, form) for _ in range(p)])
    return {
        "kernels": kernels,
        "y": draw.array(m),
        "y_new": float(draw.array(1)[0]),
        "lam0": draw.log_real(1e-3, LARGEST_RIDGE),
        "mu": draw.weights(p),
        "mu_new": draw.weights(p),
    }


def flipped_label(m, lam0):
    """One flipped label moves alignf's weight from f1 f1' to f2 f2', for every m >= 3.

    Features f1 = y everywhere, f2 = y but -y_m at x_m; x'_m = x_m with the label flipped. At the
    last point f1 = 1 and f2 = -1, so h = 1/(1 + lam0) and h' = -1/(1 + lam0).
    """
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    f1 = np.r_[y, y[-1], 1.0]
    f2 = np.r_[y[:-1], -y[-1], -y[-1], -1.0]
    kernels = np.array([np.outer(f1, f1), np.outer(f2, f2)])
    case = {"kernels": kernels, "y": y, "y_new": -y[-1], "lam0": lam0}
    (old, new), (_, y_new) = rows_of(case), labels_of(case)
    case["mu"] = alignf_weights(kernels, old, y)
    case["mu_new"] = alignf_weights(kernels, new, y_new)
    return case
