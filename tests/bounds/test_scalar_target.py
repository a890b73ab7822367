"""The constant 128/27 for a target kernel: last step of the proof, its users, rejected input."""

from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory.bounds import concentration, intervals, u_statistics
from alignlearn.theory.p1_alignment import lemma_18

T = Fraction(128, 27)


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
