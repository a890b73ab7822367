"""The learned kernel as one of the library's kernels."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC

from alignlearn import Gaussian, alignment_statistics
from alignlearn.hyper import (
    GaussianHyperKernel,
    HyperKRR,
    LearnedKernel,
    WishartHyperKernel,
    ideal_kernel,
)

HYPER = [
    GaussianHyperKernel(0.8, 1.5),
    GaussianHyperKernel(0.8, 0.1, "kondor-jebara"),
    WishartHyperKernel(1.5, 4.0),
    WishartHyperKernel(np.diag([1.0, 2.0, 0.5]), 4.0, unit_diagonal=True),
]


def expansion(seed, hyper, m=6, n=10, constant=0.0):
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(m, 3)), rng.normal(size=n)
    first, second = rng.integers(0, m, (2, n))
    return LearnedKernel(hyper, X, first, second, coef, constant), (X, first, second, coef)


@pytest.mark.parametrize("hyper", HYPER)
@pytest.mark.parametrize("far", [1e160, 1e200, 1.7e308])
def test_samples_whose_squares_overflow_have_the_value_of_the_limit(hyper, far):
    """A warning would be an error in the test suite."""
    kernel, (X, *_) = expansion(0, hyper, constant=0.25)
    Z = np.array([[far, far, far], [far, -far, 1.0], [-far, -far, -far]])
    for U, V in ((Z, Z), (Z, X), (X, Z), (np.concatenate([Z, X]), np.concatenate([X, -Z]))):
        values = kernel(U, V)
        near = np.abs(values - 0.25) <= 1e-60
        known = np.isin(U[:, 0], X[:, 0])[:, None] & np.isin(V[:, 0], X[:, 0])
        assert near[~known].all()
        np.testing.assert_allclose(values[known], kernel(X, X).ravel()[: known.sum()], atol=1e-12)
    model = HyperKRR().fit(X, np.arange(6) % 2)
    np.testing.assert_array_equal(model.predict(Z), model.predict(1e120 * np.sign(Z)))


def test_indefinite_and_definite():
    kernel, (X, first, second, coef) = expansion(3, GaussianHyperKernel(0.7, 0.4), m=8, n=30)
    low, high = kernel.eigenvalue_range(X)
    eigenvalues = np.linalg.eigvalsh(kernel(X))
    np.testing.assert_allclose((low, high), (eigenvalues[0], eigenvalues[-1]), rtol=1e-9)
    assert low < 0.0
    assert not kernel.is_psd
    definite = LearnedKernel(kernel.hyper_kernel, X, first, second, np.abs(coef))
    assert definite.is_psd
    assert definite.eigenvalue_range(X)[0] > -1e-12
    assert not LearnedKernel(kernel.hyper_kernel, X, first, second, np.abs(coef), -1.0).is_psd


def test_zero_coefficients_are_dropped():
    kernel, (X, first, second, coef) = expansion(4, HYPER[0])
    pairs = np.append(first, 9), np.append(second, 11)
    padded = LearnedKernel(HYPER[0], np.concatenate([X, X]), *pairs, np.append(coef, 0.0))
    assert padded == kernel
    assert hash(padded) == hash(kernel)
    empty = LearnedKernel(HYPER[0], X, first, second, np.zeros(10), 0.5)
    np.testing.assert_array_equal(empty(X), 0.5)


def test_use_elsewhere():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    kernel = HyperKRR(GaussianHyperKernel(), alpha=0.1).fit(X, ideal_kernel(y)).kernel_
    svc = SVC(kernel=kernel).fit(X, y)
    direct = SVC(kernel="precomputed").fit(kernel(X), y)
    np.testing.assert_allclose(svc.decision_function(X), direct.decision_function(kernel(X)))
    statistics = alignment_statistics(X, y, [kernel, Gaussian(1.0)])
    K = kernel(X)
    centered = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    assert statistics.M[0, 0] == pytest.approx(np.square(centered).sum(), rel=1e-9)
    np.testing.assert_allclose((kernel + Gaussian(1.0))(X), K + Gaussian(1.0)(X), rtol=1e-12)


def test_single_precision_samples_and_wrong_width():
    kernel, (X, *_) = expansion(6, HYPER[0])
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(X), atol=1e-5)
    with pytest.raises(ValueError, match="X has 2 columns, but the kernel was learned on 3"):
        kernel(X[:, :2])
    with pytest.raises(TypeError, match="sparse"):
        kernel(csr_array(X))
