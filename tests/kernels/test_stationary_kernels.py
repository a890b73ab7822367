"""Matern, rational quadratic, periodic and Hamming kernels against scikit-learn and SciPy."""

import pickle

import numpy as np
import pytest
from cases import each
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gp

from alignlearn.kernels import (
    Columns,
    Exponential,
    Gaussian,
    Hamming,
    Matern,
    Periodic,
    RationalQuadratic,
    as_kernel,
)
from alignlearn.sources import alignment_statistics

X = np.random.default_rng(0).normal(size=(30, 4))
Z = np.random.default_rng(1).normal(size=(11, 4))


@each("length_scale", [1e-3, 0.3, 1.0, 7.0, 1e4])
@each("nu", [0.5, 1.5, 2.5])
def test_matern_equals_scikit_learn(nu, length_scale):
    theirs, ours = gp.Matern(length_scale, nu=nu), Matern(nu, length_scale=length_scale)
    np.testing.assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-12, atol=1e-150)
    np.testing.assert_allclose(ours(X), theirs(X), rtol=1e-12, atol=1e-150)
    np.testing.assert_array_equal(ours.diag(X), 1.0)
    assert ours == Matern(nu, gamma=1 / length_scale)
    assert pickle.loads(pickle.dumps(ours)) == ours


@each("length_scale", [1e-2, 1.0, 7.0])
@each("alpha", [0.1, 1.0, 20.0])
def test_rational_quadratic_equals_scikit_learn(alpha, length_scale):
    theirs = gp.RationalQuadratic(length_scale, alpha)
    ours = RationalQuadratic(alpha, length_scale=length_scale)
    np.testing.assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-11)
    np.testing.assert_allclose(ours(X), theirs(X), rtol=1e-11)
    np.testing.assert_array_equal(ours.diag(X), 1.0)


def test_limits_of_the_families():
    np.testing.assert_array_equal(Matern(0.5, gamma=0.7)(X), Exponential(0.7)(X))
    many = RationalQuadratic(1e9, gamma=0.3)(X)
    np.testing.assert_allclose(many, Gaussian(0.3)(X), rtol=1e-7)
    ladder = [Matern(0.5, gamma=g) for g in (1.0, 2.0, 4.0)]
    assert all(k.is_exponential for k in ladder)
    s = alignment_statistics(X, X[:, 0], ladder)
    t = alignment_statistics(X, X[:, 0], [Exponential(k.gamma) for k in ladder])
    np.testing.assert_array_equal(s.M, t.M)


@each("dtype", [np.float64, np.float32])
@each("nu", [0.5, 1.5, 2.5])
def test_matern_is_zero_far_away(nu, dtype):
    big = np.array([[0.0], [1e18 if dtype == np.float32 else 1e150]], dtype)
    np.testing.assert_array_equal(Matern(nu, gamma=1e3)(big), np.eye(2))


def test_a_wide_rational_quadratic_keeps_its_digits():
    """K - 1 is near -1e-12, of which a value near 1 would keep four digits."""
    y = X[:, 0]
    wide = alignment_statistics(X, y, [RationalQuadratic(1.0, gamma=1e-12)])
    linear = alignment_statistics(X, y, ["linear"])
    # K = 1 - gamma |x - x'|^2 up to gamma^2, which centering makes 2 gamma <x, x'>.
    np.testing.assert_allclose(wide.a, 2e-12 * linear.a, rtol=1e-9)
    np.testing.assert_allclose(wide.M, 4e-24 * linear.M, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_hamming_is_the_share_of_equal_columns(dtype):
    rng = np.random.default_rng(0)
    A, B = (rng.integers(0, 3, size=(m, 5)).astype(dtype) for m in (200, 9))
    rounding = 1e-6 if dtype == np.float32 else 1e-14
    for K, C in ((Hamming()(A, B), B), (Hamming()(A), A)):
        np.testing.assert_allclose(K, 1 - cdist(A, C, "hamming"), rtol=rounding, atol=rounding)
    np.testing.assert_allclose(Hamming().diag(A), 1.0, rtol=rounding)
    expected = 1 - cdist(A[:, [1, 3]], B[:, [1, 3]], "hamming")
    np.testing.assert_array_equal(Columns("hamming", [1, 3])(A, B), expected)
    s = alignment_statistics(A, A[:, 0].astype(float), [Hamming()], task="regression")
    H = np.eye(len(A)) - 1 / len(A)
    K = H @ (1 - cdist(A, A, "hamming")) @ H
    np.testing.assert_allclose(
        s.M[0, 0], np.sum(K * K), rtol=1e-5 if dtype == np.float32 else 1e-12
    )
    np.testing.assert_allclose(s.trace[0], np.trace(K), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_periodic_is_that_of_scikit_learn_and_a_product_over_columns(dtype):
    A, B = X[:, :1].astype(dtype), 3.0 * X[::2, 1:2].astype(dtype)
    ours, theirs = Periodic(0.8, 1.7), gp.ExpSineSquared(0.8, 1.7)
    rounding = 1e-4 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(ours(A, B), theirs(A, B), rtol=rounding, atol=rounding)
    np.testing.assert_allclose(ours(A), theirs(A), rtol=rounding, atol=rounding)
    np.testing.assert_allclose(ours(A, A + dtype(3.4)), ours(A), rtol=rounding * 10, atol=rounding)
    each = np.prod([ours(X[:, [k]], X[::3, [k]]) for k in range(X.shape[1])], axis=0)
    np.testing.assert_allclose(ours(X, X[::3]), each, rtol=1e-12)
    points = np.column_stack([f(2 * np.pi * X / 1.7) for f in (np.cos, np.sin)])
    np.testing.assert_allclose(ours(X), Gaussian(0.5 / 0.8**2)(points), rtol=1e-11)
    wide = alignment_statistics(X, X[:, 0], [Periodic(1e6, 1.7)])  # K - 1 is near -1e-12
    circle = alignment_statistics(points, X[:, 0], ["linear"])
    np.testing.assert_allclose(wide.a * 1e12, circle.a, rtol=1e-9)


def test_labels():
    assert str(Periodic(2, period=0.5)) == "periodic(length_scale=2, period=0.5)"
    assert repr(as_kernel("periodic")) == "Periodic(length_scale=1.0, period=1.0)"
    assert str(as_kernel("matern")) == "matern(gamma=scale, nu=1.5)"
    assert str(Matern(2.5, gamma=0.5, multiple=4.0)) == "matern(gamma=2, nu=2.5)"
    assert str(RationalQuadratic(2.0, gamma=0.5)) == "rationalquadratic(gamma=0.5, alpha=2)"
    assert str(Columns(Hamming(), slice(0, 3))) == "hamming on 0:3"
