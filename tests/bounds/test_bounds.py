"""The bounds as functions: published numbers, limits, properties, and rejected arguments."""

from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory.bounds import concentration, intervals, stability
from alignlearn.theory.reference.problems import FiniteDistribution, GaussianMixture
from refusals import raises

from alignlearn.bounds import fitted

MIXTURE = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]], [-1.0, 1.0])


smallest = concentration.smallest_sample_size


@pytest.mark.parametrize(
    ("bandwidth", "printed", "sharp", "refined", "width"),
    [
        (0.5, 48_439_573, 53_197, 4_502, 1_445),
        (1.0, 12_113_323, 26_601, 3_157, 582),
        (2.0, 22_552_038, 36_297, 4_209, 499),
    ],
)
def test_smallest_sample_size_that_says_something(bandwidth, printed, sharp, refined, width):
    """Two normals at distance 2 in the plane, Gaussian kernel, delta = 0.05."""
    exact = MIXTURE.gaussian_moments(bandwidth)
    a, b, rho = exact.kernel_norm, exact.numerator, exact.alignment

    def length(m):
        low, high, _ = intervals.alignment_interval_from(m, 0.05, b, a, 1.0)
        return high - low

    assert smallest(lambda m: concentration.alignment_deviation_printed(m, 0.05, a, 1.0)) == printed
    assert smallest(lambda m: concentration.alignment_deviation(m, 0.05, a, 1.0)) == sharp
    form = concentration.alignment_deviation_refined
    assert smallest(lambda m: float(form(m, 0.05, a, 1.0, rho))) == refined
    assert smallest(length) == width


def test_arguments_of_bounds_are_named():
    for bad, error in ((None, TypeError), ("1", TypeError), (10**400, ValueError), (1j, TypeError)):
        raises(error, "radius2", concentration.numerator_deviation, 100, 0.05, bad)
    with pytest.raises(ValueError, match="m=0 is out of range"):
        concentration.expected_numerator(0, 1.0, 1.0, 1.0, 1.0)
    exact = concentration.expected_numerator(3, *map(Fraction, (1, 2, 3, 4)))
    assert isinstance(exact, Fraction)
    # A value that overflows is infinite, or reported as beyond the range.
    assert stability.hypothesis_bound(1e308, 1e308, 1e-300) == np.inf
    raises(ValueError, r"bias_bound\(m=1e\+308.*beyond the range", concentration.bias_bound, 1e308)
    # Errors name the function that the user called, not a bound that it calls.
    with pytest.raises(ValueError, match=r"by_weights\(m=50.*l1=1e\+308.*beyond the range"):
        stability.two_stage_stability_by_weights(50, 1.0, 1.0, 0.0, 1e308, 0.1)


def test_the_interval_of_learned_weights_covers_their_alignment():
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
