"""Unbiased statistics and their variance: kernel by brute force, rates, coverage, bad input."""

from itertools import combinations, permutations

import numpy as np
import pytest
from alignlearn.theory.bounds import u_statistics as unbiased
from alignlearn.theory.bounds.concentration import smallest_sample_size
from alignlearn.theory.figures.curves import CURVES, MIXTURE_VARIANCES, mixture
from alignlearn.theory.p1_alignment import u_kernel
from cases import each


def features(seed, m, d=2):
    return np.random.default_rng(seed).standard_normal((m, d))


def gram(X):
    return X @ X.T


def test_the_kernel_is_the_symmetrized_one():
    """h averaged over all 24 orders of K12 L12 - 2 K12 L13 + K12 L34."""
    K, L = gram(features(0, 4)), gram(features(1, 4, 3))
    terms = [K[a, b] * (L[a, b] - 2 * L[a, c] + L[c, d]) for a, b, c, d in permutations(range(4))]
    assert unbiased.quadruple_kernel(K, L) == pytest.approx(np.mean(terms), rel=1e-12)


def test_the_mean_over_quadruples_is_the_statistic():
    K, L = gram(features(2, 8)), gram(features(3, 8))
    index = np.array(list(combinations(range(8), 4)))
    rows, columns = index[:, :, None], index[:, None, :]
    mean = unbiased.quadruple_kernel(K[rows, columns], L[rows, columns]).mean()
    assert unbiased.u_statistic(K, L) == pytest.approx(mean, rel=1e-12)


def test_the_ranges_are_attained_on_both_sides():
    least = -u_kernel.values(u_kernel.extremal())[1::2]
    spans = [unbiased.kernel_range(1, 1, *known) for known in ((0, 0), (1, 0), (1, 1))]
    assert least == pytest.approx([span.low for span in spans])
    case = u_kernel.extremal()
    same = case | {"G": case["F"], "Z": case["X"]}
    assert u_kernel.values(same)[::2] == pytest.approx([span.high for span in spans])
    assert unbiased.kernel_range(2.0, 3.0).high == pytest.approx(16)
    assert unbiased.kernel_range(same_kernel=True).low == 0


def test_the_variances_of_the_mixture():
    X, y = mixture().sample(4 * 60_000, 0)
    X, y = X.reshape(-1, 4, 2), y.reshape(-1, 4)
    K = np.exp(-((X[:, :, None] - X[:, None]) ** 2).sum(-1) / 2)
    L = y[:, :, None] * y[:, None]
    found = [unbiased.quadruple_kernel(*pair).var() for pair in ((K, L), (K, K), (L, L))]
    assert found == pytest.approx(MIXTURE_VARIANCES, rel=0.03)


@each(("below", "m"), [(1.0, 396), (0.5, 800), (0.2, 2824), (0.1, 8844)])
def test_smallest_samples_of_theorem_d(below, m):
    curve = CURVES["p1-u-alignment"]
    setting = curve.numbers()
    form = curve.forms["Bernstein (D)"]
    found = smallest_sample_size(lambda n: form(n, 0.05, **setting), below, 4)
    assert found == pytest.approx(m, rel=0.01)
    # Form (iii), with McDiarmid's inequality, is informative from 3,157 samples on.
    assert found < 3157 or below < 0.2
