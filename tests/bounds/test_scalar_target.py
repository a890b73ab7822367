"""The constant 128/27 for a target kernel: last step of the proof, its users, rejected input."""

from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory.bounds import concentration, intervals, u_statistics
from alignlearn.theory.p1_alignment import lemma_18
from cases import each

T = Fraction(128, 27)


def test_the_numbers_of_the_proof():
    """Both maxima are exact, and the two cases of the proof meet."""
    third = Fraction(1, 3)
    assert 4 * (1 - third) * (1 + third) ** 2 == T
    assert Fraction(7, 4) ** 4 < 2 * T
    z = Fraction(3, 16)
    assert (1 - z) ** 2 * (Fraction(7, 2) + 16 * z) == Fraction(2197, 512) < T


def test_the_upper_bound_of_the_proof_on_a_grid():
    """The function to maximize, with the smaller bound of c: 128/27 at z = 0, a = b = 1/3."""
    a, f, b = np.meshgrid(*[np.linspace(0, 1, 61)] * 3, indexing="ij")
    large, small = np.maximum(a, b), np.minimum(a, b)
    c = np.minimum((1 - large) * (1 + small), np.sqrt((1 - a**2) * (1 - f**2)))
    first, second = 4 * c * (1 + large), ((1 + a) * (1 + f)) ** 2
    found = [((1 - z) ** 2 * (first + z * second))[f >= b].max() for z in np.linspace(0, 0.5, 26)]
    assert found[0] == pytest.approx(float(T), rel=1e-12)
    assert max(found) == found[0]


@pytest.mark.parametrize("m", [3, 30, 300])
def test_the_constant_is_attained_in_the_limit(m):
    case = lemma_18.extremal(m)
    assert case["G"].shape[1] == 1
    share = lemma_18.measure(case) / concentration.perturbation_bound(m, scalar_target=True)
    assert share == pytest.approx(1 - 3 / (2 * m))


def test_bounds_for_a_target_are_smaller_by_the_ratio_of_the_constants():
    ratio = float(T) / concentration.SHARP_CONSTANT
    assert ratio == pytest.approx(0.8813, abs=1e-4)
    for bound in (
        lambda **target: concentration.perturbation_bound(50, **target),
        lambda **target: (
            concentration.numerator_deviation(50, 0.05, **target) - concentration.bias_bound(50)
        ),
        lambda **target: (
            u_statistics.u_statistic_constant(50, **target)
            - u_statistics.u_statistic_constant(50)
            + concentration.SHARP_CONSTANT * 50 / 47
        ),
    ):
        assert bound(scalar_target=True) == pytest.approx(ratio * bound())


def test_intervals_for_a_target_are_inside_the_general_ones():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 400)
    x = y[:, None] + 0.3 * rng.standard_normal((400, 2))
    K, L = np.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / 2), np.outer(y, y)
    wide, short = (
        u_statistics.u_statistic_interval(K, L, 0.05, 1.0, 1.0, target) for target in (False, True)
    )
    assert wide.low <= short.low < short.high < wide.high
    values = 5000, 0.05, 0.3, 0.25, 1.0
    wide = intervals.alignment_interval_by_numerator(*values)
    short = intervals.alignment_interval_by_numerator(*values, scalar_target=True)
    assert wide.low < short.low < short.high <= wide.high
    assert u_statistics.u_statistic_constant(4) == u_statistics.u_statistic_constant(5) == 16.0


@each("wrong", ["no", None, [], "128/27"])
def test_the_kind_of_target_is_true_or_false(wrong):
    with pytest.raises(TypeError, match="scalar_target"):
        concentration.perturbation_bound(10, scalar_target=wrong)
    with pytest.raises(TypeError, match="scalar_target"):
        concentration.numerator_deviation(10, 0.05, scalar_target=wrong)
