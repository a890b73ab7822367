"""The numbers behind the figures on hyper-kernels."""

import numpy as np
import pytest
from alignlearn.theory import figures
from alignlearn.theory.bounds import hyper_rates as rates
from alignlearn.theory.figures import hyper, ladder

from alignlearn.hyper import GaussianHyperKernel, hyper_kernels


@pytest.mark.parametrize(("alpha", "expected"), [(0.3, 0.167), (0.8, 0.41)])
def test_measured_errors_follow_the_bias_and_not_the_printed_slope(alpha, expected):
    sizes = 2 ** np.arange(5, 11)
    found = hyper.circle_errors(sizes, alpha, 12)
    assert -hyper.slope(sizes, found.mean) == pytest.approx(expected, abs=0.015)
    # The mean error is at least the bias; half an interval has 1.96 standard errors.
    assert (found.mean >= found.bias - 2 * found.half).all()
    printed = float(rates.ridge_exponent_printed(alpha, 1.0, hyper.S))
    assert abs(printed - expected) > 0.1


def test_power_index_figure_marks_the_optima_of_the_ledger():
    figure = figures.draw("hyper-theta", quick=True)
    left, right = figure.axes
    marks = [line.get_xydata()[0] for line in left.lines if len(line.get_xydata()) == 1]
    for best in ((0.5, 0.5), (0.6, 0.3), (0.8, 0.4), (0.75, 0.375)):
        assert any(np.allclose(mark, best, atol=1e-4) for mark in marks), best
    assert all(ax.get_title(loc="left") and ax.get_legend() for ax in (left, right))


def test_ridge_errs_as_much_as_the_bound_says_and_a_ladder_does_not():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(25, 2)), rng.normal(size=(150, 2))
    least = rates.width_error(0.05, [2.0], np.ones(2))
    one = ladder.measured_error(GaussianHyperKernel(2.0, multiple=7.0), 0.05, X, U)
    assert 0.9 * least < one
    assert ladder.measured_error(hyper_kernels(unit=2.0), 0.05, X, U) < 0.1 * least


def test_only_column_scales_tell_directions_apart():
    across, along = np.array([[0.5, 0.0]]), np.array([[0.0, 0.5]])
    ratios = [
        float(k(across, -across)[0, 0] / k(along, -along)[0, 0])
        for k in ladder.ellipses(40).values()
    ]
    assert ratios[0] < 0.2
    assert ratios[1] == pytest.approx(1.0, rel=1e-9)  # of one midpoint and length
    assert ratios[2] < 0.8
