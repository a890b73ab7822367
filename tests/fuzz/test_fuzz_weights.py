"""Fuzz cases of sample weights times a constant, with alpha times it or C over it.

Results that depend on the unit of the weights by definition are left out: statistics themselves,
the noise of an observation of weight 1, the ridges that a strategy or `FeatureScales` tries by
itself, and "sigmoid" probabilities, whose targets count samples by their weights as in
scikit-learn.
"""

import numpy as np
from draws import fuzz, require
from fuzz_data import benign

import alignlearn as al

FEW = 1e-6  # of the largest value: slack of the optimizers, and rounding in other units
UNIT = 1e-3  # values far below the scale of the targets are rounding
TOL = 1e-8  # of machines
RULES = ("uniform", "align", "alignf", "align-lq")


def _samples(draws):
    """Samples, new ones, and kernels that differ."""
    m, d = draws.size(16, 50), draws.whole(2, 4)
    X, new = benign(draws, m, d), draws.numbers.normal(size=(12, d))
    if draws.chance(0.3):
        return X, new, [al.Columns(al.Linear(), [k]) for k in range(d)]
    columns = [al.Columns(al.Gaussian(draws.power(-1.5, 0.5)), [k]) for k in range(d)]
    return X, new, [*columns, al.Polynomial(0.1)] if draws.chance(0.3) else columns


def _weights(draws, m):
    """Positive weights, some of them 0, and a constant."""
    weight = draws.numbers.uniform(0.1, 3.0, m)
    if draws.chance(0.3):
        weight[draws.numbers.choice(m, m // 5, replace=False)] = 0.0
    return weight, draws.pick(1.0 / m, 0.5 / m, 1.0 / weight.sum(), 0.1, 64.0, draws.power(-5, 5))


def _real(draws, X):
    y = np.sin(X[:, 0]) + X[:, 1] + draws.power(-1, 0.3) * draws.numbers.normal(size=len(X))
    return np.column_stack([y, X[:, 0] - y]) if draws.chance(0.2) else y


def _labels(draws, X, weight, n):
    """Labels of n classes, each with samples of positive weight in every part."""
    score = X[:, 0] + draws.numbers.normal(size=len(X))
    order = np.argsort(score * (1.0 if draws.chance(0.8) else -1.0))
    labels = np.empty(len(X), dtype=int)
    used = order[weight[order] > 0.0]
    labels[order], labels[used] = np.arange(len(X)) % n, np.arange(len(used)) * n // len(used)
    return labels


def _same(found, want, where):
    """Require outputs by name to agree."""
    for name, value in want.items():
        a, b = np.asarray(found[name], float), np.asarray(value, float)
        size = max(np.abs(b).max(initial=0.0), UNIT)
        require(a.shape == b.shape and np.isfinite(a).all(), f"{where}: {name}", f"{a} {b}")
        wrong = np.abs(a - b).max(initial=0.0) / size
        require(wrong <= FEW, f"{where}: {name}", f"{wrong:.3g}")


def _learned(model):
    """The results of stage 1."""
    names = ("weights_", "scale_", "alignment_", "uniform_alignment_", "kernel_alignments_")
    found = {name: getattr(model, name) for name in names}
    return {**found, "share": model.kernel_table()["share"]}


def _ridge(model, new, fit):
    """Predictions of ridge regression and all results derived from them."""
    X, y, weight = fit
    mean, std = model.predict(new, return_std=True, fit=fit)
    parts = model.contributions(X, y, sample_weight=weight)
    table = model.kernel_table(X, y, sample_weight=weight, folds=3)
    return {
        **_learned(model), "mean": mean, "std": std, "score": model.score(X, y, weight),
        "intercept": model.intercept_, "values": parts.values, "offset": parts.offset,
        "spread": table["spread"], "zero": table["zero"],
    }  # fmt: skip


@fuzz(0.2)
def test_ridge_regression(draws):
    """`MKLRegressor` with "krr": predictions, deviations, contributions, and the table."""
    X, new, kernels = _samples(draws)
    (weight, c), y, alpha = _weights(draws, len(X)), _real(draws, X), draws.power(-2, 1)
    rule, normalize = draws.pick(*RULES, "lkrr"), draws.pick("trace", "trace", None)
    found = []
    for factor in (1.0, c):
        options = {"weighting": rule, "alpha": factor * alpha, "normalize": normalize}
        fit = X, y, factor * weight
        found.append(_ridge(al.MKLRegressor(kernels, **options).fit(*fit), new, fit))
    _same(found[1], found[0], f"krr {rule}")
    return rule


@fuzz(0.2)
def test_support_vectors(draws):
    """Support vectors for targets and for classes, with C over the constant."""
    X, new, kernels = _samples(draws)
    (weight, c), cost = _weights(draws, len(X)), draws.power(-1, 1)
    rule, classes = draws.pick(*RULES), draws.pick(0, 2, 3)
    y = _labels(draws, X, weight, classes) if classes else _real(draws, X)
    more = {"class_weight": draws.pick(None, "balanced"), "multiclass": draws.pick("ovo", "ovr")}
    found = []
    for factor in (1.0, c):
        options = {"weighting": rule, "C": cost / factor, "tol": TOL}
        if classes:
            model = al.MKLClassifier(kernels, **options, **more)
        else:
            model = al.MKLRegressor(kernels, machine="svr", **options)
        model.fit(X, y, factor * weight)
        outputs = {**_learned(model), "score": model.score(X, y, factor * weight)}
        values = model.decision_function(new) if classes else model.predict(new)
        _near(values, found[0][1] if found else values, f"svm {rule} {classes}")
        found.append((outputs, values))
    _same(found[1][0], found[0][0], f"svm {rule}")
    return f"{classes} classes"


def _near(values, want, where):
    """Decisions of models whose solvers stop at a tolerance."""
    wrong = np.abs(values - want).max() / max(np.abs(want).max(), UNIT)
    require(wrong <= 1e-4, f"{where}: decisions", f"{wrong:.3g}")


@fuzz(0.2)
def test_searches(draws):
    """Searches choose the same candidate with the same scores."""
    X, new, kernels = _samples(draws)
    (weight, c), cv = _weights(draws, len(X)), draws.pick(3, "loo")
    kind = draws.pick("krr", "per-target", "svc")
    y = _labels(draws, X, weight, 2) if kind == "svc" else _real(draws, X)
    found = []
    for factor in (1.0, c):
        if kind == "svc":
            grid = np.array([0.1, 1.0]) / factor
            model = al.MKLClassifierCV(kernels, weighting="alignf", Cs=np.sort(grid), cv=3, tol=TOL)
        else:
            how = {"per_target": True} if kind == "per-target" else {}
            alphas = factor * np.geomspace(1e-2, 10.0, 5)
            model = al.MKLRegressorCV(kernels, alphas=alphas, cv=cv, **how)
        model.fit(X, y, factor * weight)
        output = {"weights": model.weights_}
        if kind == "per-target":
            output["alphas"] = np.ravel(model.alpha_) / factor
        else:
            output["best"] = model.best_index_
            output["scores"] = model.cv_results_["mean_test_score"]
        values = model.decision_function(new) if kind == "svc" else model.predict(new)
        _near(values, found[0][1] if found else values, f"search {kind}")
        found.append((output, values))
    _same(found[1][0], found[0][0], f"search {kind}")
    return kind


@fuzz(0.2)
def test_other_estimators(draws):
    """`OneClassMKL`, the Nystrom estimators, `FeatureScales` and measures of alignment."""
    X, new, kernels = _samples(draws)
    (weight, c), y = _weights(draws, len(X)), _real(draws, X)
    labels = _labels(draws, X, weight, 2)
    kind = draws.pick("one-class", "ridge", "classifier", "svc", "nystrom", "scales", "measures")
    alpha = draws.power(-2, 0)
    found = []
    for factor in (1.0, c):
        w, kernel = factor * weight, al.Gaussian(0.3)
        if kind == "one-class":
            model = al.OneClassMKL(kernels, weighting="uniform", nu=0.3, tol=TOL)
            # The sum of the coefficients is nu times that of the weights.
            values = model.fit(X, sample_weight=w).decision_function(new) / factor
        elif kind == "ridge":
            values = al.NystromRidge(kernel, alpha=factor * alpha, n_centers=10).fit(X, y, w)
            values = values.predict(new)
        elif kind == "classifier":
            values = al.NystromRidgeClassifier(kernel, alpha=factor * alpha, n_centers=10)
            values = values.fit(X, labels, w).decision_function(new)
        elif kind == "svc":
            model = al.NystromSVC(kernel, C=1.0 / factor, n_centers=10, tol=TOL)
            values = model.fit(X, labels, w).decision_function(new)
        elif kind == "nystrom":
            model = al.MKLRegressor(kernels, machine="nystrom", alpha=factor * alpha, n_centers=10)
            values = model.fit(X, y, w).predict(new)
        elif kind == "scales":
            model = al.FeatureScales(kernel, alpha=factor * alpha).fit(X, y, w)
            values = model.transform(new)
        else:
            K, L = kernel(X), kernels[0](X)
            values = [al.alignment(K, L, sample_weight=w), al.alignment(K, labels, sample_weight=w)]
        found.append(np.array(values))
    _near(found[1], found[0], kind)
    return kind
