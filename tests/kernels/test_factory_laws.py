"""The rules by which kernels make kernels, of any kernels and samples; and the binomial kernel.

Wrong rules are in test_kernel_algebra.py, and universal kernels in the tests of the theory.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.sparse import csr_array
from strategies import samples

import alignlearn as al

KERNELS = [
    *[al.Gaussian(0.7), al.Laplacian(0.4), al.Matern(1.5, gamma=0.8), al.Linear()],
    *[al.Polynomial(0.5, 1.0, 3), al.ExponentialDot(0.2), al.Binomial(0.05, 1.3)],
]


def signed(X):
    """A factor f(x) of any sign, and 0 at some samples."""
    return np.where(X[:, 0] > 1.0, 0.0, X[:, 0] - 0.3)


RULES = {
    "shift": lambda a, b: a + 0.7,
    "cone": lambda a, b: 0.3 * a + 2 * b,
    "product": lambda a, b: a * b,
    "power": lambda a, b: a**3,
    "factors": lambda a, b: a.weighted(signed),
    "exponential": lambda a, b: (0.1 * a).exp(),
    "normalization": lambda a, b: a.normalized(),
    "all": lambda a, b: ((a + 1).normalized() * b.weighted(signed) + b).normalized(),
}


@given(
    samples(min_samples=2, scales=(0.1, 1.0)),
    st.sampled_from(KERNELS),
    st.sampled_from(KERNELS),
    st.sampled_from(sorted(RULES)),
)
def test_every_rule_gives_a_kernel(X, a, b, rule):
    X = X / max(1.0, np.linalg.norm(X, axis=1).max() / 4.0)
    kernel = RULES[rule](a, b)
    K = kernel(X)
    assert kernel.is_psd
    assert np.linalg.eigvalsh(K)[0] >= -1e-11 * len(K) * np.abs(K).max()
    np.testing.assert_allclose(K, K.T, rtol=1e-12)


# Taylor kernels


def test_binomial_on_the_sphere_is_infinite_and_outside_undefined():
    """The ball is open: at (1, 0) the series is sum binom(n + alpha - 1, n), which diverges."""
    kernel = al.Binomial(1.0, 0.5)
    inside, on, outside = [[0.999999, 0.0]], [[1.0, 0.0]], [[0.8, 0.7]]
    assert kernel(inside)[0, 0] == pytest.approx((1.0 - 0.999999**2) ** -0.5, rel=1e-9)
    combined = (kernel * al.Gaussian(1.0) + al.Linear()).normalized()
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
