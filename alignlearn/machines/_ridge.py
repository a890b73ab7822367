"""Kernel ridge regression on a Gram matrix, and its exact leave-one-out path."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve, inverse_diagonal, subtract_sums
from alignlearn._params import ParamsMixin
from alignlearn._text import Result
from alignlearn.solvers.dense import ShiftedInverse
from alignlearn.statistics import center_gram
from alignlearn.validation import (
    check_fitted,
    check_gram,
    check_number,
    check_numbers,
    check_targets,
    check_test_gram,
    check_weights,
)

from .scores import TargetScore

_ROWS = 64  # rows of a matrix that are read at once
_LARGEST_ALPHA = 1e250  # entries of the inverse of a matrix of this size are normal numbers


class NotDefinite(ValueError):
    """A system that is not positive definite to working precision."""


@dataclass(eq=False, repr=False)
class KernelRidge(ParamsMixin, TargetScore):
    """Kernel ridge regression on a precomputed Gram matrix.

    Minimizes sum_i w_i (y_i - f(x_i) - b)^2 + alpha |f|^2 over f in the space of K and, with
    ``fit_intercept``, over the constant b, which is not penalized. This equals centering K and y at
    their weighted means (Cortes, Mohri and Rostamizadeh 2012, section 2.2), but prediction uses the
    uncentered kernel, since the coefficients then sum to 0. ``alpha`` is added to the diagonal as
    in scikit-learn; for the loss (1/m) sum use ``alpha = m lambda``.

    Parameters
    ----------
    alpha : float
        Regularization, >= 0.
    fit_intercept : bool
        Whether to fit b. K need not be centered.

    Attributes
    ----------
    dual_coef_ : (m,) or (m, c) float64
    intercept_ : float, or (c,) float64 if y has columns

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.machines import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(40, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> K = Gaussian(1.0)(X)
    >>> model = KernelRidge(alpha=0.01).fit(K, y)
    >>> model.score(K, y) > 0.99, bool(abs(model.dual_coef_.sum()) < 1e-8)
    (True, True)
    >>> model.predict(Gaussian(1.0)([[0.5]], X)).round(1)  # rows: new samples; sin(1) = 0.84
    array([0.8])
    """

    alpha: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True

    def fit(self, K, y, sample_weight=None, *, check=True, overwrite=False):
        """Fit by one Cholesky factorization.

        Parameters
        ----------
        K : (m, m) float64 or float32
            Symmetric Gram matrix; not modified.
        y : (m,) or (m, c)
            Targets, real and finite.
        sample_weight : (m,), optional
            Nonnegative; weight 0 omits the sample.
        check : bool, default True
            False skips the check that K is finite and symmetric.
        overwrite : bool, default False
            Overwrite K, if it is float64, instead of copying it.

        Raises
        ------
        ValueError
            Invalid input; K + alpha I (centered) is not positive definite, or so small relative to
            y that coefficients overflow.
        """
        alpha = check_number("alpha", self.alpha, low=0.0)
        y = check_targets(y)
        K = check_gram("K", K, len(y)) if check else K
        weight = check_weights(sample_weight, len(y))
        largest = float(np.abs(K.diagonal()).max())
        system = K if overwrite and K.dtype == np.float64 else np.array(K, dtype=np.float64)
        parts = _system(system, y, alpha, weight, self.fit_intercept)
        unit = factor_definite(system, alpha)
        self.dual_coef_ = (solve_factored(system, parts.right, unit).T * parts.root).T
        check_range(self.dual_coef_, largest, alpha)
        mean = parts.mean
        offset = parts.means @ self.dual_coef_
        self.intercept_ = mean - offset if self.fit_intercept else np.zeros_like(mean)
        if y.ndim == 1:
            self.intercept_ = float(self.intercept_)
        return self

    def predict(self, K_test):
        """Predict targets (n_test,) or (n_test, c) from kernel values (n_test, m)."""
        check_fitted(self, "dual_coef_")
        K_test = check_test_gram("K_test", K_test, len(self.dual_coef_))
        return K_test @ self.dual_coef_ + self.intercept_


class _System(NamedTuple):
    """Results of `_system` in addition to the matrix."""

    right: np.ndarray
    root: np.ndarray
    share: np.ndarray
    means: np.ndarray
    mean: np.ndarray
    constant: float


def _system(K, y, alpha, weight, fit_intercept):
    """Make K the system of ridge regression for rooted coefficients, in place; see `_System`."""
    root = np.sqrt(weight)
    share = weight / weight.sum() if fit_intercept else np.zeros_like(weight)
    means, constant = center_rooted(K, share, root, lift=fit_intercept)
    K[np.diag_indices_from(K)] += np.where(weight > 0.0, alpha, 1.0)
    mean = share @ y
    return _System(((y - mean).T * root).T, root, share, means, mean, constant)


def rough_coefficients(K, Y, alpha, weight=None):
    """Coefficients (m, c) of ridge regression with an intercept, in the precision of K (float32).

    None if K (m, m) plus alpha on its diagonal is not definite in that precision.
    """
    system = K.copy()
    parts = _system(system, Y, alpha, np.ones(len(Y)) if weight is None else weight, True)
    if not cholesky(system):
        return None
    return parts.root[:, None] * cholesky_solve(system, parts.right)


def ridge_leave_one_out(K, Y, alpha, weight=None):
    """Ridge regression with an intercept for one alpha, and its leave-one-out residuals.

    From one Cholesky factor; for many values of alpha, and for the definition of the residuals, see
    `ridge_loo_path`.

    Parameters
    ----------
    K : (m, m) float64
        Symmetric and finite; overwritten.
    Y : (m, c)
    alpha : float > 0
    weight : (m,), optional
        Positive.

    Returns
    -------
    coef : (m, c) float64
    residuals : (m, c) float64
        Target minus its prediction by the fit without the sample.

    Raises
    ------
    NotDefinite
    """
    weight = np.ones(len(Y)) if weight is None else weight
    largest = float(np.abs(K.diagonal()).max())
    parts = _system(K, Y, alpha, weight, True)
    unit = factor_definite(K, alpha)
    rooted = solve_factored(K, parts.right, unit)
    inverse = np.ldexp(inverse_diagonal(K), -unit)
    inverse -= parts.share / (parts.constant + alpha)
    coef = parts.root[:, None] * rooted
    check_range(coef, largest, alpha)
    return coef, rooted / (parts.root * inverse)[:, None]


def center_rooted(K, share, root, lift=False):
    """Center K at weighted means and multiply it by the roots of the weights, on both sides.

    In place. ``share`` are the weights over their sum, or zeros, which center nothing. The vector
    of the roots is then an eigenvector with value 0, and orthogonal to the right-hand side of a
    regression. Its eigenvalue is therefore free. ``lift`` makes it that of the trace, so that the
    system is definite if the rest of K is, and coefficients sum to 0. With equal weights this is
    one pass over the matrix, in place of three with `center_gram`.

    Returns
    -------
    means : ndarray of shape (m,)
        Of the columns of K.
    constant : float
        The eigenvalue.
    """
    share = share.astype(K.dtype, copy=False)
    means, constant, is_equal = share @ K, 0.0, np.all(root == 1.0)
    total = float(share @ means)
    if not is_equal:
        center_gram(K, means, share)
        K *= root
        K *= root[:, None]
    if lift:
        trace = float(K.diagonal().sum(dtype=np.float64))
        constant = abs(trace - len(K) * total if is_equal else trace) or 1.0
    if not is_equal:
        add_roots(K, root, constant)
    elif lift or share.any():
        subtract_sums(K, means - 0.5 * (total + constant / len(K)))
    return means, constant


def add_roots(K, root, constant):
    """Raise the eigenvalue of the vector of the roots by a constant, in place."""
    size = constant / np.square(root).sum()
    if not size:
        return
    if np.all(root == 1.0):
        K += size
        return
    for row, r in zip(K, root):
        row += (size * r) * root


def check_range(coef, largest, alpha):
    """Raise an error for coefficients with which kernel values up to ``largest`` overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        usable = np.isfinite(coef).all() and np.isfinite((np.abs(coef) * largest).sum())
    if not usable:
        raise ValueError(
            f"alpha={alpha:g}: K + alpha I is so small compared with y that coefficients "
            "overflow; raise alpha, or scale K or y."
        )


def factor_definite(system, alpha):
    """Overwrite a positive definite matrix by the factor of ``2^-unit`` times it; return unit."""
    # Powers of two, which allow any unit without rounding.
    unit = int(np.frexp(np.abs(system.diagonal()).max())[1])
    if abs(unit) < 1000:
        system *= 2.0**-unit  # ten times as fast
    else:
        np.ldexp(system, -unit, out=system)
    rounding = len(system) * np.finfo(np.float64).eps * np.abs(system.diagonal()).max()
    if not cholesky(system) or not system.diagonal().min() ** 2 > rounding:
        raise NotDefinite(
            f"K + alpha I is not positive definite to working precision at alpha={alpha:g}: raise "
            "alpha above minus the smallest eigenvalue of K (of the centered K with an intercept)."
        )
    return unit


def solve_factored(factor, right, unit):
    """Solve with the factor and the unit of `factor_definite`; overflow gives infinity."""
    scale = int(np.frexp(np.abs(right).max(initial=0.0))[1])
    with np.errstate(over="ignore"):
        return np.ldexp(cholesky_solve(factor, np.ldexp(right, -scale)), scale - unit)


@dataclass(frozen=True)
class RidgePath(Result):
    """Leave-one-out results of kernel ridge regression for each alpha.

    Attributes
    ----------
    alphas : (n,) float64
    loo_mse : (n,) float64
        (Weighted) mean squared leave-one-out error, over samples and targets.
    predictions : (n, m) or (n, m, c) float64
        Prediction at each sample from the fit without it.
    best_alpha : float
        The alpha with minimum ``loo_mse``; ties, up to rounding, go to the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Linear
    >>> from alignlearn.machines import KernelRidge, ridge_loo_path
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> K, y = Linear()(X), X[:, 0] ** 2
    >>> path = ridge_loo_path(K, y, [1.0])
    >>> without = KernelRidge(1.0).fit(K[1:, 1:], y[1:]).predict(K[:1, 1:])
    >>> np.allclose(path.predictions[0, 0], without)
    True
    """

    alphas: np.ndarray
    loo_mse: np.ndarray
    predictions: np.ndarray
    best_alpha: float


def ridge_loo_path(
    K, y, alphas, fit_intercept=True, *, sample_weight=None, check=True, overwrite=False
) -> RidgePath:
    """Exact leave-one-out predictions for many alphas from one reduction of the matrix.

    A leave-one-out residual of a linear smoother S that minimizes a penalized sum of squares is (y
    - Sy)_i / (1 - S_ii), here with the intercept refitted (S includes 11'/m). With one, I - S is
    alpha (Kc + alpha I)^-1 on the vectors that sum to 0. The constant vector is shifted above the
    spectrum, so that its contribution, which is subtracted, is small relative to the diagonal of
    the inverse. With weights w, the same holds for ``sqrt(w_i) y_i``, with the vector of the
    ``sqrt(w_i)`` in place of the constant vector.

    Parameters
    ----------
    K : (m, m) float64 or float32
        Symmetric Gram matrix, centered or not; m >= 2 with an intercept.
    y : (m,) or (m, c)
    alphas : sequence of float
        Each > 0 and at most 1e250, as in `KernelRidge`.
    sample_weight : (m,), optional
        Positive. A sample is left out with its whole weight.
    fit_intercept : bool
        Whether to fit a constant. K need not be centered.
    check : bool
        False skips the check that K is finite and symmetric.
    overwrite : bool
        Whether K may be overwritten.

    Returns
    -------
    RidgePath

    Raises
    ------
    ValueError
        Invalid input, or K + alpha I (centered) is not positive definite for some alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.machines import ridge_loo_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=40)
    >>> path = ridge_loo_path(Gaussian(1.0)(X), y, [1e-6, 0.1, 1e3])
    >>> path.best_alpha, path.predictions.shape
    (0.1, (3, 40))
    """
    y = check_targets(y)
    K = check_gram("K", K, len(y)) if check else K
    alphas, weight = _check_path(y, alphas, fit_intercept, sample_weight)
    m, root = len(y), np.sqrt(weight)
    share = weight / weight.sum() if fit_intercept else np.zeros(m)
    centered = K if overwrite and K.dtype == np.float64 else np.array(K, dtype=np.float64)
    center_rooted(centered, share, root)
    blocks = (centered[i : i + _ROWS] for i in range(0, m, _ROWS))
    # At least the largest eigenvalue.
    scale = max(float(np.abs(rows).sum(axis=1).max()) for rows in blocks)
    constant = 2.0 * (scale or 1.0)
    if fit_intercept:
        add_roots(centered, root, constant)
    inverse = _definite_inverse(centered, alphas, scale)
    mean = share @ y if fit_intercept else 0.0
    unit = np.abs(y - mean).max() or 1.0
    residual = inverse.solve(root[:, None] * ((y - mean) / unit).reshape(m, -1), alphas)
    leverage = inverse.quadratic(lambda i, j: np.eye(m, j - i, -i), m, alphas)
    if fit_intercept:
        leverage -= share / (constant + alphas[:, None])
    residual *= unit / (root * leverage).T[:, :, None]
    predictions = y - np.moveaxis(residual, 1, 0).reshape(len(alphas), *y.shape)
    with np.errstate(over="ignore"):
        squares = np.square(predictions - y).reshape(len(alphas), m, -1).mean(axis=2)
        errors = np.average(squares, axis=1, weights=weight)
    if not np.isfinite(errors).all():
        raise ValueError(
            f"y holds values up to {np.abs(y).max():.3g}, whose squared errors overflow; accepted: "
            "up to about 1e150. Scale y."
        )
    best = alphas[errors <= errors.min() * (1.0 + m * np.finfo(np.float64).eps)].max()
    return RidgePath(alphas, errors, predictions, float(best))


def _check_path(y, alphas, fit_intercept, sample_weight):
    """The alphas and the weights of a path, checked."""
    alphas = check_numbers("alphas", alphas, 1)
    check_number("alphas", alphas.min(), low=0.0, strict=True)
    check_number("alphas", alphas.max(), high=_LARGEST_ALPHA)
    if fit_intercept and len(y) < 2:
        raise ValueError("y has one value; leaving one out with an intercept needs at least two.")
    weight = check_weights(sample_weight, len(y))
    if not weight.all():
        raise ValueError("sample_weight has zeros; accepted: positive numbers. Leave samples out.")
    return alphas, weight


def _definite_inverse(K, alphas, scale):
    """The `ShiftedInverse` of K, which is overwritten, for alphas that make K definite."""
    inverse = ShiftedInverse(K)
    least = inverse.smallest_eigenvalue()
    if least > -1e-12 * scale:
        # A shift above the rounding error of a semi-definite K, so that its factors are accurate.
        inverse.lift(max(4.0 * np.finfo(np.float64).eps * scale - least, 0.0))
    elif least + alphas.min() <= 0.0:
        raise ValueError(
            f"K + alpha I is not positive definite at alpha={alphas.min():g}; the smallest "
            f"eigenvalue of K is {least:.3g}."
        )
    return inverse
