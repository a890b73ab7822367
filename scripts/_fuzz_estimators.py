"""Fuzz cases of the estimators, against scikit-learn on the learned kernel, and invariances."""

from dataclasses import dataclass

import numpy as np
from _fuzz_algebra import random_kernels
from _fuzz_data import EPS, LD, benign, chance, pick, require, samples, size
from _fuzz_kernels import evaluated, linear
from _fuzz_machines import (
    check_svm,
    compare_svm,
    confidences,
    constant_somewhere,
    problem_signs,
    sklearn_ridge,
    sklearn_svc,
    sklearn_svr,
    undecided,
)
from _fuzz_truth import LD_EPS, bounded, centre, norm, out_of_range

import alignlearn as al

TWO_STAGE = ("uniform", "align", "alignf", "alignf", "alignf", "align-lq")


_STEPS = 200_000  # of a machine; beyond, it warns and states the violation reached


@dataclass
class Setup:
    """Samples, new samples, and kernels with their values on both.

    Attributes
    ----------
    S, T : Samples
        For training and for testing.
    specs : list of Spec
    values : list of Values
        Of the training samples, in the forms that the statistics choose.
    grams, against : list of Values
        Of the training samples and of the new ones against them, in the forms of the machines.
    relative : float
        Relative rounding of the worst kernel's centred norm.
    in_range : bool
        Whether the values of the new samples with each other are in range.
    """

    S: object
    T: object
    specs: list
    values: list
    grams: list
    against: list
    relative: float
    in_range: bool

    @property
    def kernels(self):
        """What is passed."""
        return [s.kernel for s in self.specs]

    @property
    def usable(self):
        """Whether the kernels have bounds, and vary."""
        good = bounded(self.values, self.S.eps, len(self.S))
        good = good and bounded(self.against, self.S.eps, len(self.S)) and self.in_range
        return good and self.relative < 1e-3

    def combined(self, weights, values):
        """sum_k w_k K_k in long double, and the error that evaluation may make in it."""
        K = sum(LD(w) * v.K for w, v in zip(weights, values))
        error = sum(abs(w) * (v.centred + 4 * self.S.eps * v.register)
                    for w, v in zip(weights, values))  # fmt: skip
        # The oracle rounds as well, beside large constants.
        return K, 4 * float(error.max()) + 8 * len(K) * LD_EPS * float(np.abs(K).max())


def setup(rng, *, low=6, high=40, psd=True, double=False, linear_only=False):
    """A random `Setup`; data of scale 1."""
    m, d, n = size(rng, low, high), size(rng, 1, 5), size(rng, 1, 8)
    X = benign(rng, m + n, d)
    S = samples(rng, X=X[:m])
    while S.given is None or "int64" in S.tags or (double and S.eps > 1e-10):
        S = samples(rng, X=X[:m])
    T = type(S)(np.asarray(X[m:], S.exact.dtype), None, S.eps)
    T.given = X[m:].astype("f4" if S.eps > 1e-10 else "f8")
    T.exact = T.given.astype(LD)
    if "frame" in S.tags:
        T.given = type(S.given)(T.given, columns=S.given.columns)
    base = np.concatenate([S.exact, T.exact]).astype(float)
    specs = [linear(rng, base)] if linear_only else random_kernels(rng, base)
    while psd and not all(s.psd for s in specs):
        specs = random_kernels(rng, base)
    if "list" in S.tags and any("function" in s.tags for s in specs):
        S.given = np.array(S.given)
    values = [evaluated(s, S.exact, S.exact, S.exact, S.eps) for s in specs]
    with np.errstate(all="ignore"):
        grams, against, own = (
            [s.evaluate(*pair, S.exact, S.eps) for s in specs]
            for pair in ((S.exact, S.exact), (T.exact, S.exact), (T.exact, T.exact))
        )
        relative = max(_relative(v, S.eps) for v in values)
    in_range = not out_of_range(own, S.eps, len(S))
    return Setup(S, T, specs, values, grams, against, relative, in_range)


def _relative(v, eps):
    C = norm(centre(v.K)) if np.all(np.isfinite(v.K)) else 0.0
    terms = 2 * len(v.K) + 16
    return (norm(v.centred) / C + 2 * terms * eps * (norm(v.register) / C) ** 2) if C else np.inf


def classes(rng, m):
    """Labels of 2 to 4 classes, at least two of each."""
    c = int(rng.integers(2, min(4, m // 2) + 1))
    codes = rng.permutation(
        np.concatenate([np.arange(c), np.arange(c), rng.integers(0, c, m - 2 * c)])
    )
    names = pick(
        rng, 2 * np.arange(c) - 1, np.array([f"c{k}" for k in range(c)]), np.arange(c) * 1.0
    )
    return names[codes]


def frozen(setting, y):
    """Copies of what is passed, to see later that it was not modified."""
    return np.array(setting.S.given, copy=True), np.array(y, copy=True)


def check_unmodified(setting, y, before):
    """Raise `Wrong` if the input is no longer what it was."""
    same = np.array_equal(before[0], np.asarray(setting.S.given)) and np.array_equal(before[1], y)
    require(same, "input modified")


# Classification


def classifier(rng):
    """`MKLClassifier` against the optimality conditions and scikit-learn's SVC."""
    setting = setup(rng, psd=chance(rng, 0.85))
    y = classes(rng, len(setting.S))
    C, tol = float(10.0 ** rng.uniform(-2, 3)), float(10.0 ** rng.uniform(-6, -2))
    multiclass = pick(rng, "ovo", "ovr")
    weight = pick(rng, None, None, "balanced", {np.unique(y)[0].item(): 2.5})
    rule = pick(rng, *TWO_STAGE, "alignf-linear")
    clf = al.MKLClassifier(
        setting.kernels, weighting=rule, C=C, tol=tol, multiclass=multiclass, class_weight=weight,
        max_iter=_STEPS,
        normalize=pick(rng, "trace", "trace", None),
    )  # fmt: skip
    if not setting.usable:
        return "no bound"
    before = frozen(setting, y)
    try:
        clf.fit(setting.S.given, y)
    except ValueError:
        traces = [float(np.trace(centre(v.K))) for v in setting.values]
        require(clf.normalize and max(traces) <= 0, "classifier refused")
        return "refused"
    check_unmodified(setting, y, before)
    weights = clf.weights_ * clf.scale_
    K, error = setting.combined(weights, setting.grams)
    against, test_error = setting.combined(weights, setting.against)
    labels, counts = np.unique(y, return_counts=True)
    require(np.array_equal(clf.classes_, labels), "classes_")
    share = {None: np.ones(len(labels)), "balanced": len(y) / (len(labels) * counts)}
    by_class = share[weight] if not isinstance(weight, dict) else np.where(
        labels == next(iter(weight)), 2.5, 1.0)  # fmt: skip
    cost = C * by_class[np.searchsorted(labels, y)]
    duals = np.zeros((len(y), clf.dual_coef_.shape[1]))
    duals[clf.support_] = clf.dual_coef_
    centred = centre(K)
    psd = clf.kernel_.is_psd
    reached = np.maximum(clf.machine_.kkt_violation_, tol)
    for coef, sign, tol in zip(duals.T, problem_signs(y, labels, multiclass), reached):
        reach = cost * sign
        slack = np.abs(coef).sum() * (error + 64 * EPS * float(np.abs(centred).max())) + 1e-13
        bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
        gap = check_svm("SVC", centred, coef, -sign, bounds, 0.0, tol, slack)
        if psd and C * float(np.abs(np.diagonal(centred)).max()) < 1e5:
            theirs = sklearn_svc(np.asarray(centred, float), sign, cost, 1e-6)
            other = check_svm("scikit-learn", centred, theirs, -sign, bounds, 0.0, np.inf, slack)
            rounding = (np.abs(theirs).sum() + np.abs(coef).sum()) * (
                error + 64 * EPS * float(np.abs(centred).max())
            )
            gaps = gap + slack * np.abs(coef).sum(), other + slack * np.abs(theirs).sum()
            compare_svm("SVC", centred, coef, theirs, gaps, rounding)
    _check_decisions(clf, setting, duals, against, test_error, multiclass)
    return f"classifier {'psd' if psd else 'indefinite'}"


def _check_decisions(clf, setting, duals, against, error, multiclass):
    found = clf.decision_function(setting.T.given)
    require(np.all(np.isfinite(found)), "decision_function is not finite")
    raw = np.asarray(against @ duals + clf.intercept_, float)
    size_ = np.abs(duals).sum(axis=0)
    slack = size_ * (error + 64 * EPS * float(np.abs(against).max())) + 1e-12
    expected = confidences(raw, len(clf.classes_), multiclass)
    sure = (np.abs(raw) > slack).all(axis=1)
    allowed = slack.sum() + 1e-12 * np.abs(raw).max(initial=1.0)
    wrong = np.abs(found - expected)[sure].max(initial=0.0)
    require(wrong <= allowed, "decision_function", f"{wrong:.3g} > {allowed:.3g}")
    best = found.argmax(axis=1) if found.ndim == 2 else (found > 0).astype(int)
    require(np.array_equal(clf.predict(setting.T.given), clf.classes_[best]), "predict")


# Regression


def real_target(rng, m, columns=False):
    """Real targets that vary."""
    y = rng.normal(size=(m, int(rng.integers(1, 4))) if columns else m)
    return (y + pick(rng, 0.0, 100.0)) * 10.0 ** rng.integers(-3, 4)


def ridge(rng):
    """`MKLRegressor` with kernel ridge against scikit-learn's KernelRidge."""
    setting = setup(rng)
    y = real_target(rng, len(setting.S), chance(rng, 0.3))
    alpha = float(10.0 ** rng.uniform(-6, 3))
    reg = al.MKLRegressor(
        setting.kernels, weighting=pick(rng, *TWO_STAGE), alpha=alpha,
        normalize=pick(rng, "trace", "trace", None),
    )  # fmt: skip
    if not setting.usable:
        return "no bound"
    before = frozen(setting, y)
    try:
        reg.fit(setting.S.given, y)
    except ValueError:
        # Where alpha is lost in the rounding of the matrix, the library says so.
        traces = [float(np.trace(centre(v.K))) for v in setting.values]
        scales = [len(y) / t if reg.normalize else 1.0 for t in traces]
        largest = max(s * float(np.abs(v.K).max()) for s, v in zip(scales, setting.values))
        require(alpha < 100 * len(y) * setting.S.eps * largest, "ridge refused", str(alpha))
        return "refused"
    check_unmodified(setting, y, before)
    weights = reg.weights_ * reg.scale_
    K, error = setting.combined(weights, setting.grams)
    against, test_error = setting.combined(weights, setting.against)
    expected, condition, unit = sklearn_ridge(K, against, y, alpha)
    relative = EPS + (error + test_error) / max(float(np.abs(centre(K)).max()), 1e-300)
    if not relative * condition < 1e-3:
        return "no bound"
    found = reg.predict(setting.T.given)
    require(found.shape == expected.shape, "shape of predictions")
    wrong = np.abs(found - expected).max()
    require(wrong <= unit * relative, "ridge", f"{wrong:.3g} > {unit * relative:.3g}")
    return "ridge"


def svr(rng):
    """`MKLRegressor` with epsilon-SVR against the optimality conditions and scikit-learn's SVR."""
    setting = setup(rng)
    y = real_target(rng, len(setting.S))
    unit = y.std()
    C, tol = float(unit * 10.0 ** rng.uniform(-2, 2)), float(unit * 10.0 ** rng.uniform(-6, -2))
    epsilon = float(unit * pick(rng, 0.0, 0.1, 0.5))
    reg = al.MKLRegressor(
        setting.kernels, weighting=pick(rng, *TWO_STAGE), machine="svr", C=C, epsilon=epsilon,
        tol=tol, max_iter=_STEPS,
    )  # fmt: skip
    if not setting.usable:
        return "no bound"
    before = frozen(setting, y)
    reg.fit(setting.S.given, y)
    check_unmodified(setting, y, before)
    weights = reg.weights_ * reg.scale_
    K, error = setting.combined(weights, setting.grams)
    centred = centre(K)
    coef = np.zeros(len(y))
    coef[reg.support_] = reg.dual_coef_
    largest = float(np.abs(centred).max())
    slack = np.abs(coef).sum() * (error + 64 * EPS * largest) + 64 * EPS * np.abs(y).max()
    bounds = np.full(len(y), -C), np.full(len(y), C)
    reached = max(float(reg.machine_.kkt_violation_[0]), tol)
    gap = check_svm("SVR", centred, coef, -y, bounds, epsilon, reached, slack)
    if C * largest < 1e4 * unit:
        theirs = sklearn_svr(np.asarray(centred, float), y, C, epsilon, 1e-6 * unit)
        other = check_svm("scikit-learn", centred, theirs, -y, bounds, epsilon, np.inf, slack)
        gaps = gap + slack * np.abs(coef).sum(), other + slack * np.abs(theirs).sum()
        compare_svm("SVR", centred, coef, theirs, gaps, 2 * slack)
    against, test_error = setting.combined(weights, setting.against)
    found = reg.predict(setting.T.given)
    expected = np.asarray(against @ coef + reg.intercept_, float)
    slack += np.abs(coef).sum() * (test_error + 64 * EPS * float(np.abs(against).max()))
    wrong = np.abs(found - expected).max()
    require(wrong <= slack + 64 * EPS * np.abs(expected).max(), "SVR predict", f"{wrong:.3g}")
    return "svr"


# Cross-validation


def _partition(rng, m):
    labels = rng.permutation(m) % int(rng.integers(2, 5))
    return [(np.flatnonzero(labels != f), np.flatnonzero(labels == f)) for f in np.unique(labels)]


def _fixed(rng, X):
    """Kernels without parameters that are read from the data, and of a size that is bearable."""
    exact = X.astype(LD)
    while True:
        specs = random_kernels(rng, X)
        if any("scale" in str(s.kernel) for s in specs) or not all(s.psd for s in specs):
            continue
        values = [evaluated(s, exact, exact, exact, EPS) for s in specs]
        with np.errstate(all="ignore"):
            tame = all(v.peak < 1e4 and _relative(v, EPS) < 1e-8 for v in values)
        if tame:
            return [s.kernel for s in specs]


def tuned_classifier(rng):
    """`MKLClassifierCV` against GridSearchCV over the same folds."""
    from sklearn.model_selection import GridSearchCV

    m = size(rng, 16, 40)
    X = benign(rng, m, size(rng, 1, 5))
    y = pick(rng, np.array(["a", "b", "c"]), np.array([-1, 1]))
    y = y[rng.permutation(m) % len(y)]
    kernels, folds = _fixed(rng, X), _partition(rng, m)
    Cs = sorted(10.0 ** rng.uniform(-2, 2, int(rng.integers(1, 4))))
    options = {"weighting": pick(rng, *TWO_STAGE), "multiclass": pick(rng, "ovo", "ovr")}
    options["tol"] = 1e-5
    try:
        found = al.MKLClassifierCV(kernels, Cs=Cs, cv=folds, **options).fit(X, y)
    except ValueError:
        require(constant_somewhere(kernels, X, folds), "MKLClassifierCV refused")
        return "refused"
    grid = GridSearchCV(al.MKLClassifier(kernels, **options), {"C": Cs}, cv=folds, refit=False)
    grid.fit(X, y)
    for t, (train, test) in enumerate(folds):
        for k, C in enumerate(Cs):
            scores = [r[f"split{t}_test_score"][k] for r in (found.cv_results_, grid.cv_results_)]
            if scores[0] == scores[1]:
                continue
            model = al.MKLClassifier(kernels, C=C, **options).fit(X[train], y[train])
            close = undecided(model, X[test]).mean()
            far = abs(scores[0] - scores[1]) > close + 1e-12
            require(not far, "MKLClassifierCV: scores", f"{scores} C={C} fold {t}")
    best = found.cv_results_["mean_test_score"]
    require(Cs[int(np.argmax(best))] == found.C_, "MKLClassifierCV: C_")
    refit = al.MKLClassifier(kernels, C=found.C_, **options).fit(X, y)
    same = np.array_equal(refit.decision_function(X), found.decision_function(X))
    require(same, "MKLClassifierCV: refit")
    return "MKLClassifierCV"


def tuned_regressor(rng):
    """`MKLRegressorCV` against GridSearchCV, and leave-one-out against refits."""
    from sklearn.model_selection import GridSearchCV

    m = size(rng, 10, 30)
    X = benign(rng, m, size(rng, 1, 5))
    y = real_target(rng, m, chance(rng, 0.2))
    kernels, folds = _fixed(rng, X), _partition(rng, m)
    alphas = sorted(10.0 ** rng.uniform(-3, 2, int(rng.integers(1, 4))))
    rule = pick(rng, *TWO_STAGE)
    if chance(rng, 0.5):
        return _leave_one_out(kernels, rule, alphas, X, y)
    try:
        found = al.MKLRegressorCV(kernels, weighting=rule, alphas=alphas, cv=folds).fit(X, y)
    except ValueError:
        require(constant_somewhere(kernels, X, folds), "MKLRegressorCV refused")
        return "refused"
    model = al.MKLRegressor(kernels, weighting=rule)
    scoring = "neg_root_mean_squared_error"
    grid = GridSearchCV(model, {"alpha": alphas}, cv=folds, refit=False, scoring=scoring).fit(X, y)
    ours, theirs = (np.array([r[f"split{t}_test_score"] for t in range(len(folds))])
                    for r in (found.cv_results_, grid.cv_results_))  # fmt: skip
    wrong = np.abs(ours - theirs).max() / np.abs(theirs).max()
    require(wrong <= 1e-6, "MKLRegressorCV: scores", f"{wrong:.3g}")
    best = found.cv_results_["mean_test_score"]
    require(found.alpha_ == alphas[int(np.argmax(best))], "MKLRegressorCV: alpha_")
    return "MKLRegressorCV"


def _leave_one_out(kernels, rule, alphas, X, y):
    found = al.MKLRegressorCV(kernels, weighting=rule, alphas=alphas, cv="loo").fit(X, y)
    K = np.asarray(found.kernel_(X), float)
    errors = []
    for alpha in alphas:
        predicted = np.empty_like(y)
        for i in range(len(y)):
            rows = np.arange(len(y)) != i
            pair = K[np.ix_(rows, rows)].astype(LD), K[i : i + 1, rows].astype(LD)
            predicted[i] = sklearn_ridge(*pair, y[rows], alpha)[0][0]
        errors.append(-np.mean(np.sqrt(np.mean(np.square(y - predicted), axis=0))))
    wrong = np.abs(found.cv_results_["split0_test_score"] - errors).max() / np.abs(errors).max()
    # The exact kernel, read here, holds constants beside what is centred, and so their rounding.
    allowed = 1e-6 + len(y) * EPS * float(np.abs(K).max()) / min(alphas)
    require(wrong <= allowed, "leave-one-out", f"{wrong:.3g} > {allowed:.3g} {rule} {alphas}")
    return "leave-one-out"


CASES = [classifier, classifier, classifier, ridge, ridge, svr, svr, tuned_classifier,
         tuned_regressor]  # fmt: skip
