"""``machine="dual-cd"``: the linear machine on the weighted features of a learned kernel."""

import numpy as np
import pytest
from refusals import raises
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

import alignlearn as al

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6)) + 1.0
SIGNAL = X[:, 0] - X[:, 1] + 0.3 * X[:, 2] * RNG.normal(size=300)
Y = SIGNAL > 0.0
Y3 = np.digitize(SIGNAL, [-0.7, 0.7])


def fitted(X, y, kernels=None, **options):
    kernels = al.RankOneKernels() if kernels is None else kernels
    return al.MKLClassifier(kernels, machine="dual-cd", **options).fit(X, y)


@pytest.mark.parametrize("y", [Y, Y3])
def test_equals_liblinear_on_the_weighted_features(y):
    machine = fitted(X, y, C=0.02, multiclass="ovr", tol=1e-5)
    Z = (X - X.mean(axis=0)) * np.sqrt(machine.kernel_.weights)
    theirs = LinearSVC(C=0.02, loss="hinge", fit_intercept=False, tol=1e-7, max_iter=10**6)
    theirs.fit(Z, y)
    np.testing.assert_allclose(machine.decision_function(X), theirs.decision_function(Z), atol=5e-3)
    assert machine.chosen_machine_ == "dual-cd"
    assert "(dual-cd) on features, without an intercept" in machine.summary()
    values = X @ machine.coef_ + machine.intercept_
    found = machine.decision_function(X)
    np.testing.assert_allclose(values if y is Y3 else values[:, 0], found, atol=1e-12)


def test_sparse_samples_and_weights():
    S = np.where(np.abs(X - 1.0) > 0.8, X, 0.0)
    dense_like = fitted(csr_array(S), Y, tol=1e-6)
    found = dense_like.decision_function(csr_array(S))
    root = np.sqrt(dense_like.kernel_.weights)
    theirs = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6).fit(S * root, Y)
    np.testing.assert_allclose(found, theirs.decision_function(S * root), atol=1e-2)
    weight = RNG.integers(0, 3, size=300).astype(float)
    weighted = al.MKLClassifier(al.RankOneKernels(), machine="dual-cd", C=0.1, tol=1e-5)
    weighted.fit(X, Y, sample_weight=weight)
    rows = np.repeat(np.arange(300), weight.astype(int))
    repeated = fitted(X[rows], Y[rows], C=0.1, tol=1e-5)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_probabilities_come_from_linear_machines_on_folds():
    machine = fitted(X, Y, probability="sigmoid")
    found = machine.predict_proba(X)[:, 1]
    other = al.MKLClassifier(al.RankOneKernels(), probability="sigmoid").fit(X, Y)
    assert np.abs(found - other.predict_proba(X)[:, 1]).max() < 0.2
    order = np.argsort(machine.decision_function(X))
    assert np.all(np.diff(found[order]) >= 0.0)
    assert np.mean(-np.log(np.where(Y, found, 1.0 - found))) < 0.3


def test_bad_combinations():
    words = "machine='dual-cd' is for kernels that are linear"
    raises(ValueError, words, fitted, X, Y, ["rbf", "linear"])
    raises(ValueError, words, fitted, [X @ X.T], Y, "precomputed")
    with pytest.warns(al.ConvergenceWarning, match="after 1 passes"):
        fitted(X, Y, C=10.0, max_iter=1)
