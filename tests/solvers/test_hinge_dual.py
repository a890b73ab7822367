"""Dual coordinate descent with an intercept: certificate, blocks, threads and units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import generators

from alignlearn.solvers.hinge import best_intercept
from alignlearn.solvers.hinge_dual import hinge_dual
from alignlearn.solvers.low_rank import low_rank_svm


class Dense:
    """An array of features, of which ``block`` rows may be held at once, or all."""

    def __init__(self, X, block=None):
        self.X, (self.n_samples, self.rank), self.block = X, X.shape, block
        self.held = np.ascontiguousarray(X) if block is None else None

    def rows(self, index):
        return np.ascontiguousarray(self.X[index])

    def times(self, W):
        return self.X @ W

    def transposed_times(self, U):
        return self.X.T @ U


def problem(rng, m=500, r=6):
    X = rng.standard_normal((m, r))
    return X, np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(m) > 0.7, 1.0, -1.0)


def primal(X, sign, cost, w, b):
    return 0.5 * w @ w + cost @ np.where(sign == 0, 0.0, np.maximum(0.0, 1 - sign * (X @ w + b)))


def solve(X, sign, cost, seed=0, **options):
    rng = np.random.default_rng(seed)
    return hinge_dual(Dense(X), np.atleast_2d(sign), cost, rng=rng, **options)


@st.composite
def problems(draw):
    """Both classes, repeated points, zero rows, offsets, weights of 0, separable or not."""
    rng = draw(generators())
    m, r = draw(st.integers(2, 60)), draw(st.integers(1, 5))
    sign = np.where(rng.random(m) < draw(st.sampled_from([0.5, 0.9])), 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    X = rng.normal(size=(m, r)) * draw(st.sampled_from([1e-2, 1.0, 30.0]))
    X += draw(st.sampled_from([0.0, 1.0])) * sign[:, None] + draw(st.sampled_from([0.0, 5.0]))
    if draw(st.booleans()):
        X[rng.random(m) < 0.3] = 0.0
    cost = draw(st.sampled_from([1e-3, 1.0, 10.0])) * rng.choice([1.0, 3.0], size=m)
    cost[2:] *= rng.random(m - 2) < 0.8
    return X, sign, cost


@given(problems(), st.integers(1, 40))
def test_the_certificate_is_true_however_early(given_problem, passes):
    X, sign, cost = given_problem
    found = solve(X, sign, cost, tol=1e-9, max_passes=passes)
    w, b = found.coordinates[:, 0], found.intercepts[0]
    value = primal(X, sign, cost, w, b)
    assert value == pytest.approx(found.objective[0], rel=1e-9, abs=1e-12)
    reach = sign * cost
    bounds = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
    other = low_rank_svm(X, -sign, bounds, tol=1e-7)
    # Lower bounds of the minimum: the library's, and minus the other solver's objective; values:
    # the library's alone.
    assert found.objective[0] >= -other.objective * (1 - 1e-9) - 1e-12
    best = -other.objective + max(other.duality_gap, 0.0)
    assert found.objective[0] - found.duality_gap[0] <= best * (1 + 1e-9) + 1e-12
    assert found.converged == (found.duality_gap[0] <= 1e-9 * found.objective[0])


@given(problems())
def test_it_converges(given_problem):
    X, sign, cost = given_problem
    found = solve(X / max(1.0, np.abs(X).max()), sign, cost, tol=1e-2, max_passes=20_000)
    assert found.converged


def test_it_converges_where_many_coefficients_are_at_a_large_bound():
    X, sign = problem(np.random.default_rng(0))
    assert solve(X, sign, np.full(len(X), 30.0), tol=1e-6, max_passes=20_000).converged


def in_turn(function, count):
    """As on threads: called once to end at once, then by number."""
    function((0, count), np.ones(1, dtype=bool))
    for number in reversed(range(count)):
        function((number, count), np.zeros(1, dtype=bool))


def test_problems_side_by_side_do_not_depend_on_each_other_nor_on_threads():
    X, sign = problem(np.random.default_rng(0))
    signs = np.stack([sign, np.where(X[:, 2] > 0, 1.0, -1.0) * (X[:, 3] > 0)])
    cost = np.ones(len(X))
    found = [solve(X, signs, cost, spread=spread) for spread in (None, in_turn)]
    np.testing.assert_array_equal(found[0].coordinates, found[1].coordinates)
    for k, s in enumerate(signs):
        alone = solve(X, s, cost, tol=1e-6, max_passes=20_000).objective[0]
        assert alone * (1 - 2e-6) <= found[0].objective[k] <= 1.01 * alone
    other = solve(X, signs, cost, seed=1)
    assert not np.array_equal(found[0].coordinates, other.coordinates)


@pytest.mark.parametrize("block", [100, 499, 500])
def test_blocks_reach_the_same_optimum(block):
    X, sign = problem(np.random.default_rng(0))
    cost, rng = np.ones(len(X)), np.random.default_rng(0)
    held = solve(X, sign, cost, tol=1e-5, max_passes=20_000)
    found = hinge_dual(Dense(X, block), sign[None], cost, rng=rng, tol=1e-3, max_passes=2000)
    assert found.converged
    assert found.objective[0] == pytest.approx(held.objective[0], rel=1e-3)


def test_single_precision_rounds_the_features_only():
    X, sign = problem(np.random.default_rng(0))
    cost = np.ones(len(X))
    double = solve(X, sign, cost, tol=1e-5, max_passes=20_000)
    single = solve(X.astype(np.float32), sign, cost, tol=1e-4, max_passes=20_000)
    assert single.converged
    assert single.objective[0] == pytest.approx(double.objective[0], rel=1e-4)


def test_features_that_are_all_zero_leave_the_intercept():
    sign = np.array([1.0, 1.0, -1.0])
    found = solve(np.zeros((3, 2)), sign, np.ones(3))
    assert found.converged
    assert found.intercepts[0] == pytest.approx(1.0)
    assert found.objective[0] == pytest.approx(2.0)


def test_best_intercept_by_trying_all_ends():
    rng = np.random.default_rng(0)
    for _ in range(20):
        values, cost = rng.normal(size=9), rng.choice([0.5, 1.0, 2.0], 9)
        sign = np.append([1.0, -1.0], rng.choice([-1.0, 0.0, 1.0], 7))
        cost[sign == 0.0] = 0.0

        def loss(b, values=values, cost=cost, sign=sign):
            return cost @ np.maximum(0.0, 1.0 - sign * (values + b))

        ends = (sign - values)[sign != 0.0]
        assert loss(best_intercept(values, sign, cost)) == pytest.approx(min(map(loss, ends)))


@pytest.mark.parametrize("exponent", [-250, -66, 66, 250])
def test_the_unit_of_the_features_changes_no_bit(exponent):
    X, sign = problem(np.random.default_rng(0), 300, 4)
    s, options = 2.0**exponent, {"max_passes": 20, "tol": 1e-3, "seed": 1}
    base, found = (solve(u * X, sign, np.full(300, 1.0 / u**2), **options) for u in (1.0, s))
    np.testing.assert_array_equal(s * found.coordinates, base.coordinates)
    np.testing.assert_array_equal(found.intercepts, base.intercepts)
    assert found.n_passes == base.n_passes
