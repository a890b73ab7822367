"""Singular or indefinite systems."""

import numpy as np
import pytest

from alignlearn._lapack import cholesky_solve
from alignlearn.solvers import dense
from alignlearn.solvers.dense import factor_damped, least_squares, solve_or_least_squares


def test_a_singular_system_gets_its_solution_of_least_norm():
    A = np.array([[1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(solve_or_least_squares(A, np.array([2.0, 2.0])), [1.0, 1.0])
    np.testing.assert_allclose(solve_or_least_squares(2.0 * np.eye(2), np.ones(2)), [0.5, 0.5])


@pytest.mark.parametrize("eigenvalues", [(1.0, 2.0, 3.0), (1.0, 0.0, 0.0), (1.0, 2.0, -0.5)])
def test_damping_is_as_small_as_the_spectrum_allows(eigenvalues):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    A = Q * eigenvalues @ Q.T
    factor = factor_damped(A)
    inverse = cholesky_solve(factor, np.eye(3))
    damping = np.linalg.inv(inverse) - A
    assert np.diagonal(damping) == pytest.approx(damping[0, 0], rel=1e-3, abs=1e-9)
    assert max(-min(eigenvalues), 0.0) <= damping[0, 0] <= 100.0 * max(-min(eigenvalues), 1e-7)


@pytest.mark.parametrize("shape", [(30, 30), (40, 25), (25, 40)])
def test_least_squares_of_many_unknowns_are_those_of_few(monkeypatch, shape):
    """Of deficient rank, so both routes return the solution of minimum norm."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(shape[0], 7)) @ rng.normal(size=(7, shape[1]))
    b, before = rng.normal(size=shape[0]), A.copy()
    few = least_squares(A, b)
    monkeypatch.setattr(dense, "_SMALL", 0)
    np.testing.assert_allclose(least_squares(A, b), few, atol=1e-12)
    np.testing.assert_allclose(few, np.linalg.pinv(A) @ b, atol=1e-12)
    np.testing.assert_array_equal(A, before)
