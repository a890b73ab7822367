"""Centred Gram matrices as ``ZZ'``, by eigenvectors or by pivoted Cholesky."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from alignlearn.dependence.views import centred_gram, constant_view, naming
from alignlearn.engine import cpu
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.validation import ConvergenceWarning, check_psd, take
from alignlearn.validation.grams import tolerance

# Least trace of what centring leaves, of that of the kernel: below, it is rounding.
_FLAT = 64 * np.finfo(np.float64).eps


class Factor(NamedTuple):
    """``Kc ~ ZZ'`` for a centred Gram matrix of N samples, with ``Z'Z`` diagonal.

    Attributes
    ----------
    Z : ndarray of shape (N, r)
    values : ndarray of shape (r,)
        Diagonal of ``Z'Z``, the eigenvalues of ``ZZ'``, all positive.
    gram : ndarray of shape (N, N), or None
        Kc itself, where it was formed.
    landmarks : ndarray of shape (l,)
        Samples whose kernel values give the features of new ones.
    to_landmarks : ndarray of shape (l, r)
        Coefficients of the landmarks for each column of Z, up to a constant.
    missed : float
        Trace of ``Kc - ZZ'``, or more.
    """

    Z: np.ndarray
    values: np.ndarray
    gram: np.ndarray | None
    landmarks: np.ndarray
    to_landmarks: np.ndarray
    missed: float

    def times(self, x):
        """``Kc x``, or ``ZZ'x`` where Kc was not formed."""
        return self.Z @ (self.Z.T @ x) if self.gram is None else self.gram @ x


def exact_factor(source, name):
    """The factor from all eigenvectors; O(N^3) time, three N x N matrices.

    Raises
    ------
    ValueError
        The kernel is constant on the samples, or indefinite.
    """
    from scipy.linalg import eigh

    K, dtype = centred_gram(source, name)
    N = len(K)
    values, vectors = eigh(K, check_finite=False)
    if values[0] < -tolerance(dtype) * max(values[-1], np.trace(K) / N):
        with naming(name):
            check_psd("the centred kernel matrix", K, dtype)
    rounding = N * np.finfo(np.float64).eps * values[-1]
    if dtype == np.float32:
        rounding = max(rounding, np.finfo(dtype).eps * np.linalg.norm(values))
    used = values > rounding
    values, vectors = values[used], vectors[:, used]
    Z = vectors * np.sqrt(values)
    return Factor(Z, values, K, np.arange(N), Z / values, 0.0)


def low_rank_factor(source, name, tol, max_rank):
    """The factor from few columns of the Gram matrix; O(N r^2) time, two N x r matrices.

    Raises
    ------
    ValueError
        As in `exact_factor`.

    Warns
    -----
    ConvergenceWarning
        ``max_rank`` columns leave more than ``tol`` of the trace.
    """
    from scipy.linalg import eigh, solve_triangular

    kernels, X = source.kernels, source.X
    with naming(name):
        found = pivoted_cholesky(
            cpu.gram_diagonals(kernels, X)[0],
            lambda index: cpu.weighted_gram(kernels, [1.0], X, take(X, index)),
            submatrix=lambda index: cpu.weighted_gram(kernels, [1.0], take(X, index)),
            tol=tol,
            max_rank=max_rank,
        )
    if not found.converged:
        warnings.warn(
            f"{name}: {found.pivots.size} columns (max_rank) of the Gram matrix leave "
            f"{found.trace_error / found.trace:.2g} of its trace, more than tol={tol:g}; "
            "error_bound_ says what that may change. Raise max_rank or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    L = found.factor - found.factor.mean(axis=0)
    values, V = eigh(L.T @ L, check_finite=False) if L.size else (np.zeros(0), np.zeros((0, 0)))
    total = float(values.sum())
    if not total > _FLAT * found.trace:
        raise constant_view(name, source)
    used = values > len(values) * np.finfo(np.float64).eps * values[-1]
    values, V = values[used], V[:, used]
    to_landmarks = solve_triangular(found.pivot_factor, V, lower=True, trans=1)
    return Factor(L @ V, values, None, found.pivots, to_landmarks, found.trace_error)
