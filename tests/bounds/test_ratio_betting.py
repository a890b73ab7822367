"""Betting on the ratio: the parts of a bet, the minimal product over a ball, coverage, lengths."""

import numpy as np
import pytest
from alignlearn.theory.reference.class_laws import class_laws
from cases import each

from alignlearn.bounds import class_betting, ratio_betting
from alignlearn.bounds.class_intervals import FeatureRange

UNIT = FeatureRange(1.0, non_negative=True)


def test_pairs_are_those_of_explicit_features():
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(26, 3)) / 3, rng.uniform(-1, 1, 26)
    found = ratio_betting.pairs_of(F @ F.T, y, 3.0, 2.0)
    d, dy = F[::2] - F[1::2], y[::2] - y[1::2]
    C = [np.outer(a, a) / 2 for a in d]
    c = d * dy[:, None] / 2
    np.testing.assert_allclose(found.products, np.tensordot(C, C, ([1, 2], [1, 2])))
    np.testing.assert_allclose(found.cross, c @ c.T)
    np.testing.assert_allclose(found.squares, dy**2 / 2)
    for i in range(2, 13):
        G, z = F[: 2 * i] - F[: 2 * i].mean(0), y[: 2 * i] - y[: 2 * i].mean()
        W = G.T @ G
        assert found.norm[i] == pytest.approx((W * C[i]).sum() / np.linalg.norm(W))
        T, K = G.T @ z, F[: 2 * i] @ F[: 2 * i].T
        total = z**2 @ np.diagonal(K) - K.sum() / (2 * i) * (z @ z) / (2 * i)
        shrunk = np.clip(1 - total / (T @ T), 0, 1)
        v = shrunk * T / (z @ z)
        v *= min(1, 2.0 / max(np.linalg.norm(v), 1e-12))
        expected = 2 * v @ c[i] - v @ v * dy[i] ** 2 / 2
        assert found.gain[i] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-5, 1e-4, 1e-3, 1.0])
def test_the_norm_of_the_weight_is_at_most_one_whatever_was_rounded(scale):
    """Points that are close together, with outliers, so that all kernel values are near 1.

    <W, C_i> of the pairs is compared with <S, C_i>/|S| from differences that keep their digits.
    """
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = scale * rng.normal(size=(60, 2))
        X[rng.choice(60, 3, replace=False)] += rng.choice([0.0, 1.0])
        E = np.expm1(-((X[:, None] - X[None]) ** 2).sum(-1))
        found = ratio_betting.pairs_of(1.0 + E, rng.choice([-1.0, 1.0], 60), 3.0, 2.0)
        for i in range(1, 30):
            before = E[: 2 * i, : 2 * i] - E[: 2 * i, : 2 * i].mean(0)
            before = before - before.mean(1, keepdims=True)
            along = E[2 * i, : 2 * i] - E[2 * i + 1, : 2 * i]
            one = np.square(along - along.mean()).sum() / 2 / np.linalg.norm(before)
            assert found.norm[i] <= one * (1 + 1e-5) + 1e-18
        assert (found.norm <= np.sqrt(np.diagonal(found.products))).all()


def test_bets_come_from_the_past_and_leave_every_factor_positive():
    """A pair changes nothing that is fixed before it, least of all its own bet."""
    rng = np.random.default_rng(1)
    F, y = rng.normal(size=(40, 3)), np.sign(rng.normal(size=40))
    F /= np.linalg.norm(F, axis=1)[:, None]
    other = F.copy()
    other[20:22] *= -1.0
    first, second = (ratio_betting.pairs_of(G @ G.T, y, 0.4, 2.0) for G in (F, other))
    for name in ("below", "above"):
        assert np.array_equal(getattr(first, name)[:11], getattr(second, name)[:11])
        assert not np.array_equal(getattr(first, name)[11:], getattr(second, name)[11:])
    largest = np.sqrt(np.diagonal(first.products))
    assert (1 + first.below * (first.gain - first.most * largest)).min() >= 0.05 - 1e-9
    assert (first.above * np.sqrt(np.diagonal(first.cross))).max() <= 0.95


def test_bets_by_their_definition():
    """Mean squares of the gains, and the largest loss that one pair can cause."""
    rng = np.random.default_rng(3)
    F, y = rng.normal(size=(60, 2)), rng.uniform(-1, 1, 60)
    F[:, 0] += 2 * y
    F /= np.linalg.norm(F, axis=1).max()
    small, large = (ratio_betting.pairs_of(F @ F.T, y, level, 2.0) for level in (1e-3, 1e6))
    gain, norm, V = small.gain, small.norm, small.squares
    won_below, won_above, squares_below, squares_above = 0.0, 0.0, 0.0, 0.0
    most = 1.0
    for i in range(30):
        share = (2 + V[:i].sum()) / (4 + i)
        for found, prior, squares in (
            (small.below, 0.1 * share, squares_below),
            (small.above, 0.3 * share, squares_above),
        ):
            s = (10 * prior + squares) / (10 + i)
            assert found[i] == pytest.approx(np.sqrt(2e-3 / (30 * s)))
        G, z = F[: 2 * i] - F[: 2 * i].mean(0) if i else F[:0], y[: 2 * i]
        T = G.T @ (z - z.mean()) if i else np.zeros(2)
        guess = 1.0 if i < 10 else float(np.clip(gain[:i].sum() / norm[:i].sum(), 0, 1))
        reach = min(1.0, guess + 1.5 / np.sqrt(i + 1))
        most = min(most, reach)
        if i:
            spread = ((z - z.mean()) ** 2).sum()
            c = (F[2 * i] - F[2 * i + 1]) * (y[2 * i] - y[2 * i + 1]) / 2
            # gain = 2 f <T, c> - f^2 |T|^2 V for the factor f of the shrunk regression.
            roots = np.roots([(T @ T) * V[i], -2 * (T @ c), gain[i]]).real
            near = [f for f in roots if -1e-9 <= f * spread <= 1 + 1e-9]
            candidates = [2 * 2.0 * f * np.linalg.norm(T) + 2 * f * f * (T @ T) for f in near]
            costs = [v + reach * 2.0 for v in candidates]
            assert any(large.below[i] == pytest.approx(0.95 / cost, rel=1e-6) for cost in costs)
            scatter = np.linalg.norm(G.T @ G)
            drift = np.linalg.norm(T) / 2 * (V[i] / spread + norm[i] / scatter)
            won_above = drift - T @ c / np.linalg.norm(T)
        else:
            assert large.below[0] == pytest.approx(0.95 / 2.0)
        won_below = gain[i] - 0.8 * guess * norm[i]
        squares_below += won_below**2
        squares_above += won_above**2
        assert large.above[i] == pytest.approx(0.95 / 2.0)
    assert small.most == pytest.approx(most)
    spread, scatter = ((y[:58] - y[:58].mean()) ** 2).sum(), np.cov(F[:58].T, bias=True) * 58
    expected = np.log(np.linalg.norm(scatter) / spread) / 2
    assert small.center == pytest.approx(expected)


@each("radius", [0.3, 1.0])
@each("scale", [0.05, 0.5])
def test_no_direction_has_a_smaller_product_and_the_bound_is_near(radius, scale):
    rng = np.random.default_rng(2)
    c = rng.normal(size=(30, 2)) + np.array([1.0, 0.5])
    c /= np.linalg.norm(c, axis=1).max()
    bets, gains = scale * rng.uniform(0.5, 1, 30), rng.uniform(0, 0.3, 30)
    angles = np.linspace(0, 2 * np.pi, 2001)
    P = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    least = np.log1p(gains - bets * (P @ c.T)).sum(1).min()
    x, inner = ratio_betting.stationary_point(c @ c.T, bets, gains, radius)
    assert np.log1p(x).sum() == pytest.approx(least, abs=1e-4)
    np.testing.assert_allclose(x, gains - bets * inner)
    fall = bets * (radius * np.linalg.norm(c, axis=1) - inner)
    curves = [
        ratio_betting.curve_of(c @ c.T, bets, b)
        for b in (ratio_betting.bend(gains, fall + bets * inner), ratio_betting.bend(x, fall))
    ]
    found = ratio_betting.least_log_product(c @ c.T, bets, gains, radius, curves)
    assert least - 0.02 < found <= least
    one = ratio_betting.least_log_product(c @ c.T, bets, gains, radius, curves[:1])
    assert one <= found
    assert one == pytest.approx(least, abs=0.05 if scale < 0.1 else 3)
    # Other curvatures give the same result: they are scaled until they suffice.
    flat = [ratio_betting.curve_of(c @ c.T, bets, 0.01 * curve.bends) for curve in curves]
    again = ratio_betting.least_log_product(c @ c.T, bets, gains, radius, flat)
    assert again == pytest.approx(found, abs=1e-6)


def test_the_bend_of_the_logarithm():
    """-0.5 from 0: (0.5 - log 2)/0.25; and no smaller number is valid."""
    found = float(ratio_betting.bend(0.0, 0.5))
    assert found == pytest.approx((np.log(2) - 0.5) / 0.25)
    z, x = np.linspace(-0.69, 3, 500), 0.4
    b = float(ratio_betting.bend(x, 1.09))

    def gap(b):
        return np.log1p(z) - np.log1p(x) - (z - x) / (1 + x) + b * (z - x) ** 2

    assert gap(b).min() > -1e-12 > gap(0.99 * b).min()
    assert float(ratio_betting.bend(0.0, 0.0)) == pytest.approx(0.5, abs=1e-4)


def test_it_is_shorter_than_the_bets_on_the_parts_and_has_no_units():
    (normals,) = (law for law in class_laws() if law.name == "two normals at distance 2")
    rows = normals.law.sample(400, 0)
    K, y = normals.K[np.ix_(rows, rows)], normals.law.labels[rows]
    found = ratio_betting.ratio_interval(K, y, (-1, 1), 0.05, UNIT)
    parts = class_betting.class_betting_interval(K, y, 0.05, UNIT)
    assert found.high - found.low < 0.9 * (parts.high - parts.low)
    assert 0 < found.low < 0.431 < found.high < 0.7
    scaled = FeatureRange(7.0, non_negative=True)
    again = ratio_betting.ratio_interval(7 * K, 3 * y + 5, (2, 8), 0.05, scaled)
    assert again[:2] == pytest.approx(found[:2], abs=1e-6)


@each("m", [2, 3, 4, 5])
def test_few_samples_say_nothing(m):
    y = np.arange(m) % 2 * 2.0 - 1
    assert ratio_betting.ratio_interval(np.eye(m), y, (-1, 1)).vacuous
    assert ratio_betting.ratio_interval(np.ones((m, m)), y, (-1, 1)).vacuous


def test_the_mean_over_orders_counts_those_without_a_bet():
    logs = [np.log(2.0), np.log(6.0)]
    assert ratio_betting._log_mean(logs, 4) == pytest.approx(np.log(2.0))
    assert ratio_betting._log_mean([], 4) == -np.inf


def test_curves_of_another_point_do_not_break_the_bound():
    c = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, -0.8]])
    bets, gains, angles = np.full(3, 0.6), np.zeros(3), np.linspace(0.0, 2.0 * np.pi, 1000)
    bends = ratio_betting.bend(gains, bets) * np.array([1.0, 1e-4, 1e-4])
    curve = ratio_betting.curve_of(c @ c.T, bets, bends)
    found = ratio_betting.least_log_product(c @ c.T, bets, gains, 1.0, (curve,))
    on_the_sphere = c @ np.array([np.cos(angles), np.sin(angles)])
    assert found <= np.log1p(-bets[:, None] * on_the_sphere).sum(axis=0).min()


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_the_norm_in_one_dimension_is_the_largest_that_is_possible(scale):
    """All C_i are multiples of one operator there, so <W, C_i> = |C_i|, where the clip lies."""
    x = scale * np.random.default_rng(4).normal(size=40) / 4
    found = ratio_betting.pairs_of(np.multiply.outer(x, x), np.sign(x), 3.0, 2.0)
    largest = np.sqrt(np.diagonal(found.products))
    assert found.norm[0] == 0.0
    assert (found.norm <= largest).all()
    np.testing.assert_allclose(found.norm[1:], largest[1:], rtol=1e-9)


def test_the_norm_of_pairs_along_a_new_direction_is_zero():
    """Differences orthogonal to all samples before have <W, C_i> = 0, never less by rounding."""
    F = np.vstack([np.tile([[1.0, 0.0], [0.3, 0.0]], (9, 1)), [[0.7, 0.1], [0.7, -0.3]]])
    found = ratio_betting.pairs_of(F @ F.T, np.tile([1.0, -1.0], 10), 3.0, 2.0)
    assert 0.0 <= found.norm[9] < 1e-15 < found.norm[8]
