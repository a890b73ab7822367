"""The rules by which kernels make kernels: each holds, and each rejected rule has a counterexample.

Rules and numbers are those of an introductory course on kernels (its kernel factory and its list of
universal kernels), in corrected form: binom(b, n) is a product, shifts are non-negative, limits
exist pointwise, and Taylor kernels live inside an open ball.
"""

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.sparse import csr_array
from scipy.special import binom
from strategies import samples

import alignlearn as al
from alignlearn.kernels import (
    Binomial,
    ExponentialDot,
    FromFunction,
    Gaussian,
    KernelRuleError,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
)

KERNELS = [
    Gaussian(0.7),
    Laplacian(0.4),
    Matern(1.5, gamma=0.8),
    Linear(),
    Polynomial(0.5, 1.0, 3),
    ExponentialDot(0.2),
    Binomial(0.05, 1.3),
]


def definite(K, scale=None):
    """Whether no eigenvalue is negative beyond rounding, relative to ``scale``."""
    scale = np.abs(K).max(initial=1e-300) if scale is None else scale
    return np.linalg.eigvalsh(K)[0] >= -1e-11 * len(K) * scale


def least(K):
    return np.linalg.eigvalsh(K)[0]


def signed(X):
    """A factor f(x) of any sign, and 0 at some samples."""
    return np.where(X[:, 0] > 1.0, 0.0, X[:, 0] - 0.3)


RULES = {
    "shift": lambda a, b: (a + 0.7, lambda A, B: A + 0.7),
    "cone": lambda a, b: (0.3 * a + 2 * b, lambda A, B: 0.3 * A + 2 * B),
    "product": lambda a, b: (a * b, lambda A, B: A * B),
    "power": lambda a, b: (a**3, lambda A, B: A**3),
    "factors": lambda a, b: (a.weighted(signed), None),
    "exponential": lambda a, b: ((0.1 * a).exp(), lambda A, B: np.exp(0.1 * A)),
    "normalization": lambda a, b: (a.normalized(), None),
    "all": lambda a, b: (((a + 1).normalized() * b.weighted(signed) + b).normalized(), None),
}


@given(
    samples(min_samples=2, scales=(0.1, 1.0)),
    st.sampled_from(KERNELS),
    st.sampled_from(KERNELS),
    st.sampled_from(sorted(RULES)),
)
def test_every_rule_gives_a_kernel(X, a, b, rule):
    X = X / max(1.0, np.linalg.norm(X, axis=1).max() / 4.0)
    kernel, formula = RULES[rule](a, b)
    K = kernel(X)
    assert kernel.is_psd
    assert definite(K)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    if formula is not None:
        np.testing.assert_allclose(K, formula(a(X), b(X)), rtol=1e-9, atol=1e-12)
    if rule == "factors":
        np.testing.assert_allclose(K, signed(X)[:, None] * a(X) * signed(X), rtol=1e-9, atol=1e-12)
    if rule == "normalization":
        assert np.all(np.abs(np.diagonal(K) - (a.diag(X) > 0)) <= 1e-12)
        assert np.abs(K).max() <= 1.0 + 1e-12


def test_limits():
    """(1 + k/n)^n and the Taylor sums of exp(k), each a kernel, tend to it."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    k, limit = Gaussian(0.5) + 0.3 * Linear(), (Gaussian(0.5) + 0.3 * Linear()).exp()(X)
    error = []
    for n in (10, 20, 40, 10**4):
        kernel = (k / n + 1) ** n
        assert definite(kernel(X))
        error.append(np.abs(kernel(X) - limit).max())
    assert error[1] < 0.6 * error[0]
    assert error[2] < 0.6 * error[1]
    assert error[3] < 1e-2
    term, taylor = 1.0, 1.0
    for n in range(1, 25):
        term = k / n if n == 1 else term * (k / n)
        taylor = taylor + term
        assert definite(taylor(X))
    np.testing.assert_allclose(taylor(X), limit, rtol=1e-12)
    assert definite(limit)


# Invalid rules: an expression that raises, and samples on which its matrix has a negative
# eigenvalue of this size.
X4 = np.array([[0.0], [1.0], [2.0], [3.0]])
REFUSED = {
    "difference": (lambda: Linear() - Polynomial(1.0, 0.0, 2), Linear()(X4) - Linear()(X4) ** 2),
    "difference of Gaussians": (lambda: Gaussian(0.1) - Gaussian(1.0), None),
    "negative shift": (lambda: Gaussian(0.1) - 1.0, Gaussian(0.1)(X4) - 1.0),
    "negative multiple": (lambda: -1.0 * Gaussian(0.1), -Gaussian(0.1)(X4)),
    "negation": (lambda: -Linear(), -Linear()(X4)),
    "power that is not natural": (lambda: Polynomial(1.0, 1.0, 1) ** 1.5, (1 + X4 @ X4.T) ** 1.5),
    "power 0": (lambda: Linear() ** 0, None),
    "quotient": (lambda: 1.0 / Gaussian(1.0), 1.0 / Gaussian(1.0)(X4)),
    "infinite shift": (lambda: Gaussian(1.0) + np.inf, None),
}


@each("rule", sorted(REFUSED))
def test_what_no_rule_allows_is_refused(rule):
    expression, K = REFUSED[rule]
    with pytest.raises((KernelRuleError, TypeError)):
        expression()
    if K is not None:
        assert least(K) < -1e-3


def test_counterexamples_by_hand():
    # One sample: 2 * 2 - (2 * 2)^2.
    assert (Linear()([[2.0]]) - Polynomial(1.0, 0.0, 2)([[2.0]]))[0, 0] == -12.0
    # Two samples at distance D: 1 - c +- (exp(-D^2) - c), least at c > exp(-D^2): 1 + exp - 2c.
    K = Gaussian(1.0)([[0.0], [1.0]]) - 0.9
    assert least(K) == pytest.approx(1.0 + np.exp(-1.0) - 1.8)
    # (1 + xx')^1.5 on four samples: the exponent is neither natural nor at least n - 2.
    assert least(REFUSED["power that is not natural"][1]) == pytest.approx(-0.0019757, rel=1e-3)
    # 1 / Gaussian on two samples: 1 - exp(D^2).
    assert least(1.0 / Gaussian(1.0)([[0.0], [1.0]])) == pytest.approx(1.0 - np.e)


def test_a_refusal_is_no_claim_that_it_is_no_kernel():
    """(1 + <x, x'>)^2 - 1 and (1 + <x, x'>)^2 - <x, x'> are sums of powers."""
    X = np.random.default_rng(1).normal(size=(9, 3))
    squared = Polynomial(1.0, 1.0, 2)
    with pytest.raises(KernelRuleError, match="otherwise the result is not guaranteed"):
        squared - 1.0
    assert definite(squared(X) - 1.0)
    with pytest.raises(KernelRuleError, match="not guaranteed"):
        squared - Linear()
    assert definite(squared(X) - Linear()(X))


def test_rules_need_kernels():
    """The product of an indefinite function with itself may be indefinite, so rules reject it."""
    indefinite = FromFunction(lambda x, y: x[0] * y[1] + x[1] * y[0], is_psd=False)
    for rule in (
        lambda k: k * Gaussian(1.0),
        lambda k: k**2,
        lambda k: k.exp(),
        lambda k: k.normalized(),
    ):
        raises(KernelRuleError, "is indefinite", rule, indefinite)
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert least(indefinite(X)) == -1.0
    assert least(np.exp(indefinite(X))) < -1.0
    # Sums are accepted, and marked as indefinite.
    assert not (indefinite + Gaussian(1.0)).is_psd


# Universal kernels have strictly positive definite matrices on distinct points (which does not make
# them universal). The more points, the smaller the eigenvalues: float64 shows those of a few.
POINTS = np.array([[0.0], [0.3], [0.7], [1.0]])


@each(
    ("kernel", "X", "expected"),
    [
        (Gaussian(1.0), POINTS, 3.449167e-3),
        (ExponentialDot(1.0), POINTS, 6.255760e-4),
        (Laplacian(1.0), POINTS, 0.1936420),
        (Binomial(1.0, 1.0), 0.9 * POINTS, 6.468544e-3),
    ],
)
def test_universal_kernels_are_strictly_definite(kernel, X, expected):
    assert least(kernel(X)) == pytest.approx(expected, rel=1e-6)


def test_on_more_points_float64_shows_it_no_longer():
    X = np.linspace(0.0, 1.0, 12)[:, None]
    assert abs(least(ExponentialDot(1.0)(X))) < 1e-14
    assert least(Laplacian(1.0)(X)) > 1e-3


def test_polynomials_are_not_universal():
    """Of degree 3 in one variable: functions of a space of dimension 4."""
    X = np.linspace(-1.0, 1.0, 12)[:, None]
    values = np.linalg.eigvalsh(Polynomial(1.0, 1.0, 3)(X))
    assert np.sum(values > 1e-12 * values[-1]) == 4


def test_a_gaussian_is_the_exponential_kernel_of_twice_its_gamma_normalized():
    X = np.random.default_rng(2).normal(size=(9, 3))
    expected = ExponentialDot(1.4)(X) / np.exp(0.7 * np.add.outer(*[(X**2).sum(axis=1)] * 2))
    np.testing.assert_allclose(ExponentialDot(1.4).normalized()(X), expected, rtol=1e-12)
    np.testing.assert_allclose(Gaussian(0.7)(X), expected, rtol=1e-12)
    assert np.abs(Gaussian(1.4)(X) - expected).max() > 0.1


# Taylor kernels


def test_binomial_is_its_series():
    """Coefficients (-1)^n binom(-alpha, n) > 0, where binom is a product, not a sum."""
    alpha, t = 1.7, 0.6
    n = np.arange(100)
    coefficients = (-1.0) ** n * np.cumprod([1.0, *((-alpha - n[1:] + 1) / n[1:])])
    assert np.all(coefficients > 0.0)
    np.testing.assert_allclose(coefficients[:20], (-1.0) ** n[:20] * binom(-alpha, n[:20]))
    assert coefficients[2] == pytest.approx(2.295)
    value = Binomial(1.0, alpha)([[np.sqrt(t)]])[0, 0]
    assert value == pytest.approx(coefficients @ t**n, rel=1e-12)
    assert value == pytest.approx(4.7478612058, rel=1e-10)


@given(
    samples(min_samples=2, scales=(0.1, 1.0, 10.0)),
    st.sampled_from([0.3, 1.0, 4.5]),
    st.sampled_from([0.2, 1.0, 3.0]),
)
def test_binomial_is_a_kernel_inside_its_ball(X, alpha, radius):
    X = X * (0.97 * radius / max(np.linalg.norm(X, axis=1).max(), 1e-3))
    kernel = Binomial(1.0 / radius**2, alpha)
    K = kernel(X)
    assert definite(K)
    assert np.all(np.isfinite(K))
    np.testing.assert_array_equal(np.diagonal(K) >= 1.0, True)


def test_binomial_on_the_sphere_is_infinite_and_outside_undefined():
    """The ball is open: at (1, 0) the series is sum binom(n + alpha - 1, n), which diverges."""
    kernel = Binomial(1.0, 0.5)
    inside, on, outside = [[0.999999, 0.0]], [[1.0, 0.0]], [[0.8, 0.7]]
    assert kernel(inside)[0, 0] == pytest.approx((1.0 - 0.999999**2) ** -0.5, rel=1e-9)
    combined = (kernel * Gaussian(1.0) + Linear()).normalized()
    for bad in (on, outside):
        for use in (
            lambda X: kernel(X),
            lambda X: kernel(inside, X),
            lambda X: kernel.diag(X),
            lambda X: kernel(csr_array(np.array(X))),
            lambda X: combined(X),
            lambda X: al.alignment_statistics([*inside, *X], [0, 1], [kernel]),
        ):
            raises(ValueError, r"gamma \* \|x\|\^2 must be < 1", use, bad)
    # The samples inside are checked one by one, so all products are inside; two samples outside may
    # have a product inside.
    assert np.dot([2.0, 0.0], [0.0, 2.0]) == 0.0
    raises(ValueError, "the largest is 4", kernel, [[2.0, 0.0]], [[0.0, 2.0]])


def test_a_machine_says_so_of_new_samples():
    X = np.random.default_rng(3).uniform(-0.5, 0.5, size=(40, 2))
    machine = al.MKLClassifier([Binomial(1.0), "linear"], weighting="uniform").fit(X, X[:, 0] > 0.0)
    with pytest.raises(ValueError, match=r"must be < 1 for every sample, the largest is 2\.25"):
        machine.predict([[1.5, 0.0]])


def test_exponential_kernels_end_where_float64_does():
    """The series of exp has no radius of convergence; values from 1.8e308 on overflow."""
    assert ExponentialDot(1.0)([[26.0]])[0, 0] == pytest.approx(np.exp(676.0), rel=1e-10)
    for kernel in (ExponentialDot(1.0), Linear().exp()):
        raises(ValueError, "its values reach exp", kernel, [[30.0]])
    np.testing.assert_allclose(
        ExponentialDot(1.0).normalized()([[30.0], [31.0]]), Gaussian(0.5)([[30.0], [31.0]])
    )
