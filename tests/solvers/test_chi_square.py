"""The largest mean in a chi-square ball: against a general solver, its certificate, its limits."""

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from alignlearn.solvers.chi_square import chi_square_ball


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 12))
    scores = rng.gamma(1.0, 1.0, n)
    if draw(st.booleans()):
        scores = np.round(scores)  # ties, also at the top
    return scores, draw(st.sampled_from([0.0, 1e-6, 0.01, 0.5, 1.0, 3.0, 10.0, n - 1.0, 50.0]))


def upper_bound(scores, rho, tau):
    """An upper bound over every distribution in the ball, for any tau: weak duality."""
    return tau + np.sqrt((1 + rho) / len(scores)) * np.linalg.norm(np.maximum(scores - tau, 0.0))


@given(problems(), st.floats(-3.0, 3.0))
def test_certificate(problem, tau):
    scores, rho = problem
    found, size = chi_square_ball(scores, rho), np.abs(scores).max() or 1.0
    q, n = found.weights, len(scores)
    assert q.min() >= 0.0
    assert abs(q.sum() - 1.0) < 1e-12
    assert n * (q @ q) - 1.0 <= rho + 1e-9 * (1 + rho)
    assert abs(found.duality_gap) <= 1e-9 * size
    assert found.objective <= upper_bound(scores, rho, tau) + 1e-9 * size
    assert np.all(np.diff(q[np.argsort(scores)]) >= -1e-15)  # larger scores, larger weights
    for value in np.unique(scores):
        assert np.ptp(q[scores == value]) == 0.0


@given(problems(), st.floats(-5.0, 5.0), st.sampled_from([1e-200, 1e-3, 7.0, 1e150]))
def test_depends_on_differences_and_not_on_units(problem, shift, unit):
    scores, rho = problem
    scores = scores + shift
    weights = chi_square_ball(scores, rho).weights
    np.testing.assert_allclose(chi_square_ball(scores * unit, rho).weights, weights, atol=1e-7)


def test_two_scores_by_hand():
    """q = (1 + sqrt(rho), 1 - sqrt(rho)) / 2: the ball is an interval."""
    found = chi_square_ball([3.0, 1.0], 0.25)
    np.testing.assert_allclose(found.weights, [0.75, 0.25], rtol=1e-14)
    assert found.objective == pytest.approx(2.5)
    assert found.divergence == pytest.approx(0.25)


def test_limits():
    scores = np.array([1.0, 5.0, 2.0, 4.0])
    assert_array_equal(chi_square_ball(scores, 0.0).weights, np.full(4, 0.25))
    assert_array_equal(chi_square_ball(scores, 3.0).weights, [0, 1, 0, 0])
    assert_array_equal(chi_square_ball(scores, 1e300).weights, [0, 1, 0, 0])
    assert_array_equal(chi_square_ball([2.0, 2.0], 5.0).weights, [0.5, 0.5])
    assert_array_equal(chi_square_ball([7.0], 5.0).weights, [1.0])
    assert [chi_square_ball(s, 0.0).multiplier for s in (scores, [2.0, 2.0])] == [-np.inf, 2.0]
    # Two at the top are reached at divergence 1; a larger ball leaves them equal.
    assert_array_equal(chi_square_ball([3.0, 3.0, 1.0, 0.0], 1.5).weights, [0.5] * 2 + [0] * 2)


@each(
    ("scores", "rho", "error", "words"),
    [
        ([1.0, np.nan], 1.0, ValueError, "scores"),
        ([], 1.0, ValueError, "scores"),
        ([[1.0]], 1.0, ValueError, "scores"),
        ([1.0, 2.0], -1.0, ValueError, "rho"),
        ([1.0, 2.0], np.inf, ValueError, "rho"),
        ([1.0, 2.0], "big", TypeError, "rho"),
    ],
)
def test_bad_input(scores, rho, error, words):
    with pytest.raises(error, match=words):
        chi_square_ball(scores, rho)
