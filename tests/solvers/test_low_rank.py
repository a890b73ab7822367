"""The interior point method against SMO on the explicit matrix, and its certificate."""

import numpy as np
import pytest
from cases import each
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import generators
from test_smo import box

from alignlearn.solvers.low_rank import low_rank_svm
from alignlearn.solvers.smo import smo


def made(seed, size, share, scale, shift, repeated, cost, dropped):
    """Two classes; ``share`` is the first's, ``shift`` moves them apart."""
    rng, (m, q) = np.random.default_rng(seed), size
    sign = np.where(rng.random(m) < share, 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    Z = rng.normal(size=(m, q)) * scale + shift * sign[:, None]
    if repeated:
        Z = Z[rng.integers(0, m, size=m)]
    Z -= Z.mean(axis=0)
    C = cost * rng.choice([1.0, 3.0], size=m)
    if dropped:
        C[2:] *= rng.random(m - 2) < 0.8
    return Z, sign, box(C * sign)


def problems():
    """Two classes of any size, with repeated points, weights, separable or not."""
    return st.builds(
        made,
        st.integers(0, 2**32 - 1),
        st.tuples(st.integers(2, 60), st.integers(1, 5)),
        st.sampled_from([0.5, 0.9]),
        st.sampled_from([1e-2, 1.0, 10.0]),
        st.sampled_from([0.0, 1.0, 10.0]),
        st.booleans(),
        st.sampled_from([1e-3, 1.0, 1e3]),
        st.booleans(),
    )


@given(problems(), st.sampled_from([1e-3, 1e-6]))
# The excess takes all the slack: rounding put coefficients outside their bounds.
@example(made(117895, (54, 3), 0.5, 0.01, 1.0, True, 1e-3, True), 1e-6)
@example(made(1029284, (17, 5), 0.5, 0.01, 1.0, False, 1e-3, False), 1e-3)
@example(made(913934, (58, 3), 0.5, 0.01, 1.0, False, 1e-3, True), 1e-6)
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
    bounds = box(sign)
    for steps in (1, 3):
        found = low_rank_svm(Z, -sign, bounds, max_iter=steps)
        assert not found.converged
        assert found.kkt_violation > 1e-3
        assert np.all((bounds[0] <= found.coef) & (found.coef <= bounds[1]))


@st.composite
def regressions(draw):
    """Targets of any size, repeated points, weights, an offset of Z, fixed coefficients."""
    rng = draw(generators())
    m, q = draw(st.integers(2, 60)), draw(st.integers(1, 5))
    Z = rng.normal(size=(m, q)) * draw(st.sampled_from([1e-2, 1.0, 10.0]))
    y = rng.normal(size=m) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    if draw(st.booleans()):
        index = rng.integers(0, m, size=m)
        Z, y = Z[index], y[index] if draw(st.booleans()) else y
    Z = Z + draw(st.sampled_from([0.0, 30.0]))
    if draw(st.booleans()):
        Z = np.asfortranarray(Z)
    C = draw(st.sampled_from([1e-3, 1.0, 1e3])) * rng.choice([1.0, 2.0], size=m)
    if draw(st.booleans()):
        C[2:] *= rng.random(m - 2) < 0.8
    lower = np.where(rng.random(m) < 0.3, 0.0, -C) if draw(st.booleans()) else -C
    return Z, y, (lower, C)


@given(
    regressions(), st.sampled_from([1e-12, 1e-3, 0.1, 1.0, 100.0]), st.sampled_from([1e-3, 1e-6])
)
def test_regression_equals_smo(problem, epsilon, tol):
    Z, y, bounds = problem
    given_ = Z.copy()
    found = low_rank_svm(Z, -y, bounds, epsilon=epsilon, tol=tol)
    np.testing.assert_array_equal(Z, given_)
    assert found.converged
    assert found.n_iter < 60
    K, coef = Z @ Z.T, found.coef
    assert np.all((bounds[0] <= coef) & (coef <= bounds[1]))
    assert abs(coef.sum()) <= 1e-9 * max(np.abs(coef).sum(), 1e-300)
    expected = smo(K, -y, bounds, epsilon=epsilon, tol=tol, max_iter=300_000)

    def objective(b):
        return 0.5 * np.square(Z.T @ b).sum() - y @ b + epsilon * np.abs(b).sum()

    ours, theirs = objective(coef), objective(expected.coef)
    assert found.objective == pytest.approx(ours, rel=1e-7, abs=1e-9)
    # Both lie above the minimum by at most their gap.
    slack = 1e-9 * abs(ours) + 1e-12
    assert ours <= theirs + found.duality_gap + slack
    assert theirs <= ours + expected.duality_gap + slack
    # Around the minimum the objective grows by half the squared distance of predictions.
    apart = np.square(Z.T @ (coef - expected.coef)).sum()
    assert apart <= 4.0 * (found.duality_gap + expected.duality_gap) + slack


@each("scale", [1e-4, 1.0, 1e4, 1e7])
def test_regression_is_sparse_and_exact(scale):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(2000, 10)) + 3.0
    y = np.sin(Z[:, 0]) + 0.3 * rng.normal(size=2000)
    bounds = np.full(2000, -scale), np.full(2000, scale)
    found = low_rank_svm(Z, -y, bounds, epsilon=0.4, tol=1e-6)
    assert found.converged
    assert found.n_iter < 60
    # Outside the tube at a bound, inside it at 0, and few on its border.
    error = y - Z @ (Z.T @ found.coef) + found.multiplier
    outside, inside = np.abs(error) > 0.4 + 1e-6, np.abs(error) < 0.4 - 1e-6
    np.testing.assert_array_equal(found.coef[outside], scale * np.sign(error[outside]))
    np.testing.assert_array_equal(found.coef[inside], 0.0)
    assert min(outside.sum(), inside.sum()) > 100
    assert 2000 - outside.sum() - inside.sum() <= 12


def test_regression_inside_the_tube_has_no_coefficients():
    rng = np.random.default_rng(3)
    Z, y = rng.normal(size=(30, 2)), rng.uniform(-1.0, 1.0, size=30)
    bounds = np.full(30, -5.0), np.full(30, 5.0)
    found = low_rank_svm(Z, -y, bounds, epsilon=1.0)
    np.testing.assert_array_equal(found.coef, 0.0)
    assert found.converged
    assert found.n_iter == 0
    assert np.abs(y + found.multiplier).max() <= 1.0 + 1e-3
    almost = low_rank_svm(Z, -y, bounds, epsilon=0.5 * np.ptp(y) - 0.01, tol=1e-6)
    assert 0 < np.count_nonzero(almost.coef) <= 4


def test_all_bounds_equal():
    Z, zero = np.eye(3), np.zeros(3)
    found = low_rank_svm(Z, np.array([1.0, -2.0, 3.0]), (zero, zero), epsilon=0.1)
    np.testing.assert_array_equal(found.coef, 0.0)
    assert found.converged


def test_rows_beyond_one_panel():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(40_000, 2))
    y = Z @ [1.0, -2.0] + 0.5 * rng.normal(size=40_000)
    bounds = np.full(40_000, -1e-3), np.full(40_000, 1e-3)
    found = low_rank_svm(np.asfortranarray(Z), -y, bounds, epsilon=0.1, tol=1e-8)
    assert found.converged
    assert found.duality_gap <= 1e-6
    np.testing.assert_allclose(found.gradient, Z @ (Z.T @ found.coef) - y, atol=1e-9)


@pytest.mark.parametrize("exponent", [-250, -66, 66, 250])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_units_of_features_and_targets_change_no_bit(exponent, epsilon):
    rng = np.random.default_rng(0)
    Z, s = rng.normal(size=(120, 4)), 2.0**exponent
    y = Z[:, 0] + rng.normal(size=120)
    y = y if epsilon else np.sign(y)
    lower, upper = (-np.ones(120), np.ones(120)) if epsilon else box(y)
    base = low_rank_svm(Z, -y, (lower, upper), epsilon=epsilon)
    assert base.converged
    found = low_rank_svm(s * Z, -y, (lower / s / s, upper / s / s), epsilon=epsilon)
    np.testing.assert_array_equal(found.coef * s * s, base.coef)
    bounds = s * lower, s * upper
    found = low_rank_svm(Z, -s * y, bounds, epsilon=s * epsilon, tol=1e-3 * s)
    np.testing.assert_array_equal(found.coef / s, base.coef)
    assert found.n_iter == base.n_iter
