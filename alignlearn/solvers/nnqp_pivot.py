"""The nonnegative quadratic program on LAPACK factorizations of the positive variables' block.

Block principal pivoting makes many exchanges per factorization, for large supports. The active-set
method makes one exchange at a time.
"""

from __future__ import annotations

import numpy as np

DONE, INDEFINITE, EXHAUSTED = 0, 1, 2
TINY = np.finfo(np.float64).tiny
# Compiled loops that update the factor at each exchange were not faster in general: 0.4 to 40 ms
# for 100 to 1500 variables instead of 0.5 to 61 ms, but 0.1 to 4.5 s for 3000 instead of 0.1 to
# 1 s, and up to 15 s for matrices of low rank instead of 0.6 s. They took seconds to compile.
_MANY = 64  # variables from which products with M are worth saving
_PATIENCE = 8  # rounds of block exchanges without progress
_ENTERING = 16  # of many variables, how many enter at once, or as many as there are


def factor(M, d, index, delta):
    """Upper Cholesky factor (C order) of ``S_PP + delta I``, or None if it is not definite."""
    from scipy.linalg import lapack

    S = M[index[:, None], index]
    S *= d[index][:, None]
    S *= d[index]
    S.flat[:: index.size + 1] += delta
    # The transpose of a C-ordered array is Fortran-ordered: LAPACK works in place.
    lower, info = lapack.dpotrf(S.T, lower=1, overwrite_a=1)
    return None if info else lower.T


def extended(M, d, index, R, j, delta):
    """The factor ``R`` for ``index`` extended by variable ``j``, or None if that fails."""
    from scipy.linalg import lapack

    s = index.size
    larger = np.zeros((s + 1, s + 1))
    larger[:s, :s] = R
    x = larger[:s, s]
    if s:
        x[:] = lapack.dtrtrs(R.T, d[j] * M[j, index] * d[index], lower=1)[0]
    pivot = 1.0 + delta - x @ x
    if not pivot > 0.1 * delta:
        return None
    larger[s, s] = np.sqrt(pivot)
    return larger


def solve(R, b):
    """Solve ``R'R x = b``."""
    from scipy.linalg import lapack

    return lapack.dpotrs(R.T, b, lower=1)[0]


def gradient(M, d, b, u):
    """``b - S u``, from only the necessary rows of ``M`` if they are few."""
    used = np.flatnonzero(u)
    if u.size <= _MANY or 4 * used.size > u.size:
        return b - d * (M @ (d * u))
    return b - d * ((d[used] * u[used]) @ M[used])


def block_pivoting(M, d, b, delta, v, usable, threshold, max_iter=50):
    """Look for the solution of ``(S + delta I)v - b >= 0, v >= 0`` by exchanging blocks.

    Portugal, Judice and Vicente (1994): every negative variable leaves, and every one whose
    gradient is above ``threshold`` enters. Without progress in a few rounds it stops, and the
    active-set method, which cannot cycle, continues.

    Returns
    -------
    (index, x, R) or None, n_factorizations, support
        The support, its values, its factor; and a support (p,) from which to continue.
    """
    support, many = v > 0.0, v.size > _MANY
    patience = rounds = _PATIENCE if many else 2
    best, fewest = support, v.size + 1
    for n_factorizations in range(1, min(max_iter, 50) + 1):
        index = np.flatnonzero(support)
        R = factor(M, d, index, delta)
        if R is None:
            return None, n_factorizations, v > 0.0
        x = solve(R, b[index])
        trial = np.zeros(v.size)
        trial[index] = x
        g = gradient(M, d, b, trial)
        enters = usable & ~support & (g > threshold)
        wrong = (trial < 0.0) | enters
        n_wrong = np.count_nonzero(wrong)
        if n_wrong == 0:
            return (index, x, R), n_factorizations, support
        if many and n_wrong < fewest:
            best = support.copy()
        patience = rounds if n_wrong < fewest else patience - 1
        fewest = min(fewest, n_wrong)
        if patience == 0:
            break
        most = max(_ENTERING, index.size)
        if many and np.count_nonzero(enters) > most:
            wrong[np.argsort(np.where(enters, -g, np.inf), kind="stable")[most:]] = False
            wrong |= trial < 0.0
        support = support ^ wrong
    return None, n_factorizations, best


def active_set(problem, delta, v, usable, face, threshold, max_iter):
    """Minimize ``v'(S + delta I)v - 2 v'b`` over ``v >= 0`` from a feasible ``v``, in place.

    Lawson and Hanson (1974, chapter 23): the variable of largest gradient enters, and those that
    would be negative at the minimizer on the face leave. ``problem`` is ``M, d, b``; ``face`` is
    ``index, R``, the positive variables and their factor. Stops when no usable variable at 0 has a
    gradient above ``threshold``.

    Returns
    -------
    status : int
        DONE, INDEFINITE (a pivot is not positive: ``delta`` is too small) or EXHAUSTED.
    face : (index, R)
    n_iter : int
        Linear systems solved.
    """
    M, d, b = problem
    allowed = usable.copy()
    face, n_iter = descend(problem, delta, v, *face)
    while face is not None:
        g = gradient(M, d, b, v)
        g[~allowed | (v > 0.0)] = -np.inf
        leader = int(g.argmax())
        if g[leader] <= threshold:
            return DONE, face, n_iter
        if n_iter >= max_iter:
            return EXHAUSTED, face, n_iter
        face, solves = descend(problem, delta, v, np.append(face[0], leader))
        n_iter += solves
        if v[leader] == 0.0:
            # The solution contradicts the sign of the gradient, so the leader is 0 up to rounding.
            allowed[leader] = False
        else:
            allowed[:] = usable
    return INDEFINITE, None, n_iter


def descend(problem, delta, v, index, R=None):
    """Move ``v`` to the minimizer on its face, dropping every variable that reaches 0 on the way.

    ``v`` is changed in place; ``R`` is the factor for ``index``, if it is known.

    Returns
    -------
    (index, R) or None, n_solves
        None if a pivot is not positive.
    """
    M, d, b = problem
    for n_solves in range(1, index.size + 1):
        if R is None:
            R = factor(M, d, index, delta)
        if R is None or R.diagonal().min() ** 2 <= 0.1 * delta:
            return None, n_solves
        x, z = v[index], solve(R, b[index])
        falls = z <= 0.0
        if not falls.any():
            v[index] = z
            return (index, R), n_solves
        # A variable that enters at 0 and would not increase leaves at once.
        ratio = np.full(x.size, np.inf)
        ratio[falls] = x[falls] / np.maximum(x[falls] - z[falls], TINY)
        alpha = ratio.min()
        # Rounding may not push a variable that stays below 0.
        v[index] = np.where(ratio <= alpha, 0.0, np.maximum(x + alpha * (z - x), TINY))
        index, R = index[ratio > alpha], None
    return (index, np.empty((0, 0))), index.size
