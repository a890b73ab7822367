"""Aligned random features: against their objective, a general solver, and in pipelines."""

from functools import partial

import numpy as np
import pytest
from refusals import not_refused
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import SVC

import alignlearn as al
from alignlearn.machines import SupportVectorClassifier


def problem(kind="two", m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    signal = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=m)
    if kind == "real":
        return X, signal
    if kind == "columns":
        return X, np.column_stack([signal, X[:, 1]])
    cuts = [0.0] if kind == "two" else [-0.5, 0.5]
    return X, np.array(["a", "b", "c"])[np.digitize(signal, cuts)]


def target_gram(y, kind, center):
    """The target's kernel by agreement of labels, or yy'."""
    if kind in ("real", "columns"):
        Y = np.atleast_2d(y.T).T
    elif kind == "two":
        Y = np.where(y == np.unique(y)[1], 1.0, -1.0)[:, None]
    else:
        Y = (y[:, None] == np.unique(y)).astype(float)
    T = Y @ Y.T
    H = np.eye(len(T)) - 1.0 / len(T)
    return H @ T @ H if center else T


@pytest.mark.parametrize(
    ("kind", "offsets", "center"),
    [
        *(("two", False, True), ("two", True, False), ("three", False, False)),
        *(("three", True, True), ("real", True, True), ("columns", False, True)),
    ],
)
def test_scores_and_weights_are_those_of_the_objective(kind, offsets, center):
    X, y = problem(kind)
    make = partial(al.AlignedRandomFeatures, n_features=8, offsets=offsets)
    model, T = make(rho=1.0, center=center).fit(X, y), target_gram(y, kind, center)
    # Each frequency alone, as if it were the whole learned kernel.
    draws, grams = make(rho=0.0).fit(X, y).kernel_, []
    for k in range(8):
        shift = None if draws.offsets is None else draws.offsets[k : k + 1]
        grams.append(al.FourierFeatures(draws.frequencies[k : k + 1], [1.0], shift)(X))
    scores = np.array([np.vdot(K, T) for K in grams]) / (len(X) * np.linalg.norm(T))
    np.testing.assert_allclose(model.scores_, scores, atol=1e-12)
    simplex = {"type": "eq", "fun": lambda q: q.sum() - 1}
    ball = {"type": "ineq", "fun": lambda q: 2.0 / 8 - q @ q}
    found = minimize(
        lambda q: -(scores @ q) / scores.max(),
        np.full(8, 1 / 8),
        bounds=[(0, 1)] * 8,
        constraints=[simplex, ball],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(model.weights_, found.x, atol=1e-3)
    assert model.scores_ @ model.weights_ >= scores @ found.x - 1e-6 * scores.max()
    K = sum(w * G for w, G in zip(model.weights_, grams))
    np.testing.assert_allclose(model.kernel_(X), K, atol=1e-12)
    assert model.alignment_ == pytest.approx(al.alignment(K, y), rel=1e-9)
    assert model.uniform_alignment_ == pytest.approx(al.alignment(sum(grams) / 8, y), rel=1e-9)


def test_columns_have_the_kernels_inner_products_and_zero_weights_are_dropped():
    X, y = problem()
    model = al.AlignedRandomFeatures(n_features=200, rho=4.0)
    Z = model.fit_transform(X, y)
    np.testing.assert_allclose(Z @ Z.T, model.kernel_(X), atol=1e-12)
    np.testing.assert_array_equal(model.transform(X), Z)
    kept = np.count_nonzero(model.weights_)
    assert 200 / 5 <= kept < 200
    assert len(model.kernel_.weights) == kept
    assert Z.shape == (60, 2 * kept) == (60, len(model.get_feature_names_out()))
    assert model.result_.divergence == pytest.approx(4.0)
    assert abs(model.result_.duality_gap) < 1e-12
    # No radius is the base kernel: a Monte-Carlo mean of D equal weights, 6 standard errors.
    model = al.AlignedRandomFeatures(al.Gaussian(0.3), n_features=20_000, rho=0.0).fit(X, y)
    np.testing.assert_allclose(model.kernel_(X[:9]), al.Gaussian(0.3)(X[:9]), atol=6 / 20_000**0.5)


def test_features_drawn_from_the_weights():
    X, y = problem()
    model = al.AlignedRandomFeatures(n_features=50, n_components=20, random_state=3).fit(X, y)
    counts = model.weights_ * 20
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-12)
    assert counts.sum() == pytest.approx(20)
    assert not counts[model.result_.weights == 0.0].any()
    large = al.AlignedRandomFeatures(n_features=50, n_components=100_000).fit(X, y)
    np.testing.assert_allclose(large.weights_, large.result_.weights, atol=0.01)


def test_blocks_of_rows_and_either_gram_matrix_agree(monkeypatch):
    X, y = problem(m=300)
    for n_features in (20, 1000):  # fewer and more columns than samples
        model = al.AlignedRandomFeatures(n_features=n_features)
        whole = model.fit(X, y).scores_, model.alignment_, model.uniform_alignment_
        with monkeypatch.context() as patch:
            patch.setattr("alignlearn.sources.source._BLOCK_ENTRIES", 7 * n_features)
            model.fit(X, y)
        parts = model.scores_, model.alignment_, model.uniform_alignment_
        for a, b in zip(whole, parts):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-14)


def test_other_bases():
    X, y = problem()
    for base in ("laplacian", "exponential", "matern", "rational-quadratic"):
        model = al.AlignedRandomFeaturesClassifier(base, n_features=300, C=10.0).fit(X, y)
        assert model.score(X, y) > 0.8
    cases = []
    for make in (al.AlignedRandomFeatures, al.AlignedRandomFeaturesClassifier):
        for kernel in ("linear", al.TL1()):
            cases.append((f"{make} {kernel}", partial(make(kernel).fit, X, y), "spectral density"))
        cases.append((f"{make}", partial(make().fit, np.ones_like(X), y), "kernel is constant"))
    assert not_refused(cases) == []


@pytest.mark.parametrize("kind", ["two", "three"])
def test_classifier_is_the_machine_on_the_learned_kernel(kind):
    (X, y), new = problem(kind), problem(m=40, seed=1)[0]
    model = al.AlignedRandomFeaturesClassifier(n_features=100, C=2.0, tol=1e-6).fit(X, y)
    other = SVC(kernel=model.kernel_, C=2.0, tol=1e-6, break_ties=True).fit(X, y)
    found, expected = model.decision_function(new), other.decision_function(new)
    np.testing.assert_allclose(found, expected, atol=1e-3)
    np.testing.assert_array_equal(model.predict(new), other.predict(new))
    assert al.AlignedRandomFeatures(n_features=100).fit(X, y).kernel_ == model.kernel_
    model.set_params(multiclass="ovr").fit(X, y)
    smo = SupportVectorClassifier(C=2.0, multiclass="ovr", tol=1e-6).fit(model.kernel_(X), y)
    expected = smo.decision_function(model.kernel_(new, X))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-3)


def test_many_samples_without_a_gram_matrix_agree_with_one():
    X, y = problem(m=2000)
    model = al.AlignedRandomFeaturesClassifier(n_features=30, rho=1.0, tol=1e-5).fit(X, y)
    smo = SupportVectorClassifier(tol=1e-5).fit(model.kernel_(X), y)
    expected = smo.decision_function(model.kernel_(X[:50], X))
    np.testing.assert_allclose(model.decision_function(X[:50]), expected, atol=1e-3)


def test_sparse_samples_give_the_features_of_dense_ones():
    X, y = problem()
    X[np.abs(X) < 0.5] = 0.0
    model = al.AlignedRandomFeaturesClassifier(n_features=40)
    expected, weights = model.fit(X, y).decision_function(X), model.weights_
    for convert in (sparse.csr_matrix, sparse.csc_array):
        found = model.fit(convert(X), y).decision_function(convert(X))
        np.testing.assert_allclose(model.weights_, weights, atol=1e-12)
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e100])
def test_units_of_the_target_do_not_matter(unit):
    X, y = problem("real")
    one = al.AlignedRandomFeatures(n_features=20).fit(X, y)
    two = al.AlignedRandomFeatures(n_features=20).fit(X, unit * y)
    np.testing.assert_allclose(two.weights_, one.weights_, atol=1e-9)
    assert two.alignment_ == pytest.approx(one.alignment_)
