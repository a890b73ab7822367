"""Dual coordinate descent: its certificate, orders, parts and units."""

import numpy as np
import pytest
from cases import each
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from alignlearn.solvers import dual_coordinate_descent as dcd
from alignlearn.solvers.dual_coordinate_descent import LOSSES, dual_coordinate_descent


def primal(X, sign, cost, loss, w):
    excess = np.maximum(1.0 - sign * (X @ w), 0.0)
    return 0.5 * w @ w + cost @ (excess if loss == "hinge" else excess**2)


def made(seed, size, share, scale, shift, repeated, zeros, cost, dropped):
    """Two classes; ``share`` is the first's, ``shift`` moves them apart."""
    rng, (m, d) = np.random.default_rng(seed), size
    sign = np.where(rng.random(m) < share, 1.0, -1.0)
    X = rng.normal(size=(m, d)) * scale + shift * sign[:, None]
    if repeated:
        X = X[rng.integers(0, m, size=m)]
    if zeros:
        X[rng.random(m) < 0.3] = 0.0
    costs = cost * rng.choice([1.0, 3.0], size=m)
    if dropped:
        costs *= rng.random(m) < 0.8
    return X, sign, costs


def problems():
    """Two classes of any size, with repeated points, zero rows, weights, separable or not."""
    return st.builds(
        made,
        st.integers(0, 2**32 - 1),
        st.tuples(st.integers(1, 60), st.integers(1, 5)),
        st.sampled_from([0.5, 0.9]),
        st.sampled_from([1e-2, 1.0, 3.0]),
        st.sampled_from([0.0, 1.0]),
        st.booleans(),
        st.booleans(),
        st.sampled_from([1e-3, 1.0, 10.0]),
        st.booleans(),
    )


@given(problems(), st.sampled_from(LOSSES), st.booleans())
# A gradient of 0.48 whose terms are of size 1e4, after 2000 passes that were not enough.
@example(made(396203, (41, 1), 0.9, 3.0, 1.0, False, False, 10.0, False), "squared-hinge", True)
def test_the_certificate_is_true(problem, loss, sparse):
    X, sign, cost = problem
    rows = csr_array(X) if sparse else X
    options = {"loss": loss, "tol": 1e-4, "max_iter": 2_000}
    found = dual_coordinate_descent(rows, sign, cost, **options)
    alpha = sign * found.coef
    added = np.divide(0.5, cost, where=cost > 0, out=np.zeros(len(cost)))
    added = added if loss == "squared-hinge" else np.zeros(len(cost))
    assert np.all(alpha >= 0.0)
    assert np.all(alpha <= cost) if loss == "hinge" else np.all(alpha[cost == 0.0] == 0.0)
    w = X.T @ found.coef
    # Sums round by a few units of their terms' sizes, not of what remains of these.
    size_w = np.abs(X).T @ alpha
    assert np.all(np.abs(found.w - w) <= 1e-14 * size_w)
    dual = alpha.sum() - 0.5 * w @ w - 0.5 * added @ alpha**2
    value = primal(X, sign, cost, loss, w)
    size = max(abs(dual), abs(value))
    assert found.objective == pytest.approx(-dual, abs=1e-10 * size)
    assert found.duality_gap >= 0.0
    assert found.duality_gap == pytest.approx(value - dual, abs=1e-9 * size)
    gradient = sign * (X @ w) - 1.0 + added * alpha
    reach = cost if loss == "hinge" else np.where(cost > 0, np.inf, 0.0)
    moved = np.clip(alpha - gradient, 0.0, reach) - alpha
    # What a step along the gradient may still move, at most the projected gradient itself.
    rounding = 1e-14 * (np.abs(X) @ size_w + 1.0 + (1.0 + added) * alpha)
    assert np.all(np.abs(moved) <= found.kkt_violation + rounding)
    assert found.converged == (found.kkt_violation <= 1e-4)


def test_orders_follow_the_generator_and_the_start_of_work_does_not_matter():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 4))
    sign = np.where(rng.random(50) < 0.5, 1.0, -1.0)

    def coef(seed):
        generator = np.random.default_rng(seed)
        return dual_coordinate_descent(X, sign, np.full(50, 0.1), tol=1e-8, rng=generator)

    np.testing.assert_array_equal(coef(3).coef, coef(3).coef)
    assert not np.array_equal(coef(3).coef, coef(4).coef)
    np.testing.assert_allclose(coef(3).w, coef(4).w, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_part_is_bounded_and_parts_change_no_more_than_the_order(monkeypatch, loss):
    """Few coefficients are visited between two checks for Ctrl-C, however narrow their rows are."""
    X, sign, cost = made(5, (300, 2), 0.5, 1.0, 0.3, False, False, 1.0, False)
    options = {"loss": loss, "tol": 1e-6}
    whole = dual_coordinate_descent(X, sign, cost, **options)
    iterate, changed = dcd._iterate, []

    def counted(rows, problem, state, *args):
        before = state[0].copy()
        found = iterate(rows, problem, state, *args)
        changed.append(np.count_nonzero(state[0] != before))
        return found

    monkeypatch.setattr(dcd, "_iterate", counted)
    monkeypatch.setattr(dcd, "PART", 70 * (dcd._VISIT + 2))
    assert dcd.visits(2) == 70
    found = dual_coordinate_descent(X, sign, cost, **options)
    assert max(changed) <= 70
    assert len(changed) >= 10
    assert found.converged
    # Passes in parts are passes; one loop over 300 is 5 parts.
    assert found.n_iter < 3 * whole.n_iter + 10
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)


def test_a_visit_costs_more_than_its_products():
    """Rows of one entry: their number counts, or a part would last for seconds."""
    assert dcd.visits(1) * (1 + dcd._VISIT) <= dcd.PART
    assert dcd.visits(1) < 3e6
    assert dcd.visits(10**9) == 1


@each("exponent", [-490, -66, 66, 490])
@each("loss", LOSSES)
def test_the_unit_of_the_features_changes_no_bit(exponent, loss):
    X, sign, cost = made(0, (100, 4), 0.5, 1.0, 0.5, False, False, 1.0, False)
    s = 2.0**exponent
    base = dual_coordinate_descent(X, sign, cost, loss=loss)
    found = dual_coordinate_descent(s * X, sign, cost / s / s, loss=loss)
    np.testing.assert_array_equal(found.coef * s * s, base.coef)
    assert found.n_iter == base.n_iter
