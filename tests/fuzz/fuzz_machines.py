"""Results of other programs for the models: optimality by definition, and scikit-learn's."""

import warnings
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
    """Feasibility, and the optimality conditions to ``tol``, of a dual solution; its gap.

    The dual is: minimize b'Kb / 2 + linear'b + epsilon |b|_1, sum(b) = 0, lower <= b <= upper.
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
    return _gap(gradient, coef, lower, upper, epsilon)


def _gap(gradient, coef, lower, upper, epsilon):
    """The smallest duality gap over the intercepts that matter: values of the slopes."""
    candidates = np.unique(np.concatenate([gradient - epsilon, gradient + epsilon]))
    slope = gradient - candidates[:, None]
    with np.errstate(invalid="ignore"):
        least = np.minimum(np.minimum((epsilon - slope) * -lower, (epsilon + slope) * upper), 0.0)
    gaps = (slope * coef + epsilon * np.abs(coef) - least).sum(axis=1)
    return float(max(gaps.min(), 0.0))


def compare_svm(what, K, ours, theirs, gaps, slack):
    """Functions of two solutions differ, up to the intercept, at most by what their gaps allow.

    The primal objective is strongly convex in w: |w - w*|^2 <= 2 gap.
    """
    functions = [np.asarray(K @ c, float) for c in (ours, theirs)]
    difference = functions[0] - functions[1]
    difference = np.abs(difference[:, None] - difference)
    diagonal = np.diagonal(K)
    apart = np.sqrt(np.maximum(np.asarray(diagonal[:, None] + diagonal - 2 * K, float), 0.0))
    allowed = sum(np.sqrt(2 * g) for g in gaps) * apart * (1 + 1e-6) + 2 * slack
    worst = float((difference - allowed).max())
    require(worst <= 0.0, f"{what}: not scikit-learn's function", f"{worst:.3g} above the bound")


def sklearn_svc(K, sign, cost, tol):
    """Signed coefficients of scikit-learn's SVC on one problem, 0 where the sign is 0."""
    from sklearn.svm import SVC

    used = np.flatnonzero(sign)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = SVC(C=1.0, kernel="precomputed", tol=tol, max_iter=10**6)
        machine.fit(K[np.ix_(used, used)], sign[used] > 0, sample_weight=cost[used])
    coef = np.zeros(len(sign))
    coef[used[machine.support_]] = machine.dual_coef_[0]
    return coef


def sklearn_svr(K, y, C, epsilon, tol):
    """Signed coefficients of scikit-learn's SVR."""
    from sklearn.svm import SVR

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=tol, max_iter=10**6)
        machine.fit(K, y)
    coef = np.zeros(len(y))
    coef[machine.support_] = machine.dual_coef_[0]
    return coef


def sklearn_ridge(K, K_test, y, alpha):
    """Predictions of scikit-learn's KernelRidge on centered kernels, and a bound on rounding.

    ``K`` (m, m) and ``K_test`` (n, m) in long double, not centered.
    """
    from sklearn.kernel_ridge import KernelRidge

    means = K.mean(axis=0)
    centered = K - means - K.mean(axis=1)[:, None] + means.mean()
    against = K_test - means - K_test.mean(axis=1)[:, None] + means.mean()
    centered, against = np.asarray(centered, float), np.asarray(against, float)
    mean = y.mean(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a singular matrix is reported
        machine = KernelRidge(alpha=alpha, kernel="precomputed").fit(centered, y - mean)
    values = np.linalg.eigvalsh(centered)
    with np.errstate(over="ignore"):
        condition = (max(values[-1], 0.0) + alpha) / max(alpha + min(values[0], 0.0), 1e-300)
    dual = np.abs(machine.dual_coef_).max()
    size = np.abs(against).sum(axis=1).max() * dual + np.abs(y).max()
    return machine.predict(against) + mean, condition, 32 * len(y) * condition * size
