"""Kernel ridge regression by conjugate gradients, with or without the Gram matrix.

The preconditioner is a low-rank factor of the matrix, ``K ~ LL'``. If the matrix is in memory, L is
made of its columns at uniformly drawn samples (Nystrom). For a narrow kernel, of which few columns
explain little, a sparse inverse of ``K - LL'`` on nearest neighbors is added. Without the matrix, L
is a partial Cholesky factor whose rank is limited by the memory: a few columns of K are evaluated
and kept, and all other entries are computed again in every step.

Sources: Cutajar, Osborne, Cunningham and Filippone (2016), "Preconditioning kernel matrices";
Frangella, Tropp and Udell (2023), "Randomized Nystrom preconditioning"; Zhao, Xu, Huang, Chow and
Xi (2024), "An adaptive factorized Nystrom preconditioner for regularized kernel matrices".
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve, lower_solve
from alignlearn._threads import one_blas_thread
from alignlearn.solvers.conjugate_gradient import (
    conjugate_gradient,
    low_rank_preconditioner,
)
from alignlearn.solvers.panels import panels, weighted_gram
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.validation import check_weights

from ._ridge import center_rooted
from .choice import MOST_DOUBLE, is_single
from .held_matrix import HeldMatrix
from .neighbor_inverse import NeighborInverse

_MOST_RANK = 1000  # maximum columns of a pivoted factor, whose own cost grows with their square
# Columns of the preconditioner if the matrix is in memory, at most one per 10 samples, and more of
# them if the mean diagonal that the first omit, over alpha, is large: for a fit, and for a path
# which a factorization would end (measured on 63 kernels of six tables with 1500 to 20,000 samples,
# with 100 to 1000 columns).
_FEW, _MANY, _SHARE = 300, 700, 10
_HARD_FIT, _HARD_PATH = 1.0, 20.0
# A preconditioner of few columns and the nearest neighbors of each sample, instead of many columns,
# if the share of the omitted diagonal that neighbors explain for the smallest alpha, plus half of
# the share that these columns omit, exceeds a limit (measured on 24 kernels of six tables with
# 14,000 to 24,000 samples: 0.25 to 1.0 times the time; where the rule takes columns, neighbors
# would take 0.6 to 2.1 times the time).
_NEIGHBORS, _BOTH, _LEAST_OMITTED = 16, 0.8, 0.1
_JUDGED = 500  # samples whose neighbors are tried for this decision
_ROUNDING = 1e-10  # share of the mean diagonal that the factor may omit
# The same of a factor that is computed in float32, which serves as well if alpha has this ratio to
# the sum of the diagonal (measured). It is stored in float32 for any alpha, see `panels`.
_ROUGH_ROUNDING, _ROUGH_FACTOR = 1e-7, 1e-6
_TRACE = 1e-6  # share of the matrix that the factor may omit
_PANEL = 4096  # rows of the preconditioner that are computed at once
_BLOCK = 32  # columns of the matrix that are evaluated at once
_VECTORS = 12  # vectors of the length of the samples for each target, in conjugate gradients
# Tolerance of a fit with the matrix in memory, in float64 and in float32: R^2 agrees with the exact
# one to 1e-6 (measured), and predictions to 1e-5 and 1e-4 of the standard deviation of y.
TOL, _SINGLE_TOL = 1e-6, 1e-5
_PATH_TOL = 1e-2  # tolerance of models that are only compared (R^2 agrees to 4e-4)
# For these, the ratio of alpha to the mean diagonal from which the matrix is float32: its rounding
# error, of spectral norm 6e-8 sqrt(m), is much smaller. Below, steps read it, too, but residuals
# are computed from kernel values in float64.
SINGLE = 1e-4
# The same of a fit, up to `MOST_DOUBLE` samples (beyond, every matrix is float32), and the ratio
# below which its steps, and those of a path, read a float64 matrix: steps on a float32 one stop too
# early there (measured on diamonds, at 6e-6 and 1.1e-5).
_SINGLE_FIT, _DOUBLE_FIT, _DOUBLE_PATH = 1e-2, 1e-5, 3e-5
# Steps per sample that cost as much as a Cholesky factor, in a path and in a fit. If they do not
# suffice (small alpha, slow decay of the eigenvalues), such factors solve the rest. With several
# targets a step costs more: in a path it is multiplied by their number, and in a fit by this much
# for each further target, whose product reads the matrix once. Measured on one thread with 2000 to
# 8000 samples.
_PATH_STEPS, _FIT_STEPS, _FURTHER = 1 / 20, 1 / 50, 0.4
_LEAST_STEPS = 20, 40  # minimum steps of a path and of a fit; if fewer are allowed, none is tried
_FACTORED_STEPS = 40  # maximum steps with a factor in float32 as the preconditioner
_DEFINITE = 1e-10  # of the mean diagonal: the smallest alpha that surely allows a factorization


class RidgeSystem:
    """Ridge regression with an intercept on one kernel matrix, for any alpha > 0.

    Parameters
    ----------
    times : callable
        ``times(V)``: the product of the matrix, up to constants, with V (m, c).
    factor : ndarray of shape (m, r), float64 or float32
        L with ``K ~ LL'``; overwritten.
    y : ndarray of shape (m,) or (m, c)
    weight : ndarray of shape (m,)
        Of the samples, not negative.
    residual : NeighborInverse, optional
        Of what the factor omits.
    exact : tuple of (callable, float), optional
        As ``times``, for the residuals if alpha is below a number.
    rough : bool, default False
        Whether ``L'L`` in the factor's precision is precise enough.
    held : HeldMatrix, optional
        That of ``times``, for `use_factor`.
    """

    def __init__(self, times, factor, y, weight, residual=None, exact=None, rough=False, held=None):
        self._times, self._shape, self._residual = times, y.shape, residual
        self._exact, self._is_rough = exact, rough or factor.dtype == np.float64
        self._held, self._cholesky = held, None
        self._root, self._share = np.sqrt(weight), weight / weight.sum()
        factor -= self._share.astype(factor.dtype) @ factor
        factor *= self._root[:, None].astype(factor.dtype)
        self._factor, columns = factor, y.reshape(len(y), -1)
        self._mean = self._share @ columns
        self._right = self._root[:, None] * (columns - self._mean)

    @cached_property
    def _gram(self):
        exact = None if self._is_rough else np.ones(len(self._factor))  # in float64
        return weighted_gram(self._factor, exact)

    def _apply(self, alpha, V, times=None):
        """The centered, weighted matrix plus alpha (one number, or one per column), times V."""
        inner = self._root[:, None] * V
        inner -= self._share[:, None] * inner.sum(axis=0)
        values = (times or self._times)(inner)
        values -= self._share @ values
        return self._root[:, None] * values + alpha * V

    @one_blas_thread()
    def use_factor(self, alpha):
        """Take a Cholesky factor in float32 for this alpha as the preconditioner from now on.

        It also serves for other values: from alpha to 10 times alpha, eigenvalues differ by a
        factor of 10. False if the matrix is not in float32, or not definite in it, or if it has
        more than `MOST_DOUBLE` samples, for which a factor takes longer than a search.
        """
        if self._held is None or self._held.K.dtype != np.float32 or is_single(len(self._root)):
            return False
        self._cholesky = None  # free its memory first
        system = self._held.whole()
        center_rooted(system, self._share, self._root, lift=True)
        system.flat[:: len(system) + 1] += alpha
        self._cholesky = system if cholesky(system) else None
        return self._cholesky is not None

    def _near(self, alpha):
        """The preconditioner for one or several values of alpha."""
        if self._cholesky is None:
            return low_rank_preconditioner(self._factor, alpha, self._residual, self._gram)
        return lambda V, numbers=None: cholesky_solve(self._cholesky, V).astype(np.float64)

    @one_blas_thread()  # once for all steps
    def solve(self, alpha, **options):
        """The `CGResult` of the rooted coefficients; options are those of `conjugate_gradient`."""
        near = self._near(alpha)
        apply, times = partial(self._apply, alpha), self._exact_times(alpha)
        exact = times and partial(self._apply, alpha, times=times)
        return conjugate_gradient(apply, self._right, precondition=near, exact=exact, **options)

    @one_blas_thread()
    def solve_each(self, alphas, **options):
        """The `CGResult` for several values of alpha, columns (m, n_alphas * c) side by side.

        Each product with the matrix serves all of them.
        """
        c = self._right.shape[1]
        near = self._near(alphas)
        each, times = np.repeat(alphas, c), self._exact_times(min(alphas))
        return conjugate_gradient(
            lambda V, numbers: self._apply(each[numbers], V),
            np.tile(self._right, len(alphas)),
            precondition=lambda V, numbers: near(V, numbers // c),
            several=True,
            exact=times and (lambda V, numbers: self._apply(each[numbers], V, times)),
            **options,
        )

    def _exact_times(self, alpha):
        """Products for exact residuals, or None if those of the matrix in memory serve."""
        return self._exact[0] if self._exact is not None and alpha < self._exact[1] else None

    def coefficients(self, found, alpha=np.inf):
        """Dual coefficients, which sum to 0, and intercepts, of each column of a solution.

        With ``alpha`` intercepts are as exact as its residuals.
        """
        coef = self._root[:, None] * found.solution
        coef -= self._share[:, None] * coef.sum(axis=0)
        mean = np.tile(self._mean, coef.shape[1] // len(self._mean))
        return coef, mean - self._share @ (self._exact_times(alpha) or self._times)(coef)

    def store(self, machine, found, tol):
        """Store a solution in a `KernelRidge`, and warn if it has not converged."""
        found.warn_unconverged(tol)
        coef, intercept = self.coefficients(found, machine.alpha)
        machine.dual_coef_ = coef.reshape(self._shape)
        machine.intercept_ = intercept if len(self._shape) > 1 else float(intercept[0])
        machine.residual_, machine.n_iter_ = found.residual, found.n_iter
        return found


def system_on_matrix(combination, y, alpha, ratios=(np.inf, np.inf), weight=None, hard=np.inf):
    """The `RidgeSystem` of a positive semi-definite combination with its matrix in memory.

    ``alpha``: the smallest that it is to be solved for. ``ratios`` of alpha to the mean diagonal:
    below which residuals are exact, and below which the matrix is float64. ``weight`` (m,): of the
    samples; default: as in the combination. ``hard``: ratio of the omitted diagonal to alpha from
    which there are more columns.
    """
    m = combination.n_samples
    weight = check_weights(combination.weight if weight is None else weight, m)
    few, many = (min(rank, max(1, m // _SHARE)) for rank in (_FEW, _MANY))
    diagonal, exact = combination.diagonal(), None
    least, double = (0.0 if is_single(m) else one * np.mean(diagonal) for one in ratios)
    if double <= alpha < least and combination.source.is_paired:
        exact = combination.products().times, least
    held = HeldMatrix(combination, alpha >= least or exact is not None)
    is_rough = held.K.dtype == np.float32 and alpha >= _ROUGH_FACTOR * diagonal.sum()
    dtype = np.float32 if is_rough else np.float64
    factor = _nystrom_factor(combination, few, dtype)
    omitted = diagonal - np.einsum("ij,ij->i", factor, factor, dtype=np.float64)
    given = held, diagonal, omitted, factor, np.sqrt(weight)
    residual = _neighbors(*given, alpha)
    if residual is None and many > few and weight @ omitted > hard * alpha * m:
        factor = _nystrom_factor(combination, many, dtype)
    stored = held.K.dtype if residual is None else np.float64
    factor = factor.astype(stored, copy=False)
    return RidgeSystem(held.times, factor, y, weight, residual, exact, is_rough, held)


def _neighbors(held, diagonal, omitted, factor, root, alpha):
    """The `NeighborInverse` of what a factor omits; None if columns alone take less time."""
    share = omitted.sum() / max(diagonal.sum(), np.finfo(np.float64).tiny)
    if share <= _LEAST_OMITTED:
        return None
    given = held, diagonal, factor.astype(np.float64, copy=False), root, _NEIGHBORS
    some = NeighborInverse(*given, max(1, len(root) // _JUDGED))
    return NeighborInverse(*given) if some.explained(alpha) + share / 2 > _BOTH else None


def _nystrom_factor(combination, rank, dtype):
    """L (m, rank) with ``K ~ LL'``, of columns at random samples.

    A smaller number of columns are the first ones of a larger number.
    """
    m = combination.n_samples
    index = np.random.default_rng(0).permutation(m)[:rank]
    columns, block = np.empty((m, rank), dtype), np.empty((rank, rank))
    for start, panel in zip(range(0, m, _PANEL), combination.column_blocks(index, _PANEL)):
        columns[start : start + _PANEL] = panel
        inside = (index >= start) & (index < start + _PANEL)
        block[inside] = panel[index[inside] - start]
    exact = dtype == np.float64 == combination.source.dtype
    rounding = _ROUNDING if exact else _ROUGH_ROUNDING
    block.flat[:: rank + 1] += rounding * max(block.trace(), np.finfo(np.float64).tiny)
    low = np.linalg.cholesky(block).astype(dtype)
    for part in panels(m, rank**2):
        columns[part] = lower_solve(low, columns[part].T).T
    return columns


def _limits(combination, alpha, most, least):
    """Options of conjugate gradients that end after ``most`` steps, when a factor is cheaper.

    {} if a factor is not allowed, None if not even ``least`` steps are cheaper.
    """
    n = combination.n_samples
    if n > MOST_DOUBLE or alpha <= _DEFINITE * float(np.mean(combination.diagonal())):
        return {}
    return {"max_iter": int(most), "patience": int(most) // 8} if most >= least else None


def ridge_on_matrix(machine, combination, y, *, weight=None):
    """Fit a `KernelRidge` with an intercept on the Gram matrix of a combination in memory.

    A Cholesky factor is used if conjugate gradients would cost more. Parameters and warning as of
    `ridge_without_matrix`; the tolerance is `TOL`, and that of float32 for such matrices, and where
    conjugate gradients stop between the two.
    """
    single = machine.alpha >= _SINGLE_FIT * float(np.mean(combination.diagonal()))
    tol = _SINGLE_TOL if single or is_single(combination.n_samples) else TOL
    most = combination.n_samples * _FIT_STEPS / (1.0 + _FURTHER * (y[:1].size - 1))
    limits = _limits(combination, machine.alpha, most, _LEAST_STEPS[1])
    if limits is not None:
        given = combination, y, machine.alpha, (_SINGLE_FIT, _DOUBLE_FIT), weight
        system = system_on_matrix(*given, hard=_HARD_FIT)
        found = system.solve(machine.alpha, tol=tol, **limits)
        if found.residual > _SINGLE_TOL and limits and system.use_factor(machine.alpha):
            found = system.solve(machine.alpha, tol=tol, max_iter=_FACTORED_STEPS)
        # With a tolerance nearly reached, a factorization costs more than its digits are worth.
        tol = tol if found.converged else _SINGLE_TOL
        if found.residual <= tol or not limits:
            system.store(machine, found, tol)
            return
        del system  # free the matrix before another one is made
    machine.fit(combination.gram(), y, weight, check=False, overwrite=True)


def iterative_path(
    combination, y, split, alphas, factored, weight=None, most_steps=None, error=None
):
    """Test predictions of kernel ridge for each alpha > 0, as `paths.ridge_path`, to `_PATH_TOL`.

    Parameters
    ----------
    combination, y, split, alphas
        As in `paths.regressor_predictions`.
    factored : callable
        ``factored(some)`` gives the predictions for some alphas by a factorization, for those where
        it takes less time.
    weight : (m,), optional
        Of the training samples. Default: as in the combination.
    most_steps
        As in `paths.regressor_predictions`.
    error : callable, optional
        Error of predictions. With it, the largest alphas are tried first, and predictions are None
        for values below one with a larger error.
    """
    train, test = split
    part = combination.part(train)
    most = len(train) * _PATH_STEPS / y[:1].size
    limits = _limits(part, min(alphas), most, _LEAST_STEPS[0])
    if limits is None:
        return factored(alphas, error)
    options = limits
    if most_steps is not None and not limits:
        options = {"max_iter": most_steps, "patience": most_steps // 2}
    hard = _HARD_PATH if limits else np.inf
    ratios = SINGLE, _DOUBLE_PATH if limits else SINGLE
    system = system_on_matrix(part, y[train], min(alphas), ratios, weight, hard)

    def completed(some, coef, slow):
        found = _tested(part, combination.source.as_new(test), y, *coef)
        left = np.flatnonzero(slow) if limits else []
        for k, values in zip(left, factored([some[k] for k in left]) if len(left) else ()):
            found[k] = values
        return found

    def predicted(some, system):
        return completed(some, *_solved(system, options, some))

    if error is not None:
        return _descending(partial(predicted, system=system), alphas, error)
    solved = _solved(system, options, alphas)
    del system  # free its matrix before another one is made
    return completed(alphas, *solved)


def _tested(part, new, y, coef, intercept):
    """Predictions for new samples, for each alpha."""
    if part.source.is_paired:  # without a matrix: new memory costs as much as its entries
        fitted = part.products(new, part.source.X).times(coef) + intercept
    else:
        fitted = part.cross_gram(new) @ coef + intercept
    fitted = fitted.reshape(len(fitted), -1, *y.shape[1:])
    return [fitted[:, k] for k in range(fitted.shape[1])]


def _solved(system, options, alphas):
    """Dual coefficients and intercepts for each alpha, and whether each has not converged.

    If the slowest are abandoned, which ``patience`` among the options says, one factor in float32
    makes steps for all of them few, up to `MOST_DOUBLE` samples.
    """

    def slowest(found, some):
        return found.residuals.reshape(len(some), -1).max(axis=1) > _PATH_TOL

    found = system.solve_each(alphas, tol=_PATH_TOL, **options)
    slow = slowest(found, alphas)
    some = [alphas[k] for k in np.flatnonzero(slow)]
    if some and "patience" in options and system.use_factor(max(some)):
        again = system.solve_each(some, tol=_PATH_TOL, max_iter=_FACTORED_STEPS)
        found.solution[:, np.repeat(slow, found.solution.shape[1] // len(slow))] = again.solution
        slow[slow] = slowest(again, some)
    return system.coefficients(found), slow


def _descending(predicted, alphas, error):
    """Predictions for two values of alpha at a time, the largest first, as a list for all of them.

    Values below one whose error is not the least so far are omitted (None), because they need the
    most steps.
    """
    found, least, order = [None] * len(alphas), np.inf, np.argsort(alphas, kind="stable")[::-1]
    for start in range(0, len(order), 2):
        two = order[start : start + 2]
        for k, values in zip(two, predicted([alphas[k] for k in two])):
            found[k], now = values, error(values)
            is_best, least = now < least, min(now, least)
        if not is_best:
            break
    return found


def mean_square(y, weight, values):
    """The weighted mean square of errors."""
    return np.average(np.square(values - y).reshape(len(y), -1).mean(axis=1), weights=weight)


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
        The memory is too small for one block of columns, alpha is 0, or the kernel is indefinite.

    Warns
    -----
    ConvergenceWarning
        The residual stayed above ``tol``.
    """
    m = combination.n_samples
    _refuse(combination, machine.alpha, memory)
    factor = _factor(combination, _rank(m, y.reshape(m, -1).shape[1], memory))
    # Coefficients sum to 0, so constants in the kernel have no effect.
    system = RidgeSystem(combination.products().times, factor, y, check_weights(weight, m))
    return system.store(machine, system.solve(machine.alpha, tol=tol, max_iter=max_iter), tol)


def _factor(combination, rank):
    """L with ``K ~ LL'``, with at most ``rank`` columns."""

    samples = combination.source.samples

    def columns(index):
        return combination.products(Z=samples(index)).matrix(slice(None))

    def submatrix(index):
        return combination.products(samples(index)).matrix(slice(None))

    options = {"tol": _TRACE, "max_rank": rank, "block": _BLOCK}
    return pivoted_cholesky(combination.diagonal(), columns, submatrix=submatrix, **options).factor


def _rank(m, n_targets, memory):
    """Number of columns of the preconditioner that fit into the memory."""
    # The factor may be enlarged by an eighth, and is copied once if it has to move.
    rank = int((memory - 8.0 * m * (_BLOCK * 2 + _VECTORS * n_targets)) / (18.0 * m))
    if rank < 1:
        least = 8.0 * m * (_BLOCK * 2 + _VECTORS * n_targets) + 18.0 * m
        raise ValueError(
            f"memory={memory} bytes are too few for one block of columns of {m} "
            f"samples; accepted: at least {least:.0f}, or machine='nystrom'."
        )
    return min(rank, _MOST_RANK, m)


def _refuse(combination, alpha, memory):
    """Raise an error if conjugate gradients do not converge."""
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
