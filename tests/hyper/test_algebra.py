"""Sums, multiples and products of hyper-kernels: against their parts, one by one."""

import pickle

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st

from alignlearn import Gaussian, Polynomial
from alignlearn.hyper import (
    GaussianHyperKernel,
    HyperKRR,
    HyperNNLS,
    LearnedKernel,
    MidpointProduct,
    WishartHyperKernel,
    hyper_kernels,
)
from alignlearn.hyper._pairs import PairSystem

GAUSSIANS = [
    GaussianHyperKernel(0.8, 1.2),
    GaussianHyperKernel(0.8, 1.2, width=3.0),
    GaussianHyperKernel(0.5, 0.5, "kondor-jebara"),
    GaussianHyperKernel(0.6, 2.4, scales=(0.5, 1.0, 2.0)),
    GaussianHyperKernel(0.4, 0.1, width=40.0),  # its sections are not kernels
]
WISHART = WishartHyperKernel(1.5, 4.0)
SUMS = [
    GAUSSIANS[0] + GAUSSIANS[1],  # one table
    GAUSSIANS[0] + 2.0 * GAUSSIANS[2] + GAUSSIANS[1],  # by a squaring
    0.5 * GAUSSIANS[0] + GAUSSIANS[3] + 3.0 * WISHART,  # three terms
    GAUSSIANS[4] + GAUSSIANS[0],
    hyper_kernels((0.1, 1.0, 4.0), (2.0, 1.0), unit=0.7, weights=(1.0, 2.0, 3.0)),
]
PRODUCTS = [
    GAUSSIANS[1] * Gaussian(0.3),
    WISHART * Gaussian(0.3),
    (GAUSSIANS[0] + WISHART) * Polynomial(degree=2, gamma=0.1, coef0=1.0),
]


def data(seed, m=6, n=11):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 3)), rng.integers(0, m, (2, n)), rng.normal(size=n)


def by_definition(part, A, B, C, D):
    """The Gaussian hyper-kernel as its docstring writes it."""
    v1 = {"liu": 1.0, "kondor-jebara": 2.0}[part.convention] * part.sigma2 * part.width
    v2, s = part.sigma2 + part.sigma_h2, 1.0 if part.scales is None else np.array(part.scales)
    within = [np.square((U - V) * s).sum(axis=1) / (2.0 * v1) for U, V in ((A, B), (C, D))]
    apart = ((A + B) / 2)[:, None] - ((C + D) / 2)[None]
    return np.exp(-np.add.outer(*within) - np.square(apart).sum(axis=2) / (2.0 * v2))


@each("hyper", GAUSSIANS)
def test_gaussians_are_what_they_say(hyper):
    X, (i, j), _ = data(5)
    Y, (r, s), _ = data(6, m=4, n=5)
    expected = by_definition(hyper, X[i], X[j], Y[r], Y[s])
    np.testing.assert_allclose(hyper(X[i], X[j], Y[r], Y[s]), expected, rtol=1e-9, atol=1e-15)


def check_system(hyper, expected, X, i, j, coef, rounding):
    """Values of a hyper-kernel on pairs of points, and of its system on its training pairs."""
    system, scale = PairSystem(hyper.resolve(X), X, i, j), np.abs(expected).max()
    some = np.ix_([3, 1], [3, 1])
    for found, wanted, error in (
        (hyper(X[i], X[j]), expected, 1e-13),
        (system.gram(), expected, rounding),
        (system.diagonal(), expected.diagonal(), rounding),
        (system.columns([2, 0]), expected[:, [2, 0]], rounding),
        (system.submatrix([3, 1]), expected[some], rounding),
        (system.times(coef), expected @ coef, 1e-11),
    ):
        np.testing.assert_allclose(found, wanted, atol=error * scale)


@given(st.integers(0, 999), st.sampled_from(SUMS))
def test_sums_are_those_of_their_parts(seed, hyper):
    X, (i, j), coef = data(seed)
    expected = sum(w * part(X[i], X[j]) for part, w in zip(hyper.parts, hyper.weights))
    check_system(hyper, expected, X, i, j, coef, 1e-13)


@pytest.mark.parametrize("hyper", [*SUMS, *PRODUCTS])
def test_learned_kernels_are_sums_of_sections(hyper):
    X, (i, j), coef = data(8)
    U = np.random.default_rng(8).normal(size=(4, 3))
    r, s = (index.ravel() for index in np.indices((4, 6)))
    kernel = LearnedKernel(hyper.resolve(X), X, i, j, coef)
    expected = (hyper(U[r], X[s], X[i], X[j]) @ coef).reshape(4, 6)
    scale = np.abs(coef).sum() * hyper(X, X).max()
    np.testing.assert_allclose(kernel(U, X), expected, atol=1e-12 * scale)
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize("product", PRODUCTS)
def test_products_with_kernels_of_midpoints(product):
    X, (i, j), coef = data(7)
    hyper, kernel = product.hyper_kernel, product.kernel
    expected = hyper(X[i], X[j]) * kernel((X[i] + X[j]) / 2)
    check_system(product, expected, X, i, j, coef, 1e-12)


def test_all_pairs_of_a_grid_are_multiplied_as_a_sum():
    """The product by matrix products, which only many pairs take."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    system = PairSystem(SUMS[1], X, *np.triu_indices(12))
    coef = np.random.default_rng(1).normal(size=78)
    np.testing.assert_allclose(system.times(coef), system.gram() @ coef, atol=1e-11)


def test_the_order_and_grouping_of_sums_do_not_matter():
    X, (i, j), _ = data(0)
    a, b, c = GAUSSIANS[:3]
    values = [k(X[i], X[j]) for k in ((a + b) + c, a + (b + c), 1.0 * c + a + b, a * 1.0 + b + c)]
    for other in values[1:]:
        np.testing.assert_allclose(other, values[0], rtol=1e-13)
    assert (2.0 * (a + b)).weights == (2.0, 2.0)
    assert ((a + b) + c).parts == (a, b, c)
    assert sum([a, b, c]) == a + b + c
    assert eval(repr(GAUSSIANS[0] + 2 * WISHART)) == GAUSSIANS[0] + 2 * WISHART


def test_closed_under_resolve_pickles_and_constants():
    X, *_ = data(1)
    hyper = hyper_kernels() + 2.0 * WishartHyperKernel()
    resolved = hyper.resolve(X)
    assert resolved.resolve(5.0 * X) == resolved
    assert pickle.loads(pickle.dumps(resolved)) == resolved
    assert len({hyper, resolved, resolved.resolve(X)}) == 2
    assert (3.0 * WISHART).log_constant(2) == WISHART.log_constant(2)
    assert resolved.log_constant(3) == 0.0
    assert (WISHART * Gaussian(0.5)).log_constant(3) == WISHART.log_constant(3)
    assert MidpointProduct(hyper_kernels(), Gaussian()).resolve(X).kernel.gamma > 0.0


def test_definite_where_every_section_is_a_kernel():
    X, *_ = data(2, m=8)
    for hyper in (
        hyper_kernels(),
        SUMS[0],
        hyper_kernels([1.0, 8.0], 64.0, scales=(0.6, 1.0, 3.0)),
    ):
        found = HyperNNLS(hyper, 1e-3).fit(X, np.exp(-np.square(X[:, None] - X).sum(axis=2)))
        assert found.kernel_.is_psd
        assert found.eigenvalue_range_[0] > -1e-10
    for hyper in (SUMS[3], hyper_kernels([1.0, 8.0], 3.0, scales=(0.1, 1.0, 3.0)), PRODUCTS[1]):
        assert not HyperNNLS(hyper, 1e-3).fit(X, np.ones((8, 8))).kernel_.is_psd


@pytest.mark.parametrize("gamma", [0.1, 0.5, 3.0])
def test_a_ladder_learns_gaussians_of_other_widths(gamma):
    """Where one hyper-kernel cannot, by the midpoint form; relative RMSE on pairs of new points."""
    X = np.random.default_rng(3).random((70, 4))
    X, U = X[:45], X[45:]
    kernel = Gaussian(gamma / GaussianHyperKernel().resolve(X).sigma2)
    errors = []
    for hyper in (GaussianHyperKernel(multiple=7.0), hyper_kernels()):
        found = HyperKRR(hyper, 1e-3, solver="pivoted", rank_tol=1e-8).fit(X, kernel(X))
        errors.append(np.std(found.predict(U) - kernel(U)) / np.std(kernel(U)))
    assert errors[1] < 0.06
    assert gamma == 0.5 or errors[0] > 5.0 * errors[1]
