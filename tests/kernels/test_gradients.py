"""Gradients of sums of kernels, against differences of naive values and formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.engine.cpu import Cpu
from alignlearn.kernels.gradients import Gradients, gradients
from alignlearn.validation import check_sparse

RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((6, 4)), RNG.standard_normal((9, 4))
COEF = RNG.standard_normal((9, 2))


def squared(x, z):
    return np.square(x[:, None] - z).sum(axis=-1)


def of_distance(f):
    return lambda x, z: f(np.sqrt(squared(x, z)))


def matern(nu, gamma):
    def value(r):
        u = np.sqrt(2 * nu) * gamma * r
        return (1 + u + (u**2 / 3 if nu == 2.5 else 0)) * np.exp(-u)

    return of_distance(value)


# A kernel and its naive values.
CASES = [
    (al.Gaussian(0.3), lambda x, z: np.exp(-0.3 * squared(x, z))),
    (al.Exponential(0.7), of_distance(lambda r: np.exp(-0.7 * r))),
    (al.Matern(0.5, gamma=0.4), of_distance(lambda r: np.exp(-0.4 * r))),
    (al.Matern(1.5, gamma=0.4), matern(1.5, 0.4)),
    (al.Matern(2.5, gamma=0.4), matern(2.5, 0.4)),
    (al.RationalQuadratic(1.7, gamma=0.4), lambda x, z: (1 + 0.4 / 1.7 * squared(x, z)) ** -1.7),
    (al.Linear(), lambda x, z: x @ z.T),
    (al.Polynomial(0.3, 1.0, 3), lambda x, z: (0.3 * x @ z.T + 1) ** 3),
    (al.Polynomial(0.05, 3.0, 2.5), lambda x, z: (0.05 * x @ z.T + 3) ** 2.5),
    (al.Polynomial(0.3, 1.0, 0), lambda x, z: np.ones((len(x), len(z)))),
    (al.ExponentialDot(0.1), lambda x, z: np.exp(0.1 * x @ z.T)),
    (al.Binomial(0.02, 1.5), lambda x, z: (1 - 0.02 * x @ z.T) ** -1.5),
    (
        al.Gaussian(0.3) * al.Polynomial(0.3, 1.0, 2) + 2.0 * al.Matern(gamma=0.2) + 3.0,
        lambda x, z: (
            np.exp(-0.3 * squared(x, z)) * (0.3 * x @ z.T + 1) ** 2 + 2 * matern(1.5, 0.2)(x, z)
        ),
    ),
    (
        (al.Gaussian(0.3) + al.Linear()) ** 3,
        lambda x, z: (np.exp(-0.3 * squared(x, z)) + x @ z.T) ** 3,
    ),
    ((al.Linear() * 0.1).exp(), lambda x, z: np.exp(0.1 * x @ z.T)),
    (al.ExponentialDot(0.1).normalized(), lambda x, z: np.exp(-0.05 * squared(x, z))),
    (
        al.Columns(al.Gaussian(0.3), [3, 1]) * al.Columns(al.Linear(), [0, 1])
        + al.Columns("linear", 2),
        lambda x, z: (
            np.exp(-0.3 * squared(x[:, [3, 1]], z[:, [3, 1]])) * (x[:, :2] @ z[:, :2].T)
            + x[:, 2:3] @ z[:, 2:3].T
        ),
    ),
]


def tanimoto(x, z):
    return (x @ z.T) / ((x * x).sum(1)[:, None] + (z * z).sum(1) - x @ z.T)


def periodic(x, z, c):
    return np.exp(-2 * np.sin(np.pi * (x[:, [c]] - z[:, c]) / 1.7) ** 2 / 0.8**2)


CASES += [
    (al.Tanimoto(), tanimoto),
    (
        al.Columns(al.Tanimoto(), [2, 0]) * al.Gaussian(0.1),
        lambda x, z: tanimoto(x[:, [2, 0]], z[:, [2, 0]]) * np.exp(-0.1 * squared(x, z)),
    ),
    (al.Columns(al.Periodic(0.8, 1.7), 1), lambda x, z: periodic(x, z, 1)),
    (
        al.Columns(al.Periodic(0.8, 1.7), 1) * al.Columns(al.Periodic(0.8, 1.7), 3),
        lambda x, z: periodic(x, z, 1) * periodic(x, z, 3),
    ),
]


def differences(value, step=1e-5):
    """Central differences of ``value(x, Z) @ COEF`` in every feature, (c, n, d)."""
    E = step * np.eye(X.shape[1])
    columns = [(value(X + e, Z) - value(X - e, Z)) @ COEF / (2 * step) for e in E]
    return np.moveaxis(np.array(columns), (0, 1, 2), (2, 1, 0))


@each(("kernel", "value"), CASES)
def test_gradients_are_limits_of_differences(kernel, value):
    expected = differences(value)
    np.testing.assert_allclose(gradients(kernel, X, COEF, Z), expected, rtol=1e-6, atol=1e-8)


def test_the_gradient_of_an_exponential_by_its_formula_with_none_at_distance_zero():
    own = np.vstack([X, X[:2], Z[:1]])  # two samples twice
    coef = RNG.standard_normal((len(own), 1))
    difference = own[:, None] - own
    r = np.sqrt(np.square(difference).sum(axis=-1))
    inverse = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
    weight = -0.7 * np.exp(-0.7 * r) * inverse * coef[:, 0]
    expected = (weight[:, :, None] * difference).sum(axis=1)
    found = gradients(al.Exponential(0.7), own, coef)
    np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-12)


def test_gradients_of_tanimoto_where_samples_are_zero_and_of_periodic_on_several_columns():
    zero, one = np.zeros((1, 4)), np.arange(1.0, 5.0)[None]
    coef = np.ones((1, 1))
    np.testing.assert_allclose(gradients(al.Tanimoto(), zero, coef, one)[0], one / 30.0)
    np.testing.assert_array_equal(gradients(al.Tanimoto(), one, coef, zero)[0], 0.0)
    np.testing.assert_array_equal(gradients(al.Tanimoto(), zero, coef, zero)[0], 0.0)
    with pytest.raises(TypeError, match=r"is implemented for one column, got 4; accepted"):
        gradients(al.Periodic(), X, COEF, Z)


@each("kernel", [al.Gaussian(0.3), al.Exponential(0.7), al.Polynomial(0.3, 1.0, 3), al.Tanimoto()])
def test_sparse_samples_and_other_engines_give_the_same(kernel):
    expected = gradients(kernel, X, COEF, Z)
    some = [check_sparse("X", sp.csr_array(np.where(A > 0.0, A, 0.0))) for A in (X, Z)]
    dense = gradients(kernel, np.maximum(X, 0.0), COEF, np.maximum(Z, 0.0))
    np.testing.assert_allclose(gradients(kernel, some[0], COEF, some[1]), dense, atol=1e-12)

    class Elsewhere(Cpu):
        in_place = False

    found = gradients(kernel, X, COEF, Z, engine=Elsewhere())
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_squares_are_sums_over_all_strips():
    many = RNG.standard_normal((2100, 3))  # two strips
    coef = RNG.standard_normal((2100, 1)) / 100
    kernel, weight = al.Gaussian(0.2), RNG.uniform(0.5, 2.0, 2100)
    G = gradients(kernel, many[::100], coef, many)
    parts = Gradients(kernel, many, coef, gram=kernel(many))
    blocks = [g[0] for _, g in parts.blocks()]
    assert len(blocks) > 1
    found = np.concatenate(blocks)
    np.testing.assert_allclose(found[::100], G[0], atol=1e-12)
    np.testing.assert_allclose(parts.squares(weight), weight @ np.square(found), rtol=1e-10)
    full = found.T @ (weight[:, None] * found)
    np.testing.assert_allclose(parts.squares(weight, full=True), full, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_squares_by_products_in_float32(unit):
    """Equal up to rounding in any units, and the gradients of a matrix are those of the scales."""
    given = al.Gaussian(0.3 / unit**2), unit * X, RNG.standard_normal((len(X), 2)) / unit
    weight, found = np.linspace(0.5, 2.0, len(X)), Gradients(*given, dtype=np.float32)
    exact = Gradients(*given).squares(weight, full=True)
    near = {"rtol": 1e-5, "atol": 1e-5 * np.abs(exact).max()}
    np.testing.assert_allclose(found.squares(weight, full=True), exact, **near)
    np.testing.assert_allclose(found.squares(weight), np.diagonal(exact), **near)


@each(
    "kernel", [al.Laplacian(0.5), al.Cosine(), al.Hamming(), al.MinMax(), al.Gower(), al.Log(),
               al.Sigmoid(0.1), al.Polynomial(0.3, 1.0, 0.5), al.Gaussian(1.0) + al.Cosine(),
               al.Columns(al.Gaussian(1.0), [0, 0])]
)  # fmt: skip
def test_kernels_without_such_a_gradient_are_refused(kernel):
    raises(TypeError, r"its gradient is not a sum.*accepted", gradients, kernel, X, COEF, Z)
