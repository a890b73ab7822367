"""A rescaled kernel equals the kernel on transformed features."""

import pickle

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.kernels import Rescaled

X = np.random.default_rng(0).normal(size=(12, 3))
FACTORS = np.array([0.5, 2.0, 0.0])
MATRIX = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 0.3]])


@each("kernel", [al.Gaussian(gamma=0.3), al.Polynomial(degree=2), al.TL1()])
@each("factors", [FACTORS, MATRIX])
def test_values(kernel, factors):
    Z = X * factors if factors.ndim == 1 else X @ factors
    rescaled = Rescaled(kernel, factors)
    np.testing.assert_allclose(rescaled(X, X[:5]), kernel.resolve(Z)(Z, Z[:5]), rtol=1e-12)
    np.testing.assert_allclose(rescaled.diag(X), kernel.resolve(Z).diag(Z), rtol=1e-12)
    again = pickle.loads(pickle.dumps(rescaled))
    assert again == rescaled
    assert hash(again) == hash(rescaled)


def test_rules_for_gamma_are_for_the_transformed_features():
    found = Rescaled("rbf", FACTORS).resolve(X)
    assert found.kernel.gamma == pytest.approx(al.Gaussian().resolve(X * FACTORS).gamma)
    both = 2.0 * Rescaled("rbf", FACTORS) + al.Linear()
    np.testing.assert_allclose(both(X), 2.0 * found(X) + X @ X.T)


@each("factors", [[], [[1.0, 2.0]], [np.nan, 1.0], 3.0])
def test_bad_factors_and_other_widths_are_refused(factors):
    raises(ValueError, "factors", Rescaled, "rbf", factors)
    kernel = Rescaled(al.Gaussian(gamma=1.0), FACTORS)
    raises(ValueError, "X has 2 features; accepted: 3", kernel, X[:, :2])
