"""The estimators against the optimality conditions and ridge regression on the learned kernel."""

import numpy as np
from draws import fuzz, require
from fuzz_data import EPS
from fuzz_machines import check_svm, confidences, problem_signs, ridge
from fuzz_setup import TWO_STAGE, check_unmodified, classes, frozen, real_target, setup
from fuzz_truth import center

import alignlearn as al

_STEPS = 200_000  # of a solver; beyond it, it warns and states the violation reached


# Classification


@fuzz(1)
def test_classifier(draws):
    """`MKLClassifier` against the optimality conditions, which determine its function."""
    setting = setup(draws, psd=draws.chance(0.85))
    y = classes(draws, len(setting.S))
    C, tol = draws.power(-2, 3), draws.power(-6, -2)
    multiclass = draws.pick("ovo", "ovr")
    weight = draws.pick(None, None, "balanced", {np.unique(y)[0].item(): 2.5})
    rule = draws.pick(*TWO_STAGE, "alignf-linear")
    normalize = draws.pick("trace", "trace", None)
    clf = al.MKLClassifier(
        setting.kernels, weighting=rule, C=C, tol=tol, multiclass=multiclass, class_weight=weight,
        max_iter=_STEPS, normalize=normalize,
    )  # fmt: skip
    if not setting.usable:
        return "no bound"
    before = frozen(setting, y)
    try:
        clf.fit(setting.S.given, y)
    except ValueError:
        traces = [float(np.trace(center(v.K))) for v in setting.values]
        require(clf.normalize and max(traces) <= 0, "classifier refused")
        return "refused"
    check_unmodified(setting, y, before)
    require(np.array_equal(clf.classes_, np.unique(y)), "classes_")
    duals = np.zeros((len(y), clf.dual_coef_.shape[1]))
    duals[clf.support_] = clf.dual_coef_
    _check_coefficients(clf, setting, duals, y)
    _check_decisions(clf, setting, duals)
    return f"classifier {'psd' if clf.kernel_.is_psd else 'indefinite'}"


def _costs(clf, y):
    """Cost of a margin violation of each sample."""
    labels, counts = np.unique(y, return_counts=True)
    weight, by_class = clf.class_weight, np.ones(len(labels))
    if weight == "balanced":
        by_class = len(y) / (len(labels) * counts)
    elif weight is not None:
        by_class = np.array([weight.get(label.item(), 1.0) for label in labels])
    return clf.C * by_class[np.searchsorted(labels, y)]


def _check_coefficients(clf, setting, duals, y):
    """Optimality of every two-class problem."""
    K, error = setting.combined(clf.weights_ * clf.scale_, setting.grams)
    centered, cost = center(K), _costs(clf, y)
    error += 64 * EPS * float(np.abs(centered).max())
    signs = problem_signs(y, clf.classes_, clf.multiclass)
    reached = np.maximum(clf.machine_.kkt_violation_, clf.tol)
    for coef, sign, tol in zip(duals.T, signs, reached):
        reach, slack = cost * sign, np.abs(coef).sum() * error + 1e-13
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        check_svm("SVC", centered, coef, -sign, bounds, 0.0, tol, slack)


def _check_decisions(clf, setting, duals):
    """Decisions and predictions of new samples from the coefficients, by definition."""
    against, error = setting.combined(clf.weights_ * clf.scale_, setting.against)
    found = clf.decision_function(setting.T.given)
    require(np.all(np.isfinite(found)), "decision_function is not finite")
    raw = np.asarray(against @ duals + clf.intercept_, float)
    size_ = np.abs(duals).sum(axis=0)
    slack = size_ * (error + 64 * EPS * float(np.abs(against).max())) + 1e-12
    expected = confidences(raw, len(clf.classes_), clf.multiclass)
    sure = (np.abs(raw) > slack).all(axis=1)
    allowed = slack.sum() + 1e-12 * np.abs(raw).max(initial=1.0)
    wrong = np.abs(found - expected)[sure].max(initial=0.0)
    require(wrong <= allowed, "decision_function", f"{wrong:.3g} > {allowed:.3g}")
    best = found.argmax(axis=1) if found.ndim == 2 else (found > 0).astype(int)
    require(np.array_equal(clf.predict(setting.T.given), clf.classes_[best]), "predict")


# Regression


@fuzz(1)
def test_ridge(draws):
    """`MKLRegressor` with kernel ridge against the solution of its linear system."""
    setting = setup(draws)
    y = real_target(draws, len(setting.S), draws.chance(0.3))
    alpha = draws.power(-6, 3)
    reg = al.MKLRegressor(
        setting.kernels, weighting=draws.pick(*TWO_STAGE), alpha=alpha,
        normalize=draws.pick("trace", "trace", None),
    )  # fmt: skip
    if not setting.usable:
        return "no bound"
    before = frozen(setting, y)
    try:
        reg.fit(setting.S.given, y)
    except ValueError:
        # If alpha is lost in the rounding of the matrix, the library warns.
        traces = [float(np.trace(center(v.K))) for v in setting.values]
        scales = [len(y) / t if reg.normalize else 1.0 for t in traces]
        largest = max(s * float(np.abs(v.K).max()) for s, v in zip(scales, setting.values))
        require(alpha < 100 * len(y) * setting.S.eps * largest, "ridge refused", str(alpha))
        return "refused"
    check_unmodified(setting, y, before)
    weights = reg.weights_ * reg.scale_
    K, error = setting.combined(weights, setting.grams)
    against, test_error = setting.combined(weights, setting.against)
    expected, condition, unit = ridge(K, against, y, alpha)
    relative = EPS + (error + test_error) / max(float(np.abs(center(K)).max()), 1e-300)
    if not relative * condition < 1e-3:
        return "no bound"
    found = reg.predict(setting.T.given)
    require(found.shape == expected.shape, "shape of predictions")
    wrong = np.abs(found - expected).max()
    require(wrong <= unit * relative, "ridge", f"{wrong:.3g} > {unit * relative:.3g}")
    return "ridge"


@fuzz(1)
def test_svr(draws):
    """`MKLRegressor` with epsilon-SVR against the optimality conditions."""
    setting = setup(draws)
    y = real_target(draws, len(setting.S))
    unit = y.std()
    C, tol = float(unit * draws.power(-2, 2)), float(unit * draws.power(-6, -2))
    epsilon = float(unit * draws.pick(0.0, 0.1, 0.5))
    reg = al.MKLRegressor(
        setting.kernels, weighting=draws.pick(*TWO_STAGE), machine="svr", C=C, epsilon=epsilon,
        tol=tol, max_iter=_STEPS,
    )  # fmt: skip
    if not setting.usable:
        return "no bound"
    before = frozen(setting, y)
    reg.fit(setting.S.given, y)
    check_unmodified(setting, y, before)
    weights = reg.weights_ * reg.scale_
    K, error = setting.combined(weights, setting.grams)
    centered = center(K)
    coef = np.zeros(len(y))
    coef[reg.support_] = reg.dual_coef_
    largest = float(np.abs(centered).max())
    slack = np.abs(coef).sum() * (error + 64 * EPS * largest) + 64 * EPS * np.abs(y).max()
    bounds = np.full(len(y), -C), np.full(len(y), C)
    reached = max(float(reg.machine_.kkt_violation_[0]), tol)
    check_svm("SVR", centered, coef, -y, bounds, epsilon, reached, slack)
    against, test_error = setting.combined(weights, setting.against)
    found = reg.predict(setting.T.given)
    expected = np.asarray(against @ coef + reg.intercept_, float)
    slack += np.abs(coef).sum() * (test_error + 64 * EPS * float(np.abs(against).max()))
    wrong = np.abs(found - expected).max()
    require(wrong <= slack + 64 * EPS * np.abs(expected).max(), "SVR predict", f"{wrong:.3g}")
    return "svr"
