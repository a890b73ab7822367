"""Scales of the features, from the average gradient of a kernel machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alignlearn._text import Result, table
from alignlearn.engine import grams
from alignlearn.engine.cpu import CPU
from alignlearn.engine.engines import open_engine
from alignlearn.kernels import as_kernel, column_names
from alignlearn.kernels.gradients import Gradients
from alignlearn.kernels.scales import resolve_each
from alignlearn.machines import KernelRidge
from alignlearn.machines._ridge import ridge_leave_one_out, rough_coefficients
from alignlearn.machines.width_and_ridge import leave_one_out_width_and_ridge
from alignlearn.solvers.dense import rounds_well
from alignlearn.sources.pairs import PairSource
from alignlearn.statistics.targets import reads_as_regression, target_columns
from alignlearn.validation import (
    check_choice,
    check_count,
    check_features,
    check_flag,
    check_number,
    check_seed,
    check_sparse,
    doubt,
    is_sparse,
    optional_weights,
    take,
    varying,
)
from alignlearn.validation.memory import check_gram_memory

from . import inputs
from .base import parameters, shared
from .frame_output import FrameOutput

if TYPE_CHECKING:
    from typing_extensions import Self

WIDTHS = 2.0 ** np.arange(-5, 2)  # multiples of gamma
RIDGES = 4.0 ** np.arange(-9, 2)  # over the mean diagonal of the kernel
# Multiple of alpha for which a model must round well: scales need fewer digits than errors do.
_LARGER = 6.0
_ALONE = 1.02  # effective number of features below which one feature has nearly all of the scale


@dataclass(frozen=True)
class ScalePath(Result):
    """Scales of features by iteration, with their errors and changes.

    Attributes
    ----------
    scales : ndarray of shape (d,)
        Scales of the best iteration: x_j is multiplied by their square roots. They sum to the
        number of features that vary.
    matrix : ndarray of shape (d, d), optional
        With ``full``, the matrix M of ``x'Mx'``, whose diagonal has the scales.
    errors : ndarray of shape (n_iterations + 1,)
        Leave-one-out errors of ridge regression, first with equal scales: mean squares over samples
        and targets.
    changes : ndarray of shape (n_iterations,)
        Sum of absolute changes of the scales (the matrix) in each iteration, over their sum.
    iterates : ndarray of shape (n_iterations + 1, d) or (n_iterations + 1, d, d)
    best : int
        The iteration of the smallest error; 0 is no iteration.
    varies : ndarray of bool of shape (d,)
        Features that are not constant.
    """

    scales: np.ndarray
    matrix: np.ndarray
    errors: np.ndarray
    changes: np.ndarray
    iterates: np.ndarray
    best: int
    varies: np.ndarray


class Blocks(NamedTuple):
    """Features in groups that share a scale, such as the levels of a category.

    The scale of a group is the mean scale of its features, weighted by their variances. It equals
    the scale of a single feature with the variance of the group and the same influence on the
    target.

    Attributes
    ----------
    groups : ndarray of int of shape (d,)
        The number of the group of each feature.
    variances : ndarray of shape (d,)
    """

    groups: np.ndarray
    variances: np.ndarray

    @classmethod
    def of(cls, groups, X, weight=None):
        """Return the `Blocks` of samples with these groups; None without groups."""
        if groups is None:
            return None
        mean = np.average(X, axis=0, weights=weight)
        return cls(groups, np.average(np.square(X - mean), axis=0, weights=weight))

    def pooled(self, scales):
        """Scales (d,), equal in each group."""
        sums = (np.bincount(self.groups, w) for w in (scales * self.variances, self.variances))
        total, mass = sums
        return np.divide(total, mass, out=np.zeros_like(total), where=mass > 0.0)[self.groups]


def learned_scales(
    X,
    Y,
    kernel,
    alpha,
    *,
    weight=None,
    n_iterations=2,
    tol=0.0,
    full=False,
    choose=True,
    start=None,
    blocks=None,
    dtype=np.float64,
    rough=False,
    engine=CPU,
) -> ScalePath:
    """Scales of the features for a kernel and a penalty, from checked samples and targets.

    An iteration solves kernel ridge regression on ``x sqrt(scales)``. The new scales are the root
    mean squares, over samples and targets, of the derivatives of the fitted functions in x.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (m, d)
    Y : ndarray of shape (m, c)
        Target columns; an intercept is fitted.
    kernel : Kernel
        Resolved, with a gradient.
    alpha : float > 0
        Penalty of `alignlearn.machines.KernelRidge`.
    weight : ndarray of shape (m,), optional
        Positive.
    n_iterations : int, default 2
    tol : float, default 0
        Change of the scales, relative to their sum, below which there are no more iterations.
    full : bool, default False
        Learn a matrix instead of scales, from the mean outer product of the gradients.
    choose : bool, default True
        False returns the last iteration without errors, which is faster.
    start : ndarray of shape (d,) or (d, d), optional
        `Gradients.squares` for the unscaled features, if already computed; not with ``choose``.
    blocks : Blocks, optional
        Groups of features that share a scale; not for a matrix.
    dtype : dtype, default float64
        Type of the products that compute gradients.
    rough : bool, default False
        See `ridge_on`; without ``choose``.
    engine : Cpu, Cuda or Cluster
    """
    varies = varying(X)
    equal = varies / 1.0
    iterates = [np.diag(equal) if full else equal]
    share = None if full or blocks is None else blocks.variances
    errors, changes, size = [], [], float((equal if share is None else equal * share).sum()) or 1.0
    for t in range(n_iterations + choose):
        root = root_of(iterates[-1]) if t else iterates[0]  # of zeros and ones
        if start is not None and t == 0:
            squares = start
        else:
            scaled, how = transformed(X, root), {"weight": weight, "engine": engine, "rough": rough}
            fit = ridge_on(scaled, Y, kernel, alpha, choose, **how)
            errors += [fit[2]] if choose else []
            if t == n_iterations:
                break
            found = Gradients(kernel, scaled, fit[1], gram=fit[0], engine=engine, dtype=dtype)
            squares = found.squares(weight, full)
        new = root_of(root @ squares @ root if full else np.square(root) * squares)
        new = new * (varies[:, None] & varies if full else varies)
        if share is not None:
            new = blocks.pooled(new) * varies
        total = float(np.trace(new) if full else (new if share is None else new * share).sum())
        if not 0.0 < total < np.inf:  # a constant function has no informative features
            break
        iterates.append(new * (size / total))
        changes.append(np.abs(iterates[-1] - iterates[-2]).sum() / np.abs(iterates[-2]).sum())
        if changes[-1] < tol:
            break
    best = int(np.argmin(errors)) if choose else len(iterates) - 1
    found = iterates[best]
    scales, matrix = (np.diagonal(found).copy(), found) if full else (found, None)
    rest = np.array(errors), np.array(changes), np.array(iterates), best, varies
    return ScalePath(scales, matrix, *rest)


def ridge_on(
    X, Y, kernel, alpha, with_error=False, *, weight=None, engine=CPU, gram=None, rough=False
):
    """Return a kernel matrix, coefficients (m, c) of ridge regression, and the error or None.

    ``gram`` is the matrix, if available. With ``rough`` all are float32 where this is precise
    enough for gradients.
    """
    if rough and not with_error:
        found = _ridge_in_single(X, Y, kernel, alpha, weight, engine)
        if found is not None:
            return *found, None
    K = grams.weighted_gram([kernel], [1.0], X, engine=engine) if gram is None else gram
    if not with_error:
        return K, KernelRidge(alpha).fit(K, Y, weight, check=False).dual_coef_, None
    coef, residuals = ridge_leave_one_out(np.array(K, dtype=np.float64), Y, alpha, weight)
    return K, coef, np.average(np.square(residuals).mean(axis=1), weights=weight)


def _ridge_in_single(X, Y, kernel, alpha, weight, engine):
    """The float32 matrix of a kernel, and coefficients; None where rounding changes them."""
    combination = PairSource(X, [kernel], weight, engine=engine, resolved=True).combine([1.0])
    if not rounds_well(_LARGER * alpha, combination.diagonal().sum()):
        return None
    combination = combination.in_single()
    if combination is None:
        return None
    K = combination.gram(exact=True)
    coef = rough_coefficients(K, Y, alpha, weight)
    return None if coef is None else (K, coef)


def root_of(A):
    """Return square roots of scales, or the root of a positive semi-definite matrix."""
    if A.ndim == 1:
        return np.sqrt(A)
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def transformed(X, root):
    """Multiply samples by the roots of scales, where sparse ones stay so, or by a matrix."""
    if is_sparse(X) and root.ndim == 2:
        return X.tocsr() @ root.astype(X.dtype)
    if is_sparse(X):
        from scipy.sparse import csr_array

        data = X.data * root[X.indices]
        return check_sparse("X", csr_array((data, X.indices, X.indptr), shape=X.shape))
    return X * root.astype(X.dtype) if root.ndim == 1 else X @ root.astype(X.dtype)


@parameters
class FeatureScales(FrameOutput):
    """Transformer that multiplies features by scales learned from a target.

    Kernel ridge regression is solved on the scaled features. The new scale of a feature in the
    squared distance is the root mean square of the derivative of the fitted functions with respect
    to that feature, over samples and targets. This is repeated, and the iteration of the smallest
    leave-one-out error is kept. Features on which the target does not depend get scales near 0; any
    estimator can follow.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        A function of ``|x - x'|`` or of ``<x, x'>``, or sums and products of such. Where gamma is a
        rule, such as "scale", seven multiples of it from 1/32 to 2 are tried.
    alpha : float > 0, optional
        Penalty of the ridge regression. By default eleven are tried, 4^-9 to 4 times the mean
        diagonal of the kernel.
    n_iterations : int, default 2
    full : bool, default False
        Learn a matrix M of ``x'Mx'`` in place of a scale for each feature; for d up to hundreds.
    search_samples : int, default 250
        Number of samples on which kernel and alpha are selected by leave-one-out errors.
    max_samples : int, default 2000
        Maximum number of samples for learning the scales; two matrices of all pairs are held.
    task : {"auto", "classification", "regression"}, default "auto"
        How to read y; "auto" takes floating-point values as regression.

    Attributes
    ----------
    scales_ : ndarray of shape (d,)
        Features are multiplied by the square roots of the scales, which sum to the number of
        features that vary in the training samples; constant features have 0.
    matrix_ : ndarray of shape (d, d)
        M, with ``full``; samples are multiplied by its root. ``scales_`` is its diagonal.
    kernel_, alpha_ : Kernel and float
        The selected kernel and alpha.
    search_ : LeaveOneOutTable or None
        Leave-one-out errors of the selection; None if kernel and alpha are given.
    path_ : ScalePath
        All iterations, their leave-one-out errors and changes.
    n_features_in_, feature_names_in_

    Notes
    -----
    A recursive feature machine is this transformer followed by a model: in a pipeline
    ``make_pipeline(FeatureScales(), MKLClassifierCV())``, which learns its own widths, or
    ``KernelRidge(alpha_)`` of `alignlearn.machines` on the matrix of ``kernel_``.

    The leave-one-out errors are those of a model whose scales were learned from all samples. They
    serve to compare iterations, and underestimate the errors of predictions. A sample is left out
    with its whole weight.

    The result depends on the units of the features: scale them first, as for any kernel of
    distances. A constant feature gets scale 0, which maps it to 0 in new samples.

    Kernels of the L1 distance, such as `Laplacian`, raise an error, because their gradient is not a
    sum of kernels times samples. `Exponential` is the Laplacian of the L2 distance, which papers on
    recursive feature machines use.

    Sparse samples stay sparse; only blocks of rows are converted to dense arrays. Memory: two
    matrices of at most ``max_samples`` squared, and the gradients of some rows.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin (2024), Mechanism for feature learning in neural
    networks and backpropagation-free machine learning models. Allen (1974) for leave-one-out
    errors.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import FeatureScales
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 4))
    >>> y = X[:, 0] + np.square(X[:, 2])
    >>> FeatureScales().fit(X, y).scales_.round(1).tolist()
    [1.3, 0.0, 2.7, 0.0]
    """

    kernel: Any = field(default="rbf", kw_only=False)
    alpha: float | None = None
    n_iterations: int = 2
    full: bool = False
    search_samples: int = 250
    max_samples: int = 2000
    task: str = "auto"
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")

    _fitted_marker = "scales_"

    def _accepts_sparse(self):
        return not self.full

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn the scales from X (m, d), dense or sparse, and y (m,) or (m, c); return self.

        ``sample_weight`` (m,) counts as repetitions do.

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.

        Warns
        -----
        DoubtfulResultWarning
            One feature has nearly all of the scale, scales of X are a thousand apart, or
            derivatives vanish, so that all scales are equal.
        """
        options = self._checked_options()
        self._forget("matrix_")
        given, X = X, _samples(X, options["full"])
        inputs.check_sample_count(len(X))
        kernel = as_kernel(self.kernel).resolve_names(column_names(given))
        kernel.resolve(X[:2]).gradient()  # raises before long computations
        Y, weight, X = self._targets(X, y, sample_weight)
        inputs.doubt_scales(given, X, [kernel])
        rng = check_seed("random_state", self.random_state)
        some = draw(Y, check_count("max_samples", self.max_samples, low=2, optional=False), rng)
        X, Y, weight = rows_of(some, X, Y, weight)
        _check_varies(X)
        check_gram_memory(len(X), 2)
        options["engine"], options["weight"] = open_engine(self.device, self.client), weight
        self.search_ = self._search(kernel, X, Y, weight, rng, options["engine"])
        if self.search_ is None:
            self.kernel_, self.alpha_ = kernel.resolve(X, weight), float(self.alpha)
        else:
            self.kernel_, self.alpha_ = self.search_.kernel, self.search_.alpha
        self.path_ = learned_scales(X, Y, self.kernel_, self.alpha_, **options)
        self._store_columns(given, X.shape[1])
        if options["full"]:
            self.matrix_ = self.path_.matrix
        self.scales_ = self.path_.scales
        self._doubt_collapse()
        return self

    def check_loaded(self):
        """Raise a ValueError if the scales in a file do not fit its features."""
        super().check_loaded()
        if not self.__sklearn_is_fitted__():
            return
        n = getattr(self, "n_features_in_", None)
        _check_numbers("scales_", self.scales_, (n,))
        if self.scales_.min() < 0.0:
            raise ValueError("scales_ has negative values; accepted: numbers >= 0")
        if self.full:
            _check_numbers("matrix_", getattr(self, "matrix_", None), (n, n))

    def _checked_options(self):
        check_choice("task", self.task, ("auto", "classification", "regression"))
        if self.alpha is not None:
            check_number("alpha", self.alpha, low=0.0, strict=True)
        n = check_count("n_iterations", self.n_iterations, optional=False)
        return {"n_iterations": n, "full": check_flag("full", self.full)}

    def _targets(self, X, y, sample_weight):
        """Target columns, weights and samples, of the samples of positive weight."""
        inputs.require_y(self, y)
        weight = optional_weights(sample_weight, len(X))
        if reads_as_regression(y, self.task):
            y = inputs.real_targets(self, y, len(X), weight)
            Y = target_columns(y, len(X), "regression", weight=weight)
            Y = in_units(Y, _positive(weight))
        else:
            y = inputs.class_labels(self, y, len(X), weight)
            Y = target_columns(y, len(X), "classification", weight=weight)
        used = None if weight is None else np.flatnonzero(weight)
        X = X if used is None or len(used) == len(X) else take(X, used)
        return Y, _positive(weight), X

    def _search(self, kernel, X, Y, weight, rng, engine):
        """Return the table for selecting kernel and alpha; None if both are given."""
        kernels = resolve_each(kernel.widths(WIDTHS), X, weight)
        ridges = RIDGES
        if self.alpha is not None:
            if len(kernels) == 1:
                return None
            ridges = None
        n = check_count("search_samples", self.search_samples, low=2, optional=False)
        X, Y, weight = rows_of(draw(Y, n, rng), X, Y, weight)
        return leave_one_out_width_and_ridge(
            X, Y, kernels, ridges, weight, alphas=[self.alpha], engine=engine
        )

    def _doubt_collapse(self):
        if self.n_iterations and len(self.path_.iterates) == 1:
            doubt(
                "Every derivative of the ridge regression is 0 or overflows in float64, so that "
                "the scales are equal; scale X, or choose another gamma."
            )
            return
        total, worth = self.scales_.sum(), np.square(self.scales_).sum()
        if total > 1.0 and total**2 < _ALONE * worth:  # if one feature varies, the sum is 1
            k = int(np.argmax(self.scales_))
            name = repr(self._names()[k])
            doubt(
                f"Feature {name} of X has nearly all of the scale, so other features have almost "
                "no effect; remove it if it leaks the target."
            )

    def transform(self, X):
        """The features of n samples times the roots of the scales, (n, d), or a data frame."""
        given, X = X, self._check_columns(X, check_features)
        root = root_of(self.matrix_ if self.full else self.scales_)
        if is_sparse(X):
            from scipy.sparse import csr_array

            X = csr_array(X)
            return csr_array((X.data * root[X.indices], X.indices, X.indptr), shape=X.shape)
        return self._in_container(transformed(X, root), given)

    def fit_transform(self, X, y, sample_weight=None):
        """Learn the scales and return the training samples times their roots."""
        return self.fit(X, y, sample_weight).transform(X)

    @property
    def _n_features_out(self):
        return self.n_features_in_

    def _names(self):
        """Names of the features; x0, x1, ... if they have none."""
        own = getattr(self, "feature_names_in_", None)
        numbered = (f"x{j}" for j in range(self.n_features_in_))
        return np.array(list(numbered), dtype=object) if own is None else own

    def get_feature_names_out(self, input_features=None):
        """Names of the output columns: those of the features, or numbered with ``full``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, if X had none in ``fit``.

        Returns
        -------
        ndarray of str, dtype object
        """
        numbered = super().get_feature_names_out(input_features)
        if self.full:
            return numbered
        return self._names() if input_features is None else np.array(input_features, dtype=object)

    def summary(self, max_rows=30) -> str:
        """Return scales, largest first, selected kernel, and errors of iterations as text."""
        self._check_is_fitted()
        order, names, path = np.argsort(-self.scales_, kind="stable"), self._names(), self.path_
        rows = [(str(names[j]), f"{self.scales_[j]:.4g}") for j in order[:max_rows]]
        errors = ", ".join(f"{error:.4g}" for error in path.errors)
        constant = np.count_nonzero(~path.varies)
        return "\n".join(
            [
                table(rows, ("feature", "scale"), total=len(names)),
                f"{self.kernel_}, alpha={self.alpha_:.3g}",
                f"leave-one-out errors of the iterations {errors}; number {path.best} is used",
                *([f"{constant} constant features have scale 0"] if constant else []),
            ]
        )


def _check_numbers(name, array, shape):
    """ValueError unless an array holds finite floating-point numbers in this shape."""
    real = isinstance(array, np.ndarray) and array.dtype.kind == "f"
    if not real or array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite real numbers in shape {shape}")


def _positive(weight):
    return None if weight is None else weight[weight > 0.0]


def in_units(Y, weight):
    """Divide target columns by their root mean squares, so that units do not matter."""
    Y = Y / (np.abs(Y).max(axis=0) + 1e-300)  # squares of small numbers would underflow
    size = np.sqrt(np.average(np.square(Y), axis=0, weights=weight))
    return Y / np.where(size > 0.0, size, 1.0)


def _samples(X, full):
    X = check_features(X)
    if not is_sparse(X):
        return X
    if full:
        raise TypeError(
            "X is a sparse matrix, which full=True would make dense; accepted with "
            "full=True: arrays, such as X.toarray()."
        )
    return check_sparse("X", X)


def _check_varies(X):
    if not varying(X).any():
        raise ValueError(
            "X: every feature is constant on the training samples, so nothing can be learned; "
            "accepted: samples on which at least one varies."
        )


def draw(Y, n, rng):
    """Draw at most n sample numbers, increasing, stratified by the targets."""
    m = len(Y)
    if m <= n:
        return None
    order = rng.permutation(m)
    order = order[np.argsort(Y[order] @ np.arange(1.0, Y.shape[1] + 1.0), kind="stable")]
    return np.sort(order[np.linspace(0, m - 1, n).astype(np.intp)])


def rows_of(some, X, Y, weight):
    """Return samples, targets and weights of an index array; None for all."""
    if some is None:
        return X, Y, weight
    return take(X, some), Y[some], None if weight is None else weight[some]
