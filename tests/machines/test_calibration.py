"""Calibrators of decisions against scikit-learn's, and against their own optimality conditions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import generators

from alignlearn.machines import calibration
from alignlearn.machines.calibration import (
    fit_calibration,
    fit_isotonic,
    fit_label_calibration,
    fit_sigmoid,
)
from alignlearn.validation import ConvergenceWarning


def decisions(n, scale, seed=0, decimals=8):
    rng = np.random.default_rng(seed)
    f = np.round(rng.normal(size=n), decimals) * scale
    return f, rng.random(n) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * f / scale)), rng.exponential(size=n)


@given(generators(), st.integers(1, 40), st.sampled_from([1e-8, 1.0, 1e8]))
def test_a_sigmoid_is_a_stationary_point_of_the_smoothed_likelihood(rng, n, scale):
    """Gradient 0 for any decisions, classes and weights; the loss is convex."""
    f, positive = scale * rng.integers(-3, 4, n), rng.random(n) < rng.random()
    weight = rng.exponential(size=n) + 1e-3
    found = fit_sigmoid(f, positive, weight)
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
    slack = weight * (found(f) - target) / weight.sum()
    assert abs(slack.sum()) < 1e-9
    assert abs(slack @ f) < 1e-8 * scale
    assert found.gradient <= 1e-10
    assert found.n_iter < 30
    # Weights count repetitions.
    twice = fit_sigmoid(np.repeat(f, 2), np.repeat(positive, 2), np.ones(2 * n))
    double = fit_sigmoid(f, positive, np.full(n, 2.0))
    np.testing.assert_allclose(twice(f), double(f), atol=1e-7)


@given(generators(), st.integers(1, 30))
def test_isotonic_is_the_projection_on_non_decreasing_functions(rng, n):
    """Non-decreasing, and the residual's cumulative sums certify the least squares (KKT)."""
    f, positive, weight = rng.integers(0, 8, n), rng.random(n) < 0.5, rng.exponential(size=n)
    found = fit_isotonic(f, positive, weight)
    order = np.argsort(f, kind="stable")
    fitted = found(f)[order]
    assert np.all(np.diff(fitted) >= 0.0)
    slack = np.cumsum((weight * (positive - found(f)))[order])
    last = np.append(np.diff(f[order]) > 0, True)  # ends of ties
    assert np.all(slack[last] > -1e-12)
    assert abs(slack[-1]) < 1e-12
    jump = last & (np.append(np.diff(fitted), 1.0) > 1e-12)
    np.testing.assert_allclose(slack[jump], 0.0, atol=1e-12)


def test_probabilities_of_several_classes():
    rng = np.random.default_rng(1)
    codes, F = rng.integers(0, 3, 60), rng.normal(size=(60, 3))
    F[np.arange(60), codes] += 1.0
    for method in calibration.METHODS:
        p = fit_calibration(method, F, codes, 3).probabilities(F)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        assert p.min() >= 0.0
        assert np.mean(p.argmax(axis=1) == codes) > 0.6
    # All calibrators return equal probabilities.
    nothing = calibration.Calibration((calibration.Isotonic(np.zeros(1), np.zeros(1)),) * 3)
    np.testing.assert_allclose(nothing.probabilities(F), 1 / 3)


def test_degenerate_decisions():
    equal = fit_sigmoid(np.zeros(4), np.array([True, False, False, False]), np.ones(4))
    assert equal.slope == 0.0
    assert equal(0.0) == pytest.approx((2 / 3 + 3 * 1 / 5) / 4)
    one = fit_sigmoid(np.arange(3.0), np.ones(3, dtype=bool), np.ones(3))
    np.testing.assert_allclose(one(np.arange(3.0)), 4 / 5)
    apart = fit_isotonic(np.arange(4.0), np.arange(4) > 1, np.ones(4))
    np.testing.assert_array_equal(apart(np.array([-9.0, 1.0, 1.5, 9.0])), [0.0, 0.0, 0.5, 1.0])


def test_newton_steps_that_overshoot_are_halved():
    rng = np.random.default_rng(8)  # one decision is far from the others
    n = rng.integers(3, 30)
    f, positive = rng.standard_cauchy(n), rng.random(n) < rng.random()
    found = fit_sigmoid(f, positive, rng.exponential(size=n) ** 3 + 1e-6)
    assert found.gradient <= 1e-10


def test_a_temperature_of_labels_is_that_of_the_difference_of_two_classes():
    f, y, weight = decisions(60, 1.0)
    labels = fit_label_calibration("temperature", f[:, None], y[:, None].astype(int), weight)
    pair = fit_calibration("temperature", np.c_[np.zeros(60), f], y.astype(int), 2, weight)
    (own,), (other,) = labels.calibrators, pair.calibrators
    assert own.slope == pytest.approx(other.slope, rel=1e-9)
    np.testing.assert_allclose(labels.probabilities(f[:, None])[:, 0], own(f))


def test_a_sigmoid_that_stops_short_says_so(monkeypatch):
    monkeypatch.setattr(calibration, "_MAX_STEPS", 1)
    f, positive, weight = decisions(50, 1.0)
    with pytest.warns(ConvergenceWarning, match="gradient"):
        found = fit_sigmoid(f, positive, weight)
    assert found.gradient > 1e-10
