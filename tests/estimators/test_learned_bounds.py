"""Bounds of fitted estimators that hold although the weights were learned."""

from functools import partial

import numpy as np
import pytest
from refusals import not_refused

import alignlearn as al
from alignlearn.bounds import learned

LADDER = [al.Gaussian(0.1), al.Gaussian(0.5), al.Gaussian(2.0)]


def classes(m, seed=0, flips=0.05):
    """Two normal distributions in the plane at distance 5, some labels wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], m)
    X = rng.standard_normal((m, 2)) + 2.5 * np.c_[y, np.zeros(m)]
    return X, np.where(rng.random(m) < flips, -y, y)


def regression(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (m, 2))
    return X, np.clip(np.sin(X[:, 0]) + 0.1 * rng.standard_normal(m), -1, 1)


# -- classification --------------------------------------------------------------------


def parts_of(model, X, h, a, draws):
    """The norm of a model with decisions h and coefficients a, and the sampled complexity."""
    factors, grams, m = model.weights_ * model.scale_, [k(X) for k in LADDER], len(X)
    b = np.mean(h - sum(w * K @ a for w, K in zip(factors, grams)))
    size = sum(w * np.sqrt(a @ K @ a) for w, K in zip(factors, grams)) + abs(b)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (draws, m))
    u = [np.einsum("si,ij,sj->s", signs, K, signs) for K in grams] + [signs.sum(1) ** 2]
    mean = np.sqrt(np.max(u, axis=0)).mean() / m
    return size, learned.sampled_complexity(mean, m, draws, 0.001)


def test_the_parts_of_the_bound_from_the_matrices():
    X, y = classes(120)
    clf = al.MKLClassifier(LADDER, C=0.5).fit(X, y)
    found = clf.bound(X, y, 0.1, draws=300)
    a = np.zeros(120)
    a[clf.support_] = clf.dual_coef_[:, 0]
    h = clf.decision_function(X)
    size, complexity = parts_of(clf, X, h, a, 300)
    assert found.size == pytest.approx(size, rel=1e-6)
    assert found.complexity == pytest.approx(complexity)
    expected = learned.margin_bound(y * h, found.size, complexity, 0.049)
    assert found.by_margin == pytest.approx(expected.value)
    assert found.empirical_risk == np.mean(y != clf.predict(X))
    assert found.value == min(found.by_margin, found.by_random_predictors, 1.0)
    assert found.not_met == ()
    assert "PAC-Bayes" in repr(found)


def test_pure_noise_has_a_vacuous_bound():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2)), rng.choice([-1, 1], 200)
    clf = al.MKLClassifier([al.Gaussian(50.0), *LADDER], C=1e3).fit(X, y)
    found = clf.bound(X, y)
    assert found.empirical_risk < 0.1
    assert found.vacuous
    assert found.value > 0.5
    assert "vacuous" in str(found)


@pytest.mark.parametrize("form", ["linear", "rank one", "precomputed", "cv", "one-stage"])
def test_every_kind_of_kernels(form):
    X, y = classes(100)
    if form == "precomputed":
        X = [kernel(X) for kernel in LADDER]
    clf = {
        "linear": al.MKLClassifier(["linear", al.Columns(al.Linear(), [0])]),
        "rank one": al.MKLClassifier(al.RankOneKernels()),
        "precomputed": al.MKLClassifier("precomputed"),
        "cv": al.MKLClassifierCV(LADDER, weighting="alignf", Cs=[0.1, 1.0], cv=3),
        "one-stage": al.MKLClassifier(LADDER, weighting="l1-svm"),
    }[form].fit(X, y)
    unbounded = form in ("linear", "rank one", "precomputed")
    found = clf.bound(X, y, radius2=100.0 if unbounded else None, draws=50)
    assert 0.0 < found.value <= 1.0
    assert found.size > 0


def test_what_is_refused():
    """Wrong options are in test_bounds_refuse.py."""
    (X, y), (Z, real) = classes(80), regression(60)
    clf, reg = al.MKLClassifier(LADDER).fit(X, y), al.MKLRegressor(LADDER).fit(Z, real)
    three = np.arange(80) % 3
    cases = [
        (words, partial(model.bound, *given), words)
        for model, given, words in (
            (clf, (classes(80, 5)[0], y), "X must be the samples"),
            (clf, (X[:60], y), "60 samples|m = 60|length|80"),
            (clf, (X, -y), "y must be the labels"),
            (clf, (X, y + 3), "y must be the labels"),
            (al.MKLClassifier(LADDER), (X, y), "not fitted"),
            (al.MKLClassifier(LADDER).fit(X, three), (X, three), "two classes, got 3"),
        )
    ]
    cases.append(("seed", partial(clf.bound, X, y, random_state="a"), "random_state"))
    cases += [
        (words, partial(reg.bound, *given, label_range=(-1, 1)), words)
        for given, words in (
            ((Z, real[::-1]), "y must be the targets"),
            ((Z[::-1], real), "X must be the samples"),
            ((Z[:50], real[:50]), "50|60"),
        )
    ]
    assert not_refused(cases) == []


# -- regression ------------------------------------------------------------------------


def test_the_regression_bound_from_the_matrices():
    X, y = regression(150)
    reg = al.MKLRegressor(LADDER, alpha=30.0).fit(X, y)
    found = reg.bound(X, y, 0.1, label_range=(-1, 1), draws=200)
    h = reg.predict(X)
    size, complexity = parts_of(reg, X, h, reg.dual_coef_, 200)
    expected = learned.clipped_bound(np.clip(h, -1, 1) - y, size, 2.0, complexity, 0.099)
    assert found.value == pytest.approx(expected.value)
    assert found.not_met == ()
    assert "predictions clipped to [-1, 1]" in found.hypotheses


def test_samples_help_where_the_kernel_is_fixed_too():
    """The smaller of stability and complexity, each at half of delta."""
    X, y = regression(400)
    reg = al.MKLRegressor([al.Gaussian(0.5)], normalize=None, alpha=400.0).fit(X, y)
    found = reg.bound(X, y, 0.1, label_range=(-1, 1), draws=200)
    assert "complexity" in found.method
    alone = reg.bound(delta=0.05, label_range=(-1, 1))
    assert alone.method == "stability"
    assert found.value < found.value_if_fixed == alone.value
    learned = reg.bound(X, y, 0.05, label_range=(-1, 1), draws=200, fixed=False)
    assert found.value == learned.value
