"""Many small nonnegative quadratic programs with one matrix, by cyclic coordinate descent.

Source: Hildreth (1957), "A quadratic programming procedure"; every step is exact in one coordinate
of all programs at once.
"""

from __future__ import annotations

import numpy as np


def nonnegative_rows(M, A, tol=1e-6, max_sweeps=1000):
    """``min v'Mv / 2 - a'v`` over v >= 0 for every row a of A.

    Parameters
    ----------
    M : ndarray of shape (p, p)
        Positive semi-definite, with a positive diagonal.
    A : ndarray of shape (q, p)
    tol : float
        Stop when no coordinate moved by more than this share of the largest one of its row.
    max_sweeps : int

    Returns
    -------
    ndarray of shape (q, p)
    """
    diagonal = np.diagonal(M).copy()
    V = np.zeros_like(A)
    active = np.arange(len(A))
    for _ in range(max_sweeps):
        W, B = V[active], A[active]
        moved = np.zeros(len(active))
        for k in range(len(M)):
            new = np.maximum(W[:, k] + (B[:, k] - W @ M[:, k]) / diagonal[k], 0.0)
            np.maximum(moved, np.abs(new - W[:, k]), out=moved)
            W[:, k] = new
        V[active] = W
        active = active[moved > tol * W.max(axis=1, initial=0.0)]
        if not active.size:
            break
    return V
