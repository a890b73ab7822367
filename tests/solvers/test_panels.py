"""Products by panels against NumPy in float64."""

import numpy as np
import pytest

from alignlearn.solvers import panels


@pytest.mark.parametrize("columns", [None, 0, 1, 2, 8, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (700, 900)])
def test_products(shape, dtype, columns):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal(shape).astype(dtype)
    v, w = (rng.standard_normal((n, *[columns] * (columns is not None))) for n in shape)
    exact, atol = Z.astype(np.float64), 1000.0 * np.finfo(dtype).eps
    np.testing.assert_allclose(panels.transposed_times(Z, v), exact.T @ v, atol=atol)
    found = panels.times(Z, w)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact @ w, atol=atol)
    np.testing.assert_allclose(panels.weighted_gram(Z), exact.T @ exact, atol=30 * atol)
