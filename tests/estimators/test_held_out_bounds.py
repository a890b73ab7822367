"""`bound(X, y, held_out=True)` of classifiers and regressors."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from refusals import not_refused

import alignlearn as al
from alignlearn.bounds import held_out

LADDER = [al.Gaussian(0.1), al.Gaussian(0.5), al.Gaussian(2.0)]


def classes(m, seed=0, c=2):
    """Normal distributions at distance 5, a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, m)
    X = rng.standard_normal((m, 2)) + 3.5 * np.eye(max(c, 2))[y][:, :2]
    return X, np.where(rng.random(m) < 0.1, (y + 1) % c, y)


def regression(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (m, 2))
    return X, np.clip(np.sin(X[:, 0]) + 0.1 * rng.standard_normal(m), -1, 1)


def test_errors_of_a_classifier_are_counted():
    clf = al.MKLClassifier(LADDER).fit(*classes(100))
    X, y = classes(300, 1)
    found = clf.bound(X, y, 0.1, held_out=True)
    wrong = int((clf.predict(X) != y).sum())
    assert found.value == pytest.approx(held_out.binomial_upper(wrong, 300, 0.1))
    losses = np.repeat([1.0, 0.0], [wrong, 300 - wrong])
    assert found.by_bernstein == pytest.approx(held_out.empirical_bernstein_upper(losses, 1.0, 0.1))
    assert found.value < found.by_bernstein
    assert (found.empirical_risk, found.n_samples) == (wrong / 300, 300)
    sparse = clf.bound(scipy.sparse.csr_matrix(X), y, 0.1, held_out=True)
    assert sparse.value == found.value
    assert (found.vacuous, clf.bound(X[:3], y[:3], held_out=True).vacuous) == (False, True)
    assert "Clopper and Pearson" in str(found)
    assert "not used by the fit" in str(found)
    assert found.value < clf.bound(*classes(100), draws=50).value


def test_losses_of_a_regressor_are_of_clipped_predictions():
    reg = al.MKLRegressor(LADDER, alpha=0.01).fit(*regression(60))
    X, y = regression(200, 1)
    X[0] = 30.0  # far from the training samples
    found = reg.bound(X, y, held_out=True, label_range=(-1, 1))
    losses = (np.clip(reg.predict(X), -1, 1) - y) ** 2
    assert found.value == held_out.betting_upper(losses, 4.0, 0.05)
    assert found.by_bernstein == held_out.empirical_bernstein_upper(losses, 4.0, 0.05)
    assert found.empirical_risk == pytest.approx(losses.mean())
    assert found.value < found.by_bernstein
    few = reg.bound(X[1:2], y[1:2], held_out=True, label_range=(-1, 1))
    assert (found.vacuous, few.vacuous) == (False, True)
    assert "predictions clipped to [-1, 1]" in found.hypotheses
    assert found.loss == "expected squared error"


@pytest.mark.parametrize("form", ["three classes", "rank one", "cv", "precomputed"])
def test_any_classifier(form):
    X, y = classes(120, 0, 3 if form == "three classes" else 2)
    new, y_new = classes(80, 1, 3 if form == "three classes" else 2)
    clf = {
        "rank one": al.MKLClassifier(al.RankOneKernels()),
        "cv": al.MKLClassifierCV(LADDER, weighting="alignf", Cs=[0.1, 1.0], cv=3),
        "precomputed": al.MKLClassifier("precomputed"),
    }.get(form, al.MKLClassifier(LADDER))
    if form == "precomputed":
        X, new = [k(X) for k in LADDER], [k(new, X) for k in LADDER]
    found = clf.fit(X, y).bound(new, y_new, held_out=True)
    assert found.empirical_risk == np.mean(clf.predict(new) != y_new)
    assert found.empirical_risk < found.value < 0.5


def test_what_is_refused():
    """Wrong options are in test_bounds_refuse.py."""
    (X, y), (new, _) = classes(50), classes(50, 1)
    clf = al.MKLClassifier(LADDER).fit(X, y)
    (Z, real), (other, target) = regression(50), regression(50, 1)
    reg, two = (al.MKLRegressor(LADDER).fit(Z, t) for t in (real, np.c_[real, -real]))
    cases = [
        (words, partial(clf.bound, *given, held_out=True), words)
        for given, words in (
            ((new, ["a"] * 50), "none of the classes"),
            ((X, y), "not used by the fit"),
        )
    ]
    cases.append(("interval", partial(clf.alignment_interval, X, y, held_out=True), "not used"))
    cases += [
        (words, partial(model.bound, *given, held_out=True, label_range=limits), words)
        for model, given, limits, words in (
            (reg, (other, target), None, r"set label_range=\(low, high\)"),
            (reg, (other, 2 * target), (-1, 1), "does not contain the labels"),
            (reg, (None, None), (-1, 1), "needs X and y"),
            (reg, (None, target), (-1, 1), "given together"),
            (reg, (Z, real), (-1, 1), "not used by the fit"),
            (two, (other, np.c_[target, -target]), (-1, 1), "one target"),
        )
    ]
    assert not_refused(cases) == []
