"""Dense systems: singular to working precision, or shifted by many alphas."""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit, jit_sum
from alignlearn._lapack import (
    cholesky,
    cholesky_solve,
    group_reflectors,
    rotate,
    smallest_of_tridiagonal,
    svd,
    tridiagonalize,
)

_SMALL = 500  # size of systems that NumPy solves in a moment
# (rows, shifts): from so many rows on, one factorization for each of up to so many shifts is faster
# than one reduction. With four shifts in float64 they take 1.0, 0.94, 0.76, 0.55 and 0.42 of the
# time for 600, 1000, 1600, 2500 and 4000 rows, and with seven in float32 0.89, 0.84, 0.56 and 0.41
# from 1000 on (one thread; less with more, which share a factorization).
_FACTORED = {
    np.float64: ((200, 3), (1000, 4), (2500, 7), (4000, 9)),
    np.float32: ((1000, 7), (2500, 12), (4000, 16)),
}
# Ratio of alpha to the trace from which factors in float32 change the errors of models by less than
# 0.1% (measured with 1600 rows of three tables and four widths; by less than 0.01% from 1e-6 on).
_ROUGH = 3e-7
_TILE = 32  # rows and columns that are transposed at once
_BLOCK = 2**19  # entries of the block whose quadratic forms are summed at once: 4 MB


def solve_or_least_squares(A, b):
    """Solve ``A x = b``; if A is singular, return the least-squares solution of minimum norm."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return least_squares(A, b)


def least_squares(A, b):
    """The minimum-norm least-squares solution (n,) of ``A x = b``, which Ctrl-C can interrupt."""
    if max(A.shape) <= _SMALL:
        return np.linalg.lstsq(A, b, rcond=None)[0]
    U, s, V = svd(np.array(A, dtype=np.float64, order="C"), min(A.shape))
    used = s > max(A.shape) * np.finfo(np.float64).eps * s[0]
    return V[:, used] @ ((U[:, used].T @ b) / s[used])


def factor_damped(A, share=1e-8):
    """Factor, for `alignlearn._lapack.cholesky_solve`, of A plus a share of its mean diagonal.

    The share is multiplied by 100 until the sum is definite (for indefinite kernels, or rounding of
    ill-conditioned ones). A is symmetric, in C order, and not modified.
    """
    unit = max(abs(float(np.trace(A))) / len(A), float(np.abs(A).max()) * 1e-8, 1e-300)
    while True:
        damped = A.copy()
        damped.flat[:: len(A) + 1] += share * unit
        if cholesky(damped) or share * unit > 1e300:
            return damped
        share *= 100.0


def shifted(A, n_alphas):
    """A solver of ``(A + alpha I) X = B`` for so many alphas; A is overwritten."""
    few = is_factored(len(A), n_alphas, A.dtype) or A.dtype == np.float32
    return ShiftedFactors(A) if few else ShiftedInverse(A)


def is_factored(m, n_alphas, dtype=np.float64):
    """Whether `shifted` systems of m equations are solved by one factorization for each alpha."""
    known = _FACTORED[np.dtype(dtype).type]
    return n_alphas <= max((shifts for rows, shifts in known if m >= rows), default=0)


def rounds_well(alpha, trace):
    """Whether a factor of ``A + alpha I`` in float32 serves models that are only compared."""
    return alpha >= _ROUGH * trace


class ShiftedFactors:
    """``(A + alpha I)^-1`` for few alpha, by one Cholesky factor for each.

    Parameters
    ----------
    A : ndarray of shape (m, m)
        Symmetric, in C order; overwritten. If it is float32, so are the factors for each alpha for
        which `rounds_well` is true.
    """

    def __init__(self, A):
        self._A, self._diagonal, self._is_whole = A, A.diagonal().astype(np.float64), True
        self.rounding = _rounding(A)

    def solve(self, target, alphas, rounding=0.0):
        """``(A + alpha I)^-1 target``, (m, c), for each alpha: (m, n_alphas, c).

        Infinity if the sum has a pivot of at most ``rounding``.
        """
        out = np.full((len(self._A), len(alphas), target.shape[1]), np.inf)
        for k, alpha in enumerate(alphas):
            rough = self._A.dtype == np.float32 and rounds_well(alpha, self._diagonal.sum())
            if not (rough and self._solve(self._shifted(alpha), target, rounding, out[:, k])):
                A = self._shifted(alpha)
                if self._A.dtype == np.float32:
                    A, self._is_whole = A.astype(np.float64), True
                    A.flat[:: len(A) + 1] = self._diagonal + alpha
                self._solve(A, target, rounding, out[:, k])
        return out

    def _shifted(self, alpha):
        if not self._is_whole:
            _restore_upper(self._A)
        self._is_whole = False
        self._A.flat[:: len(self._A) + 1] = self._diagonal + alpha
        return self._A

    def _solve(self, A, target, rounding, out):
        """Put a solution into ``out`` and return True, if A is definite."""
        definite = cholesky(A) and np.square(A.diagonal()).min() > rounding
        if definite:
            out[:] = cholesky_solve(A, target)
        return definite


def _rounding(A):
    """The rounding error of the eigenvalues of a symmetric matrix in float64."""
    return len(A) * np.finfo(np.float64).eps * np.abs(np.diagonal(A)).max(initial=0.0)


@jit
def _restore_upper(A):
    """Copy the lower triangle, which `cholesky` does not change, to the upper one."""
    m = len(A)
    for i in range(0, m, _TILE):
        for j in range(0, i + 1, _TILE):
            for r in range(i, min(i + _TILE, m)):
                for c in range(j, min(j + _TILE, r)):
                    A[c, r] = A[r, c]


class ShiftedInverse:
    """``(A + alpha I)^-1`` for many alpha, from one reduction ``Q'AQ = T`` to tridiagonal form.

    ``(T + alpha I)^-1 Q'b`` is a solve of O(m), and ``b'(A + alpha I)^-1 b`` a sum of squares from
    the factor of ``T + alpha I``. Q overwrites A. The reduction takes about as long as ten
    Cholesky factorizations. An eigendecomposition takes longer, and needs two matrices.

    Parameters
    ----------
    A : ndarray of shape (m, m)
        Symmetric float64 in C order; overwritten.
    """

    def __init__(self, A):
        self.rounding = _rounding(A)
        self._diagonal, self._beside, tau = tridiagonalize(A)
        self._below = self._beside if self._beside.size else np.zeros(1)  # LAPACK takes none empty
        self._reflectors = A, group_reflectors(A, tau)

    def smallest_eigenvalue(self):
        """Smallest eigenvalue of A."""
        return smallest_of_tridiagonal(self._diagonal, self._beside)

    def lift(self, amount):
        """Add a number to the diagonal of A."""
        self._diagonal += amount

    def solve(self, target, alphas, rounding=0.0):
        """``(A + alpha I)^-1 target``, (m, c), for each alpha: (m, n_alphas, c).

        Infinity if the sum has a pivot of at most ``rounding``.
        """
        from scipy.linalg import lapack

        rotated = np.array(target, dtype=np.float64, order="C")
        rotate(*self._reflectors, rotated, transpose=True)
        out, usable = np.zeros((len(rotated), len(alphas), rotated.shape[1])), []
        for k, alpha in enumerate(alphas):
            pivots, _, x, info = lapack.dptsv(self._diagonal + alpha, self._below, rotated)
            usable.append(not info and pivots.min() > rounding)
            if usable[-1]:
                out[:, k] = x
        rotate(*self._reflectors, out.reshape(len(out), -1))
        out[:, ~np.array(usable)] = np.inf
        return out

    def quadratic(self, columns, n_columns, alphas):
        """``z'(A + alpha I)^-1 z`` for the columns z of a matrix: (n_alphas, n_columns).

        Parameters
        ----------
        columns : callable
            ``columns(i, j)``: columns i to j - 1, a float64 array (m, j - i) in C order that may be
            overwritten.
        n_columns : int
        alphas : sequence of float
            Where ``A + alpha I`` is positive definite.
        """
        from scipy.linalg import lapack

        factors = [lapack.dpttrf(self._diagonal + alpha, self._below)[:2] for alpha in alphas]
        pivots, lower = (np.array(parts) for parts in zip(*factors))
        out, step = np.empty((len(pivots), n_columns)), max(16, _BLOCK // len(self._diagonal))
        for i in range(0, n_columns, step):
            j = min(i + step, n_columns)
            rotated = columns(i, j)
            rotate(*self._reflectors, rotated, transpose=True)
            part, solved = np.zeros((2, len(pivots), j - i))
            _add_squares(rotated, lower, 1.0 / pivots, solved, part)
            out[:, i:j] = part
        return out


@jit_sum
def _add_squares(X, lower, weights, v, out):
    """Add ``|L_a^-1 x|^2`` to the weights of each a, for the columns x of X; L_a is bidiagonal.

    ``v`` is room for a row of every ``L_a^-1 X``, and 0.
    """
    for k in range(X.shape[0]):
        row = X[k]
        for a in range(out.shape[0]):
            below = lower[a, k - 1] if k > 0 else 0.0
            weight, va, out_a = weights[a, k], v[a], out[a]
            for s in range(row.size):
                va[s] = row[s] - below * va[s]
                out_a[s] += weight * va[s] * va[s]
