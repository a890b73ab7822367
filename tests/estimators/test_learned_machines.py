"""The estimators against models trained on explicitly centered and normalized Gram matrices."""

import pickle

import numpy as np
import pytest
from oracle import center, pair_primitives
from refusals import raises
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.metrics import r2_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.svm import SVC, SVR

import alignlearn as al
from alignlearn.weights import AlignF

NEAR_CONSTANT = [al.Gaussian(1e-7), al.Gaussian(3e-7), al.Gaussian(1e-3), al.Polynomial(0.1, 50.0)]
ORDINARY = [al.Gaussian(0.1), al.Gaussian(0.5), al.Linear(), al.Laplacian(0.2)]


def _data(load, n=120):
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))[:n]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[order], y[order]


def _split(X, y):
    return X[::2], y[::2], X[1::2], y[1::2]


def _exact(kernel, X, Z):
    """In long double; less 1 for a Gaussian kernel, which has the same centered matrix."""
    if isinstance(kernel, al.Gaussian):
        return np.expm1(-np.longdouble(kernel.gamma) * pair_primitives(X, Z)[0])
    return np.asarray(kernel(X, Z), np.longdouble)


def _centered_combination(model, kernels, X_train, X_test):
    """Train and test Gram matrices of the learned weights, each kernel centered and normalized."""
    m = len(X_train)
    train, test = 0, 0
    for kernel, weight in zip(kernels, model.weights_):
        K, T = _exact(kernel, X_train, X_train), _exact(kernel, X_test, X_train)
        Kc = center(K)
        Tc = T - T.mean(1, keepdims=True) - K.mean(0) + K.mean()
        scale = m / np.trace(Kc)
        train, test = train + weight * scale * Kc, test + weight * scale * Tc
    return np.asarray(train, float), np.asarray(test, float)


@pytest.mark.parametrize("weighting", ["uniform", "alignf"])
@pytest.mark.parametrize("kernels", [ORDINARY, NEAR_CONSTANT], ids=["ordinary", "near constant"])
def test_ridge_is_ridge_on_the_centered_kernel(kernels, weighting):
    X, y, Z, _ = _split(*_data(load_diabetes))
    model = al.MKLRegressor(kernels, weighting=weighting, alpha=0.3).fit(X, y)
    K, T = _centered_combination(model, kernels, X, Z)
    expected = T @ np.linalg.solve(K + 0.3 * np.eye(len(K)), y - y.mean()) + y.mean()
    np.testing.assert_allclose(model.predict(Z), expected, rtol=1e-9)


@pytest.mark.parametrize("kernels", [ORDINARY, NEAR_CONSTANT], ids=["ordinary", "near constant"])
def test_support_vector_regression_of_several_targets_is_libsvm(kernels):
    """One kernel for all targets, and on it the model of each."""
    X, y, Z, t = _split(*_data(load_diabetes))
    scale = np.array([50.0, 20.0])
    Y, T = np.column_stack([y, -2.0 * X[:, 2] * y]) / scale, np.column_stack([t, t]) / scale
    options = {"machine": "svr", "C": 2.0, "epsilon": 0.2, "tol": 1e-8}
    model = al.MKLRegressor(kernels, **options).fit(X, Y)
    ridge = al.MKLRegressor(kernels).fit(X, Y)
    np.testing.assert_array_equal(model.weights_, ridge.weights_)
    K, K_test = _centered_combination(model, kernels, X, Z)
    oracle = MultiOutputRegressor(SVR(kernel="precomputed", C=2.0, epsilon=0.2, tol=1e-8))
    expected = oracle.fit(K, Y).predict(K_test)
    np.testing.assert_allclose(model.predict(Z), expected, atol=1e-6)
    assert model.score(Z, T) == pytest.approx(r2_score(T, model.predict(Z)), rel=1e-12)
    by_hand = model.kernel_(Z, X[model.support_]) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(Z), by_hand, atol=1e-10)
    # Equal weights do not depend on the targets: then each column is a fit of its own.
    together = al.MKLRegressor(kernels, weighting="uniform", **options).fit(X, Y)
    for c in range(2):
        single = al.MKLRegressor(kernels, weighting="uniform", **options)
        alone = single.fit(X, Y[:, c]).predict(Z)
        np.testing.assert_allclose(together.predict(Z)[:, c], alone, rtol=1e-12)
    column = single.fit(X, Y[:, 1:]).predict(Z)
    np.testing.assert_allclose(column, alone[:, None], rtol=1e-12)


@pytest.mark.parametrize("weighting", ["alignf", "uniform"])
@pytest.mark.parametrize("kernels", [ORDINARY, NEAR_CONSTANT], ids=["ordinary", "near constant"])
def test_classifier_is_libsvm_on_the_centered_kernel(kernels, weighting):
    load = load_wine if (kernels is ORDINARY) == (weighting == "alignf") else load_iris
    X, y, Z, _ = _split(*_data(load))
    model = al.MKLClassifier(kernels, weighting=weighting, C=3.0, tol=1e-8).fit(X, y)
    K, T = _centered_combination(model, kernels, X, Z)
    reference = SVC(kernel="precomputed", C=3.0, tol=1e-8, break_ties=True).fit(K, y)
    scores = reference.decision_function(T)
    np.testing.assert_allclose(model.decision_function(Z), scores, atol=1e-5)
    np.testing.assert_array_equal(model.predict(Z), reference.predict(T))


# Printed output of a fitted estimator


def test_alignments_are_those_of_the_gram_matrices():
    X, y = _data(load_iris)
    model = al.MKLClassifier(ORDINARY).fit(X, y)
    assert model.alignment_ == pytest.approx(al.alignment(model.kernel_(X), y), rel=1e-10)
    own = [al.alignment(k(X), y) for k in ORDINARY]
    np.testing.assert_allclose(model.kernel_alignments_, own, rtol=1e-10)
    centered = [np.asarray(center(k(X)), float) for k in ORDINARY]
    uniform = sum(K / np.trace(K) for K in centered)
    assert model.uniform_alignment_ == pytest.approx(al.alignment(uniform, y), rel=1e-10)
    assert np.trace(center(model.kernel_(X))) == pytest.approx(len(X), rel=1e-10)
    np.testing.assert_array_equal(AlignF().solve(model.statistics_).weights, model.weights_)


def test_a_pickle_holds_support_samples_and_coefficients_only():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=600) > 0, "yes", "no")
    model = al.MKLClassifier(weighting="uniform", C=10.0).fit(X, y)
    data = pickle.dumps(model)
    support = len(model.support_)
    assert support < 200
    hashes = 2 * 8 * 600  # of rows alone and with their labels
    assert len(data) < 8 * support * (4 + 2) + hashes + 10_000  # a Gram matrix: 2,880,000 bytes
    assert len(pickle.dumps(model.kernel_)) < 2_000
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    ridge = al.MKLRegressor().fit(X, X[:, 0])
    assert len(pickle.dumps(ridge)) < 8 * 600 * (4 + 3) + hashes + 10_000


def test_prediction_needs_no_gram_matrix(monkeypatch):
    from alignlearn.sources.pairs import PairCombination

    X, y, Z, _ = _split(*_data(load_wine))
    model = al.MKLClassifier().fit(X, y)
    values = model.kernel_(Z, X[model.support_]) @ model.dual_coef_ + model.intercept_
    expected = model.machine_.confidences(values)
    monkeypatch.setattr(PairCombination, "cross_gram", None)
    np.testing.assert_allclose(model.decision_function(Z), expected, atol=1e-10)


def test_summary_lists_kernels_and_both_alignments():
    X, y = _data(load_wine)
    model = al.MKLClassifier(ORDINARY).fit(X, y)
    lines = model.summary().splitlines()
    assert [line.split("  ")[0].strip() for line in lines[1:5]] == [str(k) for k in ORDINARY]
    shares = [float(line.split()[-1].rstrip("%")) for line in lines[1:5]]
    expected = 100 * model.weights_ * model.statistics_.a / (model.weights_ @ model.statistics_.a)
    np.testing.assert_allclose(shares, expected, atol=0.051)
    assert f"{model.alignment_:.4f}" in lines[5]
    assert f"{model.uniform_alignment_:.4f}" in lines[5]
    assert "do not help" not in model.summary()
    twice = [al.Gaussian(0.1), al.Gaussian(0.1), al.Linear()]
    text = al.MKLClassifier(twice, weighting="uniform").fit(X, y).summary()
    assert "does not determine: gaussian(gamma=0.1), gaussian(gamma=0.1)" in text
    short = model.summary(max_rows=1).splitlines()
    assert short[1].split() == lines[1 + int(np.argmax(expected))].split()
    assert short[2] == "... and 3 more kernels, of smaller share"


def test_summary_of_weights_that_are_not_learned_compares_with_nothing():
    X, y = _data(load_wine)
    for kernels, weighting in ((ORDINARY, "uniform"), (ORDINARY[:1], "alignf")):
        model = al.MKLClassifier(kernels, weighting=weighting).fit(X, y)
        text, equal = model.summary(), weighting == "uniform"
        assert "learned weights" not in text
        assert text.count(f"{model.alignment_:.4f}") == 1
        assert (f"alignment of equal weights {model.alignment_:.4f}" in text) == equal
        assert ("not contributions" in text) == equal


def test_summary_reports_that_equal_weights_are_better_aligned():
    # Three copies of the stronger column: "align" ignores that they are equal.
    F = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 3)))[0]
    X, y = F[:, [0, 0, 0, 1]], 1.2 * F[:, 0] + F[:, 1]
    kernels = [al.Columns(al.Linear(), [j]) for j in range(4)]
    model = al.MKLRegressor(kernels, weighting="align").fit(X, y)
    assert model.uniform_alignment_ > model.alignment_ + 0.01
    assert "learned weights do not help" in model.summary()


# Inputs of several kinds


def test_indefinite_kernels_are_accepted_and_named():
    X, y, Z, t = _split(*_data(load_wine))
    model = al.MKLClassifier([al.TL1(9.0), al.Log(2.0)], weighting="uniform").fit(X, y)
    assert not model.kernel_.is_psd
    assert "not guaranteed to be positive semi-definite" in model.summary()
    assert model.score(Z, t) > 0.9
    sigmoid = al.MKLRegressor([al.Sigmoid(0.5, -1.0)], alpha=1e-9)
    raises(ValueError, "not positive definite", sigmoid.fit, X, y)


@pytest.mark.parametrize("options", [{}, {"machine": "svr", "memory": 30000}])
def test_a_linear_kernel_among_others_is_as_good_far_from_the_origin(options):
    rng = np.random.default_rng(0)
    X, kernels = rng.integers(-9, 10, size=(60, 2)) / 4.0, ["linear", al.Gaussian(0.5)]
    y = X[:, 0] + np.sin(2.0 * X[:, 1])
    here, there = (al.MKLRegressor(kernels, **options).fit(X + b, y) for b in (0.0, 2.0**24))
    np.testing.assert_allclose(there.predict(X + 2.0**24), here.predict(X), atol=2e-3)
    assert np.all(there.weights_ > 0.0)
    near = al.MKLRegressor(kernels, **options).fit(X + 2.0**10, y)
    values = near.kernel_(X + 2.0**10, X[near.support_] + 2.0**10) @ near.dual_coef_
    np.testing.assert_allclose(values + near.intercept_, near.predict(X + 2.0**10), atol=1e-6)


def test_a_large_constant_does_not_reach_the_intercept():
    """In float32 the kernel holds 10^6 to 0.06 only; coefficients sum to 0, which is exact."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)).astype(np.float32)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] > 0.0
    clf = al.MKLClassifier([1e6 + al.Gaussian(0.5), al.Gaussian(2.0)], C=10.0).fit(X, y)
    support = X[clf.support_].astype(np.float64)
    expected = clf.kernel_(X.astype(np.float64), support) @ clf.dual_coef_[:, 0] + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(X), expected, atol=1e-4)
