"""Tuned estimators contain a model: what they delegate to it, and the models on the folds."""

import numpy as np
import pytest
from refusals import raises
from sklearn.model_selection import GridSearchCV

import alignlearn as al
from alignlearn.estimators import guarantees

KERNELS = [al.Gaussian(0.1), al.Gaussian(0.5)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
LABELS = (np.hypot(X[:, 0], X[:, 1]) > 1.15).astype(int)
TARGETS = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=80)
NEW = np.random.default_rng(1).normal(size=(20, 3))


@pytest.fixture(scope="module")
def average():
    return al.MKLClassifierCV(cv=3, Cs=[0.1, 1.0, 10.0]).fit(X, LABELS)


def test_a_grid_ends_with_a_plain_model():
    tuned = al.MKLClassifierCV(KERNELS, weighting="alignf", cv=3, probability="sigmoid")
    plain = tuned.fit(X, LABELS).model_
    assert type(plain) is al.MKLClassifier
    assert plain.C == tuned.C_
    np.testing.assert_array_equal(plain.decision_function(NEW), tuned.decision_function(NEW))
    np.testing.assert_array_equal(plain.predict_proba(NEW), tuned.predict_proba(NEW))
    assert tuned.weights_ is plain.weights_
    assert not {"weights_", "_predictor", "machine_"} & set(vars(tuned))
    assert tuned.summary() == plain.summary()
    assert not hasattr(tuned, "members_")


def test_rows_are_hashed_once(monkeypatch):
    calls = []
    real = guarantees.seen_rows
    monkeypatch.setattr(guarantees, "seen_rows", lambda X: calls.append(len(X)) or real(X))
    for tuned, y in (
        (al.MKLClassifierCV(cv=3, Cs=[0.1, 1.0, 10.0]), LABELS),
        (al.MKLClassifierCV(KERNELS, cv=3, weighting=["alignf", "l1-svm"], Cs=[1.0]), LABELS),
        (al.MKLRegressorCV(strategy="thorough", cv=3), TARGETS),
    ):
        calls.clear()
        tuned.fit(X, y)
        assert calls == [80]


def test_seen_samples_are_refused_by_the_average_and_its_parts(average):
    raises(ValueError, "80 rows of X are training", average.bound, X, LABELS, held_out=True)
    for member in average.members_:
        what = "are training" if member.factors is None else "part of a tuned estimator"
        raises(ValueError, what, member.model.bound, member.of(X), LABELS, held_out=True)


# Machines


def test_nystrom_on_the_folds_is_a_grid_search():
    cv, options = np.arange(80) % 4, {"machine": "nystrom", "n_centers": 30}
    tuned = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[0.1, 1.0], cv=cv, **options)
    assert tuned.fit(X, LABELS).chosen_machine_ == "nystrom"
    assert len(tuned.support_) <= 30
    folds = al.folds.make_folds(cv, LABELS, True)
    grid = GridSearchCV(al.MKLClassifier(KERNELS, **options), {"C": [0.1, 1.0]}, cv=folds)
    grid.fit(X, LABELS)
    found, expected = tuned.cv_results_, grid.cv_results_
    np.testing.assert_allclose(found["mean_test_score"], expected["mean_test_score"], atol=0.03)
    ridge = al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=[0.1, 1.0], **options)
    assert ridge.fit(X, TARGETS).n_splits_ == 5
    assert ridge.chosen_machine_ == "nystrom"
    assert ridge.score(X, TARGETS) > 0.5
    # A strategy takes the machine.
    tuned = al.MKLClassifierCV(machine="nystrom", n_centers=20, cv=3, Cs=[1.0, 10.0])
    assert tuned.fit(X, LABELS).score(X, LABELS) > 0.8
    assert all(m.model.chosen_machine_ == "nystrom" for m in tuned.members_)
    ridge = al.MKLRegressorCV(machine="nystrom", n_centers=20, cv=3).fit(X, TARGETS)
    assert all(len(m.model.support_) <= 20 for m in ridge.members_)
    # And dual coordinate descent, whose model is the plain one.
    options, y = {"machine": "dual-cd"}, X[:, 0] > 0.0
    tuned = al.MKLClassifierCV(al.RankOneKernels(), weighting="alignf", Cs=[0.1, 1.0], **options)
    tuned.set_params(cv=3, probability="sigmoid").fit(X, y)
    assert tuned.score(X, y) > 0.9
    plain = al.MKLClassifier(al.RankOneKernels(), C=tuned.C_, **options).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(NEW), tuned.decision_function(NEW))


def test_little_memory_gives_the_same_machines():
    """Rows that are computed when needed, on the folds and on all samples."""
    options = {"Cs": [0.1, 1.0], "cv": 3, "tol": 1e-8}
    for make, y, machine in (
        (al.MKLClassifierCV, LABELS, "svm"),
        (al.MKLRegressorCV, TARGETS, "svr"),
    ):
        whole = make(KERNELS, machine=machine, **options).fit(X, y)
        few = make(KERNELS, machine=machine, memory=30_000, **options).fit(X, y)
        assert few.best_params_ == whole.best_params_
        found, expected = (
            (getattr(m, "decision_function", None) or m.predict)(NEW) for m in (few, whole)
        )
        np.testing.assert_allclose(found, expected, atol=1e-6)
    options = {"alphas": [0.1, 1.0], "cv": 3}
    whole = al.MKLRegressorCV(KERNELS, **options).fit(X, TARGETS)
    few = al.MKLRegressorCV(KERNELS, memory=66_000, **options).fit(X, TARGETS)
    found, expected = (m.cv_results_["mean_test_score"] for m in (few, whole))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(few.predict(NEW), whole.predict(NEW), atol=1e-6)
    least = al.MKLRegressorCV(KERNELS, memory=30_000)
    raises(ValueError, "leave-one-out needs", least.fit, X, TARGETS)
