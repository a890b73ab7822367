"""Sets of classes against refits on the folds by hand, rejected input, and coverage."""

import pickle

import numpy as np
import pytest
from refusals import raises
from sklearn.datasets import load_iris

import alignlearn as al
from alignlearn.folds import equal_folds, make_folds
from alignlearn.validation import DoubtfulResultWarning

KERNELS = al.gaussian_kernels([0.05, 0.5])
_X, _y = load_iris(return_X_y=True)
_ORDER = np.random.default_rng(0).permutation(150)
_X = (_X - _X.mean(axis=0))[_ORDER]
NAMES = load_iris().target_names[_y[_ORDER]]
X, y, NEW, Y_NEW = _X[:90], NAMES[:90], _X[90:], NAMES[90:]


def by_hand(fitted, parts, coverage, per_class):
    """Sets from (scores, their classes, probabilities of new samples) of the parts."""
    found = np.zeros((len(NEW), len(fitted.classes_)), dtype=bool)
    for i in range(len(NEW)):
        for c, name in enumerate(fitted.classes_):
            n = smaller = 0
            for scores, labels, P in parts:
                used = scores[labels == name] if per_class else scores
                n, smaller = n + len(used), smaller + np.sum(used < 1.0 - P[i, c])
            found[i, c] = smaller < coverage * (n + 1)
    found[np.arange(len(NEW)), fitted.predict_proba(NEW).argmax(axis=1)] = True
    return found


def softmax(decisions):
    """From decisions that no calibration used; the first of two classes has the negative one."""
    F = np.column_stack([-decisions, decisions]) if decisions.ndim == 1 else decisions
    return np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("two", "per_class"), [(False, True), (True, False), (False, False)])
def test_sets_are_those_of_machines_that_did_not_see_a_fold(two, per_class):
    labels = np.where(y == "setosa", "versicolor", y) if two else y
    options = {"C": 3.0, "tol": 1e-9}
    models = [al.MKLClassifier(KERNELS, probability=p, **options) for p in ("sigmoid", "isotonic")]
    model, isotonic = (one.fit(X, labels) for one in models)
    parts = []
    for train, test in make_folds(5, labels, True):
        one = al.MKLClassifier(KERNELS, **options).fit(X[train], labels[train])
        P, new = (softmax(one.decision_function(A)) for A in (X[test], NEW))
        at = np.searchsorted(model.classes_, labels[test])
        parts.append((1.0 - P[np.arange(len(test)), at], labels[test], new))
    search = al.MKLClassifierCV(KERNELS, weighting="alignf", probability="sigmoid", tol=1e-9)
    search.set_params(Cs=[3.0], cv=make_folds(5, labels, True)).fit(X, labels)
    for coverage in (0.6, 0.95):
        found = model.predict_set(NEW, coverage, per_class=per_class)
        np.testing.assert_array_equal(found, by_hand(model, parts, coverage, per_class))
        again = search.predict_set(NEW, coverage, per_class=per_class)
        np.testing.assert_array_equal(again, found)
        # Calibration used the samples outside all training sets, so their scores are small.
        found = isotonic.predict_set(NEW, coverage, per_class=per_class)
        np.testing.assert_array_equal(found, by_hand(isotonic, parts, coverage, per_class))


@pytest.mark.filterwarnings("ignore:The coverage may be lower")
def test_a_strategy_compares_with_the_machine_on_all_samples():
    options = {"cv": 3, "probability": "sigmoid", "Cs": [1.0], "strategy": "auto"}
    model = al.MKLClassifierCV(KERNELS, **options).fit(X, y)
    scores = np.concatenate(model.calibration_.scores)
    labels = model.classes_[np.concatenate(model.calibration_.codes)]
    assert sorted(labels) == sorted(y)
    parts = [(scores, labels, 1.0 + np.log(softmax(model.decision_function(NEW))))]
    for per_class in (False, True):
        found = model.predict_set(NEW, 0.8, per_class=per_class, refit=False)
        np.testing.assert_array_equal(found, by_hand(model, parts, 0.8, per_class))


def test_sets_that_may_cover_too_little_are_doubted():
    model = al.MKLClassifierCV(KERNELS, strategy="auto", Cs=[1.0], cv=3, probability="isotonic")
    model.fit(X, y)
    reason = "coverage may be lower than requested: a strategy selected the models"
    for per_class in (False, True):
        with pytest.warns(DoubtfulResultWarning, match=reason) as found:
            model.predict_set(NEW, 0.8, per_class=per_class, refit=False)
        assert len(found) == 1
    raises(
        ValueError, r"fit=\(X, y\), the training samples, is needed", model.predict_set, NEW, 0.8
    )


def test_three_classes_of_noise_are_covered():
    """With calibrated scores the mean coverage is 0.87 for sigmoids and less for isotonic ones."""
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 3, 460)
        rows = rng.normal(size=(460, 4))
        model = al.MKLClassifier(KERNELS, probability="isotonic").fit(rows[:60], labels[:60])
        sets = model.predict_set(rows[60:])
        covered.append(sets[np.arange(400), labels[60:]].mean())
    assert np.mean(covered) > 0.89


@pytest.mark.parametrize("per_class", [False, True])
def test_refits_learn_and_calibrate_again_without_each_fold(per_class):
    options = {"C": 3.0, "probability": "isotonic", "tol": 1e-9}
    model, parts = al.MKLClassifier(KERNELS, **options).fit(X, y), []
    number = equal_folds(90, 10)
    for part in range(10):
        some, rest = np.flatnonzero(number == part), np.flatnonzero(number != part)
        one = al.MKLClassifier(KERNELS, **options).fit(X[rest], y[rest])
        at = np.searchsorted(model.classes_, y[some])
        scores = 1.0 - one.predict_proba(X[some])[np.arange(len(some)), at]
        parts.append((scores, y[some], one.predict_proba(NEW)))
    how = {"per_class": per_class, "fit": (X, y)}
    found = model.predict_set(NEW, 0.8, **how)
    np.testing.assert_array_equal(found, by_hand(model, parts, 0.8, per_class))
    np.testing.assert_array_equal(found, model.predict_set(NEW, 0.8, per_class=per_class))
    size = len(pickle.dumps(model))
    assert size < 2 * len(pickle.dumps(al.MKLClassifier(KERNELS, **options).fit(X, y)))


def test_a_class_that_a_fold_lacks_is_not_ruled_out_for_that():
    """The class of three samples may be missing in a fold, whose model gives it no probability."""
    labels = np.where(np.arange(90) < 3, "rare", np.where(y == "setosa", "a", "b"))
    model = al.MKLClassifier(KERNELS, probability="sigmoid").fit(X, labels)
    sets = model.predict_set(NEW, 0.8, fit=(X, labels), refit=True)
    assert sets.shape == (60, 3)
    assert sets.any(axis=1).all()


@pytest.mark.filterwarnings("ignore:The coverage may be lower")
def test_other_machines_and_given_matrices():
    for machine, kernels in (("nystrom", KERNELS), ("dual-cd", al.RankOneKernels())):
        model = al.MKLClassifier(kernels, machine=machine, probability="isotonic").fit(X, y)
        found = model.predict_set(NEW, refit=False)
        assert found[np.arange(60), np.searchsorted(model.classes_, Y_NEW)].mean() > 0.8
    linear = al.MKLClassifier(["linear"], probability="sigmoid", tol=1e-9).fit(X, y)
    given = al.MKLClassifier("precomputed", probability="sigmoid", tol=1e-9).fit([X @ X.T], y)
    np.testing.assert_array_equal(given.predict_set([NEW @ X.T]), linear.predict_set(NEW))


def test_refused():
    model = al.MKLClassifier(KERNELS)
    raises(ValueError, "probability=None", model.fit(X, y).predict_set, NEW)
    model.set_params(probability="sigmoid").fit(X, y)
    for coverage in (0.0, 1.0, np.nan):
        raises(ValueError, "coverage=", model.predict_set, NEW, coverage)
    raises(TypeError, "per_class", model.predict_set, NEW, per_class="yes")
    raises(ValueError, "features", model.predict_set, NEW[:, :2])
    with pytest.warns(DoubtfulResultWarning, match="at least 99 are needed"):
        assert model.predict_set(NEW, 0.99).all()
    model.predict_set(NEW, 0.95)
    with pytest.warns(DoubtfulResultWarning, match="of a class"):
        assert model.predict_set(NEW, 0.98, per_class=True).all()
    weighted = model.fit(X, y, np.linspace(1.0, 2.0, len(y)))
    raises(ValueError, "exchangeable", weighted.predict_set, NEW)
