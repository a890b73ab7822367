"""``predict_proba`` against scikit-learn's calibration of the same decisions; invariances."""

from functools import partial

import numpy as np
import pytest
from refusals import raises
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import StackingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import ShuffleSplit, cross_val_score

import alignlearn as al
from alignlearn.engine.cpu import Cpu
from alignlearn.folds import make_folds
from alignlearn.machines.calibration import fit_temperature
from alignlearn.solvers.multiclass import class_logits

KERNELS = al.gaussian_kernels([0.01, 0.1, 1.0])


def halves(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:240]
    X, y = (X[order] - X.mean(axis=0)) / X.std(axis=0), load().target_names[y[order]]
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.mark.parametrize(
    ("method", "load", "weighted"),
    [
        ("sigmoid", load_breast_cancer, True),
        ("sigmoid", load_iris, False),
        ("isotonic", load_breast_cancer, False),
        ("isotonic", load_iris, True),
    ],
)
def test_equal_to_scikit_learn_on_the_same_folds(method, load, weighted):
    """Scikit-learn learns the kernel again for every fold; here it is one pass."""
    X, y, new, _ = halves(load)
    weight = np.random.default_rng(1).exponential(size=len(y)) if weighted else None
    plain = al.MKLClassifier(KERNELS, tol=1e-9)
    found = clone(plain).set_params(probability=method).fit(X, y, sample_weight=weight)
    folds = make_folds(5, y, True)
    oracle = CalibratedClassifierCV(plain, method=method, cv=folds, ensemble=False)
    oracle.fit(X, y, sample_weight=weight)
    p = found.predict_proba(new)
    assert list(found.classes_) == list(oracle.classes_) == sorted(set(y))
    np.testing.assert_allclose(p, oracle.predict_proba(new), atol=1e-6)
    # The tuned estimator calibrates on its own folds, with what the search has learned.
    tuned = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[1.0], cv=folds, tol=1e-9)
    tuned.set_params(probability=method).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(tuned.predict_proba(new), p, atol=1e-8)
    # Decisions and labels are those of the estimator without probabilities.
    want = plain.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(found.decision_function(new), want.decision_function(new))
    np.testing.assert_array_equal(found.predict(new), want.predict(new))


def test_statistics_of_all_folds_come_from_one_pass(monkeypatch):
    X, y, _, _ = halves(load_iris)
    passes = []
    real = Cpu.run_boxes
    monkeypatch.setattr(Cpu, "run_boxes", lambda self, *a: passes.append(a[0]) or real(self, *a))
    for model, n in (
        (al.MKLClassifier(KERNELS, probability="sigmoid"), 2),
        # The search, the folds of sets of classes, the last fit; "auto" calibrates on the search.
        (al.MKLClassifierCV(KERNELS, weighting="alignf", probability="sigmoid"), 3),
        (al.MKLClassifierCV(KERNELS, weighting="alignf"), 2),
    ):
        passes.clear()
        model.fit(X, y)
        assert passes.count("pair_sums") == n


@pytest.mark.parametrize("weighting", ["lkrr", al.L1SVM(1.0), ["align", "alignf"]], ids=str)
def test_weights_are_learned_on_each_training_set(weighting):
    """One-stage rules too; equal to the calibration of estimators fitted fold by fold."""
    X, y, new, _ = halves(load_iris)
    folds = make_folds(3, y, True)
    options = {"weighting": weighting, "cv": folds, "Cs": [0.5, 5.0], "tol": 1e-9}
    tuned = al.MKLClassifierCV(KERNELS, probability="sigmoid", **options).fit(X, y)
    chosen = al.MKLClassifier(KERNELS, weighting=tuned.weighting_, C=tuned.C_, tol=1e-9)
    oracle = CalibratedClassifierCV(chosen, cv=folds, ensemble=False).fit(X, y)
    np.testing.assert_allclose(tuned.predict_proba(new), oracle.predict_proba(new), atol=2e-6)


@pytest.mark.parametrize("n_centers", [40, 70])
def test_machines_at_few_centers(n_centers):
    """The machine that was chosen is trained on the folds too; no more centers than samples."""
    X, y, new, y_new = halves(load_iris)
    plain = al.MKLClassifier(KERNELS, machine="nystrom", n_centers=n_centers)
    found = clone(plain).set_params(probability="sigmoid").fit(X, y)
    assert found.chosen_machine_ == "nystrom"
    p = found.predict_proba(new)
    assert np.mean(found.classes_[p.argmax(axis=1)] == y_new) > 0.85
    if n_centers != 70:  # more than the 60 samples of a training set: the oracle raises an error
        oracle = CalibratedClassifierCV(plain, cv=make_folds(5, y, True), ensemble=False)
        np.testing.assert_allclose(p, oracle.fit(X, y).predict_proba(new), atol=1e-3)


def test_weights_of_zero_leave_samples_out():
    X, y, new, _ = halves(load_iris)
    weight, folds = np.arange(len(y)) % 4 > 0, np.arange(len(y)) % 3
    options = {"probability": "sigmoid", "tol": 1e-9}
    search = partial(al.MKLClassifierCV, KERNELS, weighting="alignf", Cs=[1.0], **options)
    plain = al.MKLClassifier(KERNELS, **options)
    for one, other in ((plain, clone(plain)), (search(cv=folds), search(cv=folds[weight]))):
        found = one.fit(X, y, sample_weight=weight).predict_proba(new)
        want = other.fit(X[weight], y[weight]).predict_proba(new)
        np.testing.assert_allclose(found, want, atol=1e-6)


def test_without_the_parameter_there_is_none():
    X, y, new, _ = halves(load_iris)
    model = al.MKLClassifier(KERNELS)
    assert not hasattr(model, "predict_proba")
    words = "set probability='sigmoid', 'isotonic' or 'temperature' before fit"
    raises(AttributeError, words, getattr, model.fit(X, y), "predict_proba")
    # Tools find it if it exists, and fall back to decisions otherwise.
    model.set_params(probability="sigmoid")
    raises(ValueError, "was set after fit; call fit again", model.predict_proba, new)
    scores = cross_val_score(clone(model), X, y, scoring="neg_log_loss", cv=3)
    assert np.all(scores > -np.log(3))
    assert not hasattr(model.fit(X, y).set_params(probability=None), "predict_proba")


def test_folds_without_a_class_are_named():
    X, y, _, _ = halves(load_iris)
    rare = y.astype("U20")
    rare[7] = "alone"
    plain = al.MKLClassifier(KERNELS, probability="sigmoid")
    raises(ValueError, "class 'alone' has one sample", plain.fit, X, rare)
    search = al.MKLClassifierCV(KERNELS, weighting="alignf", probability="sigmoid")
    search.set_params(cv=np.arange(len(y)) % 3)
    raises(ValueError, "class 'alone' is missing from that of fold 1", search.fit, X, rare)
    rare[9] = "alone"
    np.testing.assert_allclose(plain.fit(X, rare).predict_proba(X).sum(axis=1), 1.0)
    # Test sets that overlap count a sample in each.
    X, y, _, _ = halves(load_breast_cancer)
    search.set_params(cv=ShuffleSplit(4, test_size=0.4, random_state=0), Cs=[1.0]).fit(X, y)
    P = search.predict_proba(X)
    assert P.min() > 0.0
    assert P.max() < 1.0


@pytest.mark.parametrize(
    ("load", "weighted"), [(load_breast_cancer, True), (load_iris, True), (load_iris, False)]
)
def test_temperature_is_the_slope_of_largest_smoothed_likelihood(load, weighted):
    """By a scan of slopes; two classes equal a sigmoid without an intercept."""
    X, y, new, _ = halves(load)
    w = np.ones(len(y))
    w += np.random.default_rng(1).integers(0, 3, len(y)) if weighted else 0.0
    folds = make_folds(4, y, True)
    model = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[1.0], cv=folds, tol=1e-9)
    slope = model.fit(X, y, w).calibration_.calibrators[0].slope
    classes, codes = np.unique(y, return_inverse=True)
    plain, c = al.MKLClassifier(KERNELS, multiclass="ovo", tol=1e-9), len(classes)
    logits = np.empty((len(y), c))
    for train, test in folds:
        fitted = plain.fit(X[train], y[train], w[train])
        logits[test] = class_logits(fitted._decisions(X[test]), c, "ovo")
    n = np.bincount(codes, w)[codes]
    T = np.tile(1.0 / ((n + 2.0) * (c - 1))[:, None], c)
    T[np.arange(len(y)), codes] = (n + 1.0) / (n + 2.0)

    def loss(s):
        return -(w @ (T * log_softmax(s * logits, axis=1)).sum(axis=1))

    assert loss(slope) <= min(loss(slope * factor) for factor in (0.99, 0.999, 1.001, 1.01))
    P = model.predict_proba(new)
    raw = class_logits(model._decisions(new), c, "ovo")
    np.testing.assert_allclose(np.sort(P), np.sort(softmax(slope * raw, axis=1)), atol=1e-12)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(new))


def test_probabilities_by_default_of_a_strategy_and_their_tools():
    X, y, new, y_new = halves(load_breast_cancer)
    model = al.MKLClassifierCV(cv=3).fit(X, y)
    P = model.predict_proba(new)
    assert log_loss(y_new, P) < 0.3
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(new))
    assert model.calibration_.scores == ()  # a pickle does not store a value per sample
    search = al.MKLClassifierCV(KERNELS, weighting="alignf", cv=3)
    stack = StackingClassifier([("mkl", search)], cv=3)
    assert stack.fit(X, y).score(new, y_new) > 0.9
    weighted = clone(search).set_params(class_weight="balanced").fit(X, y)
    assert type(weighted.calibration_.calibrators[0]).__name__ == "Sigmoid"
    raises(ValueError, "fit", model.predict_set, new)


@pytest.mark.parametrize(
    "class_weight", ["balanced", {"setosa": 1.0, "versicolor": 1.0, "virginica": 1.0}]
)
def test_equal_weights_of_classes_give_the_probabilities_without_weights(class_weight):
    X, y, new, _ = halves(load_iris)
    rows = np.concatenate([np.flatnonzero(y == k)[:21] for k in np.unique(y)])
    model = al.MKLClassifierCV(KERNELS, weighting="alignf", cv=3)
    P = model.fit(X[rows], y[rows]).predict_proba(new)
    weighted = model.set_params(class_weight=class_weight).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(new), P, atol=1e-12)


@pytest.mark.parametrize("kernels", [None, KERNELS])
def test_no_probabilities_where_a_training_set_lacks_a_class(kernels):
    X, y, _, _ = halves(load_iris)
    rare = y.astype("U20")
    rare[7] = "alone"
    model = al.MKLClassifierCV(kernels, weighting="alignf", cv=3)
    assert hasattr(model, "predict_proba")
    model.fit(X, rare)
    words = "a training set of the search lacks class 'alone'"
    raises(AttributeError, words, getattr, model, "predict_proba")
    raises(ValueError, words, model.predict_set, X)
    assert hasattr(model.fit(X, y), "predict_proba")


def test_temperatures_of_extreme_decisions():
    codes = np.array([0, 1] * 10)
    for unit in (1e-200, 1.0, 1e200):
        right = unit * np.where(codes == np.arange(2)[:, None], 1.0, -1.0).T
        for logits in (right, -right, 0.0 * right):
            P = fit_temperature(logits, codes, np.ones(20))(logits)
            assert np.isfinite(P).all()
            expected = 11 / 12 if logits is right else 0.5
            np.testing.assert_allclose(P[np.arange(20), codes], expected)
