"""The restarted subgradient method: its certificate, and the optimum that another one finds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import generators

from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.validation import ConvergenceWarning


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


def test_problems_side_by_side_and_samples_left_out(steps):
    rng = np.random.default_rng(0)
    X, sign = problem(rng)
    other = np.where(X[:, 2] > 0, 1.0, -1.0) * (X[:, 3] > 0)
    signs, cost = np.stack([sign, other]), np.ones(len(X))
    found = steps.hinge_subgradient(steps.Columns(X), signs, cost, rng=rng, max_passes=100)
    for k, s in enumerate(signs):
        best = optimum(X, s, cost)
        assert best * (1 - 1e-9) <= found.objective[k] <= 1.01 * best


def test_coordinates_do_not_depend_on_how_features_are_factored(steps):
    rng = np.random.default_rng(0)
    X, sign = problem(rng)
    T = np.tril(rng.standard_normal((10, 10))) + 3 * np.eye(10)
    one, two = (
        steps.hinge_subgradient(F, sign[None], np.ones(len(X)), rng=np.random.default_rng(1))
        for F in (steps.Columns(X), steps.Columns(X @ T.T, T))
    )
    np.testing.assert_allclose(one.coordinates, two.coordinates, atol=1e-6)
    assert one.n_passes == two.n_passes


def test_small_variances_do_not_slow_it_down(steps):
    """Where plain steps would need passes in proportion to the ratio of the variances, 1e8."""
    rng = np.random.default_rng(0)
    X, _ = problem(rng)
    X[:, 1] = 1e-4 * rng.standard_normal(len(X))
    sign = np.where(X[:, 1] > 0, 1.0, -1.0)
    cost = np.full(len(X), 1e9)
    found = steps.hinge_subgradient(steps.Columns(X), sign[None], cost, rng=rng, max_passes=30)
    w, b = found.coordinates[:, 0], found.intercepts[0]
    assert np.mean(np.sign(X @ w + b) == sign) > 0.98


def test_stopping_short_is_reported(steps):
    rng = np.random.default_rng(0)
    X, sign = problem(rng)
    found = steps.hinge_subgradient(
        steps.Columns(X), sign[None], np.full(len(X), 1e3), rng=rng, max_passes=1, tol=1e-6
    )
    assert not found.converged
    with pytest.warns(ConvergenceWarning, match="after 1 passes with a duality gap"):
        found.warn_unconverged(1e-6)


@pytest.mark.parametrize("exponent", [-250, -66, 66, 250])
@pytest.mark.parametrize("solver", ["hinge_subgradient", "hinge_dual"])
def test_the_unit_of_the_features_changes_no_bit(steps, exponent, solver):
    X, sign = problem(np.random.default_rng(0), 300, 4)
    s, options = 2.0**exponent, {"max_passes": 20, "tol": 1e-3}

    def solved(unit):
        features, cost = steps.Columns(unit * X), np.full(len(X), 1.0 / unit**2)
        rng = np.random.default_rng(1)
        return getattr(steps, solver)(features, sign[None], cost, rng=rng, **options)

    base, found = solved(1.0), solved(s)
    np.testing.assert_array_equal(s * found.coordinates, base.coordinates)
    np.testing.assert_array_equal(found.intercepts, base.intercepts)
    assert found.n_passes == base.n_passes


def test_coordinate_descent_leaves_smaller_gaps(steps, capsys):
    gaps = steps.main(["--quick"])
    assert capsys.readouterr().out.count("gap") == 2 * len(gaps)
    assert all(dual <= 1e-2 for _, dual in gaps.values())
    assert gaps[10.0][1] < gaps[10.0][0]
