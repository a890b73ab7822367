"""Models solved in a feature space of few dimensions, without evaluating pairs of samples.

With ``Z`` the centered features times the square roots of their weights, ``K = ZZ'``. The ridge
solution is linear, ``(Z'Z + alpha I) u = Z'y``; the support vector classifier's dual is solved by
an interior point method with systems of the same size.
"""

from __future__ import annotations

import copy

import numpy as np

from alignlearn.engine.features import centered_feature_gram
from alignlearn.solvers.dense import ShiftedInverse
from alignlearn.solvers.low_rank import low_rank_hinge
from alignlearn.solvers.multiclass import two_class_problems
from alignlearn.validation import check_number, is_sparse, warn_unconverged

from ._ridge import check_range, factor_definite, solve_factored
from ._svm import check_options, store_results


class WeightedFeatures:
    """Features of positive weight, times the square roots of the weights.

    Parameters
    ----------
    combination : Combination
        Linear in the features, with no negative weight.

    Attributes
    ----------
    Z : ndarray or CSR matrix of shape (m, q)
        Not centered if sparse.
    active : ndarray of int of shape (q,)
    root : ndarray of shape (q,)
    """

    def __init__(self, combination):
        self.Z, self.active, self.root = combination.features()
        self.n_features = combination.source.n_features

    def dense(self):
        """Z as an array."""
        return self.Z.toarray() if is_sparse(self.Z) else self.Z

    def rows(self, index, weight=None):
        """Some samples, and the mean of these with their weights."""
        Z = self.Z[index]
        mean = Z.mean(axis=0) if weight is None else Z.T @ (weight / weight.sum())
        return Z, np.asarray(mean).ravel()

    def coefficients(self, u):
        """Coefficients of all unscaled features, (n_features, c), from those of Z."""
        out = np.zeros((self.n_features, u.shape[1]))
        out[self.active] = self.root[:, None] * u
        return out


def fit_classifier(machine, Z, y, sample_weight=None):
    """Fit a `SupportVectorClassifier` with finite C as if on ``ZZ'``.

    Parameters
    ----------
    machine : SupportVectorClassifier
    Z : ndarray of shape (m, q)
        Not centered or centered.
    y : ndarray of shape (m,)
    sample_weight : ndarray of shape (m,), optional
        Not negative.

    Returns
    -------
    SupportVectorClassifier
        It gives the same decisions as a function of the columns: its "kernel" is Z itself.

    Warns
    -----
    ConvergenceWarning
        If a problem stops above ``tol``.
    """
    options = check_options(machine)
    C = check_number("C", machine.C, low=0.0, strict=True)
    weights = {"sample_weight": sample_weight, "class_weight": machine.class_weight}
    machine.classes_, signs, weight = two_class_problems(y, machine.multiclass, **weights)
    costs = np.broadcast_to(C * weight, signs.shape)
    means = Z.mean(axis=0)
    centered = Z - means
    results = []
    for sign, cost in zip(signs, costs):
        steps = min(100, options["max_iter"] or 100)
        results.append(low_rank_hinge(centered, sign, cost, tol=options["tol"], max_iter=steps))
        if not results[-1].converged:
            count = f"{results[-1].n_iter} steps"
            reached = "a KKT violation of", results[-1].kkt_violation
            remedy = "scale the features, lower C, or raise max_iter or tol"
            solver = "The interior point method"
            warn_unconverged(solver, count, *reached, options["tol"], remedy)
    store_results(machine, results)
    u = Z[machine.support_].T @ machine.dual_coef_
    machine.intercept_ = machine.intercept_ - means @ u
    linear = copy.copy(machine)
    linear.dual_coef_, linear.support_, linear.n_train_ = u, np.arange(len(u)), len(u)
    return linear


def fit_ridge(machine, combination, y, weight=None):
    """Fit a `KernelRidge` with alpha > 0 as if on the Gram matrix of a weighted sample.

    ``weight`` (m,): of the samples; default: as in the combination.

    Returns
    -------
    ndarray of shape (n_features, c)
        Coefficients of the features.

    Raises
    ------
    ValueError
        alpha is below the rounding error, or so small that coefficients overflow.
    """
    features = WeightedFeatures(combination)
    weight = combination.weight if weight is None else weight
    Z, means = features.rows(slice(None), weight)
    mean = np.average(y, axis=0, weights=weight)
    residual = (y - mean).reshape(len(y), -1)
    system = centered_feature_gram(Z, weight=weight)
    system.flat[:: len(system) + 1] += machine.alpha
    unit = factor_definite(system, machine.alpha)
    u = solve_factored(system, np.asarray(Z.T @ _times(weight, residual)), unit)
    residual = residual - (np.asarray(Z @ u) - means @ u)
    with np.errstate(over="ignore"):
        machine.dual_coef_ = (_times(weight, residual) / machine.alpha).reshape(y.shape)
    check_range(machine.dual_coef_, 0.0, machine.alpha)
    machine.intercept_ = mean - (means @ u).reshape(y.shape[1:])
    if y.ndim == 1:
        machine.intercept_ = float(machine.intercept_)
    return features.coefficients(u)


def _times(weight, rows):
    return rows if weight is None else weight[:, None] * rows


def ridge_predictions(features, y, split, alphas, solve, weight=None):
    """Test predictions of kernel ridge for each alpha, as `paths.ridge_path`.

    ``solve(G, B, alphas)`` gives ``(G + alpha I)^-1 B`` side by side. ``weight`` is that of the
    training samples.
    """
    Z, means = features.rows(split[0], weight)
    mean = np.average(y[split[0]], axis=0, weights=weight)
    right = _times(weight, (y[split[0]] - mean).reshape(len(split[0]), -1))
    u = solve(centered_feature_gram(Z, weight=weight), np.asarray(Z.T @ right), alphas)
    fitted = np.asarray(features.Z[split[1]] @ u) - means @ u
    fitted = fitted.reshape(len(split[1]), len(alphas), -1) + mean
    return [fitted[:, k].reshape(-1, *y.shape[1:]) for k in range(len(alphas))]


def leave_one_out_predictions(features, y, alphas, weight=None):
    """As `ridge_loo_path`, from the small matrix ``Z'Z``."""
    Z, means = features.rows(slice(None), weight)
    small = centered_feature_gram(Z, weight=weight)
    size = float(np.trace(small))
    inverse = ShiftedInverse(small)
    # A shift above rounding, so that the factors are accurate.
    inverse.lift(max(4.0 * np.finfo(np.float64).eps * size - inverse.smallest_eigenvalue(), 0.0))
    residual = (y - np.average(y, axis=0, weights=weight)).reshape(len(y), -1)
    u = inverse.solve(np.asarray(Z.T @ _times(weight, residual)), alphas)

    def columns(i, j):
        rows = Z[i:j].toarray() if is_sparse(Z) else Z[i:j]
        return np.ascontiguousarray((rows - means).T)

    share = 1.0 / len(y) if weight is None else 1.0 / weight.sum()
    leverage = share + inverse.quadratic(columns, len(y), alphas)
    leverage *= 1.0 if weight is None else weight
    predictions = []
    for k, taken in enumerate(leverage):
        left = residual - (np.asarray(Z @ u[:, k]) - means @ u[:, k])
        predictions.append(y - (left / (1.0 - taken)[:, None]).reshape(y.shape))
    return predictions
