"""Matern, rational quadratic, periodic and Hamming kernels against scikit-learn and SciPy."""

from functools import partial

import numpy as np
import pytest
from cases import each
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gp

import alignlearn as al
from alignlearn.sources import alignment_statistics

X = np.random.default_rng(0).normal(size=(30, 4))
Z = np.random.default_rng(1).normal(size=(11, 4))


@each("length_scale", [1e-3, 0.3, 1.0, 7.0, 1e4])
@each(
    ("ours", "theirs"),
    [(partial(al.Matern, nu), partial(gp.Matern, nu=nu)) for nu in (0.5, 1.5, 2.5)]
    + [
        (partial(al.RationalQuadratic, alpha), partial(gp.RationalQuadratic, alpha=alpha))
        for alpha in (0.1, 1.0, 20.0)
    ],
)
def test_equal_to_scikit_learn(ours, theirs, length_scale):
    ours, theirs = ours(length_scale=length_scale), theirs(length_scale)
    assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-11, atol=1e-150)
    assert_allclose(ours(X), theirs(X), rtol=1e-11, atol=1e-150)
    np.testing.assert_array_equal(ours.diag(X), 1.0)


def test_limits_of_the_families():
    np.testing.assert_array_equal(al.Matern(0.5, gamma=0.7)(X), al.Exponential(0.7)(X))
    many = al.RationalQuadratic(1e9, gamma=0.3)(X)
    assert_allclose(many, al.Gaussian(0.3)(X), rtol=1e-7)
    ladder = [al.Matern(0.5, gamma=g) for g in (1.0, 2.0, 4.0)]
    assert all(k.is_exponential for k in ladder)
    s = alignment_statistics(X, X[:, 0], ladder)
    t = alignment_statistics(X, X[:, 0], [al.Exponential(k.gamma) for k in ladder])
    np.testing.assert_array_equal(s.M, t.M)


@each("dtype", [np.float64, np.float32])
@each("nu", [0.5, 1.5, 2.5])
def test_matern_is_zero_far_away(nu, dtype):
    big = np.array([[0.0], [1e18 if dtype == np.float32 else 1e150]], dtype)
    np.testing.assert_array_equal(al.Matern(nu, gamma=1e3)(big), np.eye(2))


def test_a_wide_rational_quadratic_keeps_its_digits():
    """K - 1 is near -1e-12, of which a value near 1 would keep four digits."""
    y = X[:, 0]
    wide = alignment_statistics(X, y, [al.RationalQuadratic(1.0, gamma=1e-12)])
    linear = alignment_statistics(X, y, ["linear"])
    # K = 1 - gamma |x - x'|^2 up to gamma^2, which centering makes 2 gamma <x, x'>.
    assert_allclose(wide.a, 2e-12 * linear.a, rtol=1e-9)
    assert_allclose(wide.M, 4e-24 * linear.M, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_hamming_is_the_share_of_equal_columns(dtype):
    rng = np.random.default_rng(0)
    A, B = (rng.integers(0, 3, size=(m, 5)).astype(dtype) for m in (200, 9))
    rounding = 1e-6 if dtype == np.float32 else 1e-14
    for K, C in ((al.Hamming()(A, B), B), (al.Hamming()(A), A)):
        assert_allclose(K, 1 - cdist(A, C, "hamming"), rtol=rounding, atol=rounding)
    assert_allclose(al.Hamming().diag(A), 1.0, rtol=rounding)
    expected = 1 - cdist(A[:, [1, 3]], B[:, [1, 3]], "hamming")
    np.testing.assert_array_equal(al.Columns("hamming", [1, 3])(A, B), expected)
    s = alignment_statistics(A, A[:, 0].astype(float), [al.Hamming()], task="regression")
    H = np.eye(len(A)) - 1 / len(A)
    K = H @ (1 - cdist(A, A, "hamming")) @ H
    assert_allclose(s.M[0, 0], np.sum(K * K), rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert_allclose(s.trace[0], np.trace(K), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_periodic_is_that_of_scikit_learn_and_a_product_over_columns(dtype):
    A, B = X[:, :1].astype(dtype), 3.0 * X[::2, 1:2].astype(dtype)
    ours, theirs = al.Periodic(0.8, 1.7), gp.ExpSineSquared(0.8, 1.7)
    rounding = 1e-4 if dtype == np.float32 else 1e-13
    assert_allclose(ours(A, B), theirs(A, B), rtol=rounding, atol=rounding)
    assert_allclose(ours(A), theirs(A), rtol=rounding, atol=rounding)
    assert_allclose(ours(A, A + dtype(3.4)), ours(A), rtol=rounding * 10, atol=rounding)
    each = np.prod([ours(X[:, [k]], X[::3, [k]]) for k in range(X.shape[1])], axis=0)
    assert_allclose(ours(X, X[::3]), each, rtol=1e-12)
    points = np.column_stack([f(2 * np.pi * X / 1.7) for f in (np.cos, np.sin)])
    assert_allclose(ours(X), al.Gaussian(0.5 / 0.8**2)(points), rtol=1e-11)
    wide = alignment_statistics(X, X[:, 0], [al.Periodic(1e6, 1.7)])  # K - 1 is near -1e-12
    circle = alignment_statistics(points, X[:, 0], ["linear"])
    assert_allclose(wide.a * 1e12, circle.a, rtol=1e-9)
