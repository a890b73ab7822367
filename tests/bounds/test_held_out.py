"""Bounds from held-out losses: exact values, coverage, and how close they come."""

import numpy as np
import pytest
from scipy.stats import binom

from alignlearn.bounds.held_out import (
    betting_upper,
    binomial_upper,
    empirical_bernstein_upper,
)

LAWS = {
    "fair coin": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "one in twenty": lambda rng, shape: (rng.random(shape) < 0.05).astype(float),
    "uniform": lambda rng, shape: rng.random(shape),
    "squared normal": lambda rng, shape: np.minimum(rng.normal(0, 0.3, shape) ** 2, 1.0),
}
MEANS = {"fair coin": 0.5, "one in twenty": 0.05, "uniform": 0.5, "squared normal": 0.0896}


def test_the_coverage_of_the_binomial_bound_is_exact():
    """For each p, the probability of a count whose bound is below p: near delta at worst."""
    m, delta = 60, 0.1
    upper = np.array([binomial_upper(k, m, delta) for k in range(m + 1)])
    p = np.linspace(0.005, 0.995, 397)
    missed = [(binom.pmf(np.arange(m + 1), m, q) * (upper < q)).sum() for q in p]
    assert max(missed) <= delta
    assert max(missed) > 0.95 * delta
    # A bound 5% smaller fails too often.
    assert max((binom.pmf(np.arange(m + 1), m, q) * (0.95 * upper < q)).sum() for q in p) > delta


@pytest.mark.parametrize("name", LAWS)
def test_coverage(name):
    """400 samples of 60 losses at delta = 0.2: the share of misses, within 3 standard errors."""
    rng = np.random.default_rng(3)
    rows, mean, delta = LAWS[name](rng, (400, 60)), MEANS[name], 0.2
    allowed = delta + 3 * np.sqrt(delta * (1 - delta) / len(rows))
    bets = np.array([betting_upper(row, 1.0, delta) for row in rows])
    bernstein = np.array([empirical_bernstein_upper(row, 1.0, delta) for row in rows])
    assert np.mean(bets < mean) <= allowed
    assert np.mean(bernstein < mean) <= allowed
    # Half of the term that betting adds to the mean is too small; the bound by the variance has
    # slack.
    assert np.mean((rows.mean(1) + bets) / 2 < mean) > delta / 2
    assert bets.mean() < bernstein.mean()


def test_units_and_seeds():
    losses = np.random.default_rng(0).random(50)
    found = betting_upper(losses, 1.0, 0.05)
    assert betting_upper(9 * losses, 9.0, 0.05) == pytest.approx(9 * found)
    assert betting_upper(losses, 1.0, 0.05) == found
    assert betting_upper(losses, 1.0, 0.05, random_state=1) == pytest.approx(found, rel=0.02)
    assert betting_upper([0.3], 1.0, 0.05) <= 1.0
