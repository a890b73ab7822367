"""The interior point method against SMO on the explicit matrix, and its certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import generators

from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.solvers.smo import smo


@st.composite
def problems(draw):
    """Two classes of any size, with repeated points, weights, separable or not."""
    rng = draw(generators())
    m, q = draw(st.integers(2, 60)), draw(st.integers(1, 5))
    sign = np.where(rng.random(m) < draw(st.sampled_from([0.5, 0.9])), 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    Z = rng.normal(size=(m, q)) * draw(st.sampled_from([1e-2, 1.0, 10.0]))
    Z += draw(st.sampled_from([0.0, 1.0, 10.0])) * sign[:, None]
    if draw(st.booleans()):
        Z = Z[rng.integers(0, m, size=m)]
    Z -= Z.mean(axis=0)
    C = draw(st.sampled_from([1e-3, 1.0, 1e3])) * rng.choice([1.0, 3.0], size=m)
    if draw(st.booleans()):
        C[2:] *= rng.random(m - 2) < 0.8
    reach = C * sign
    return Z, sign, (np.minimum(reach, 0.0), np.maximum(reach, 0.0))


@given(problems(), st.sampled_from([1e-3, 1e-6]))
def test_equals_smo(problem, tol):
    Z, sign, bounds = problem
    found = low_rank_svm(Z, -sign, bounds, tol=tol)
    assert found.converged == (found.kkt_violation <= tol)
    assert found.kkt_violation <= 1e-3
    coef = found.coef
    assert np.all((bounds[0] <= coef) & (coef <= bounds[1]))
    assert abs(coef.sum()) <= 1e-9 * max(np.abs(coef).sum(), 1e-300)
    np.testing.assert_allclose(found.gradient, Z @ (Z.T @ coef) - sign, rtol=1e-9, atol=1e-9)
    K = Z @ Z.T
    objective = 0.5 * coef @ K @ coef - sign @ coef
    assert found.objective == pytest.approx(objective, rel=1e-7, abs=1e-12)
    expected = smo(K, -sign, bounds, tol=tol, max_iter=300_000)
    # Both lie above the minimum by at most their gap.
    slack = 1e-9 * abs(objective) + 1e-12
    assert found.objective <= expected.objective + found.duality_gap + slack
    assert expected.objective <= found.objective + expected.duality_gap + slack


def test_a_limit_of_steps_is_reported():
    rng = np.random.default_rng(0)
    Z, sign = rng.normal(size=(50, 3)), np.repeat([1.0, -1.0], 25)
    bounds = np.minimum(sign, 0.0), np.maximum(sign, 0.0)
    for steps in (1, 3):
        found = low_rank_svm(Z, -sign, bounds, max_iter=steps)
        assert not found.converged
        assert found.kkt_violation > 1e-3
        assert np.all((bounds[0] <= found.coef) & (found.coef <= bounds[1]))


def test_tight_tolerance():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(400, 8))
    sign = np.where(Z[:, 0] + rng.normal(size=400) > 0, 1.0, -1.0)
    bounds = np.minimum(sign, 0.0), np.maximum(sign, 0.0)
    found = low_rank_svm(Z, -sign, bounds, tol=1e-9)
    assert found.converged
    assert found.duality_gap <= 1e-6
    assert found.n_iter < 40
    # Sparse as a support vector machine is: no coefficient is left just above 0.
    assert np.count_nonzero(found.coef) == np.count_nonzero(np.abs(found.coef) > 1e-6)
    assert np.count_nonzero(found.coef) < 400
