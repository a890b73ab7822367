"""Centered Gram matrices as ``ZZ'``, by eigenvectors or by pivoted Cholesky."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._lapack import eigh, lower_solve, product, self_product
from alignlearn.dependence.views import centered_gram, constant_view, naming
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.validation import ConvergenceWarning, warn

_INDEFINITE = 1e-8  # accepted size of a negative eigenvalue, relative to the largest one
# Smallest trace after centering, relative to that of the kernel; below, it is rounding.
_FLAT = 64 * np.finfo(np.float64).eps
_ANCHORS = 16  # candidates for the origin of the trace that tolerances are relative to


class Factor(NamedTuple):
    """``Kc ~ ZZ'`` for a centered Gram matrix of N samples, with ``Z'Z`` diagonal.

    Attributes
    ----------
    Z : ndarray of shape (N, r)
    values : ndarray of shape (r,)
        Diagonal of ``Z'Z``, the eigenvalues of ``ZZ'``, all positive.
    gram : ndarray of shape (N, N), or None
        Kc itself, if it was formed.
    landmarks : ndarray of shape (l,)
        Samples whose kernel values give the features of new ones.
    to_landmarks : ndarray of shape (l, r)
        Coefficients of the landmarks for each column of Z, up to a constant.
    missed : float
        Upper bound of the trace of ``Kc - ZZ'``.
    """

    Z: np.ndarray
    values: np.ndarray
    gram: np.ndarray | None
    landmarks: np.ndarray
    to_landmarks: np.ndarray
    missed: float

    def times(self, x):
        """``Kc x``, or ``ZZ'x`` if Kc was not formed."""
        return self.Z @ (self.Z.T @ x) if self.gram is None else self.gram @ x


def exact_factor(view, name):
    """The factor from all eigenvectors; O(N^3) time, three N x N matrices.

    Raises
    ------
    ValueError
        The kernel is constant on the samples, or indefinite.
    """
    K, rounding = centered_gram(view, name)
    N = len(K)
    values, vectors = eigh(K.copy())
    # Rounding errors of the entries may change an eigenvalue by this much.
    rounding *= N
    if values[0] < -max(_INDEFINITE * values[-1], rounding):
        raise ValueError(
            f"{name}: {view.source.names[0]} is not positive semi-definite on these "
            f"samples: the eigenvalues of its centered matrix range from {values[0]:.3g} "
            f"to {values[-1]:.3g}; accepted: a positive semi-definite kernel, or in "
            'place of a matrix K, Precomputed(K, fix="clip").'
        )
    used = values > max(rounding, N * np.finfo(np.float64).eps * values[-1])
    values, vectors = values[used], vectors[:, used]
    Z = vectors * np.sqrt(values)
    # Coefficients of functions on centered features sum to 0, which removes a kernel's constant.
    to_landmarks = Z / values
    to_landmarks -= to_landmarks.mean(axis=0)
    return Factor(Z, values, K, np.arange(N), to_landmarks, 0.0)


def low_rank_factor(view, name, tol, max_rank):
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
    found = _partial_cholesky(view, name, tol, max_rank)
    L = found.factor - found.factor.mean(axis=0)
    values, V = eigh(self_product(L.T))
    if not values.sum() > _FLAT * found.trace:
        raise constant_view(name, view)
    used = values > len(values) * np.finfo(np.float64).eps * values[-1]
    values, V = values[used], V[:, used]
    to_landmarks = lower_solve(found.pivot_factor, V, transposed=True)
    return Factor(product(L, V), values, None, found.pivots, to_landmarks, found.trace_error)


def _partial_cholesky(view, name, tol, max_rank):
    """The factor of the uncentered matrix, up to ``tol`` of the trace without a constant."""
    with naming(name):
        diagonal = view.diagonal()
        trace = _trace_about_a_sample(view, diagonal)
    total = float(diagonal.sum())
    if diagonal.min() >= 0.0 and not trace > _FLAT * total:
        raise constant_view(name, view)
    with naming(name):
        found = pivoted_cholesky(
            diagonal,
            lambda index: view.rows(index, exact=True).T,
            submatrix=lambda index: view.rows(index, index, exact=True),
            tol=tol * max(trace / total, 0.0) if total > 0.0 else tol,
            max_rank=max_rank,
        )
    if not found.converged:
        warn(
            (
                f"{name}: the approximation of the Gram matrix by {found.pivots.size} "
                f"columns (max_rank) misses {found.trace_error / trace:.2g} of its trace, "
                f"more than tol={tol:g}; error_bound_ bounds the effect on the correlations. "
                "Raise max_rank or tol."
            ),
            ConvergenceWarning,
        )
    return found


def _trace_about_a_sample(view, diagonal):
    """``sum_i |phi(x_i) - phi(a)|^2`` for the best of a few samples a: the trace without constants.

    At least the trace of the centered matrix, and about twice that for a typical sample.
    """
    N = diagonal.size
    anchors = np.unique(np.linspace(0, N - 1, _ANCHORS).astype(np.intp))
    sums = view.rows(anchors, exact=True).sum(axis=1, dtype=np.float64)
    return float((diagonal.sum() + N * diagonal[anchors] - 2.0 * sums).min())
