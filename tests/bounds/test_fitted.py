"""Bounds for learned weights and a free intercept, against simulation and an independent fit."""

import numpy as np
import pytest
from alignlearn.theory.reference.problems import FiniteDistribution

from alignlearn.bounds import fitted
from alignlearn.bounds.intervals import alignment_interval_from, covariance_deviation


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
