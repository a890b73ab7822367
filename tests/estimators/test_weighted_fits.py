"""Sample weights in fits: repeated samples, dropped samples, and rejected weights."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import not_refused
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from strategies import generators

import alignlearn as al
from alignlearn.folds import make_folds
from alignlearn.machines import KernelRidge, feature_space, ridge_loo_path
from alignlearn.sources import open_source
from alignlearn.weights import Uniform

KERNELS = [*al.gaussian_kernels([0.1, 0.4]), al.Polynomial(0.3), "rbf"]
M = 50


def data(task, m=M):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 4))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=m)
    weight = rng.integers(0, 4, m)
    targets = {
        "two": (y > 1).astype(int),
        "three": np.digitize(y, [0.0, 1.5]),
        "separable": (X[:, 0] > 0).astype(int),
        "real": y,
        "columns": np.column_stack([y, X[:, 2]]),
    }
    return X, targets[task], weight, np.repeat(np.arange(m), weight)


def values(model, X):
    return (getattr(model, "decision_function", None) or model.predict)(X)


EXACT = {"tol": 1e-9}
FITS = [
    (al.MKLClassifier(KERNELS, **EXACT), "two"),
    (al.MKLClassifier(KERNELS, multiclass="ovr", class_weight="balanced", **EXACT), "three"),
    (al.MKLClassifier(KERNELS, C=np.inf, **EXACT), "separable"),
    (al.MKLClassifier(al.RankOneKernels(), weighting="align", **EXACT), "three"),
    (al.MKLClassifier(KERNELS, weighting="lkrr", **EXACT), "three"),
    (al.MKLClassifier(KERNELS, weighting="aligned-krr", **EXACT), "two"),
    (al.MKLClassifier(KERNELS, weighting="l1-svm", normalize=None, **EXACT), "three"),
    (al.MKLClassifier(KERNELS, weighting=al.L1SVM(3.0, norm=2, tol=1e-8), **EXACT), "two"),
    (al.MKLRegressor(KERNELS), "columns"),
    (al.MKLRegressor(["linear", al.Columns(al.Linear(), [0])]), "real"),
    (al.MKLRegressor(al.RankOneKernels(), weighting="lkrr"), "real"),
    (al.MKLRegressor(KERNELS, machine="svr", weighting="l1-svm", **EXACT), "real"),
    (al.MKLRegressor(KERNELS, weighting="aligned-krr"), "columns"),
]


@pytest.mark.parametrize(("estimator", "task"), FITS, ids=str)
def test_weights_count_repetitions(estimator, task):
    X, y, weight, rows = data(task)
    new = np.random.default_rng(1).normal(size=(9, 4))
    found = clone(estimator).fit(X, y, sample_weight=weight)
    want = clone(estimator).fit(X[rows], y[rows])
    np.testing.assert_allclose(found.weights_, want.weights_, atol=1e-6)
    np.testing.assert_allclose(found.alignment_, want.alignment_, rtol=1e-7)
    np.testing.assert_allclose(values(found, new), values(want, new), atol=1e-6)
    # Samples of weight 0 have no effect; negative control: the weights do.
    coef = np.abs(found.dual_coef_).reshape(len(found.support_), -1).max(axis=1)
    assert not np.any(coef[weight[found.support_] == 0])
    plain = clone(estimator).fit(X, y)
    assert np.abs(values(plain, new) - values(want, new)).max() > 1e-3


@pytest.mark.parametrize("form", ["sparse", "given", "float32"])
def test_other_forms_of_samples(form):
    X, y, weight, rows = data("two")
    model = al.MKLClassifier(al.gaussian_kernels([0.1, 0.4]), **EXACT)
    want = clone(model).fit(X[rows], y[rows]).decision_function(X)
    if form == "given":
        model.set_params(kernels="precomputed")
        grams = [al.Gaussian(g)(X) for g in (0.1, 0.4)]
        found = model.fit(grams, y, sample_weight=weight).decision_function(grams)
    else:
        X = sparse.csr_array(X) if form == "sparse" else X.astype(np.float32)
        found = model.fit(X, y, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(found, want, atol=1e-6 if form != "float32" else 1e-2)


SEARCHES = [
    (al.MKLRegressorCV(KERNELS, machine="svr"), "real"),
    (al.MKLClassifierCV(random_state=0), "three"),
    (al.MKLClassifierCV(KERNELS, cv=3), "two"),
    (al.MKLRegressorCV(random_state=0), "real"),
    (al.MKLRegressorCV(KERNELS, cv=3, random_state=0), "real"),
    (al.MKLRegressorCV(KERNELS, per_target=True), "columns"),
]


@pytest.mark.parametrize(("estimator", "task"), SEARCHES[1:], ids=str)
def test_a_search_without_the_samples_of_weight_zero_is_the_same(estimator, task):
    X, y, weight, _ = data(task)
    used = weight > 0.0
    found = clone(estimator).fit(X, y, sample_weight=weight)
    want = clone(estimator).fit(X[used], y[used], sample_weight=weight[used])
    np.testing.assert_allclose(found.predict(X), want.predict(X), atol=1e-9)
    if hasattr(found, "predict_proba"):
        np.testing.assert_allclose(found.predict_proba(X), want.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(("estimator", "task"), SEARCHES, ids=str)
def test_only_ratios_of_weights_count_where_the_values_are_chosen_by_default(estimator, task):
    X, y, weight, _ = data(task)
    one = np.ones(len(y))
    for first, second in ((weight, 2.0**20 * weight), (one, 37.0 * one)):  # of a survey
        found, want = (values(clone(estimator).fit(X, y, w), X) for w in (first, second))
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        (al.MKLClassifierCV(KERNELS, Cs=[0.1, 10.0], **EXACT), "three"),
        (al.MKLClassifierCV(KERNELS, Cs=[0.1, 10.0], weighting=["lkrr", "align"], **EXACT), "two"),
        (al.MKLRegressorCV(KERNELS, alphas=[0.01, 1.0], weighting=["align", "alignf"]), "real"),
        (al.MKLRegressorCV(["linear"], alphas=[0.01, 1.0]), "columns"),
        (al.MKLRegressorCV(KERNELS, machine="svr", Cs=[0.1, 10.0], **EXACT), "real"),
    ],
    ids=str,
)
def test_tuned_estimators(estimator, task):
    """Scores of every fold and candidate, with each scoring."""
    X, y, weight, rows = data(task)
    folds = np.arange(M) % 4
    kinds = list(al.estimators.scoring.SCORES[estimator._estimator_type])
    for scoring in (kinds[0], kinds[-1]):
        found = clone(estimator).set_params(cv=folds, scoring=scoring)
        want = clone(estimator).set_params(cv=folds[rows], scoring=scoring).fit(X[rows], y[rows])
        found.fit(X, y, sample_weight=weight)
        for t in range(4):
            key = f"split{t}_test_score"
            np.testing.assert_allclose(found.cv_results_[key], want.cv_results_[key], atol=1e-7)
        assert found.best_params_ == want.best_params_
        np.testing.assert_allclose(values(found, X), values(want, X), atol=1e-6)


def test_scores_by_a_function_get_the_weights():
    X, y, weight, _ = data("three")
    model = al.MKLClassifierCV(KERNELS, Cs=[0.1, 10.0], cv=np.arange(M) % 4, **EXACT)
    tables = [
        clone(model).set_params(scoring=scoring).fit(X, y, sample_weight=weight).cv_results_
        for scoring in ("balanced_accuracy", balanced_accuracy_score)
    ]
    np.testing.assert_allclose(*(table["mean_test_score"] for table in tables))
    with pytest.raises(TypeError, match="sample_weight"):
        model.set_params(scoring=lambda a, b: 0.0).fit(X, y, sample_weight=weight)


@given(generators(), st.booleans())
@settings(max_examples=15)
def test_leave_one_out_is_that_of_refits(rng, intercept):
    """Each sample left out with its whole weight; from the matrix and from the features."""
    m = int(rng.integers(5, 12))
    X, y = rng.normal(size=(m, 3)), rng.normal(size=(m, 2))
    weight, alphas = rng.exponential(size=m) + 0.1, [0.1, 2.0]
    K = X @ X.T
    options = {"fit_intercept": intercept, "sample_weight": weight}
    path = ridge_loo_path(K, y, alphas, **options)
    for alpha, predicted in zip(alphas, path.predictions):
        for i in range(m):
            rest = np.delete(np.arange(m), i)
            machine = KernelRidge(alpha, fit_intercept=intercept)
            machine.fit(K[np.ix_(rest, rest)], y[rest], weight[rest])
            np.testing.assert_allclose(predicted[i], machine.predict(K[[i]][:, rest])[0], atol=1e-8)
    errors = np.square(path.predictions - y).mean(axis=2)
    np.testing.assert_allclose(path.loo_mse, np.average(errors, axis=1, weights=weight))
    if intercept:
        source = open_source(X, al.RankOneKernels(), sample_weight=weight).combine(np.ones(3))
        features = feature_space.WeightedFeatures(source)
        again = feature_space.leave_one_out_predictions(features, y, alphas, weight)
        np.testing.assert_allclose(again, path.predictions, atol=1e-8)


def test_support_vector_machines_in_the_features_take_weights():
    """The interior point method agrees with SMO, also with weights of 0."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(200, 2))
    y = (Z[:, 0] + rng.normal(size=200) > 0).astype(int)
    weight = rng.integers(0, 3, 200) * rng.exponential(size=200)
    make = al.machines.SupportVectorClassifier
    found = feature_space.fit_classifier(make(tol=1e-9), Z, y, weight).decision_function(Z)
    want = make(tol=1e-9).fit(Z @ Z.T, y, weight).decision_function(Z @ Z.T)
    np.testing.assert_allclose(found, want, atol=1e-6)


class Rule:
    def solve_grams(self, grams, y, *, statistics=None):
        raise AssertionError


class TwoStage(Uniform):
    pass


def test_what_does_not_take_weights_is_refused():
    X, y, weight, _ = data("two")
    own = al.MKLClassifier(KERNELS, weighting=Rule())
    thin = al.MKLClassifier(al.RankOneKernels(), weighting="lkrr")
    real, folds = data("real")[1], np.arange(M) % 4
    search = al.MKLRegressorCV(KERNELS, weighting="alignf", cv=folds)
    last = al.MKLRegressorCV(KERNELS, weighting="alignf", cv=make_folds(folds, y, False)[2:])
    ladder = al.gaussian_kernels([0.1, 0.4])
    classes = al.MKLClassifier(ladder).fit(X, y, sample_weight=weight)
    ridge = al.MKLRegressor(ladder).fit(X, real, sample_weight=weight)
    cases = (
        (own.fit, (X, y, weight), r"Rule.*does not accept sample_weight.*accepted"),
        (thin.fit, (sparse.csr_array(X), y, weight), "one-stage rule needs dense X"),
        (search.fit, (X, real, np.where(folds == 1, 0, weight)), "all of the test set of fold 1"),
        (last.fit, (X, real, folds == 2), "zero in all of the training set of fold 0"),
        (classes.bound, (X, y), "equal weights"),
        (ridge.bound, (), "equal weights"),
    )
    calls = [(words, partial(call, *given), words) for call, given, words in cases]
    of_rule = partial(al.LKRR().solve_grams, [np.eye(3)], np.arange(3.0), sample_weight=np.ones(3))
    calls.append(("LKRR", of_rule, r"LKRR\.solve_grams takes no sample_weight"))
    of_path = partial(ridge_loo_path, np.eye(M), real, [1.0], sample_weight=weight)
    calls.append(("path", of_path, "sample_weight has zeros"))
    assert not_refused(calls) == []
    assert any("equal weights" in text for text in classes.alignment_interval_.not_met)
    fitted = al.MKLClassifier(KERNELS, weighting=TwoStage()).fit(X, y, sample_weight=weight)
    assert fitted.statistics_.total_weight == weight.sum()
