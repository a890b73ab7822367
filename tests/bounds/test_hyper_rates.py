"""Rates of regression in a hyper-RKHS: values of the ledger, grid searches, properties, errors."""

import numpy as np
import pytest
from alignlearn.theory.bounds import hyper_rates as rates


@pytest.mark.parametrize(
    ("setting", "alpha", "exponent", "sharper"),
    [
        ((1.0, 0.5, np.inf, 2.0), 0.5, 0.5, 4 / 7),
        ((0.5, 0.5, 1.0, 2.0), 0.6, 0.3, 0.375),
        ((0.5, 1e-6, 1.0, 3.0), 0.8, 0.4, 0.4444),
    ],
)
def test_optima_of_theorem_1(setting, alpha, exponent, sharper):
    r, s, p, q = setting
    theta = rates.noise_exponent(p, q)
    assert rates.svr_optimum_printed(r, s, theta) == pytest.approx((alpha, exponent), abs=1e-5)
    best = rates.svr_optimum(r, s, theta)
    assert best.exponent == pytest.approx(sharper, abs=1e-4)


def test_values_of_the_ledger():
    for (r, s, p, q), rate in (((0.5, 0.5, 1, 2), 0.15), ((0.5, 1e-6, 1, 3), 0.133333)):
        best = rates.svr_optimum_printed(r, s, rates.noise_exponent(p, q))
        assert best.exponent / q == pytest.approx(rate, abs=1e-5)
    assert rates.alpha_limit(0.5) == pytest.approx(1.2)
    assert rates.ridge_optimum_printed(1.0, 0.5) == pytest.approx((0.3, 0.3))
    assert rates.ridge_optimum(1.0, 0.5) == pytest.approx((0.8, 0.8))
    settings = ((np.inf, 2), (1, 2), (np.inf, 4), (np.inf, 1.5))
    assert [rates.noise_exponent(*setting) for setting in settings] == [1, 0.5, 0.5, 1]
    assert (rates.norm_exponent(1, 2), rates.norm_exponent(np.inf, 3)) == (1, 3)
    assert rates.gaussian_moment_scale(5, 1) == pytest.approx(50**0.5)
    assert rates.covering_exponent(3, 4) == 3
    # log10 of the constant of the Gaussian hyper-kernel, to one decimal.
    for given, log10 in (((14, 1, 1), -18.9), ((128, 1, 1), -172.5), ((300, 1, 1), -404.3)):
        assert rates.gaussian_log10_constant(*given) == pytest.approx(log10, abs=0.05)
    assert rates.gaussian_log10_constant(120, 0.01, 0.01) == pytest.approx(198.3, abs=0.05)


def test_no_grid_point_beats_the_optimum():
    rng = np.random.default_rng(0)
    alpha = np.linspace(1e-5, 1, 20001)
    for _ in range(100):
        r, s, theta = rng.uniform(0.02, 1), rng.uniform(0.01, 4), rng.uniform(0, 1)
        for optimum, exponent, given in (
            (rates.svr_optimum_printed, rates.svr_exponent_printed, (r, s, theta)),
            (rates.svr_optimum, rates.svr_exponent, (r, s, theta)),
            (rates.ridge_optimum_printed, rates.ridge_exponent_printed, (r, s)),
            (rates.ridge_optimum, rates.ridge_exponent, (r, s)),
        ):
            best, values = optimum(*given), exponent(alpha, *given)
            assert 0 < best.alpha <= 1
            assert best.exponent - 1e-4 <= values.max() <= best.exponent + 1e-12
        assert rates.svr_optimum_printed(r, s, theta).alpha < rates.alpha_limit(s, theta)


def test_printed_indices_are_conservative():
    """Theorem 1 against the exponents of its proof, theorem 2 against the proved exponents."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        r, s, theta = rng.uniform(0.01, 1), rng.uniform(0.01, 8), rng.uniform(0, 1)
        for proved, printed, given in (
            (rates.svr_exponent, rates.svr_exponent_printed, (s, theta)),
            (rates.ridge_exponent, rates.ridge_exponent_printed, (s,)),
        ):
            alpha = np.linspace(0.001, min(1, rates.alpha_limit(*given)), 50)
            assert (proved(alpha, r, *given) - printed(alpha, r, *given)).min() >= -1e-12


def test_lemma_4_3_is_bernstein_for_half_the_points():
    """theta = 0, c1 = v: exp(-(m-1) e^2/(4v + 4Te/3))."""
    value = rates.pair_mean_tail(11, 0.3, 0.5, 2.0, 0.0)
    assert value == pytest.approx(np.exp(-10 * 0.09 / (2.0 + 4 / 3 * 2 * 0.3)))
    # The ledger's case, with T = 1.
    assert rates.pair_mean_tail(10, 0.2, 1.0, 1.0, 1.0) == pytest.approx(0.7136, abs=5e-5)


def test_the_covering_radius_by_hand():
    """m = 100, theta = 1/2, s = 1/4, C_theta = 3, B' = 2, R = 32."""
    given = {"bound": 2.0, "noise": 3.0, "radius": 32.0}
    first = np.log(4 / 0.05) * 100 ** (-1 / 1.5)
    for capacity, used in ((5.0, 5.0), (0.5, 1.0)):
        found = rates.covering_radius(100, 0.05, 0.25, 0.5, capacity=capacity, **given)
        second = used * 100 ** (-1 / 1.75) * 32**0.2
        assert found == pytest.approx(32 * 2 * 4 * (first + second))


def test_gaussian_moments_by_the_recursion_of_even_orders():
    """E y^i of N(k, v) for even i by Stein's identity, against the claim's formula."""
    from alignlearn.theory import CLAIMS

    file = CLAIMS.module("p4-moment-hypothesis")
    k, v = 0.7, 0.5
    moments = [1.0, k]
    for i in range(2, 21):
        moments.append(k * moments[-1] + (i - 1) * v * moments[-2])
    for order in (2, 8, 20):
        case = {"B0": v, "top": 1.0, "variance": v, "k": k, "order": order}
        assert file.scaled_moment(case) == pytest.approx(moments[order], rel=1e-10)
    # Far from zero, where odd orders have no kink either.
    case = {"B0": 0.01, "top": 10.0, "variance": 0.01, "k": 10.0, "order": 3}
    assert file.scaled_moment(case) == pytest.approx((1000 + 3 * 10 * 0.01) / 1000)
    ratios = [
        file.corrected_measure(file.largest() | {"order": i, "k": share})
        for i in range(1, 30)
        for share in (0.0, 0.5, 1.0)
    ]
    assert max(ratios) == pytest.approx(1.0965, abs=5e-5)


@pytest.mark.parametrize("widths", [[1.0], [0.25, 4.0], 4.0 ** np.arange(-3, 4)])
def test_error_of_other_widths_is_that_of_a_least_squares_fit(widths):
    """Differences are drawn, and constants are fitted; a ladder has no error on its own widths."""
    variances, gamma = np.array([0.5, 0.2]), 0.9
    rng = np.random.default_rng(0)
    r = np.square(rng.normal(size=(50_000, 2)) * np.sqrt(2.0 * variances)).sum(axis=1)
    basis, target = np.exp(-np.outer(r, 0.5 / np.array(widths))), np.exp(-gamma * r)
    left = target - basis @ np.linalg.lstsq(basis, target, rcond=None)[0]
    expected = np.sqrt(np.square(left).mean()) / target.std()
    assert rates.width_error(gamma, widths, variances) == pytest.approx(expected, rel=0.1, abs=1e-5)
    assert rates.width_error(0.5 / widths[0], widths, variances) < 1e-6
    assert rates.mean_gaussian(gamma, variances) == pytest.approx(target.mean(), rel=0.02)


def test_one_width_is_worse_than_the_mean_where_the_target_hardly_decays():
    """The relative errors above 1 of the reproduced table 1."""
    variances = np.full(10, 0.05)
    scale = variances.sum()
    assert rates.width_error(0.1 / scale, scale, variances) > 1.0
    assert rates.width_error(0.1 / scale, scale * 4.0 ** np.arange(-3, 4), variances) < 0.01
