"""Block principal pivoting: many exchanges per LAPACK factorisation, for large supports."""

from __future__ import annotations

import numpy as np


def factor(M, d, index, delta):
    """Upper Cholesky factor (C order) of ``S_PP + delta I``, or None if it is not definite."""
    from scipy.linalg import lapack

    S = M[np.ix_(index, index)]
    S *= d[index][:, None]
    S *= d[index]
    S.flat[:: index.size + 1] += delta
    # The transpose of a C-ordered array is Fortran-ordered: LAPACK works in place.
    lower, info = lapack.dpotrf(S.T, lower=1, overwrite_a=1)
    return None if info else lower.T


def solve(R, b):
    """Solve ``R'R x = b``."""
    from scipy.linalg import lapack

    return lapack.dpotrs(R.T, b, lower=1)[0]


def block_pivoting(M, d, b, delta, v, usable, threshold):
    """Look for the solution of ``(S + delta I)v - b >= 0, v >= 0`` by exchanging blocks.

    Portugal, Judice and Vicente (1994): every variable that is negative leaves, every one whose
    gradient is above ``threshold`` enters. Without progress in a few rounds it gives up (the
    active set, which cannot cycle, takes over) instead of falling back to single exchanges.

    Returns
    -------
    (index, x, R) or None, n_factorisations
        The support, its values, its factor.
    """
    support = v > 0.0
    fewest, patience = v.size + 1, 2
    for n_factorisations in range(1, 51):
        index = np.flatnonzero(support)
        R = factor(M, d, index, delta)
        if R is None:
            return None, n_factorisations
        x = solve(R, b[index])
        trial = np.zeros(v.size)
        trial[index] = x
        g = b - d * (M @ (d * trial))
        wrong = (trial < 0.0) | (usable & ~support & (g > threshold))
        n_wrong = np.count_nonzero(wrong)
        if n_wrong == 0:
            return (index, x, R), n_factorisations
        patience = 2 if n_wrong < fewest else patience - 1
        fewest = min(fewest, n_wrong)
        if patience == 0:
            break
        support ^= wrong
    return None, n_factorisations


def feasible_face(M, d, b, delta, index):
    """Shrink ``index`` to a face whose minimiser is positive: drop the negative, solve again.

    Returns
    -------
    (index, x, R) or None, n_factorisations
    """
    for n_factorisations in range(1, index.size + 2):
        R = factor(M, d, index, delta) if index.size else np.empty((0, 0))
        if R is None:
            return None, n_factorisations
        x = solve(R, b[index]) if index.size else np.empty(0)
        if (x > 0.0).all():
            return (index, x, R), n_factorisations
        index = index[x > 0.0]
    return None, n_factorisations
