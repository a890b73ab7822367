"""Bounds for learned weights and a free intercept, against simulation and an independent fit."""

import numpy as np
import pytest
from alignlearn.theory.reference.problems import FiniteDistribution, gaussian_kernel

from alignlearn.bounds import fitted
from alignlearn.bounds.intervals import alignment_interval_from, covariance_deviation


def ridge(K, rows, y, lam0):
    """(g, b) of ridge regression with a free intercept, by its stationarity equations."""
    m = len(y)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K[np.ix_(rows, rows)] + lam0 * m * np.eye(m)
    system[:m, m] = system[m, :m] = 1.0
    solution = np.linalg.solve(system, np.r_[y, 0.0])
    return K[:, rows] @ solution[:m], solution[m]


def exchange(rng, m, d, lam0):
    """Observed change and residuals over the bounds when a point is exchanged."""
    F = rng.standard_normal((m + 6, d)) * rng.choice([0.1, 1.0, 10.0])
    if rng.random() < 0.5:
        F = np.sign(F)
    y = rng.choice([-1.0, 1.0], m + 1) if rng.random() < 0.7 else rng.uniform(-1, 1, m + 1)
    K = F @ F.T
    first, second = np.arange(m), np.r_[np.arange(m - 1), m]
    g, b = ridge(K, first, y[first], lam0)
    g2, b2 = ridge(K, second, y[second], lam0)
    diameter = np.sqrt(max(((F[:, None] - F[None]) ** 2).sum(-1).max(), 1e-12))
    change = np.abs(g2 + b2 - g - b).max()
    residual = max(np.abs(g[m - 1] + b - y[m - 1]), np.abs(g2[m] + b2 - y[m]))
    return (
        change / fitted.intercept_stability(m, 1.0, diameter, lam0),
        residual / fitted.intercept_residual_bound(1.0, diameter, lam0),
    )


def test_stability_with_an_intercept_has_no_violation_and_is_not_idle():
    rng = np.random.default_rng(0)
    ratios = np.array(
        [
            exchange(
                rng, int(rng.integers(1, 8)), int(rng.integers(1, 4)), 10 ** rng.uniform(-3, 3)
            )
            for _ in range(2000)
        ]
    )
    assert ratios.max() <= 1 + 1e-9
    assert (ratios.max(0) > 0.3).all()


def test_the_bound_without_an_intercept_is_not_enough():
    """The free intercept alone moves h by 2 Y/m, which the ridge lam0 -> infinity cannot stop."""
    m, lam0 = 4, 1e9
    y = np.array([1.0, -1, 1, 1, -1])
    K = np.ones((5, 5))
    h = sum(ridge(K, np.arange(m), y[:m], lam0))
    h2 = sum(ridge(K, np.r_[0:3, 4], y[[0, 1, 2, 4]], lam0))
    assert np.abs(h2 - h).max() == pytest.approx(2 / m)
    assert fitted.intercept_stability(m, 1.0, 0.0, lam0) == pytest.approx(2 / m)


def test_the_risk_bound_holds_on_samples():
    rng = np.random.default_rng(1)
    x = np.linspace(-2, 2, 40)[:, None]
    K = gaussian_kernel(x, 1.0)
    law = FiniteDistribution(np.full(40, 1 / 40), np.sign(np.sin(2 * x[:, 0])))
    slack = []
    for _ in range(100):
        rows = law.sample(200, rng)
        g, b = ridge(K, rows, law.labels[rows], 1.0)
        loss = (g + b - law.labels) ** 2
        bound = fitted.intercept_bound(loss[rows].mean(), 200, 0.1, 1.0, np.sqrt(2), 1.0)
        slack.append(bound - law.mean(loss))
    assert min(slack) > 0
    # Halving the bound needs four times the samples, up to the term b.
    one, four = (
        fitted.intercept_bound(0.0, m, 0.1, 1.0, np.sqrt(2), 1.0) for m in (10**4, 4 * 10**4)
    )
    assert one / four == pytest.approx(2, rel=0.05)


def test_the_interval_covers_the_alignment_of_learned_weights():
    """The weights with the largest alignment on the sample, among many noise kernels."""
    rng = np.random.default_rng(2)
    n, p, m = 60, 5, 400
    signs = rng.choice([-1.0, 1.0], (p, n))
    labels = rng.choice([-1.0, 1.0], n)
    law = FiniteDistribution(np.full(n, 1 / n), labels)
    Y = law.target()
    kernels = np.array([np.outer(s, s) for s in signs])
    for _ in range(50):
        sample = FiniteDistribution(law.counts(m, 1, rng)[0] / m, labels)
        values = [sample.moments(K, Y).theta for K in kernels]
        best = int(np.argmax(values))
        mu = np.full(p, 0.05)
        mu[best] = 1.0
        K = np.tensordot(mu, kernels, axes=1)
        f, a, c = (sample.moments(*pair).theta for pair in ((K, Y), (K, K), (Y, Y)))
        found = fitted.learned_alignment_interval(m, 0.05, f, a, c, mu.sum(), 1.0, p)
        assert found.low <= law.alignment(K, Y) <= found.high


def test_operators_of_a_combination_change_by_the_combined_radius():
    """The step of the proof: |  ||C_mu|| - ||C_S,mu||  | <= tau R_mu^2 from the blocks."""
    rng = np.random.default_rng(3)
    blocks = rng.standard_normal((3, 3, 4, 4))
    mu = rng.uniform(0, 2, 3)
    norms = np.linalg.norm(blocks, axis=(2, 3))
    radius = norms.max(1)
    bound = (np.sqrt(np.outer(mu, mu))[:, :, None, None] * blocks).reshape(-1)
    tau = (norms / np.outer(np.sqrt(radius), np.sqrt(radius))).max()
    assert np.linalg.norm(bound) <= tau * (mu * radius).sum() + 1e-12


def test_one_kernel_is_the_plain_interval_and_more_are_wider():
    arguments = 50000, 0.05, 0.08, 0.064, 1.0, 1.0, 1.0
    plain = alignment_interval_from(*arguments)
    assert fitted.learned_alignment_interval(*arguments, 1) == plain
    wide = fitted.learned_alignment_interval(*arguments, 10)
    assert wide.low < plain.low
    assert wide.high > plain.high
    tau = covariance_deviation(50000, 0.05 / 66)
    low = (0.08**0.5 - tau) ** 2 / ((0.064**0.5 + tau) * (1 + tau))
    assert wide.low == pytest.approx(low)
