"""A model with a bound from its own sample: the parts by hand, coverage, rejected input."""

import math

import numpy as np
import pytest
from cases import each
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
    """The minimum over a = 4, 8, 16, t = 1, 1.5 and the list of c of p/Phi(t)."""
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
    assert found[1:4] == pytest.approx(best[1], rel=1e-9)
    assert found.value < 0.6
    assert (own_sample.SHIFTS, own_sample.LEVELS) == ((4.0, 8.0, 16.0), (1.0, 1.5))


def test_the_machine_is_ridge_regression_on_components():
    K, y = sample(60, 0)
    n = 24
    first = np.arange(n)
    found = own_sample.own_sample_machine(K[:, :n], y, 0.1, first=first)
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
    assert found.bound[:4] == pytest.approx(expected[:4], rel=1e-9)
    assert found.bound.not_met  # the first rows may be sorted


def test_the_first_part_is_two_fifths_at_random():
    for m, size in ((3, 2), (4, 2), (10, 4), (200, 80)):
        assert len(set(own_sample.random_part(m).tolist()) & set(range(m))) == size
    assert not np.array_equal(np.sort(own_sample.random_part(200)), np.arange(80))
    np.testing.assert_array_equal(own_sample.random_part(50), own_sample.random_part(50, 0))


def test_samples_sorted_by_class_do_not_make_it_false():
    """Labels that are noise, with unequal classes: the first part is drawn, or given.

    With rows sorted by label, the first part would have one class only.
    """
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(1200) < 0.7, 1.0, -1.0)
        X = rng.normal(size=(1200, 3))
        order = np.r_[np.argsort(-y[:200], kind="stable"), np.arange(200, 1200)]
        X, y = X[order], y[order]
        K = np.exp(-((X[:, None] - X[None, :200]) ** 2).sum(-1) / 6)
        found = own_sample.own_sample_machine(K[:200], y[:200])
        risk = np.mean(y[200:] * (K[200:, found.first] @ found.coef + found.intercept) <= 0)
        assert found.bound.value > risk
        assert found.not_met == ()
        assert "drawn at random" in found.hypotheses[1]
        in_order = own_sample.own_sample_machine(K[:200, :80], y[:200], first=np.arange(80))
        assert "may be sorted" in in_order.not_met[0]


def test_units_of_the_kernel_do_not_matter():
    K, y = sample(60, 1)
    found, scaled = (own_sample.own_sample_machine(s * K, y) for s in (1.0, 1e3))
    assert scaled.bound[:4] == pytest.approx(found.bound[:4], rel=1e-9)
    np.testing.assert_allclose(1e3 * scaled.coef, found.coef, rtol=1e-6)


@each(
    ("change", "message"),
    [
        ({"y": np.r_[np.ones(29), 2.0]}, "must hold"),
        ({"y": np.ones(29)}, "accepted"),
        ({"first": None}, r"accepted: \(30, 30\), or"),
        ({"K": np.ones((30, 11))}, "accepted: 10, one for each sample in first"),
        ({"K": np.ones((30, 10))}, "constant"),
        ({"K": np.full((30, 10), np.nan)}, "NaN"),
        ({"K": np.ones((30, 23)), "first": np.arange(23)}, "first part >= 8"),
        ({"first": np.r_[0, np.arange(9)]}, "different sample numbers"),
        ({"first": np.arange(10) + 21}, "0 to 29"),
        ({"delta": 0.0}, "0 < delta < 1"),
    ],
)
def test_refusals(change, message):
    K, y = sample(30, 0)
    given = {"K": K[:, :10], "y": y, "delta": 0.05, "first": np.arange(10)} | change
    with pytest.raises(ValueError, match=message):
        own_sample.own_sample_machine(**given)
    with pytest.raises(HypothesisNotMet, match=r"\[-1, 1\]"):
        own_sample.prior_bound(np.full(9, 1.1), 0.5, 0.05)
