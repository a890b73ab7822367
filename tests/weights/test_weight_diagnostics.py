"""Condition number, groups and identifiability on matrices with a known answer."""

import numpy as np
import pytest

from alignlearn.weights.diagnostics import condition_number, identical_groups, unidentified


def test_condition_number_is_that_of_the_scaled_matrix():
    M = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert condition_number(M) == pytest.approx(3)
    scale = np.array([1e-6, 1e6])
    assert condition_number(M * np.outer(scale, scale)) == pytest.approx(3)
    assert condition_number(np.diag([4.0, 0.0, 9.0])) == pytest.approx(1)
    assert condition_number(np.ones((2, 2))) > 1e15
    assert np.isnan(condition_number(np.zeros((2, 2))))


def test_condition_number_of_many_kernels():
    # Equicorrelated: eigenvalues 1 + (p - 1) r and 1 - r; its inverse has 1-norm below 2 / (1 - r).
    p, r = 1100, 0.75
    value = condition_number(np.full((p, p), r) + (1 - r) * np.eye(p))
    exact = (1 + (p - 1) * r) / (1 - r)
    assert exact / 2 <= value <= 2 * exact
    A = np.random.default_rng(0).standard_normal((20, p))
    assert condition_number(A.T @ A) > 1e12


def test_groups_join_equal_and_opposite_kernels_of_any_norm():
    A = np.random.default_rng(0).standard_normal((9, 4))
    A = np.column_stack([A, 3 * A[:, 1], -0.1 * A[:, 1], A[:, 3] * (1 + 1e-13), 0 * A[:, 0]])
    assert identical_groups(A.T @ A) == ((1, 4, 5), (3, 6))
    assert identical_groups(np.zeros((3, 3))) == ()
    assert identical_groups(np.eye(3)) == ()


def test_group_tolerance():
    for angle, expected in ((1e-6, ((0, 1),)), (1e-4, ())):
        c = np.cos(angle)
        assert identical_groups(np.array([[1, c], [c, 1]])) == expected


def test_unidentified_are_the_dependent_kernels_in_use():
    A = np.random.default_rng(0).standard_normal((9, 4))
    A = np.column_stack([A, A[:, 0] + 2 * A[:, 2]])
    M = A.T @ A
    assert unidentified(M, np.ones(5)) == (0, 2, 4)
    assert unidentified(M, [1, 1, 0, 1, 1]) == ()
    assert unidentified(M, [1, 0, 1, 0, 1]) == (0, 2, 4)
    scale = np.array([1e-5, 1, 1e5, 1, 1e3])
    assert unidentified(M * np.outer(scale, scale), np.ones(5)) == (0, 2, 4)
    assert unidentified(np.eye(3), [0, 0, 1]) == ()
