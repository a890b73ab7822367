"""Diagnostics of the weights from the matrix of centered inner products.

All of it is read from the scaled matrix ``S_kl = M_kl / sqrt(M_kk M_ll)`` (the kernels' alignments
with each other), so it does not depend on the kernels' units. Kernels of zero norm are left out.
"""

from __future__ import annotations

import numpy as np

GROUP_TOLERANCE = 1e-10
RANK_TOLERANCE = 1e-13
_EXACT_SIZE = 1000


def unit_diagonal(M):
    """Return ``S`` with unit diagonal, its rows being those of the kernels of positive norm.

    Returns
    -------
    S : ndarray of shape (n, n)
    used : ndarray of shape (n,), int
        Indices of the kernels with ``M_kk > 0``.
    d : ndarray of shape (n,)
        Their ``M_kk^-1/2``.
    """
    diagonal = np.diagonal(M)
    used = np.flatnonzero(diagonal > 0.0)
    d = 1.0 / np.sqrt(diagonal[used])
    S = M[np.ix_(used, used)] * d[:, None] * d
    S.flat[:: used.size + 1] = 1.0
    return S, used, d


def condition_number(M) -> float:
    """Condition number of ``M`` scaled to a unit diagonal.

    Up to 1000 kernels it is the ratio of the extreme eigenvalues in absolute value; beyond,
    LAPACK's estimate in the 1-norm (``sycon``), at most ``p`` times larger. About 1e16 means that
    ``M`` is singular to working precision.
    """
    S, used, _ = unit_diagonal(M)
    if used.size == 0:
        return np.nan
    if used.size <= _EXACT_SIZE:
        w = np.abs(np.linalg.eigvalsh(S))
        return float(w.max() / w.min()) if w.min() > 0.0 else np.inf
    from scipy.linalg import lapack

    norm = np.abs(S).sum(axis=0).max()
    factor, pivots, info = lapack.dsytrf(S.T, lower=1, overwrite_a=1)
    if info > 0:
        return np.inf
    rcond, _ = lapack.dsycon(factor, pivots, norm, lower=1)
    return float(1.0 / rcond) if rcond > 0.0 else np.inf


def identical_groups(M, tolerance=GROUP_TOLERANCE) -> tuple[tuple[int, ...], ...]:
    """Groups of two or more kernels that are equal up to a factor after centering.

    Two kernels are joined when ``|S_kl| >= 1 - tolerance``; a group is a connected component. Time
    and memory O(p^2).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    S, used, _ = unit_diagonal(M)
    if used.size == 0:
        return ()
    rows, columns = np.nonzero(np.abs(S) >= 1.0 - tolerance)
    links = coo_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=S.shape)
    _, label = connected_components(links, directed=False)
    sizes = np.bincount(label)
    groups = [used[label == c] for c in np.flatnonzero(sizes > 1)]
    return tuple(sorted(tuple(int(k) for k in group) for group in groups))


def unidentified(M, weights, tolerance=RANK_TOLERANCE) -> tuple[int, ...]:
    """Kernels in use whose weight the alignment does not determine.

    Let ``P`` be the kernels with a non-zero weight. A kernel of ``P`` is unidentified when it is,
    to working precision, a linear combination of the others of ``P`` (after centering): then its
    weight can be moved to those without changing the combined kernel on the sample. Found by a
    pivoted Cholesky factorization of ``S_PP`` that stops at a pivot of ``tolerance``.
    """
    from scipy.linalg import lapack, solve_triangular

    weights = np.asarray(weights)
    S, used, _ = unit_diagonal(M)
    inside = np.flatnonzero(weights[used] != 0.0)
    if inside.size < 2:
        return ()
    factor, pivots, rank, _ = lapack.dpstrf(S[np.ix_(inside, inside)], tol=tolerance)
    if rank == inside.size:
        return ()
    # Columns beyond the rank are combinations of the first ones; rows with a share are involved.
    shares = solve_triangular(factor[:rank, :rank], factor[:rank, rank:])
    involved = np.ones(inside.size, dtype=bool)
    involved[:rank] = np.abs(shares).max(axis=1) > 1e-6
    members = used[inside[pivots[involved] - 1]]
    return tuple(sorted(int(k) for k in members))
