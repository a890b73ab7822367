"""What the nonnegative quadratic program asks of its matrix, checked in passes of O(p^2)."""

from __future__ import annotations

import numpy as np

ASYMMETRY_TOLERANCE = 1e-8
PSD_TOLERANCE = 1e-6
ZERO_TOLERANCE = 1e-12
IDENTICAL_TOLERANCE = 1e-13
_BLOCK = 128  # rows and columns at once: a few such blocks fit into the cache


def check_arrays(M, a):
    """Return ``M`` (p, p) and ``a`` (p,) as float64 arrays in C order; ``a`` is finite."""
    a = np.asarray(a, dtype=np.float64)
    M = np.ascontiguousarray(M, dtype=np.float64)
    if a.ndim != 1 or a.size == 0:
        raise ValueError(f"a must have shape (p,) with p >= 1, got shape {a.shape}.")
    if M.shape != (a.size, a.size):
        raise ValueError(f"M must have shape ({a.size}, {a.size}) to match a, got {M.shape}.")
    if not np.isfinite(a).all():
        raise ValueError("a contains NaN or inf; accepted: finite numbers.")
    return M, a


def unit_scale(M, a):
    """Return ``d`` with ``d_k = M_kk^-1/2``, or 0 where ``M_kk`` is 0.

    Raises
    ------
    ValueError
        A diagonal entry is negative, or it is 0 while its row or its ``a_k`` is not: then ``M`` is
        not positive semi-definite, or the minimum is minus infinity.
    """
    diagonal = np.diagonal(M)
    if not np.isfinite(diagonal).all():
        raise ValueError("M contains NaN or inf on its diagonal; accepted: finite numbers.")
    largest = diagonal.max()
    if diagonal.min() < -1e-14 * max(largest, 0.0):
        k = int(diagonal.argmin())
        raise ValueError(
            f"M is not positive semi-definite: M[{k}, {k}]={diagonal[k]:.3g} is negative."
        )
    positive = diagonal > 0.0
    d = np.zeros(a.size)
    d[positive] = 1.0 / np.sqrt(diagonal[positive])
    if not positive.all():
        _check_zero_rows(M, a, d, np.flatnonzero(~positive), np.sqrt(max(largest, 0.0)))
    return d


def _check_zero_rows(M, a, d, zero, norm):
    rows = np.abs(M[zero] * d).max(axis=1)
    if (rows > ZERO_TOLERANCE * norm).any() or np.isnan(rows).any():
        k = int(zero[rows.argmax()])
        raise ValueError(
            f"M is not positive semi-definite: M[{k}, {k}] is 0 but row {k} is not "
            f"(tolerance {ZERO_TOLERANCE:g})."
        )
    unbounded = zero[a[zero] > ZERO_TOLERANCE * np.abs(a).max()]
    if unbounded.size:
        k = int(unbounded[0])
        raise ValueError(
            f"The objective is unbounded below: M[{k}, {k}] is 0 but a[{k}]={a[k]:.3g} is positive."
        )


def check_matrix(M, d):
    """Check symmetry and every 2 x 2 minor; return ``M`` (symmetrised if it has to be).

    Returns
    -------
    M : ndarray of shape (p, p)
    close : bool
        Whether a scaled entry off the diagonal is at least ``1 - 1e-12``.
    """
    asymmetry, largest, close = _inspect(M, d)
    _refuse(asymmetry, largest)
    return (M + M.T) / 2 if asymmetry > 0.0 else M, close


def _refuse(asymmetry, largest):
    """Raise if a scaled asymmetry or entry is too large for a positive semi-definite matrix."""
    if not np.isfinite(asymmetry) or not np.isfinite(largest):
        raise ValueError("M contains NaN or inf; accepted: finite numbers.")
    if asymmetry > ASYMMETRY_TOLERANCE:
        raise ValueError(
            f"M is not symmetric: |M_kl - M_lk| / sqrt(M_kk M_ll) reaches {asymmetry:.3g}; "
            f"accepted: at most {ASYMMETRY_TOLERANCE:g}."
        )
    if largest > 1.0 + PSD_TOLERANCE:
        raise ValueError(
            f"M is not positive semi-definite: |M_kl| / sqrt(M_kk M_ll) reaches {largest:.6g}; "
            f"accepted: at most 1 + {PSD_TOLERANCE:g}."
        )


def has_ties(b, tolerance):
    """Whether two entries differ by at most ``tolerance``: identical variables have equal ones."""
    return bool((np.diff(np.sort(b)) <= tolerance).any())


def check_rows(M, d, index):
    """:func:`check_matrix` for some rows and the columns of the same numbers; of all if many."""
    if 16 * index.size > d.size:
        check_matrix(M, d)
        return
    scale = d[index, None] * d
    rows, columns = M[index] * scale, M[:, index].T * scale
    _refuse(
        np.abs(rows - columns).max(initial=0.0),
        max(np.abs(rows).max(initial=0.0), np.abs(columns).max(initial=0.0)),
    )


def _inspect(M, d):
    """Largest scaled asymmetry, largest scaled entry, whether an entry is near 1."""
    asymmetry, largest, close = 0.0, 0.0, False
    blocks = [slice(i, i + _BLOCK) for i in range(0, d.size, _BLOCK)]
    with np.errstate(invalid="ignore", over="ignore"):
        for k, rows in enumerate(blocks):
            for columns in blocks[k:]:
                scale = d[rows, None] * d[columns]
                x = M[rows, columns] * scale
                difference = float(np.abs(x - M[columns, rows].T * scale).max())
                size = float(np.abs(x).max())
                if not (difference < np.inf and size < np.inf):  # also where one is NaN
                    return np.nan, np.nan, False
                asymmetry, largest = max(asymmetry, difference), max(largest, size)
                near = x >= 1.0 - 1e-12
                own = np.count_nonzero(near.diagonal()) if rows == columns else 0
                close = close or np.count_nonzero(near) > own
    return asymmetry, largest, close


def check_psd(M, d):
    """Raise unless ``diag(d) M diag(d) + 1e-6 I`` has a Cholesky factor."""
    from scipy.linalg import eigvalsh, lapack

    used = np.flatnonzero(d > 0.0)
    S = M[np.ix_(used, used)] * d[used][:, None] * d[used]
    S.flat[:: used.size + 1] += PSD_TOLERANCE
    _, info = lapack.dpotrf(S.T, overwrite_a=0)
    if info:
        smallest = eigvalsh(S, subset_by_index=(0, 0))[0] - PSD_TOLERANCE
        raise ValueError(
            f"M is not positive semi-definite: scaled to a unit diagonal its smallest eigenvalue "
            f"is {smallest:.3g}; accepted: at least -{PSD_TOLERANCE:g}."
        )


def representatives(M, d, a, tolerance):
    """For every variable the first one with the same scaled row and the same ``a``, or itself.

    ``a`` is scaled and of unit largest entry. Rows are compared entry by entry, so that moving
    weight between two variables of a group changes no gradient by more than ``tolerance``.
    """
    first = np.arange(d.size)
    used = np.flatnonzero(d)
    order = used[np.argsort(a[used])]
    runs = np.split(order, np.flatnonzero(np.diff(a[order]) > tolerance) + 1)
    for run in (np.sort(run) for run in runs if run.size > 1):
        while run.size > 1:
            k, others = run[0], run[1:]
            close = (d[k] * d[others] * M[k, others] >= 1.0 - 1e-12) & (
                np.abs(a[others] - a[k]) <= tolerance
            )
            row = d[k] * M[k]
            for j in others[close]:
                if (np.abs(row - d[j] * M[j]) * d).max() <= tolerance:
                    first[j] = k
            run = others[first[others] == others]
    return first
