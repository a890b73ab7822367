"""Learning problems on a few points, and the solutions of ridge regression on their pairs.

A case has ``X`` (m, d), ``kernel``, a target matrix ``target`` (m, m), a ridge ``lam`` and new
points ``Z`` (l, d).
"""

import numpy as np

from ..prelude import krr
from ..reference import hyper


def random_case(draw, most=4, gaussian=False):
    """Draw points in one or two dimensions, sometimes on a grid, with a symmetric target."""
    m, d = draw.integer(1, most), draw.integer(1, 2)
    X = draw.array((m, d))
    if draw.choice((False, False, True)):
        X = np.round(2 * X) / 2
    target = draw.array((m, m))
    return {
        "X": X,
        "kernel": hyper.drawn_gaussian(draw) if gaussian else hyper.drawn(draw, d),
        "target": (target + target.T) / 2,
        "lam": draw.log_real(1e-2, 10.0),
        "Z": draw.array((3, d)),
    }


def ridge_coefficients(case, lam=None):
    """(K + lam I)^-1 vec(target), of length m^2."""
    K = hyper.hyper_matrix(case["X"], case["kernel"])
    return krr(K, case["target"].ravel(), case["lam"] if lam is None else lam)


def ridge_objective(K, y, beta, lam):
    """The value of (2.5)."""
    return float(((K @ beta - y) ** 2).sum() + lam * beta @ K @ beta)


def smallest_eigenvalue(K):
    """Smallest eigenvalue of a symmetric matrix, relative to its largest entry."""
    size = np.abs(K).max()
    return float(np.linalg.eigvalsh((K + K.T) / 2)[0] / size) if size > 0 else 0.0
