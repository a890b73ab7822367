"""A machine with a bound from its own sample: its parts by hand, coverage, refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from alignlearn.bounds import own_sample
from alignlearn.bounds.checks import HypothesisNotMet


def sample(m, seed, distance=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(m, 3)) + distance * y[:, None]
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 6), y


def kl(q, p):
    return q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))


def test_the_bound_by_hand():
    """The least over a = 4, 8, 16, t = 1, 1.5 and the list of c of p/Phi(t)."""
    cosines = np.array([0.5, 0.4, 0.6, -0.1, 0.3, 0.7, 0.2, 0.45, 0.5, 0.6] * 6)
    found = own_sample.prior_bound(cosines, 0.9, 0.1)
    cost = math.log(2 * math.sqrt(60) * 6 / 0.1)
    best = 1.0, None
    for c in np.geomspace(0.5, 256, 37):
        for a in (4, 8, 16):
            right = ((c * c + a * a - 1.8 * a * c) / 2 + cost) / 60
            for t in (1.0, 1.5):
                q = norm.cdf(t - c * cosines).mean()
                if q < 0.9 and kl(q, 1 - 1e-12) > right:
                    p = brentq(lambda p, q=q, r=right: kl(q, p) - r, q, 1 - 1e-12)
                    best = min(best, (p / norm.cdf(t), (q, right, c)), key=lambda b: b[0])
    assert found.value == pytest.approx(best[0], rel=1e-9)
    assert found[1:] == pytest.approx(best[1], rel=1e-9)
    assert found.value < 0.6
    assert (own_sample.SHIFTS, own_sample.LEVELS) == ((4.0, 8.0, 16.0), (1.0, 1.5))


def test_more_agreement_and_larger_margins_give_less():
    cosines = np.full(50, 0.5)
    values = [own_sample.prior_bound(cosines, g, 0.05).value for g in (1.0, 0.9, 0.5)]
    assert values == sorted(values)
    assert own_sample.prior_bound(cosines / 2, 1.0, 0.05).value > values[0]
    assert own_sample.prior_bound(-cosines, 1.0, 0.05) == (1.0, 1.0, 0.0, 0.0)
    assert own_sample.prior_bound(cosines, 1.0, 0.01).value > values[0]


def test_the_machine_is_ridge_regression_on_components():
    K, y = sample(60, 0)
    n = 24
    found = own_sample.own_sample_machine(K[:, :n], y, 0.1)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(H @ K[:n, :n] @ H)
    values, vectors = values[::-1][:6], vectors[:, ::-1][:, :6]
    Z = (K[:, :n] - K[:n, :n].mean(1)) @ H @ vectors / values**0.75
    constant = math.sqrt(0.2 * (Z[:n] ** 2).sum() / n)
    Z = np.column_stack([Z, np.full(60, constant)])
    Z /= math.sqrt((Z[:n] ** 2).sum() / n)

    def ridge(Z, y):
        return np.linalg.solve(Z.T @ Z + 0.5 / 6 * n * np.eye(7), Z.T @ y)

    h, h_1 = ridge(Z, y), ridge(Z[:n], y[:n])
    np.testing.assert_allclose(K[:, :n] @ found.coef + found.intercept, Z @ h, atol=1e-9)
    cosines = y * (Z @ h) / np.linalg.norm(Z, axis=1) / np.linalg.norm(h)
    agreement = h @ h_1 / np.linalg.norm(h) / np.linalg.norm(h_1)
    expected = own_sample.prior_bound(cosines[n:], agreement, 0.1)
    assert found.bound == pytest.approx(expected, rel=1e-9)


def test_the_bound_holds_and_says_something():
    """Errors on new samples, of machines of 120; and of labels that say nothing."""
    for seed in range(8):
        K, y = sample(1120, seed)
        found = own_sample.own_sample_machine(K[:120, :48], y[:120])
        risk = np.mean(y[120:] * (K[120:, :48] @ found.coef + found.intercept) <= 0)
        assert risk < found.bound.value < 0.5
        noise = np.random.default_rng(seed).permutation(y[:120])
        assert own_sample.own_sample_machine(K[:120, :48], noise).bound.value > 0.5


def test_units_of_the_kernel_do_not_matter():
    K, y = sample(60, 1)
    found, scaled = (own_sample.own_sample_machine(s * K[:, :24], y) for s in (1.0, 1e3))
    assert scaled.bound == pytest.approx(found.bound, rel=1e-9)
    np.testing.assert_allclose(1e3 * scaled.coef, found.coef, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.r_[np.ones(29), 2.0]}, "must hold"),
        ({"y": np.ones(29)}, "accepted"),
        ({"K": np.ones((30, 30))}, "first < m"),
        ({"K": np.ones((30, 10))}, "constant"),
        ({"K": np.full((30, 10), np.nan)}, "NaN"),
        ({"K": np.ones((30, 23))}, "first part >= 8"),
        ({"delta": 0.0}, "0 < delta < 1"),
    ],
)
def test_refusals(change, message):
    K, y = sample(30, 0)
    given = {"K": K[:, :10], "y": y, "delta": 0.05} | change
    with pytest.raises(ValueError, match=message):
        own_sample.own_sample_machine(**given)
    with pytest.raises(HypothesisNotMet, match=r"\[-1, 1\]"):
        own_sample.prior_bound(np.full(9, 1.1), 0.5, 0.05)
