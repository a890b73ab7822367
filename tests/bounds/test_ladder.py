"""How fine a ladder must be: products in exact arithmetic, their limit, other dimensions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory.bounds import ladder
from alignlearn.theory.figures.ladder import worst_error
from cases import each

from alignlearn.hyper.hyperkernels import WIDTHS


def exact(gamma, rates, quarter):
    """1 - b'G^-1 b/A(2 gamma) for the Gram matrix 1/(x + y + quarter), by elimination."""
    points = [Fraction(r) for r in (*rates, gamma)]
    G = [[1 / (x + y + quarter) for y in points] for x in points]
    n = len(rates)
    for k in range(n):
        for i in range(k + 1, n + 1):
            factor = G[i][k] / G[k][k]
            G[i] = [a - factor * b for a, b in zip(G[i], G[k])]
    return G[n][n] * (2 * points[-1] + quarter)


@each("rates", [(1,), (1, 2), (Fraction(1, 3), 1, 5), (1, 4, 16, 64)])
@each("quarter", [0, Fraction(1, 2)])
def test_the_product_is_the_least_squares_error(rates, quarter):
    gamma = Fraction(7, 3)
    variance = math.inf if quarter == 0 else float(1 / (4 * quarter))
    found = ladder.ladder_error(float(gamma), [float(r) for r in rates], variance)
    assert found**2 == pytest.approx(float(exact(gamma, rates, quarter)), rel=1e-12)


@each("ratio", [1.15, 1.3, 2.0, 4.0, 9.0, 100.0])
def test_half_way_is_worst_and_the_limit_is_an_upper_bound(ratio):
    rates = ratio ** np.arange(-60.0, 61.0)
    errors = [ladder.ladder_error(ratio**s, rates) for s in np.linspace(0.0, 1.0, 9)]
    assert np.argmax(errors) == 4
    found = ladder.ratio_error(ratio)
    assert found == pytest.approx(errors[4], rel=1e-2 if ratio < 1.2 else 1e-5, abs=0)
    limit = 2 * math.exp(-(math.pi**2) / (2 * math.log(ratio)))
    assert found <= limit * (1 + 1e-12)
    if ratio <= 4.0:
        assert found == pytest.approx(limit, rel=0.02, abs=0)


def test_the_numbers_of_the_documentation():
    assert ladder.ratio_error(4.0) == pytest.approx(0.057, abs=0.0005)
    assert ladder.ratio_error(2.0) == pytest.approx(0.0016, abs=5e-5)
    assert np.allclose(np.array(WIDTHS[1:]) / np.array(WIDTHS[:-1]), 4.0)
    assert worst_error(4.0, 2) == pytest.approx(ladder.ratio_error(4.0), rel=0.01)
    assert worst_error(4.0, 3) == pytest.approx(0.09, abs=0.005)
    assert worst_error(4.0, 6) == pytest.approx(0.21, abs=0.005)
    assert worst_error(4.0, 1) < ladder.ratio_error(4.0)


@each("error", [1e-4, 0.01, 0.057, 0.3])
def test_the_ratio_for_an_error(error):
    ratio = ladder.ratio_for(error)
    assert 0.9 * error <= ladder.ratio_error(ratio) <= error
    assert ladder.ratio_error(1.05 * ratio) > 0.95 * error
