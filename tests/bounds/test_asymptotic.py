"""The asymptotic interval: the jackknife written out, its coverage, and how it reports itself."""

import numpy as np
import pytest
from alignlearn.theory.reference.class_laws import class_laws

import alignlearn as al
from alignlearn.bounds.asymptotic import asymptotic_interval


def normals(m, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, m)
    return rng.standard_normal((m, 2)) + 2.0 * y[:, None], y


def test_coverage_is_close_to_what_it_says_for_two_normal_laws():
    law, rng = class_laws()[-1], np.random.default_rng(0)
    held, length = [], []
    for _ in range(300):
        rows = law.law.sample(100, rng)
        y = law.law.labels[rows]
        found = asymptotic_interval(law.K[np.ix_(rows, rows)], np.outer(y, y), 0.2)
        held.append(found.low <= law.alignment <= found.high)
        length.append(found.high - found.low)
    assert np.mean(held) == pytest.approx(0.8, abs=0.07)  # three standard deviations
    assert np.mean(length) < 0.25


def test_the_public_face_says_that_it_is_approximate():
    X, y = normals(80)
    kernel = al.Gaussian(0.3)
    found = al.alignment_interval(X, y, kernel, method="asymptotic")
    exact = al.alignment_interval(X, y, kernel)
    assert exact.low < found.low < found.high < exact.high
    assert "the probability is approximate" in str(found)
    L = np.outer(2.0 * y - 1, 2.0 * y - 1)
    assert (found.low, found.high) == asymptotic_interval(kernel(X), L, 0.05)[:2]
    # The interval needs no radius, and accepts real targets without scaling.
    linear = al.alignment_interval(X, X[:, 0], "linear", method="asymptotic", label_range=(-9, 9))
    centered = X[:, 0] - X[:, 0].mean()
    expected = asymptotic_interval(X @ X.T, np.outer(centered, centered), 0.05)
    assert (linear.low, linear.high) == pytest.approx(expected[:2])
    assert not linear.not_met
