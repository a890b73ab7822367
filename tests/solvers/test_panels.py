"""Products by panels against NumPy in float64."""

import numpy as np
import pytest
from usage import threads

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


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("shape", [(1, 2), (6, 1), (703, 300), (9001, 470)])
def test_products_in_double_of_a_matrix_in_single(shape, columns):
    """As precise as those of a matrix in float64, and the same bits for any number of threads."""
    rng = np.random.default_rng(0)
    L = rng.standard_normal(shape).astype(np.float32)
    v, w = (rng.standard_normal((n, columns)) for n in shape)
    exact, found = L.astype(np.float64), []
    for count in (1, 2, 3):
        with threads(count):
            found.append((panels.double_transposed_times(L, v), panels.double_times(L, w)))
    for one, expected in zip(found[0], (exact.T @ v, exact @ w)):
        np.testing.assert_allclose(one, expected, atol=1e-11)
    for other in found[1:]:
        for one, two in zip(found[0], other):
            np.testing.assert_array_equal(one, two)
