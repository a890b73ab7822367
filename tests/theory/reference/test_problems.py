"""Exact distributions against brute force, closed forms against quadrature and sampling."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from alignlearn.theory.reference.matrices import center_product
from alignlearn.theory.reference.problems import (
    FiniteDistribution,
    GaussianMixture,
    gaussian_kernel,
    numerators,
    two_points,
)
from cases import each

X = [Fraction(1), Fraction(1, 2), Fraction(-1)]


def rational_law():
    return FiniteDistribution(np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]))


def test_enumeration_is_a_probability_and_matches_ordered_samples():
    law, K = rational_law(), np.multiply.outer(np.array(X), np.array(X))
    assert sum(p for _, p in law.all_samples(4)) == 1
    total = 0
    for sample in product(range(3), repeat=3):
        block = K[np.ix_(sample, sample)]
        weight = law.weights[sample[0]] * law.weights[sample[1]] * law.weights[sample[2]]
        total += weight * center_product(block, block) / 9
    assert law.expected_numerator(K, K, 3) == total


def test_numerators_of_counts_match_the_matrices():
    rng = np.random.default_rng(0)
    law = FiniteDistribution(np.array([0.2, 0.3, 0.5]))
    F, G = rng.standard_normal((3, 2)), rng.standard_normal((3, 3)) + 5
    K, L = F @ F.T, G @ G.T
    counts = law.counts(9, 5, random_state=1)
    for count, value in zip(counts, numerators(counts, K, L)):
        i = np.repeat(np.arange(3), count)
        expected = center_product(K[np.ix_(i, i)], L[np.ix_(i, i)]) / 81
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_figure_1_in_rational_arithmetic():
    law, K = two_points(Fraction(1, 10))
    L = law.target()
    ratio = law.pair_mean(K * L) ** 2 / (law.pair_mean(K * K) * law.pair_mean(L * L))
    assert ratio == Fraction(41, 50)
    # K_c = <x, x'> centered: Var(x)^2 with x = -1, 1 at 1/10, 9/10.
    assert law.moments(K, K).theta == Fraction(81, 625)
    assert law.alignment(K, L) == pytest.approx(1)
    assert two_points(Fraction(0))[0].moments(K, K).theta == 0


@pytest.mark.parametrize("bandwidth", [0.5, 1.0, 2.0])
def test_mixture_closed_form_against_quadrature(bandwidth):
    mixture = GaussianMixture([[-1.0], [1.5]], [-1.0, 2.0], weights=[0.3, 0.7], variance=0.8)
    exact = mixture.gaussian_moments(bandwidth)
    law, points = mixture.quadrature(96)
    K, L = gaussian_kernel(points, bandwidth), law.target()
    assert exact.kernel_norm == pytest.approx(law.moments(K, K).theta, rel=1e-6)
    assert exact.target_norm == pytest.approx(law.moments(L, L).theta)
    assert exact.alignment == pytest.approx(law.alignment(K, L), rel=1e-6)


def test_mixture_in_two_dimensions_against_a_sample():
    mixture = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]], [-1.0, 1.0])
    exact = mixture.gaussian_moments(1.0)
    assert (round(exact.kernel_norm, 4), round(exact.alignment, 4)) == (0.0640, 0.3205)
    points, y = mixture.sample(3000, random_state=0)
    estimate = center_product(gaussian_kernel(points, 1.0), np.outer(y, y)) / 3000**2
    assert estimate == pytest.approx(exact.numerator, abs=0.01)


@each(
    ("make", "message"),
    [
        (lambda: FiniteDistribution(np.array([0.5, 0.4])), "sum 1"),
        (lambda: FiniteDistribution(np.array([1.5, -0.5])), "non-negative"),
        (lambda: FiniteDistribution(np.array([1.0]), np.ones(2)), "labels"),
        (lambda: two_points(1.5), "alpha"),
        (lambda: GaussianMixture([[0.0]], [1.0, 2.0]), "label"),
        (lambda: GaussianMixture([[0.0]], [1.0], variance=0.0), "variance"),
        (lambda: GaussianMixture([[0.0, 0.0]], [1.0]).quadrature(), "d = 1"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
