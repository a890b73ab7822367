"""Oracles for the models: optimality of a dual solution, and ridge regression by definition."""

from itertools import combinations

import numpy as np
from draws import require
from fuzz_data import EPS


def problem_signs(y, classes, multiclass):
    """Signs (n_problems, m) of the two-class problems in the documented order."""
    if len(classes) > 2 and multiclass == "ovr":
        return [np.where(y == label, 1.0, -1.0) for label in classes]
    pairs = combinations(range(len(classes)), 2)
    return [(y == classes[j]) * 1.0 - (y == classes[i]) * 1.0 for i, j in pairs]


def confidences(raw, n_classes, multiclass):
    """The output of decision_function for the decisions of the problems, by its documentation."""
    if n_classes == 2:
        return raw[:, 0]
    if multiclass == "ovr":
        return raw
    votes, sums = np.zeros((2, len(raw), n_classes))
    for column, (i, j) in zip(raw.T, combinations(range(n_classes), 2)):
        votes[:, j] += column >= 0
        votes[:, i] += column < 0
        sums[:, j] += column
        sums[:, i] -= column
    return votes + sums / (3 * (np.abs(sums) + 1))


def check_svm(what, K, coef, linear, bounds, epsilon, tol, slack):
    """Feasibility, and the optimality conditions to ``tol``, of a dual solution.

    The dual is: minimize b'Kb / 2 + linear'b + epsilon |b|_1, sum(b) = 0, lower <= b <= upper.
    The conditions are necessary, and sufficient if K is definite.
    """
    lower, upper = bounds
    size = np.abs(coef).sum()
    require(abs(coef.sum()) <= 1e-9 * (size + EPS), f"{what}: coefficients do not sum to 0")
    reach = 1e-9 * np.maximum(np.abs(lower), np.abs(upper))
    inside = np.all((coef >= lower - reach) & (coef <= upper + reach))
    require(inside, f"{what}: coefficients out of bounds")
    # Bounds are reached up to rounding.
    at_upper, at_lower = coef >= upper - reach, coef <= lower + reach
    zero = np.abs(coef) <= 1e-14 * size
    gradient = np.asarray(K @ coef + linear, float)
    up = np.where(at_upper, np.inf, np.where((coef < 0) & ~zero, -epsilon, epsilon))
    down = np.where(at_lower, -np.inf, np.where((coef > 0) & ~zero, epsilon, -epsilon))
    low, high = (gradient + down).max(), (gradient + up).min()
    allowed = tol + slack
    require(low - high <= allowed, f"{what}: optimality", f"{low - high:.3g} > {allowed:.3g}")


def ridge(K, K_test, y, alpha):
    """Predictions of ridge regression on centered kernels, and a bound on rounding.

    ``K`` (m, m) and ``K_test`` (n, m) in long double, not centered.
    """
    means = K.mean(axis=0)
    centered = K - means - K.mean(axis=1)[:, None] + means.mean()
    against = K_test - means - K_test.mean(axis=1)[:, None] + means.mean()
    centered, against = np.asarray(centered, float), np.asarray(against, float)
    mean = y.mean(axis=0)
    dual = np.linalg.solve(centered + alpha * np.eye(len(y)), y - mean)
    values = np.linalg.eigvalsh(centered)
    with np.errstate(over="ignore"):
        condition = (max(values[-1], 0.0) + alpha) / max(alpha + min(values[0], 0.0), 1e-300)
    size = np.abs(against).sum(axis=1).max() * np.abs(dual).max() + np.abs(y).max()
    return against @ dual + mean, condition, 32 * len(y) * condition * size
