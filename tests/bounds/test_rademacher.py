"""Bounds on the complexity of learned combinations, and on the risk of learned models."""

import numpy as np
import pytest
from alignlearn.theory.reference.multitask import all_signs
from alignlearn.theory.reference.problems import gaussian_kernel
from cases import each
from refusals import raises

from alignlearn.bounds import learned, rademacher
from alignlearn.bounds.rademacher import quadratic_forms


def grams(seed, m=8, p=4):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((p, m, m)) * rng.uniform(0.1, 2, (p, 1, m))
    F[0, :, 1:] = 0.0
    F[-1] = np.eye(m)
    return F @ F.transpose(0, 2, 1)


# -- complexity ------------------------------------------------------------------------


@each("q", [1.0, 1.2, 1.5, 2.0, 4.0, np.inf])
@each("seed", range(6))
def test_every_bound_is_one(seed, q):
    K = grams(seed)
    forms = quadratic_forms(K, all_signs(8))
    exact = 3.0 * np.sqrt(rademacher.dual_norm(forms, q)).mean() / 8
    bounds = rademacher.class_bounds(rademacher.gram_sizes(K), 3.0, q)
    assert ("cortes-2010-diagonal" in bounds) == (q == 1)
    assert all(exact <= value * (1 + 1e-12) for value in bounds.values())
    # Nearly orthogonal kernels have the largest complexity, and no larger one is possible.
    assert bounds["ours"] < 2.5 * exact
    none = rademacher.class_bounds(rademacher.gram_sizes(np.zeros((2, 4, 4))))
    assert set(none.values()) == {0.0}


@each("seed", range(5))
def test_moments_of_signs_are_below_those_of_normal_numbers(seed):
    (K,) = grams(seed, p=2)[:1] if seed % 2 else [grams(seed, p=3)[1]]
    values, trace = quadratic_forms(K[None], all_signs(8))[:, 0], np.trace(K)
    top = np.linalg.eigvalsh(K)[-1]
    moments = rademacher.gaussian_moments(trace, (K**2).sum(), top, 8)
    signs = [(values**r).mean() / trace**r for r in range(1, 9)]
    assert (np.array(signs) <= moments * (1 + 1e-12)).all()
    assert signs[0] == pytest.approx(moments[0])


# -- risk ------------------------------------------------------------------------------


class Law:
    """Atoms with several kernels and noisy labels, whose risks are known."""

    def __init__(self, seed, flips=0.1):
        rng = np.random.default_rng(seed)
        self.x = rng.uniform(-2, 2, (30, 1))
        self.K = np.array([gaussian_kernel(self.x, width) for width in (0.05, 0.3, 1.0)])
        self.y = np.sign(self.x[:, 0] + 0.3)
        self.flips = flips

    def sample(self, m, rng):
        rows = rng.integers(0, len(self.x), m)
        return rows, np.where(rng.random(m) < self.flips, -1, 1) * self.y[rows]

    def risk(self, h):
        wrong = self.y * h <= 0
        return np.mean(np.where(wrong, 1 - self.flips, self.flips))


def fit(law, rows, y, ridge):
    """The most adverse learner: the kernel with the smallest training error, then ridge."""
    best = None
    for k, K in enumerate(law.K):
        a = np.linalg.solve(K[np.ix_(rows, rows)] + ridge * np.eye(len(y)), y)
        h = K[:, rows] @ a
        error = np.mean(y * h[rows] <= 0), np.mean((h[rows] - y) ** 2)
        if best is None or error < best[0]:
            best = error, h, np.sqrt(a @ K[np.ix_(rows, rows)] @ a), k
    return best[1:]


def complexity(law, rows, rng, draws=200):
    signs = rng.choice([-1.0, 1.0], (draws, len(rows)))
    forms = quadratic_forms(law.K[:, rows][:, :, rows], signs)
    largest = np.maximum(forms.max(1), signs.sum(1) ** 2)
    return np.sqrt(largest).mean() / len(rows)


def test_coverage_of_the_three_bounds_where_the_risk_is_known():
    law, rng, m, delta = Law(0), np.random.default_rng(1), 200, 0.2
    slack, labels = [], np.array([1 - law.flips, law.flips])
    for _ in range(30):
        rows, y = law.sample(m, rng)
        h, size, k = fit(law, rows, y, 1.0)
        mean = learned.sampled_complexity(complexity(law, rows, rng), m, 200, delta / 100)
        by_margin = learned.margin_bound(y * h[rows], size, mean, 0.99 * delta)
        sizes = np.eye(4)[k] * size
        shares = learned.rounded_shares(sizes)
        random = learned.random_predictor_bound(y * h[rows], sizes, shares, np.ones(m), delta)
        residuals = np.clip(h[rows], -1, 1) - y
        squares = learned.clipped_bound(residuals, size, 2.0, mean, 0.99 * delta)
        clipped = np.clip(h, -1, 1)
        expected = labels @ [np.mean((clipped - law.y) ** 2), np.mean((clipped + law.y) ** 2)]
        risk = law.risk(h)
        slack.append((by_margin.value - risk, random.value - risk, squares.value - expected))
    # No violation, far from delta = 0.2; but half of the bound would be violated.
    assert (np.array(slack) >= 0).all()
    assert np.min(slack) < 0.6


def test_rounded_shares():
    assert learned.rounded_shares([1.0, 3.0, 0.0]).tolist() == [0.25, 0.75, 0.0]
    assert learned.rounded_shares([1.0, 1e-9]).tolist() == [15 / 16, 1 / 16]
    for bad in ([0.0], np.ones(17)):
        raises(ValueError, "sizes must be positive", learned.rounded_shares, bad)


def test_samples_without_variance_count_as_errors():
    good, bad = (
        learned.random_predictor_bound(np.ones(50), [1.0], [1.0], variances, 0.1).value
        for variances in (np.ones(50), np.r_[np.ones(40), np.zeros(10)])
    )
    assert max(good, 0.2) < bad


@each("r", [1e-4, 0.03, 1.0, 100.0])
def test_the_local_bound_is_the_least_over_all_mixtures(r):
    rng = np.random.default_rng(0)
    values, m = np.append(rng.exponential(size=6) * 10.0 ** -np.arange(6.0), 0.0), 9
    used = values[values > 0]
    t = np.linspace(0.0, 1.0, 20_001)[:, None]
    each = np.sqrt((1 / (t / (4.0 * used) + (1 - t) / (m * r))).sum(axis=1)) / m
    found = rademacher.local_bound(values, m, r, radius=2.0)
    assert found <= each.min() * (1 + 1e-12)
    assert found == pytest.approx(each.min(), rel=1e-6)
    assert found == pytest.approx(2.0 * rademacher.local_bound(values, m, r / 4))
    assert found == pytest.approx(2.0 * rademacher.local_bound(4 * values, m, r) / 2.0)


def test_the_local_bound_without_and_with_its_second_constraint_alone():
    """sqrt(tr K)/m for large r, sqrt(m r rank)/m for small r, and 0 for the kernel 0."""
    values = np.array([4.0, 1.0])
    assert rademacher.local_bound(values, 8, 1e9) == pytest.approx(np.sqrt(5.0) / 8)
    assert rademacher.local_bound(values, 8, 1e-9) == pytest.approx(np.sqrt(16e-9) / 8)
    assert rademacher.local_bound([0.0, 0.0], 8, 1.0) == 0.0
    assert rademacher.local_radius([0.0, 0.0], 8) == 0.0


@pytest.mark.parametrize("decay", [1.5, 2.0, 4.0])
def test_the_fixed_point_falls_faster_than_the_root_of_m(decay):
    shares, found = np.arange(1.0, 4001.0) ** -decay, {}
    for m in (10**4, 10**6):
        found[m] = rademacher.local_radius(m * shares, m)
        at = rademacher.local_bound(m * shares, m, found[m])
        assert at == pytest.approx(found[m])
        assert found[m] < np.sqrt(shares.sum() / m)
    slope = np.log(found[10**4] / found[10**6]) / np.log(100)
    assert slope == pytest.approx(decay / (1 + decay), abs=0.02)
