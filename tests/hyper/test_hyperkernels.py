"""The hyper-kernels: published numbers, the definitions as integrals, properties, bad input."""

import numpy as np
import pytest
from cases import each
from hypothesis import example, given
from hypothesis import strategies as st

from alignlearn.hyper import GaussianHyperKernel, WishartHyperKernel

ONE = [np.array([[v]]) for v in (0.3, -0.5, 1.1, 0.4)]
TWO = [np.array([v]) for v in ((0.3, 0.1), (-0.5, 0.2), (1.1, -0.7), (0.4, 0.9))]
C2 = [[1.5, 0.3], [0.3, 0.8]]


def with_constant(kernel, arguments):
    return float(kernel(*arguments)[0, 0] * np.exp(kernel.log_constant(arguments[0].shape[1])))


@each(
    ("kernel", "arguments", "value"),
    [
        (GaussianHyperKernel(0.7, 0.9), ONE, 0.0255257744),
        (GaussianHyperKernel(0.7, 0.9, "kondor-jebara"), ONE, 0.0191081119),
        (WishartHyperKernel(1.5, 3), ONE, 1.71878878e-2),
        (WishartHyperKernel(C2, 4), TWO, 1.68348403e-4),
    ],
)
def test_values_by_independent_integration(kernel, arguments, value):
    assert with_constant(kernel, arguments) == pytest.approx(value, rel=1e-8)


KERNELS = [
    GaussianHyperKernel(),
    GaussianHyperKernel(0.5, 0.1, "kondor-jebara"),
    GaussianHyperKernel("median", multiple=4.0),
    WishartHyperKernel(),
    WishartHyperKernel(0.5, 3.5),
    WishartHyperKernel("median", multiple=0.1, unit_diagonal=True),
]


@given(st.integers(0, 9999), st.sampled_from(KERNELS), st.integers(1, 3), st.integers(2, 9))
def test_positive_semi_definite_and_symmetric_in_each_pair(seed, kernel, d, m):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * rng.choice([0.01, 1.0, 10.0])
    first, second = np.triu_indices(m)
    kernel = kernel.resolve(X)
    K = kernel(X[first], X[second])
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * K.diagonal().max() * len(K)
    swapped = kernel(X[first], X[second], X[second], X[first])
    np.testing.assert_allclose(K, swapped, rtol=1e-11, atol=1e-13)
    shifted = kernel(X[first] + 5.0, X[second] + 5.0)
    np.testing.assert_allclose(shifted, K, rtol=1e-7, atol=1e-10)


@given(st.integers(0, 9999), st.sampled_from(KERNELS[:-1]))
@example(0, WishartHyperKernel(unit_diagonal=True))
def test_sections_are_kernels_unless_the_diagonal_is_one(seed, kernel):
    """So coefficients >= 0 give a positive semi-definite kernel."""
    X = np.random.default_rng(seed).normal(size=(8, 2))
    kernel = kernel.resolve(X)
    i, j = (index.ravel() for index in np.indices((6, 6)))
    section = kernel(X[i], X[j], X[6:7], X[7:]).reshape(6, 6)
    smallest = np.linalg.eigvalsh(section).min() / section.diagonal().max()
    unit = getattr(kernel, "unit_diagonal", False)
    assert smallest < -0.01 if unit else smallest >= -1e-12


@pytest.mark.parametrize("d", [14, 300])
def test_no_overflow_nor_underflow_in_many_dimensions(d):
    X = np.random.default_rng(0).normal(size=(6, d))
    i, j = np.triu_indices(6)
    for kernel in (GaussianHyperKernel(), WishartHyperKernel()):
        resolved = kernel.resolve(X)
        K = resolved(X[i], X[j])
        assert K.max() <= 1.0 + 1e-12
        assert K.min() > 1e-6
        assert np.isfinite(resolved.log_constant(d))
    # The omitted factor is beyond the range of float64.
    assert GaussianHyperKernel(1.0, 1.0).log_constant(300) / np.log(10.0) < -390.0


def test_unit_diagonal():
    X = np.random.default_rng(1).normal(size=(7, 3))
    i, j = np.triu_indices(7)
    plain = WishartHyperKernel(2.0, 5.0)(X[i], X[j])
    unit = WishartHyperKernel(2.0, 5.0, unit_diagonal=True)(X[i], X[j])
    size = np.sqrt(plain.diagonal())
    np.testing.assert_allclose(unit, plain / np.outer(size, size), rtol=1e-12)


def test_a_matrix_c_is_a_change_of_coordinates():
    X = np.random.default_rng(2).normal(size=(6, 2))
    i, j = np.triu_indices(6)
    L = np.linalg.cholesky(np.array(C2))
    Z = np.linalg.solve(L, X.T).T
    expected = WishartHyperKernel(1.0, 4.0)(Z[i], Z[j])
    np.testing.assert_allclose(WishartHyperKernel(C2, 4.0)(X[i], X[j]), expected, rtol=1e-11)


def test_rules_scale_with_the_units():
    X = np.random.default_rng(3).normal(size=(6, 4))
    i, j = np.triu_indices(6)
    for kernel in KERNELS[:1] + KERNELS[2:4]:
        values = [kernel.resolve(Z)(Z[i], Z[j]) for Z in (X, 1e3 * X)]
        np.testing.assert_allclose(*values, rtol=1e-9)
