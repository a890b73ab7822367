"""Intervals for two classes and real targets: each event, coverage, sizes, errors."""

import numpy as np
import pytest
from alignlearn.theory import HypothesisNotMet
from alignlearn.theory.bounds.intervals import alignment_interval_of_grams
from alignlearn.theory.bounds.u_statistics import u_statistic_interval
from alignlearn.theory.reference.problems import GaussianMixture
from cases import each
from refusals import raises

from alignlearn.bounds import class_betting, class_intervals
from alignlearn.bounds.class_intervals import FeatureRange

UNIT = FeatureRange(1.0, non_negative=True)
MIXTURE = GaussianMixture(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]))


def mixture(m, seed, bandwidth=1.0):
    X, y = MIXTURE.sample(m, seed)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * bandwidth**2)), y


def both(K, y, seed=0):
    """The closed form and betting."""
    statistics = class_intervals.class_statistics(K, y)
    closed = class_intervals.class_interval_from(*statistics[:2], 0.05, *statistics[2:], UNIT)
    return closed, class_betting.class_betting_interval(K, y, 0.05, UNIT, seed)


def test_statistics_are_those_of_explicit_features():
    rng = np.random.default_rng(0)
    F, y = rng.standard_normal((9, 3)), np.array(list("aababbbab"))
    m_plus, m_minus, distance, norm = class_intervals.class_statistics(F @ F.T, y)
    assert (m_plus, m_minus) == (5, 4)
    assert distance == pytest.approx(np.linalg.norm(F[y == "b"].mean(0) - F[y == "a"].mean(0)))
    assert norm == pytest.approx(np.linalg.norm(np.cov(F.T, bias=True)))
    t = rng.standard_normal(9)
    covariance, again, variance = class_intervals.target_statistics(F @ F.T, t)
    assert covariance == pytest.approx(np.linalg.norm((t - t.mean()) @ F) / 9)
    assert (again, variance) == (pytest.approx(norm), pytest.approx(t.var()))


def test_projections_are_those_of_explicit_features():
    rng = np.random.default_rng(5)
    F = rng.standard_normal((13, 4))
    positive = np.arange(13) < 4
    order, coefficients, size = class_betting.class_blocks(positive, rng)
    assert size == 3
    d = (coefficients[..., None] * F[order]).reshape(len(order), 4, size, 4).sum(2)
    expected = np.zeros((len(order), 4))
    for i in range(1, 4):
        w = d[:, :i].sum(1)
        expected[:, i] = ((w / np.linalg.norm(w, axis=1)[:, None]) * d[:, i]).sum(1)
    found = np.zeros((len(order), 4))
    class_betting.projections(F @ F.T, order, coefficients, size, found)
    assert found == pytest.approx(expected)
    products = class_betting.neighbor_products(F @ F.T, order, coefficients, size)
    assert products == pytest.approx((d[:, ::2] * d[:, 1::2]).sum(2))
    for row in order.reshape(len(order), 4, size):
        assert sorted(row[:, 0]) == [0, 1, 2, 3]
        assert len(np.unique(row[:, 1:])) == 8
        assert row[:, 1:].min() >= 4


def test_betting_is_shorter_than_the_closed_form_and_below_a_third_at_1000():
    closed, found = both(*mixture(1000, 0))
    rho = MIXTURE.gaussian_moments(1.0).alignment
    assert closed.low < found.low < rho < found.high < closed.high
    assert found.high - found.low < 0.3
    # Lower ends are positive from 130 samples on, and from 70 by betting; orders hardly matter.
    assert np.mean([both(*mixture(130, seed))[0].low > 0 for seed in range(9)]) > 0.5
    assert np.mean([both(*mixture(70, seed))[1].low > 0 for seed in range(9)]) > 0.5
    first, again, other = (both(*mixture(200, 3), seed)[1] for seed in (0, 0, 1))
    assert first == again
    assert first.low == pytest.approx(other.low, abs=0.02)


def test_units_of_the_kernel_do_not_matter():
    K, y = mixture(200, 4)
    scaled = FeatureRange(7.0, non_negative=True)
    found = class_betting.class_betting_interval(7 * K, y, 0.05, scaled)
    assert found[:2] == pytest.approx(both(K, y)[1][:2], abs=1e-7)
    m_plus, m_minus, distance, norm = class_intervals.class_statistics(7 * K, y)
    closed = class_intervals.class_interval_from(m_plus, m_minus, 0.05, distance, norm, scaled)
    assert closed[:2] == pytest.approx(both(K, y)[0][:2])
    half = class_betting.target_betting_interval(K, y / 2, (-0.5, 0.5), 0.05, UNIT)
    full = class_betting.target_betting_interval(K, y, (-1, 1), 0.05, UNIT)
    assert half[:2] == pytest.approx(full[:2], abs=1e-7)


@each("m", [2, 3, 4, 5])
def test_few_samples_give_an_interval_that_says_nothing(m):
    y = np.arange(m) % 2
    closed, found = both(np.eye(m), y)
    assert closed.vacuous
    assert found.vacuous


def _beyond(size):
    """A diagonal of 0.005, and one entry of the given size."""
    K = 0.005 * np.eye(5)
    K[0, 1] = K[1, 0] = size
    return K


def test_entries_beyond_the_radius_and_indefinite_matrices_are_refused():
    """The diagonal alone used to decide: 0.005 with entries of 7 gave [0.491, 0.634]."""
    y, small = np.array([1, 1, 0, 0, 0]), FeatureRange(0.01)
    for interval, given in (
        (class_betting.class_betting_interval, (y, 0.05, small)),
        (class_betting.target_betting_interval, (1.0 * y, (-9, 9), 0.05, small)),
        (alignment_interval_of_grams, (np.outer(y, y), 0.05, 0.01, 81.0)),
        (u_statistic_interval, (np.outer(y, y), 0.05, 0.01, 81.0)),
    ):
        interval(_beyond(0.004), *given)
        raises(HypothesisNotMet, r"an entry of size 7\.0 exceeds R", interval, _beyond(7.0), *given)
        raises(HypothesisNotMet, "not positive semi-definite", interval, _beyond(0.006), *given)
