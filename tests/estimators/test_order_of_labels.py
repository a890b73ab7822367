"""Names of classes and their order: folds, choices, weights and decisions do not depend on them."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import alignlearn as al
from alignlearn import machines
from alignlearn.folds import make_folds


def noisy(m=90, seed=0):
    """Two classes that are nearly equal: many samples are near the boundary."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    return X, (X[:, 0] + rng.normal(size=m) > 0.0).astype(int)


def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


KERNELS = [al.Gaussian(g) for g in (0.03, 0.3, 3.0)]


def test_two_classes_to_the_last_bit():
    X, y = noisy()
    for model in (al.MKLClassifierCV(), al.MKLClassifier(KERNELS, C=1e3)):
        first, second = (type(model)(**model.get_params()).fit(X, t) for t in (y, 1 - y))
        assert np.array_equal(first.decision_function(X), -second.decision_function(X))


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4, np.inf])
def test_machine(C):
    X, y = noisy(m=60 if np.isfinite(C) else 20)
    K = al.Gaussian(0.5)(X)
    first, second = (machines.SupportVectorClassifier(C).fit(K, t) for t in (y, 1 - y))
    assert np.array_equal(first.full_dual_coef(), -second.full_dual_coef())
    assert first.intercept_ == -second.intercept_
    assert first.n_iter_ == second.n_iter_


def test_machine_in_features():
    X, y = noisy(m=2000)
    first, second = (al.MKLClassifier([al.Linear()], tol=1e-2).fit(X, t) for t in (y, 1 - y))
    assert np.array_equal(first.decision_function(X), -second.decision_function(X))


def test_statistics():
    X, y = wine()
    first, second = (
        al.alignment_statistics(X, t, KERNELS, task="classification")
        for t in (y, np.array(list("cab"))[y])
    )
    assert np.array_equal(first.a, second.a)
    assert np.array_equal(first.M, second.M)


def test_folds_of_missing_labels_are_refused():
    X, y, missing = *noisy(m=40), np.nan
    for labels in ([missing] * 20 + [1.0] * 20, np.r_[np.full(20, missing), np.ones(20)]):
        with pytest.raises(ValueError, match="cv holds NaN"):
            al.MKLClassifierCV(KERNELS, weighting="alignf", cv=labels).fit(X, y)
        with pytest.raises(ValueError, match="cv holds NaN"):
            make_folds(labels, X[:, 0], False)
