"""The value of gamma on the data: units of X cancel, and the rules equal their definitions."""

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.spatial.distance import pdist
from sklearn.metrics import pairwise

import alignlearn as al
from alignlearn.kernels.scales import resolve_each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)) * [1.0, 2.0, 0.1, 5.0, 1.0] + 1.0
SCALED = {
    **{
        kind.__name__: kind
        for kind in (al.Gaussian, al.Laplacian, al.Exponential, al.ExponentialDot)
    },
    **{kind.__name__: kind for kind in (al.Polynomial, al.Sigmoid, al.RationalQuadratic)},
    **{f"Matern {nu}": lambda gamma, nu=nu: al.Matern(nu, gamma=gamma) for nu in (0.5, 1.5, 2.5)},
}
SCALED["RationalQuadratic"] = lambda gamma: al.RationalQuadratic(0.8, gamma=gamma)


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("name", SCALED)
@given(st.floats(-6, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_units_of_x_cancel(name, rule, exponent, d, seed):
    A = np.random.default_rng(seed).normal(size=(9, d))
    kernel, c = SCALED[name](rule), 10.0**exponent
    np.testing.assert_allclose(kernel(c * A), kernel(A), rtol=1e-11, atol=1e-13)
    part = al.Columns(kernel, [0])
    np.testing.assert_allclose(part(c * A), part(A), rtol=1e-11, atol=1e-13)


def test_scale_is_one_over_the_size_of_the_primitive():
    d, variance = X.shape[1], X.var()
    for kernel in (al.Gaussian, al.RationalQuadratic, al.Polynomial, al.Sigmoid, al.ExponentialDot):
        assert kernel().resolve(X).gamma == pytest.approx(1 / (d * variance), rel=1e-13)
    for kernel in (al.Exponential, al.Matern):
        assert kernel().resolve(X).gamma == pytest.approx((d * variance) ** -0.5, rel=1e-13)
    assert al.Laplacian().resolve(X).gamma == pytest.approx(1 / (d * variance**0.5), rel=1e-13)
    # Any number of standard normal columns: the typical value stays away from 0 and 1.
    for d in (2, 2000):
        A = RNG.normal(size=(60, d))
        for kernel in (al.Gaussian(), al.Laplacian(), al.Exponential(), al.Matern()):
            assert 0.05 < np.median(kernel(A)) < 0.6


@each(
    ("kernel", "distance"),
    [
        (al.Gaussian, "sqeuclidean"),
        (al.RationalQuadratic, "sqeuclidean"),
        (al.Polynomial, "sqeuclidean"),
        (al.ExponentialDot, "sqeuclidean"),
        (al.Exponential, "euclidean"),
        (al.Matern, "euclidean"),
        (al.Laplacian, "cityblock"),
    ],
)
def test_median_is_that_of_the_distances(kernel, distance):
    sizes = pdist(X, distance)
    assert kernel(gamma="median").resolve(X).gamma == pytest.approx(1 / np.median(sizes), rel=1e-13)
    # More pairs than are drawn: the true median lies between quantiles of the sample that it
    # leaves with probability below 1e-6 (4.9 standard deviations of a binomial share).
    A = np.random.default_rng(5).normal(size=(500, 3))
    sizes = 1 / kernel(gamma="median").resolve(A).gamma
    low, high = np.quantile(pdist(A, distance), 0.5 + np.array([-1, 1]) * 4.9 * 0.5 / 2000**0.5)
    assert low < sizes < high
    assert kernel(gamma="median").resolve(A) == kernel(gamma="median").resolve(A.astype(">f8"))


def test_median_without_spread():
    assert al.Gaussian("median").resolve(np.ones((30, 2))).gamma == 1.0
    assert al.Gaussian("median").resolve(np.ones((1, 2))).gamma == 1.0
    A = np.zeros((30, 1))
    A[3] = 2.0  # the median of all distances is 0
    assert al.Gaussian("median").resolve(A).gamma == 0.25
    assert al.Gaussian("median", multiple=3.0).resolve(A).gamma == 0.75
    assert str(al.Gaussian("median", multiple=2.0)) == "gaussian(gamma=median * 2)"


def test_auto_is_that_of_scikit_learn():
    np.testing.assert_allclose(al.Laplacian("auto")(X), pairwise.laplacian_kernel(X), rtol=1e-12)
    assert (al.Linear() + al.Exponential("auto")).resolve(X).kernels[1].gamma == 0.2


def test_bad_rule_is_refused_with_the_rules():
    message = 'accepted are a number > 0, "scale", "median" and "auto"'
    raises(ValueError, message, al.Gaussian, "mean")


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 21.0)])
def test_kernels_resolved_together_have_the_values_of_each(weight):
    X = np.random.default_rng(0).standard_normal((20, 3))
    mixed = 0.5 * al.Gaussian("median") + al.Laplacian("median")
    kernels = [*al.Gaussian().widths((0.5, 1.0, 2.0)), al.Laplacian(), mixed]
    kernels.append(al.Columns(al.Gaussian(), [0, 2]))
    expected = [kernel.resolve(X, weight) for kernel in kernels]
    assert resolve_each(kernels, X, weight) == expected
    X *= 2.0
    assert resolve_each(kernels, X, weight) == [k.resolve(X, weight) for k in kernels] != expected
