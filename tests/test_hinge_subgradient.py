"""The restarted subgradient method: its certificate, and the optimum that another one finds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import generators

from alignlearn.solvers.low_rank import low_rank_svm


@pytest.fixture
def steps(script):
    return script("reproduce/p5_kernels/hinge_subgradient")


def problem(rng, m=2000, r=10):
    X = rng.standard_normal((m, r)) * 2.0 ** -np.arange(r)
    return X, np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(m) > 0.3, 1.0, -1.0)


def optimum(X, sign, cost):
    reach = sign * cost
    bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
    return -low_rank_svm(X, -sign, bounds, tol=1e-7).objective


def primal(X, sign, cost, w, b):
    return 0.5 * w @ w + cost @ np.where(sign == 0, 0.0, np.maximum(0.0, 1 - sign * (X @ w + b)))


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_optimum_of_the_interior_point_method(steps, C):
    rng = np.random.default_rng(0)
    X, sign = problem(rng)
    cost = C * rng.uniform(0.0, 2.0, len(X)) * (rng.random(len(X)) < 0.9)
    found = steps.hinge_subgradient(steps.Columns(X), sign[None], cost, rng=rng, max_passes=100)
    assert found.converged
    best, value = optimum(X, sign, cost), found.objective[0]
    w, b = found.coordinates[:, 0], found.intercepts[0]
    np.testing.assert_allclose(value, primal(X, sign, cost, w, b), rtol=1e-10)
    # The minimum is within the gap, and the gap within tol.
    assert value - found.duality_gap[0] <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= value <= best + found.duality_gap[0] + 1e-9
    assert found.duality_gap[0] <= 1e-2 * value


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(generators(), st.sampled_from([0.1, 5.0]), st.integers(1, 4))
def test_gap_is_a_bound_however_early(steps, rng, C, passes):
    X, sign = problem(rng, 300, 5)
    found = steps.hinge_subgradient(
        steps.Columns(X), sign[None], np.full(300, C), rng=rng, max_passes=passes
    )
    best = optimum(X, sign, np.full(300, C))
    assert found.objective[0] >= best * (1 - 1e-7)
    assert found.objective[0] - found.duality_gap[0] <= best * (1 + 1e-7)


def test_coordinate_descent_leaves_smaller_gaps(steps, capsys):
    gaps = steps.main(["--quick"])
    assert capsys.readouterr().out.count("gap") == 2 * len(gaps)
    assert all(dual <= 1e-2 for _, dual in gaps.values())
    assert gaps[10.0][1] < gaps[10.0][0]
