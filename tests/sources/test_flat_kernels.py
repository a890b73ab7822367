"""Kernels constant up to rounding, and digits that centering would cancel."""

import warnings

import numpy as np
import pytest
from cases import each

import alignlearn as al

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 2.0, (100, 2))
Y = (X[:, 0] > 1.2).astype(int)
FLAT = {
    "cosine of one column": al.Columns(al.Cosine(), 1),
    "normalized on one column": al.Columns(al.Linear(), 1).normalized(),
    "power of a wide Gaussian": al.Gaussian(1e-17) ** 2,
    "polynomial of a tiny gamma": al.Polynomial(1e-17, 1.0, 3),
    "sigmoid of a tiny gamma": al.Sigmoid(1e-17, 1.0),
}


@each("dtype", [np.float64, np.float32])
@each("kernel", FLAT.values())
def test_a_kernel_constant_up_to_rounding_is_no_kernel(kernel, dtype):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = al.MKLClassifier([al.Gaussian(1.0), kernel], weighting="uniform")
        model.fit(X.astype(dtype), Y)
        alone = al.MKLClassifier([al.Gaussian(1.0)]).fit(X.astype(dtype), Y)
    assert model.scale_[1] == 0.0
    assert model.statistics_.M[1, 0] == model.statistics_.a[1] == 0.0
    np.testing.assert_array_equal(model.predict(X.astype(dtype)), alone.predict(X.astype(dtype)))
    words = [str(w.message) for w in caught if w.category is al.DegenerateKernelWarning]
    # If every value is equal to the last bit there is nothing to warn about.
    assert all("constant on these samples up to the rounding" in text for text in words)
    assert kernel != FLAT["cosine of one column"] or "cosine on [1] is constant" in words[0]


def test_a_kernel_that_hardly_varies_is_one():
    """A relative variation of 1e-9 is signal: plain NumPy finds the same alignment."""
    kernel = al.Polynomial(1e-9, 1.0, 2)
    K = (1e-9 * X @ X.T + 1.0).astype(np.longdouble) ** 2
    expected = al.alignment(np.asarray(K - K.mean(), dtype=float), Y)
    assert al.alignment_statistics(X, Y, [kernel]).alignments[0] == pytest.approx(expected, 1e-6)


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e6])
def test_values_far_above_their_variation_keep_their_digits(offset):
    """<x, x'>^2 far from the origin is f(x) + f(x') up to a share of 1 / offset^2."""
    Z, t = X + offset, X[:, 0] - X[:, 0].mean()
    K = (Z.astype(np.longdouble) @ Z.T.astype(np.longdouble) + 1.0) ** 2
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    found = al.alignment_statistics(Z, t, [al.Polynomial(1.0, 1.0, 2), al.Gaussian(1.0)])
    size = float(np.linalg.norm((Z @ Z.T + 1.0) ** 2))
    # Rounding of the values themselves, relative to their centered part.
    bound = 8 * np.finfo(float).eps * size / float(np.sqrt(np.sum(K * K)))
    assert found.M[0, 0] == pytest.approx(float(np.sum(K * K)), rel=bound)
    assert found.a[0] == pytest.approx(float(t @ K @ t), rel=50 * bound)


def test_training_sets_beside_an_outlier_keep_their_digits():
    rng = np.random.default_rng(1)
    Z, folds = rng.standard_normal((60, 3)), np.arange(60) // 12
    Z[0] *= 1e3
    y = Z[:, 1] + np.sin(Z[:, 2]) + 0.1 * rng.standard_normal(60)
    far = y.copy()
    far[7] = 1e9
    kernels = [al.Gaussian(0.1), al.Polynomial(1.0, 1.0, 2)]
    for samples, target in ((Z, y), (Z[:, 1:], far)):
        found = al.alignment_statistics(samples, target, kernels, folds=folds)
        for t, s in enumerate(found):
            train = folds != t
            expected = al.alignment_statistics(samples[train], target[train], kernels)
            np.testing.assert_allclose(s.a, expected.a, rtol=1e-9)
            np.testing.assert_allclose(s.M, expected.M, rtol=1e-9)


def test_alignments_stay_in_their_interval():
    K = al.Gaussian(0.5)(X)
    s = al.alignment_statistics(X, X[:, 0], [al.Columns(al.Linear(), 0)] * 3)
    assert np.all(np.abs(s.alignments) <= 1.0)
    assert s.alignment([1.0, 2.0, 1 / 3]) <= 1.0
    assert al.alignment(K, K) == pytest.approx(1.0)
    assert al.alignment(K, K) <= 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_exponential_normalized_of_equal_directions_is_constant(dtype):
    X = np.outer(np.linspace(1.0, 2.0, 9), [0.1, 0.7, 0.3]).astype(dtype)
    y = np.arange(9.0)
    X[:, 1:] = 0.0  # cosines are 1, except rounding
    for kernel in (al.Cosine().exp().normalized(), 1e6 * (3.0 * al.Cosine()).exp().normalized()):
        assert al.alignment_statistics(X, y, [kernel]).norms[0] == 0.0
    X[4] *= -1.0
    assert al.alignment_statistics(X, y, [al.Cosine().exp().normalized()]).norms[0] > 0.1


def test_rounding_whose_square_overflows_is_no_error():
    grams = [np.full((6, 6), 1e170), np.eye(6)]
    statistics = al.alignment_statistics(grams, np.arange(6.0), "precomputed")
    np.testing.assert_allclose(statistics.norms, [0.0, np.sqrt(5.0)])


def test_one_kernel_beyond_the_range_beside_one_whose_squares_are_is_refused_by_name():
    """Only the error is raised: the mean of the former is infinite, that of the latter is not."""
    X = np.array([[9.5293026], [-10.01244736], [48.53869629], [7.95055437]], dtype=np.float32)
    kernels = [al.Polynomial(gamma=1.0, coef0=0.0, degree=1) ** 6, al.Linear().exp()]
    with pytest.raises(ValueError, match=r"exp\(linear\): its values reach exp\(2356\)"):
        al.alignment_statistics(X, [0, 1, 0, 1], kernels)
