"""Precomputed Gram matrices, features without pairs, and the combiner."""

import copy
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from oracle import center
from refusals import raises
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from strategies import generators, samples

import alignlearn as al
from alignlearn.kernels import FeatureWeighted
from alignlearn.machines import SpectrumFix

KERNELS = [al.Gaussian(0.1), al.Gaussian(0.5), al.Linear(), al.Laplacian(0.2)]


def _data(load=load_wine, n=100):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[:n]
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[order]
    return X[::2], y[order][::2], X[1::2], y[order][1::2]


@pytest.mark.parametrize("form", [list, np.array])
def test_given_matrices_are_the_kernels_they_hold(form):
    X, y, Z, t = _data()
    train, test = form([k(X) for k in KERNELS]), form([k(Z, X) for k in KERNELS])
    expected = al.MKLClassifier(KERNELS, tol=1e-8).fit(X, y)
    model = al.MKLClassifier("precomputed", tol=1e-8).fit(train, y)
    np.testing.assert_allclose(model.weights_, expected.weights_, atol=1e-9)
    wanted = expected.decision_function(Z)
    np.testing.assert_allclose(model.decision_function(test), wanted, atol=1e-5)
    assert model.score(test, t) == expected.score(Z, t)
    np.testing.assert_allclose(model.kernel_(test), expected.kernel_(Z, X), rtol=1e-7, atol=1e-12)
    data = pickle.dumps(model)
    assert len(data) < 12_000  # one matrix alone has 20,000 bytes
    np.testing.assert_array_equal(pickle.loads(data).predict(test), model.predict(test))


def test_a_matrix_of_weight_zero_is_not_read_at_prediction():
    X, y, Z, _ = _data()
    model = al.MKLClassifier("precomputed").fit([k(X) for k in KERNELS], y)
    zero = np.flatnonzero(model.weights_ == 0)
    assert zero.size
    test = [k(Z, X) for k in KERNELS]
    expected = model.decision_function(test)
    test[zero[0]] = np.full_like(test[0], np.nan)
    np.testing.assert_array_equal(model.decision_function(test), expected)


def _indefinite():
    """Matrices of two kernels, the first indefinite, of training and of new samples, and labels."""
    X, y, Z, t = _data()
    kernels = [al.Sigmoid(0.5, -1.0), KERNELS[0]]
    assert np.linalg.eigvalsh(kernels[0](X))[0] < -1e-3
    return [k(X) for k in kernels], y, [k(Z, X) for k in kernels], t


def test_an_indefinite_matrix_is_refused_and_what_the_error_advises_works():
    train, y, new, _ = _indefinite()
    numbers, smallest = np.arange(len(y))[:, None], np.linalg.eigvalsh(train[0])[0]
    with pytest.raises(ValueError, match=rf"kernel 1 is not .*about {smallest:.3g}.*1e-08"):
        al.MKLClassifier("precomputed").fit(train[::-1], y)
    for kernels, X in (("precomputed", train), ([al.Precomputed(train[0])], numbers)):
        with pytest.raises(ValueError, match="Accepted in place") as caught:
            al.MKLClassifier(kernels).fit(X, y)
        text = " ".join(str(caught.value).split())
        advised = re.findall(r"Precomputed\(K, [^)]*\)", text)
        assert advised == ['Precomputed(K, fix="clip")', "Precomputed(K, is_psd=False)"]
        for expression in advised:
            mark = eval(expression, {"Precomputed": al.Precomputed, "K": train[0]})
            al.MKLClassifier("precomputed").fit([mark, train[1]], y).predict(new)
            model = al.MKLClassifier([mark]).fit(numbers, y)
            assert model.kernel_.is_psd == ("clip" in expression)


@pytest.mark.parametrize(
    ("model", "fix"),
    [
        (al.MKLClassifier("precomputed", probability="sigmoid"), "clip"),
        (al.MKLClassifier("precomputed", weighting="lkrr"), "flip"),
        (al.MKLClassifierCV("precomputed", weighting="alignf", Cs=[1.0, 10.0], cv=2), "shift"),
        (al.MKLRegressor("precomputed"), "shift"),
        (al.MKLRegressorCV("precomputed", alphas=[0.1, 1.0]), "clip"),
        (al.KernelCombiner("precomputed"), "shift"),
        (al.BayesianMKLClassifier("precomputed"), "flip"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_fixed_matrices_are_those_of_spectrum_fix_for_new_samples_too(model, fix):
    train, y, new, _ = _indefinite()
    change = SpectrumFix(fix)
    by_hand = [change.fit_transform(train[0]), train[1]], [change.transform(new[0]), new[1]]
    y = (y > 0).astype(float) if "Regressor" in type(model).__name__ else y > 0
    expected = clone(model).fit(by_hand[0], y)
    model = clone(model).fit([al.Precomputed(train[0], fix=fix), train[1]], y)
    assert model.kernel_.is_psd
    call = "transform" if hasattr(model, "transform") else "predict"
    wanted = getattr(expected, call)(by_hand[1])
    for fitted in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_allclose(getattr(fitted, call)(new), wanted, rtol=1e-10, atol=1e-12)
    if hasattr(model, "scale_"):
        kernel = expected.kernel_(by_hand[1])
        np.testing.assert_allclose(model.kernel_(new), kernel, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("fix", ["clip", "flip", "shift"])
def test_a_fix_on_sample_numbers_is_that_of_the_training_samples(fix):
    train, y, new, _ = _indefinite()
    m, n = len(y), len(new[0])
    every = np.zeros((m + n, m + n))
    every[:m, :m], every[m:, :m], every[:m, m:] = train[0], new[0], new[0].T
    expected = al.MKLClassifier("precomputed").fit([al.Precomputed(train[0], fix=fix)], y)
    # In another order, and with one sample twice in place of a weight of 2.
    order = np.r_[np.arange(1, m), 0]
    model = al.MKLClassifier([al.Precomputed(every, fix=fix)])
    model.fit(order[:, None], y[order])
    found = model.decision_function(np.arange(m, m + n)[:, None])
    np.testing.assert_allclose(found, expected.decision_function([new[0]]), atol=5e-3)
    twice = np.r_[np.arange(m), 0]
    kernel = al.Precomputed(every, fix=fix)
    resolved = kernel.resolve(twice[:, None])
    if fix == "shift":  # by its number, a copy is the sample itself
        assert np.array_equal(resolved.gram, kernel.resolve(twice[:m, None]).gram)
        return
    weight = np.r_[2.0, np.ones(m - 1)]
    change = SpectrumFix(fix).fit(train[0], sample_weight=weight)
    np.testing.assert_allclose(resolved.gram[m:, :m], change.transform(new[0]), atol=1e-12)
    # A weight counts repetitions: the matrix that includes the copy gives the same result.
    copies = SpectrumFix(fix).fit_transform(train[0][np.ix_(twice, twice)])
    np.testing.assert_allclose(resolved.gram[np.ix_(twice, twice)], copies, atol=1e-10)


def test_a_fix_with_weights_is_that_of_repeated_samples():
    train, y, new, _ = _indefinite()
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    model = al.MKLClassifier("precomputed", tol=1e-8)
    model.fit([al.Precomputed(train[0], fix="clip")], y, sample_weight=weight)
    repeated = al.Precomputed(train[0][np.ix_(rows, rows)], fix="clip")
    expected = clone(model).fit([repeated], y[rows])
    wanted = expected.decision_function([new[0][:, rows]])
    np.testing.assert_allclose(model.decision_function(new[:1]), wanted, atol=1e-5)
    shift = [al.Precomputed(train[0], fix="shift")]
    raises(ValueError, '"clip" and "flip", or equal weights', model.fit, shift, y, weight)


def test_a_fix_is_found_on_each_training_set_of_a_cross_validation():
    train, y, _, _ = _indefinite()
    marked = [al.Precomputed(train[0], fix="flip"), train[1]]
    found = al.cross_validate_kernels(al.MKLClassifier("precomputed"), marked, y, cv=3)
    for (rows, test), score in zip(found["indices"], found["test_score"]):
        change = SpectrumFix("flip")
        fixed = change.fit_transform(train[0][np.ix_(rows, rows)])
        grams = [fixed, train[1][np.ix_(rows, rows)]]
        expected = al.MKLClassifier("precomputed").fit(grams, y[rows])
        against = [change.transform(train[0][np.ix_(test, rows)]), train[1][np.ix_(test, rows)]]
        assert expected.score(against, y[test]) == score


@pytest.mark.parametrize("form", [list, np.array, lambda grams: [al.Precomputed(grams[0])]])
def test_complex_hermitian_matrices_are_their_real_parts(form):
    X, y, Z, _ = _data()
    rng = np.random.default_rng(1)
    U = rng.normal(size=(13, 5)) + 1j * rng.normal(size=(13, 5))
    F, G = X @ U, Z @ U
    K, new = F @ F.conj().T, G @ F.conj().T
    expected = al.MKLClassifier("precomputed").fit([K.real], y)
    model = al.MKLClassifier("precomputed").fit(form([K]), y)
    assert np.array_equal(model.predict([new]), expected.predict([new.real]))
    assert np.array_equal(model.predict(np.array([new])), expected.predict([new.real]))
    assert np.array_equal(model.predict([K[:40]]), model.predict([K.real[:40]]))
    with pytest.raises(ValueError, match="is not Hermitian"):
        al.MKLClassifier("precomputed").fit(form([K * 1j]), y)


def test_what_a_mark_may_say():
    K = np.diag([2.0, -1.0])
    raises(ValueError, "fix='drop' is not known; accepted: 'clip'", al.Precomputed, K, fix="drop")
    assert al.Precomputed(K, fix="clip").is_psd
    assert al.Precomputed(K, fix="clip") != al.Precomputed(K)
    numbers = np.array([[0], [1]])
    np.testing.assert_allclose(al.Precomputed(K, fix="flip")(numbers), np.diag([2.0, 1.0]))
    np.testing.assert_allclose(al.Precomputed(K, fix="shift")(numbers), np.diag([3.0, 0.0]))
    given = al.Precomputed(np.eye(8), is_psd=False), np.arange(8) % 2, "precomputed"
    raises(ValueError, "marked as indefinite", al.alignment_interval, *given, radius2=1.0)


@given(rng=generators())
def test_semi_definite_matrices_of_any_rank_and_size_are_accepted(rng):
    m = int(rng.integers(3, 30))
    F = rng.normal(size=(m, int(rng.integers(1, m)))) * 10.0 ** rng.integers(-6, 7)
    al.MKLClassifier("precomputed").fit([F @ F.T, np.zeros((m, m))], np.arange(m) % 2)


# Features without pairs


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_matrix, sp.coo_array], ids=str)
def test_rank_one_kernels_sparse_dense_and_one_by_one(convert):
    X = sp.random_array((80, 30), density=0.3, rng=np.random.default_rng(0), format="csr")
    dense = X.toarray()
    y = (dense[:, :3].sum(axis=1) > 0.5).astype(int)
    columns = [al.Columns(al.Linear(), k) for k in range(30)]
    # The power prevents linear shortcuts: values go through pairs.
    pairs = [al.Columns(al.Linear() ** 1, k) for k in range(30)]
    kernels = (al.RankOneKernels(), al.RankOneKernels(), columns, pairs)
    data = (convert(X), dense, dense, dense)
    fits = [al.MKLClassifier(k, tol=1e-9).fit(A, y) for k, A in zip(kernels, data)]
    test = np.random.default_rng(1).normal(size=(7, 30))
    expected = fits[-1].decision_function(test)
    for model in fits[:-1]:
        np.testing.assert_allclose(model.weights_, fits[-1].weights_, atol=1e-8)
        np.testing.assert_allclose(model.decision_function(test), expected, atol=1e-5)
        np.testing.assert_allclose(model.decision_function(convert(test)), expected, atol=1e-5)
        by_hand = test @ model.coef_[:, 0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(test), by_hand, atol=1e-12)
        assert isinstance(model.kernel_, FeatureWeighted)
        assert len(pickle.dumps(model)) < 30_000


def test_linear_kernels_on_groups_of_features_may_overlap_and_be_scaled():
    X, y, Z, _ = _data(load_diabetes)
    X, Z = X + 50.0, Z + 50.0
    groups = [(0, 1, 2), (2, 3), tuple(range(10))]
    factors = [1.0, 1e3, 1e-3]
    kernels = [f * al.Columns(al.Linear(), g) for f, g in zip(factors, groups)]
    model = al.MKLRegressor(kernels, weighting="align", alpha=0.5).fit(X, y)
    grams = [f * X[:, list(g)] @ X[:, list(g)].T for f, g in zip(factors, groups)]
    tests = [f * Z[:, list(g)] @ X[:, list(g)].T for f, g in zip(factors, groups)]
    expected = al.MKLRegressor("precomputed", weighting="align", alpha=0.5).fit(grams, y)
    np.testing.assert_allclose(model.weights_, expected.weights_, rtol=1e-7)
    np.testing.assert_allclose(model.predict(Z), expected.predict(tests), rtol=1e-6)
    by_hand = model.kernel_(Z, X) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(Z), by_hand, rtol=1e-8)


def test_features_far_from_the_origin_lose_nothing():
    """Centering before the product, not after it."""
    X, y, Z, _ = _data(load_diabetes)
    near, far = (al.MKLRegressor(al.RankOneKernels()).fit(X + b, y) for b in (0.0, 1e7))
    np.testing.assert_allclose(far.predict(Z + 1e7), near.predict(Z), rtol=1e-5)


@given(X=samples(max_samples=8), rng=generators())
def test_feature_weighted_is_the_sum_of_its_rank_one_kernels(X, rng):
    weights = rng.choice([0.0, 0.5, 3.0], size=X.shape[1])
    kernel = FeatureWeighted(weights)
    expected = sum(w * np.outer(v, v) for w, v in zip(weights, X.T))
    scale = np.abs(expected).max()
    for A, B in ((X, None), (sp.csr_array(X), X), (X, sp.csc_array(X)), (sp.csr_array(X), None)):
        np.testing.assert_allclose(kernel(A, B), expected, atol=1e-13 * scale)
        np.testing.assert_allclose(kernel.diag(A), np.diag(expected), atol=1e-13 * scale)
    # As a part of other kernels it is evaluated by the engine.
    both = 2.0 * kernel + al.Linear()
    np.testing.assert_allclose(both(X), 2 * expected + X @ X.T, rtol=1e-12, atol=1e-12 * scale)


def test_feature_weighted_is_a_value():
    kernel = FeatureWeighted([1.0, 2.0])
    assert {kernel, FeatureWeighted((1, 2)), pickle.loads(pickle.dumps(kernel))} == {kernel}
    assert kernel != FeatureWeighted([1.0, 3.0])
    assert (kernel.is_psd, FeatureWeighted([1.0, -1.0]).is_psd) == (True, False)
    with pytest.raises(ValueError, match="read-only"):
        kernel.weights[0] = 5.0
    raises(ValueError, "3 columns, but the kernel has 2", kernel, np.ones((2, 3)))


# The combiner


@pytest.mark.parametrize("kernels", [KERNELS, [al.Gaussian(1e-7), al.Linear()], ["linear"]])
def test_the_combiner_returns_the_centered_combination(kernels):
    X, y, Z, _ = _data()
    model = al.KernelCombiner(kernels)
    K = model.fit_transform(X, y)
    full = sum(
        w * s * np.asarray(center(k(np.vstack([X, Z]))), np.longdouble)
        for w, s, k in zip(model.weights_, model.scale_, model.kernels_)
    )
    m = len(X)
    T = full[m:, :m] - full[m:, :m].mean(1, keepdims=True) - full[:m, :m].mean(0)
    np.testing.assert_allclose(K, np.asarray(center(full[:m, :m]), float), atol=1e-6)
    T = np.asarray(T + full[:m, :m].mean(), float)
    np.testing.assert_allclose(model.transform(Z), T, atol=1e-6)
    np.testing.assert_allclose(model.transform(X), K, atol=1e-10)
