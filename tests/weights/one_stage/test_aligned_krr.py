"""AlignedKRR against a general solver, its scaling law, its limits and the published iteration."""

import warnings

import numpy as np
import pytest
from alignlearn.theory.reference.learners import aligned_krr, aligned_objective
from alignlearn.theory.reference.matrices import alignf_terms
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import generators

from alignlearn.statistics import AlignmentStatistics
from alignlearn.validation import ConvergenceWarning
from alignlearn.weights import AlignF
from alignlearn.weights.one_stage import AlignedKRR


def centered_kernels(rng, m, p, rank=None):
    factors = rng.normal(size=(p, m, rank or m))
    factors -= factors.mean(axis=1, keepdims=True)
    return factors @ factors.transpose(0, 2, 1) / (rank or m)


def terms(K, y, gamma, gamma1, gamma2):
    a, M = alignf_terms(K, y)
    return gamma * a, gamma1 * np.eye(len(a)) + gamma2 * M


GAMMAS = st.tuples(
    st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 0.01, 1.0]), st.sampled_from([0.01, 1.0])
)


@given(generators(), st.integers(2, 12), st.integers(1, 6), GAMMAS, st.sampled_from([0.1, 2.0]))
def test_equals_a_general_solver(rng, m, p, gammas, lam):
    K, y = centered_kernels(rng, m, p), rng.normal(size=m)
    y -= y.mean()
    found = AlignedKRR(*gammas, alpha=lam).solve_grams(K, y)
    linear, Q = terms(K, y, *gammas)
    other = aligned_krr(K, y, lam, linear, Q)
    best = aligned_objective(other, K, y, lam, linear, Q)[0]
    value, gradient = aligned_objective(found.weights, K, y, lam, linear, Q)
    assert found.converged
    assert found.objective == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert value <= best + 1e-9 * (y @ y / lam)
    size = np.abs(2 * Q @ found.weights).max() + np.abs(linear).max() + 1e-9
    assert (np.maximum(-gradient, 0) <= 1e-6 * size).all()
    assert (found.weights * np.abs(gradient)).max() <= 1e-6 * (y @ y / lam)


@given(generators(), GAMMAS, st.sampled_from([0.05, 0.7, 20.0]))
def test_alpha_can_be_had_from_the_other_parameters(rng, gammas, lam):
    K, y = centered_kernels(rng, 8, 4), rng.normal(size=8)
    gamma, gamma1, gamma2 = gammas
    one = AlignedKRR(gamma, gamma1, gamma2, alpha=lam, tol=1e-10).solve_grams(K, y)
    scaled = lam**2 * gamma, lam**3 * gamma1, lam**3 * gamma2
    other = AlignedKRR(*scaled, alpha=1.0, tol=1e-10).solve_grams(K, y)
    size = one.weights.max()
    np.testing.assert_allclose(lam * other.weights, one.weights, atol=1e-6 * size + 1e-12)
    assert other.objective == pytest.approx(lam * one.objective, rel=1e-8, abs=1e-9)


def test_large_alignment_terms_give_alignf():
    rng = np.random.default_rng(0)
    K = centered_kernels(rng, 30, 6, rank=3)
    y = K[2] @ rng.normal(size=30)
    a, M = alignf_terms(K, y)
    statistics = AlignmentStatistics(a, M, np.trace(K, axis1=1, axis2=2), y @ y, 30)
    expected = AlignF(normalize=None).solve(statistics)
    found = AlignedKRR(2e9, 0.0, 1e9).solve_grams(K, y, statistics=statistics)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6 * expected.weights.max())
    assert found.alignment == pytest.approx(expected.alignment)
    assert found.kernel_alignments == pytest.approx(expected.kernel_alignments)


@settings(max_examples=20)
@given(generators(), GAMMAS, st.integers(1, 2))
def test_the_gap_bounds_the_distance_from_the_optimum(rng, gammas, max_iter):
    K, y = centered_kernels(rng, 9, 4), rng.normal(size=9)
    exact = AlignedKRR(*gammas).solve_grams(K, y).objective
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early = AlignedKRR(*gammas, max_iter=max_iter, tol=1e-14).solve_grams(K, y)
    size = max(abs(early.objective), y @ early.dual_coef)
    assert early.objective - exact <= early.duality_gap * size + 1e-9 * size


def test_columns_and_zero_kernels():
    rng = np.random.default_rng(2)
    K, Y = centered_kernels(rng, 10, 3), rng.normal(size=(10, 2))
    K[1] = 0.0
    found = AlignedKRR(0.1, 0.0, 1.0).solve_grams(K, Y)
    assert found.converged
    assert found.weights[1] == 0.0
    A = np.tensordot(found.weights, K, 1) + np.eye(10)
    np.testing.assert_allclose(found.dual_coef, np.linalg.solve(A, Y))


@each(
    ("params", "match"),
    [
        ({"gamma": -1.0}, "gamma"),
        ({"gamma1": 0.0, "gamma2": 0.0}, "without a minimizer"),
        ({"alpha": 0.0}, "alpha"),
    ],
)
def test_parameters_out_of_range(params, match):
    with pytest.raises(ValueError, match=match):
        AlignedKRR(**params).solve_grams([np.eye(2)], np.array([1.0, 2.0]))


def test_statistics_of_other_kernels():
    statistics = AlignmentStatistics(np.ones(2), np.eye(2), np.ones(2), 1.0, 2)
    with pytest.raises(ValueError, match="statistics has 2 kernels"):
        AlignedKRR().solve_grams([np.eye(2)], np.array([1.0, 2.0]), statistics=statistics)
