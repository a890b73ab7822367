"""Kernel ridge regression without the Gram matrix, by preconditioned conjugate gradients.

The preconditioner is a partial Cholesky factor of the matrix, ``K ~ LL'``, whose rank is what the
memory allows: a few columns of K are evaluated and kept, all other entries are computed again in
every step.

Source: Cutajar, Osborne, Cunningham and Filippone (2016), "Preconditioning kernel matrices".
"""

from __future__ import annotations

import numpy as np

from alignlearn.solvers.conjugate_gradient import (
    conjugate_gradient,
    low_rank_preconditioner,
)
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.validation import check_weights

_MOST_RANK = 1000  # of the preconditioner: its own work grows with the square
_TRACE = 1e-6  # of the matrix, that the factor may lack
_BLOCK = 32  # columns of the matrix that are evaluated at once
_VECTORS = 12  # of the length of the samples, for each target, in conjugate gradients


def ridge_without_matrix(machine, combination, y, memory, *, tol=1e-8, max_iter=1000, weight=None):
    """Fit a `KernelRidge` with an intercept as if on the Gram matrix of a combination.

    Parameters
    ----------
    machine : KernelRidge
        With alpha > 0.
    combination : Combination
        Positive semi-definite, of kernels on pairs of samples.
    y : ndarray of shape (m,) or (m, c)
    memory : int
        Bytes for the preconditioner and all vectors.
    tol : float
        Bound of the residual, relative to the right-hand side.
    max_iter : int
        Steps, each one pass over all pairs.
    weight : (m,), optional
        Of the samples, not negative.

    Returns
    -------
    CGResult
        Also kept as ``machine.residual_`` and ``machine.n_iter_``.

    Raises
    ------
    ValueError
        The memory does not hold one block of columns, alpha is 0, or the kernel is indefinite.

    Warns
    -----
    ConvergenceWarning
        The residual stayed above ``tol``.
    """
    m, alpha = combination.n_samples, machine.alpha
    _refuse(combination, alpha, memory)
    columns = y.reshape(m, -1)
    rank = _rank(m, columns.shape[1], memory)
    weight = check_weights(weight, m)
    root, share = np.sqrt(weight), weight / weight.sum()
    factor = _factor(combination, rank)
    factor -= share @ factor
    factor *= root[:, None]
    # Coefficients sum to 0, to which constants in the kernel make no difference.
    products = combination.products()

    def apply(V):
        inner = root[:, None] * V
        inner -= share[:, None] * inner.sum(axis=0)
        values = products.times(inner)
        values -= share @ values
        return root[:, None] * values + alpha * V

    mean = share @ columns
    found = conjugate_gradient(
        apply,
        root[:, None] * (columns - mean),
        precondition=low_rank_preconditioner(factor, alpha),
        tol=tol,
        max_iter=max_iter,
    )
    found.warn_unconverged(tol)
    coef = root[:, None] * found.solution
    coef -= share[:, None] * coef.sum(axis=0)
    intercept = mean - share @ products.times(coef)
    machine.dual_coef_ = coef.reshape(y.shape)
    machine.intercept_ = intercept if y.ndim > 1 else float(intercept[0])
    machine.residual_, machine.n_iter_ = found.residual, found.n_iter
    return found


def _factor(combination, rank):
    """L with ``K ~ LL'``, of at most so many columns."""

    samples = combination.source.samples

    def columns(index):
        return combination.products(Z=samples(index)).matrix(slice(None))

    def submatrix(index):
        return combination.products(samples(index)).matrix(slice(None))

    options = {"tol": _TRACE, "max_rank": rank, "block": _BLOCK}
    return pivoted_cholesky(combination.diagonal(), columns, submatrix=submatrix, **options).factor


def _rank(m, n_targets, memory):
    """Columns of the preconditioner that the memory holds."""
    # The factor may be enlarged by an eighth, and is copied once where that needs another place.
    rank = int((memory - 8.0 * m * (_BLOCK * 2 + _VECTORS * n_targets)) / (18.0 * m))
    if rank < 1:
        least = 8.0 * m * (_BLOCK * 2 + _VECTORS * n_targets) + 18.0 * m
        raise ValueError(
            f"memory={memory} bytes do not hold one block of columns for {m} samples; accepted: at "
            f"least {least:.0f}, or machine='nystrom'."
        )
    return min(rank, _MOST_RANK, m)


def _refuse(combination, alpha, memory):
    """Raise where conjugate gradients do not converge."""
    if not alpha > 0.0:
        raise ValueError(
            f"alpha={alpha:g}: without the Gram matrix, which does not fit into memory={memory}, "
            "only alpha > 0 is accepted."
        )
    if not combination.kernel.is_psd:
        raise ValueError(
            f"{combination.kernel!s:.200} is indefinite: ridge needs its Gram matrix, which does "
            f"not fit into memory={memory}; accepted: more memory, or a positive semi-definite "
            "kernel."
        )
