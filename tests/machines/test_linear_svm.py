"""The linear model without an intercept: classes, weights, weighted features, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import raises
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

import alignlearn as al
from alignlearn.machines import LinearSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y3 = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.5 * RNG.normal(size=(120, 3)), axis=1)]
Y2 = Y3 == "a"


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_several_classes_as_liblinear(loss):
    ours = LinearSVM(0.1, loss=loss, tol=1e-6).fit(X, Y3)
    theirs = LinearSVC(
        C=0.1, loss=loss.replace("-", "_"), fit_intercept=False, tol=1e-8, max_iter=10**6
    ).fit(X, Y3)
    assert_allclose(ours.coef_.T, theirs.coef_, atol=1e-3)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    assert list(ours.classes_) == list(theirs.classes_)
    assert_allclose(ours.coef_, X[ours.support_].T @ ours.dual_coef_, atol=1e-12)
    assert np.all(ours.duality_gap_ <= 1e-3)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


def test_one_vs_one_has_a_problem_for_each_pair():
    machine, pair = LinearSVM(multiclass="ovo").fit(X, Y3), Y3 != "c"
    assert machine.coef_.shape == (4, 3)
    first = LinearSVM().fit(X[pair], Y3[pair]).coef_[:, 0]
    np.testing.assert_allclose(machine.coef_[:, 0], first, atol=1e-2)
    assert np.mean(machine.predict(X) == Y3) > 0.7


def test_a_weight_of_two_is_a_sample_twice_and_of_zero_a_sample_less():
    weight = RNG.integers(0, 3, size=120).astype(float)
    options = {"loss": "squared-hinge", "tol": 1e-8}
    weighted = LinearSVM(**options).fit(X, Y2, sample_weight=weight)
    repeated = np.repeat(np.arange(120), weight.astype(int))
    plain = LinearSVM(**options).fit(X[repeated], Y2[repeated])
    assert_allclose(weighted.coef_, plain.coef_, atol=1e-6)
    balanced = LinearSVM(**options, class_weight="balanced").fit(X, Y2)
    by_hand = 120 / (2 * np.bincount(Y2.astype(int)))[Y2.astype(int)]
    same = LinearSVM(**options).fit(X, Y2, sample_weight=by_hand)
    assert_allclose(balanced.coef_, same.coef_, atol=1e-6)


def test_sparse_and_single_precision_samples():
    dense = LinearSVM(0.1, tol=1e-6).fit(X, Y2)
    S = csr_array(X)
    sparse = LinearSVM(0.1, tol=1e-6).fit(S, Y2)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)
    np.testing.assert_allclose(sparse.decision_function(S), dense.decision_function(X), atol=1e-4)
    single = LinearSVM(0.1).fit(X.astype(np.float32), Y2)
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-2)


def test_bad_samples():
    fit, weight = LinearSVM().fit, 1.0 - Y2
    raises(ValueError, "zero for all samples of class True", fit, X, Y2, sample_weight=weight)
    predict = LinearSVM().fit(X, Y2).predict
    raises(ValueError, "Z has 2 columns, but in fit it had 4", predict, X[:, :2])
    raises(TypeError, "max_iter must be an integer >= 1", LinearSVM(max_iter=None).fit, X, Y2)
    for Z in (1e200 * X, csr_array(-1e200 * X)):
        raises(ValueError, r"absolute values up to .*e\+200; accepted: at most", fit, Z, Y2)


def test_stopping_short_is_a_warning():
    with pytest.warns(al.ConvergenceWarning, match="stopped after 1 passes with a projected"):
        LinearSVM(100.0, max_iter=1).fit(X, Y2)
