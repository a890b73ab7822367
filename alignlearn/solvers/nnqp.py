"""Nonnegative quadratic programming with a possibly singular matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._text import Result
from alignlearn.validation import check_number, warn_unconverged

from . import nnqp_pivot as lapack
from .nnqp_pivot import DONE, INDEFINITE, gradient

_EPS = np.finfo(np.float64).eps
_RETRIES = 3
_BLOCKS = 16  # variables from which exchanges in blocks save factorizations
# Up to this many variables, the cost of a pass over all of M is negligible.
_SMALL = 256
_ASYMMETRY_TOLERANCE = 1e-8
_PSD_TOLERANCE = 1e-6
_ZERO_TOLERANCE = 1e-12
_IDENTICAL_TOLERANCE = 1e-13
_CHECKED = 128  # rows and columns at once: a few such blocks fit into the cache


@dataclass(frozen=True)
class NonnegativeQPResult(Result):
    """Solution of ``min v'Mv - 2 v'a, v >= 0`` and its certificate.

    Attributes
    ----------
    v : ndarray of shape (p,), float64
        The minimizer. If it is not unique, variables with equal rows of ``M`` and equal ``a``
        (after scaling) share their weight, and the rest is close to the minimum-norm solution.
    kkt_residual : float
        With ``S = D M D``, ``b = D a``, ``u = v / D`` for ``D = diag(M)^-1/2`` and the gradient
        ``g = b - S u``: the largest of ``|g_k|`` where ``u_k > 0`` and ``max(g_k, 0)`` where
        ``u_k = 0``, divided by ``max |b|``. It does not change when kernels or ``a`` are rescaled.
    duality_gap : float
        ``2 (|u'g| + |u|_1 max_k max(g_k, 0)) / (v'a)``: a relative bound on the distance of the
        objective from its minimum (by convexity, for minimizers of no larger 1-norm).
    n_iter : int
        Linear systems solved.
    converged : bool
        The residual is within ``tol``, or within the rounding error of the gradient if that is
        larger (at most 1e-10).
    """

    v: np.ndarray
    kkt_residual: float
    duality_gap: float
    n_iter: int
    converged: bool


def nonnegative_qp(M, a, *, tol=1e-12, max_iter=None, check_psd=True):
    """Minimize ``v'Mv - 2 v'a`` over ``v >= 0`` for a symmetric positive semi-definite ``M``.

    The problem is scaled to a unit diagonal, so the answer does not depend on the units of the
    variables. ``M`` may be singular: a proximal-point iteration (Rockafellar 1976) adds
    ``delta |u - u_t|^2``, with ``delta = 1e-12``, or more if rounding has made ``M`` indefinite.
    Every subproblem is then strictly convex and has a residual of ``delta |u_{t+1} - u_t|``;
    usually one or two rounds suffice. A subproblem is solved by block principal pivoting (Portugal,
    Judice and Vicente 1994) if many variables are positive, and by the active-set method of Lawson
    and Hanson (1974) otherwise.

    Parameters
    ----------
    M : array_like of shape (p, p)
        Symmetric, positive semi-definite up to ``1e-6`` after scaling to a unit diagonal.
    a : array_like of shape (p,)
        Linear term, in the range of ``M`` for the minimum to exist.
    tol : float, default 1e-12
        Accepted ``kkt_residual``.
    max_iter : int, optional
        Maximum number of linear systems. Default: ``20 p + 200``.
    check_psd : bool, default True
        Check by a factorization of ``M`` that it is positive semi-definite. False saves ``p^3 / 3``
        operations if this is known. The block of positive variables is always checked, and symmetry
        and the 2 x 2 minors everywhere (for p > 256 only in the rows of the positive variables, on
        which the solution depends).

    Returns
    -------
    NonnegativeQPResult

    Raises
    ------
    ValueError
        Wrong shapes, NaN or inf, ``M`` not symmetric or not positive semi-definite, an unbounded
        objective (``M_kk = 0`` and ``a_k > 0``).

    Warns
    -----
    ConvergenceWarning
        The residual is above ``tol``; the message states it.
    """
    M, a = _check_arrays(M, a)
    tol = check_number("tol", tol, low=0.0, strict=True)
    limit = (
        20 * a.size + 200 if max_iter is None else int(check_number("max_iter", max_iter, low=1))
    )
    d = unit_scale(M, a)
    b = d * a
    size = np.abs(b).max()
    whole = check_psd or a.size <= _SMALL or _has_ties(b, _IDENTICAL_TOLERANCE * size)
    close = False
    if whole:
        M, close = _check_matrix(M, d)
    if check_psd:
        _check_psd(M, d)
    if size == 0.0 or b.max() <= 0.0:
        return NonnegativeQPResult(np.zeros(a.size), 0.0, 0.0, 0, True)
    b /= size
    first = np.arange(a.size)
    if close:
        first = _representatives(M, d, b, _IDENTICAL_TOLERANCE)
    usable = (d > 0.0) & (first == np.arange(a.size))
    # Proximal points: delta grows by 10 whenever a factorization finds M indefinite and, at most
    # _RETRIES times, if rounding keeps the residual above tol.
    delta, n_iter, best, least, retries = 1e-12, 0, None, np.inf, _RETRIES
    u, k = np.zeros(b.size), int(np.where(usable, b, 0.0).argmax())
    u[k] = b[k]  # the first variable to enter, alone
    while delta <= _PSD_TOLERANCE:
        found, n = _rounds(M, d, b, u, usable, delta, tol, limit - n_iter)
        n_iter += n
        if found is not None:
            residual = _residual(gradient(M, d, b, found), found)
            if residual < least:
                best, least, u = found, residual, found
            if retries == 0 or residual <= _accepted(found, tol) or n_iter >= limit:
                break
            retries -= 1
        delta *= 10.0
    if best is None:
        raise ValueError(
            "M is not positive semi-definite: the block of positive variables, scaled to a unit "
            f"diagonal, has an eigenvalue below -{_PSD_TOLERANCE:g}."
        )
    if not whole:
        _check_rows(M, d, np.flatnonzero(best))
    u = best[first] / np.bincount(first, minlength=a.size)[first]
    return _result(M, d, b, u, size, n_iter, tol)


def _result(M, d, b, u, size, n_iter, tol):
    g = gradient(M, d, b, u)
    residual = _residual(g, u)
    value = b @ u
    slack = 2.0 * (abs(u @ g) + u.sum() * max(g[d > 0].max(), 0.0))
    gap = slack / value if value > 0.0 else np.inf
    converged = residual <= _accepted(u, tol)
    if not converged:
        reached, remedy = (
            ("a relative KKT residual of", residual),
            "scale the kernels, or raise tol",
        )
        warn_unconverged("nonnegative_qp", f"{n_iter} solves", *reached, tol, remedy)
    return NonnegativeQPResult(d * u * size, residual, gap, n_iter, bool(converged))


def _residual(g, u):
    return float(np.where(u > 0.0, np.abs(g), g).max(initial=0.0))


def _accepted(u, tol):
    """The residual that is accepted: ``tol``, or what rounding leaves in the gradient if more."""
    return max(tol, min(4.0 * _EPS * max(1.0, u.sum()), 1e-10))


def _rounds(M, d, b, u, usable, delta, tol, limit):
    """Proximal rounds with one ``delta``; None if it is too small.

    They start from a feasible point: exact for many variables, or near the feasible ``u``.
    """
    face, n_iter = None, 0
    start = u > 0.0
    if u.size >= _BLOCKS:
        face, n_iter, start = lapack.block_pivoting(M, d, b, delta, u, usable, 0.1 * tol, limit)
    index = np.flatnonzero(start)
    while face is None:  # variables that are negative at the minimizer on the face leave it
        n_iter += 1
        R = lapack.factor(M, d, index, delta) if index.size else np.empty((0, 0))
        if R is None:
            return None, n_iter
        x = lapack.solve(R, b[index]) if index.size else np.empty(0)
        face = (index, x, R) if (x > 0.0).all() else None
        index = index[x > 0.0]
    index, x, R = face
    u = np.zeros(u.size)
    u[index] = x
    best, least, face = u, np.inf, (index, R)
    center = np.zeros(u.size)
    for _ in range(30):
        problem, threshold = (M, d, b + delta * center), max(0.1 * tol, _EPS * max(1.0, u.sum()))
        given = problem, delta, u, usable, face, threshold, limit - n_iter
        status, face, n = lapack.active_set(*given)
        n_iter += n
        if status == INDEFINITE:
            return None, n_iter
        residual = _polish(M, d, b, u, *face, usable)
        stalled = residual > 0.5 * least
        if residual < least:
            best, least = u.copy(), residual
        if residual <= tol or stalled or status != DONE:
            break
        center = u.copy()
    return best, n_iter


def _polish(M, d, b, u, index, R, usable):
    """Refine ``u`` on its face (each pass is a proximal step too); return the KKT residual."""
    R = np.asfortranarray(R.T).T
    for _ in range(4):
        g = gradient(M, d, b, u)
        residual = _residual(g[usable], u[usable])
        face = np.abs(g[index]).max(initial=0.0)
        if face <= 4.0 * _EPS or index.size == 0:
            break
        trial = u[index] + lapack.solve(R, g[index])
        after = u.copy()
        after[index] = trial
        if trial.min() <= 0.0:
            break
        h = gradient(M, d, b, after)
        if np.abs(h[index]).max() > 0.5 * face:
            break
        u[index] = trial
        residual = _residual(h[usable], u[usable])
    return residual


def _check_arrays(M, a):
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
        A diagonal entry is negative, or it is 0 and its row or its ``a_k`` is not. Then ``M`` is
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
    if (rows > _ZERO_TOLERANCE * norm).any() or np.isnan(rows).any():
        k = int(zero[rows.argmax()])
        raise ValueError(
            f"M is not positive semi-definite: M[{k}, {k}] is 0 but row {k} is not "
            f"(tolerance {_ZERO_TOLERANCE:g})."
        )
    unbounded = zero[a[zero] > _ZERO_TOLERANCE * np.abs(a).max()]
    if unbounded.size:
        k = int(unbounded[0])
        raise ValueError(
            f"The objective is unbounded below: M[{k}, {k}] is 0 but a[{k}]={a[k]:.3g} is positive."
        )


def _check_matrix(M, d):
    """Check symmetry and every 2 x 2 minor; return ``M`` (symmetrized if necessary).

    Returns
    -------
    M : ndarray of shape (p, p)
    close : bool
        Whether a scaled entry off the diagonal is at least ``1 - 1e-12``.
    """
    asymmetry, largest, close = 0.0, 0.0, False
    blocks = [slice(i, i + _CHECKED) for i in range(0, d.size, _CHECKED)]
    with np.errstate(invalid="ignore", over="ignore"):
        for k, rows in enumerate(blocks):
            for columns in blocks[k:]:
                scale = d[rows, None] * d[columns]
                x = M[rows, columns] * scale
                difference = float(np.abs(x - M[columns, rows].T * scale).max())
                size = float(np.abs(x).max())
                _refuse(difference, size)
                asymmetry, largest = max(asymmetry, difference), max(largest, size)
                near = x >= 1.0 - 1e-12
                own = np.count_nonzero(near.diagonal()) if rows == columns else 0
                close = close or np.count_nonzero(near) > own
    return (M + M.T) / 2 if asymmetry > 0.0 else M, close


def _refuse(asymmetry, largest):
    """Raise if a scaled asymmetry or entry is too large for a positive semi-definite matrix."""
    if not np.isfinite(asymmetry) or not np.isfinite(largest):
        raise ValueError("M contains NaN or inf; accepted: finite numbers.")
    if asymmetry > _ASYMMETRY_TOLERANCE:
        raise ValueError(
            f"M is not symmetric: |M_kl - M_lk| / sqrt(M_kk M_ll) reaches {asymmetry:.3g}; "
            f"accepted: at most {_ASYMMETRY_TOLERANCE:g}."
        )
    if largest > 1.0 + _PSD_TOLERANCE:
        raise ValueError(
            f"M is not positive semi-definite: |M_kl| / sqrt(M_kk M_ll) reaches {largest:.6g}; "
            f"accepted: at most 1 + {_PSD_TOLERANCE:g}."
        )


def _has_ties(b, tolerance):
    """Whether two entries differ by at most ``tolerance``: identical variables have equal ones."""
    return bool((np.diff(np.sort(b)) <= tolerance).any())


def _check_rows(M, d, index):
    """:func:`check_matrix` for some rows and the same columns, or for all if they are many."""
    if 16 * index.size > d.size:
        _check_matrix(M, d)
        return
    scale = d[index, None] * d
    rows, columns = M[index] * scale, M[:, index].T * scale
    _refuse(
        np.abs(rows - columns).max(initial=0.0),
        max(np.abs(rows).max(initial=0.0), np.abs(columns).max(initial=0.0)),
    )


def _check_psd(M, d):
    """Raise unless ``diag(d) M diag(d) + 1e-6 I`` has a Cholesky factor."""
    from scipy.linalg import eigvalsh, lapack

    used = np.flatnonzero(d > 0.0)
    S = M[np.ix_(used, used)] * d[used][:, None] * d[used]
    S.flat[:: used.size + 1] += _PSD_TOLERANCE
    _, info = lapack.dpotrf(S.T, overwrite_a=0)
    if info:
        smallest = eigvalsh(S, subset_by_index=(0, 0))[0] - _PSD_TOLERANCE
        raise ValueError(
            f"M is not positive semi-definite: scaled to a unit diagonal its smallest eigenvalue "
            f"is {smallest:.3g}; accepted: at least -{_PSD_TOLERANCE:g}."
        )


def _representatives(M, d, a, tolerance):
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
