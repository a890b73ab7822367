"""Every formula of the bounds at one point, with numbers worked out by hand.

The bounds are so conservative that tests of coverage do not notice a wrong level or constant. These
tests do: each mutant of `scripts/lab/mutate.py --formulas` has to fail here or in the tests of the
module.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory.bounds import (
    concentration,
    generalization,
    intervals,
    predictors,
    stability,
    u_statistics,
)
from cases import each
from scipy.optimize import brentq
from scipy.stats import binom, norm

from alignlearn.bounds import (
    betting,
    class_betting,
    class_intervals,
    fitted,
    held_out,
    learned,
    rademacher,
)
from alignlearn.bounds.asymptotic import asymptotic_interval
from alignlearn.bounds.binomial import clopper_pearson
from alignlearn.bounds.class_intervals import FeatureRange

ln, root = math.log, math.sqrt
# tau of the covariance at m = 100: log(1/delta) of the levels below.
TAU = 2 / root(300) + 4 * 99 / 100 * root(ln(1 / 0.02) / 200)  # delta = 0.02
SPREAD = root(ln(1 / 0.05) / 200)  # m = 100, delta = 0.05
SPREAD_2 = root(ln(2 / 0.05) / 200)
SPREAD_6 = root(ln(6 / 0.05) / 200)
SHARP = 25 * root(15) / 18


def near(value):
    return pytest.approx(value, rel=1e-12)


def test_values_of_concentration():
    c = concentration
    assert c.bias_bound(10, 2.0, 3.0) == near((200 - 30 + 2) / 1000 * 6)
    assert c.bias_bound(1) == near(1.0)
    assert c.exchange_constant() == near(5.379143536399191)
    assert c.exchange_constant(True) == near(4.7407407407407405)
    assert c.perturbation_bound(100, 2.0, 3.0) == near(SHARP * 6 / 100)
    assert c.perturbation_bound(100, 2.0, 3.0, scalar_target=True) == near(128 / 27 * 6 / 100)
    assert c.perturbation_bound(10, 2.0, 2.0, same_kernel=True) == near(27 * 81 / 19**3 * 4)
    assert c.numerator_deviation(100, 0.05, 2.0, 3.0) == near(
        ((20000 - 300 + 2) / 10**6 + SHARP * SPREAD_2) * 6
    )
    assert c.numerator_deviation(100, 0.05, 2.0, 3.0, True) == near(
        ((20000 - 300 + 2) / 10**6 + 128 / 27 * SPREAD_2) * 6
    )
    assert c.numerator_deviation_printed(100, 0.05, 2.0, 3.0) == near(6 * (0.18 + 24 * SPREAD_2))
    assert c.covariance_deviation(100, 0.02) == near(TAU)
    assert c.alignment_deviation_printed(100, 0.05, 0.5, 0.2, 1.0, 3.0) == near(
        18 * (3 / 0.2) * (0.03 + 8 * SPREAD_6)
    )
    assert c.alignment_deviation_by_printed_proof(100, 0.05, 0.5, 0.2, 1.0, 3.0) == near(
        18 * (9 / 0.2) * (0.03 + 4 * SPREAD_6)
    )
    assert c.alignment_deviation_by_printed_proof(100, 0.05, 0.5, 8.0, 4.0, 3.0) == near(
        18 * (16 / 0.5) * (0.03 + 4 * SPREAD_6)
    )
    assert c.alignment_deviation(100, 0.06, 0.5, 0.2, 1.0, 3.0) == near(6 * 3 / root(0.1) * TAU)
    # A = 1.5/3 = 0.5, A' = 0.9/3 = 0.3
    assert c.alignment_deviation_refined(100, 0.06, 2.25, 0.81, 0.36, 0.5, 3.0, 3.0) == near(
        TAU * (2 * 0.6 / root(0.15) + 0.5 * (2 + 10 / 3)) + TAU**2 * 1.5 / 0.15
    )
    # Intervals, at a sample so large that both ends are informative.
    assert fitted.intercept_residual_bound(3.0, 4.0, 0.25) == near(3 * (2 + 4 / (2 * 0.5)))
    assert fitted.intercept_stability(10, 3.0, 4.0, 0.25) == near(18 / 10 * (1 + 16 / 0.25))
    # M = 18, b = 36 (18/100) 65
    assert fitted.intercept_bound(0.7, 100, 0.05, 3.0, 4.0, 0.25) == near(
        0.7 + 36 * 0.18 * 65 + (200 * 36 * 0.18 * 65 + 324) * SPREAD
    )


def test_values_of_generalization():
    """No two factors of a term are equal, nor is any 1 or 2."""
    g = generalization
    assert g.exchange_bound(0.3, 100, 0.05, 0.03, 5.0) == near(0.3 + 0.03 + (6 + 5) * SPREAD)
    # M1 = 2 * 3 (1 + 6/2) = 24, L = 144, b = 2.4
    assert g.two_stage_bound(0.3, 100, 0.05, 3.0, 9.0, 0.25, 0.1) == near(
        0.3 + 2.4 + (200 * 2.4 + 144) * SPREAD
    )
    # M1 = 2 * 3 * 7 = 42, M2 = 72 (1 + 0.7/0.5) 3 = 518.4
    assert g.two_stage_bound_printed(0.3, 100, 0.05, 3.0, 9.0, 0.25, 0.7) == near(
        0.3 + 2 * 42 * 518.4 / 100 + (1 + 16 * 518.4 / 42) * 42 * 518.4 / 4 * SPREAD
    )
    assert g.two_stage_bound_loss_repaired(0.3, 100, 0.05, 3.0, 9.0, 0.25, 0.7) == near(
        0.3 + 2 * 42 * 518.4 / 100 + (1 + 16 * 518.4 / 42) * 42**2 / 4 * SPREAD
    )
    assert g.lkrr_bound_printed(0.3, 100, 0.05, 3.0, 0.01) == near(0.32 + (4 + 3) * SPREAD)
    # Delta h = 2 * 3 * 7/(0.5 * 100) = 0.84, b = 6 * 0.84
    assert g.lkrr_bound(0.3, 100, 0.05, 3.0, 0.5, 7.0) == near(
        0.3 + 5.04 + (200 * 5.04 + 9) * SPREAD
    )


def test_values_of_stability():
    s = stability
    assert s.hypothesis_bound(3.0, 4.0, 0.25) == near(6.0)
    assert s.residual_bound(3.0, 4.0, 0.25) == near(9.0)
    assert s.krr_stability(10, 4.0, 0.25, 3.0, 0.5) == near(24 / 3.0)
    assert s.two_stage_stability_printed(10, 2.0, 0.25, 3.0, 1.5, 0.7) == near(
        2 * 1.5 * 2 * 3 / 2.5 * (1 + 0.7 / 0.5)
    )
    # kappa = 4, M_r = 3 (1 + 4/2) = 9, c = min(16, 2)
    assert s.two_stage_stability(10, 2.0, 0.25, 3.0, 2.0, 0.7, 0.4) == near(
        2 * 4 * 9 / 2.5 + 2 * 3 * 0.7 / 2.5 + 3 * 0.4 / (0.25 * root(10))
    )
    # kappa = 0.4, kappa/lam0 = 0.1, c = min(0.1, 0.158)
    assert s.two_stage_stability(10, 2.0, 4.0, 3.0, 0.2, 0.7, 0.4) == near(
        2 * 0.4 * 3 * (1 + root(0.1) / 2) / 40 + 0.1 * 3 * 0.7 / 40 + 3 * 0.4 / (4 * root(10))
    )
    assert s.two_stage_stability_by_weights(10, 2.0, 0.25, 3.0, 2.0, 0.1) == near(
        2 * 4 * 9 / 2.5 + 2 * 3 * (10 * 0.2) / 2.5 + 3 * (root(10) * 0.2) / (0.25 * root(10))
    )
    assert s.lkrr_stability(10, 0.25, 3.0, 7.0) == near(42 / 2.5)
    # C0 = 24 + 4 * 0.5 * 3 * 2 * 17, C1 = 16 * 0.25 * 3 * 8/0.25
    assert s.lkrr_stability_printed(10, 0.25, 3.0, 4.0, 0.5, 9) == near((24 + 204 + 384 * 3) / 2.5)


def test_values_of_predictors_and_unbiased_statistics():
    u = u_statistics
    assert predictors.classification_guarantee(0.6, 2.0, 1.5) == near(1 - 0.2)
    assert predictors.regression_guarantee_printed(0.6) == near(0.8)
    assert predictors.regression_guarantee(0.6) == near(0.4)
    assert predictors.scaled_regression_risk(0.6, 0.9) == near(1 - 0.36 / 0.9)
    assert predictors.unnormalized_guarantee(0.6, 2.0) == near(0.7)
    # unbiased statistic
    assert u.u_statistic_constant(4) == near(16.0)
    assert u.u_statistic_constant(100) == near(
        SHARP * 100 / 97 + 80 * 100 / (98 * 97) + 10**4 / (99 * 98 * 97)
    )
    assert u.u_statistic_constant(30, True) == near(
        128 / 27 * 30 / 27 + 40 * 30 / (28 * 27) + 900 / (29 * 28 * 27)
    )
    assert u.u_statistic_deviation(100, 0.05, 2.0, 3.0) == near(
        u.u_statistic_constant(100) * 6 * SPREAD_2
    )
    assert u.hoeffding_deviation(102, 0.05, 2.0, 3.0) == near(24 * root(ln(40) / 50))
    assert u.hoeffding_deviation(100, 0.05, nonnegative=True) == near(2 * root(ln(40) / 50))
    assert u.hoeffding_deviation(100, 0.05, nonnegative=True, nonnegative_prime=True) == near(
        root(ln(40) / 50)
    )
    assert u.bernstein_deviation(103, 3.0, 0.2, 0.7) == near(root(2 * 0.2 * 3 / 25) + 2.1 / 75)
    assert u.empirical_bernstein_deviation(103, 0.05, 0.2, 0.7) == near(
        root(2 * 0.2 * ln(60) / 25) + 0.7 * ln(60) / 75 + 0.7 * root(2 / (25 * 12)) * ln(60)
    )


def test_values_of_two_classes():
    """The closed form, for K >= 0 and for kernels of any sign."""
    either, positive, c = FeatureRange(3.0), FeatureRange(3.0, True), class_intervals
    assert positive.diameter2 == near(6.0)
    assert either.diameter2 == near(12.0)
    assert positive.fourth_moment == near(9.0)
    assert either.fourth_moment == near(12.0)
    assert positive.four_point == near(6.0)
    assert either.four_point == near(24.0)
    # c = 10/9: 6/10 [(10/9)^(1/2) + (100 * 0.3/54 + 10/9)^(1/2)]^2
    assert c.spread_upper(0.3, 10, 2.0, 6.0) == near(
        0.6 * (root(10 / 9) + root(30 / 54 + 10 / 9)) ** 2
    )
    assert c.mean_distance_slack(10, 40, 2.0, 6.0) == near(root(6 * 2 * 0.125 / 2))
    assert c.mean_distance2_lower(3.0, 10, 40, 2.0, positive) == near(
        (3 - root(0.75)) ** 2 - 3 * 0.125
    )
    assert c.mean_distance2_lower(3.0, 10, 40, 2.0, either) == near(
        (3 - root(1.5)) ** 2 - 3 * 0.125
    )
    assert c.mean_distance2_upper(1.0, 10, 40, 2.0, positive) == near((1 + root(0.75)) ** 2)
    assert c.mean_distance2_upper(3.0, 10, 40, 2.0, positive) == near(6.0)
    assert c.covariance2_upper(0.4, 10, 2.0, positive, 16.0) == near(
        (0.4 * 10 / 9 + root(6 * 16 * 2 / 20)) ** 2
    )


def test_values_of_learned_kernels_and_losses():
    assert learned.sampled_complexity(0.2, 50, 30, 0.1) == near(0.2 + root(2 * ln(10) / 1500))
    assert learned.sampled_complexity(0.2, 50, 0, 0.1) == near(0.2)
    # rademacher: traces 2 and 3 of 5 samples
    assert rademacher.cortes_diagonal_bound(
        rademacher.gram_sizes([np.eye(5), 2 * np.eye(5)])
    ) == near(23 / 22 * math.e * 10)
    assert held_out.empirical_bernstein_upper([0.0, 0.5, 1.0, 2.0], 2.0, 0.1) == near(
        7 / 8 + root(2 * 35 / 48 * ln(20) / 4) + 14 * ln(20) / 9
    )


def test_expected_numerator_is_exact():
    found = concentration.expected_numerator(
        5, Fraction(1, 3), Fraction(1, 7), Fraction(1, 2), Fraction(2, 3)
    )
    assert found == (4 * 17 * Fraction(1, 3) + 16 * Fraction(1, 7) + 4 * Fraction(1, 3)) / 125


@pytest.mark.parametrize("low", [5, 6])
def test_smallest_sample_size_is_the_first(low):
    assert concentration.smallest_sample_size(lambda m: 1.0 if m < low else 0.5) == low
    assert concentration.smallest_sample_size(lambda m: 2.0 / m, below=1.0) == 3
    assert concentration.smallest_sample_size(lambda m: 0.0) == 2
    assert concentration.smallest_sample_size(lambda m: 0.0, start=5) == 5
    with pytest.raises(ValueError, match="not below"):
        concentration.smallest_sample_size(lambda m: 1.0)


# -- intervals -------------------------------------------------------------------------

M = 10**6
TAU_M = 2 / root(3 * M) + 4 * (M - 1) / M * root(ln(60) / (2 * M))  # delta/3 of 0.05


def test_the_interval_from_statistics():
    # R^2 = 2, R'^2 = 3: A = a^(1/2)/2, A' = a'^(1/2)/3, b = (f/6)^(1/2)
    low, high, vacuous = intervals.alignment_interval_from(M, 0.05, 0.8, 1.0, 4.0, 2.0, 3.0)
    A, B, b = 1 / 2, 2 / 3, root(0.8 / 6)
    assert low == pytest.approx((b - TAU_M) ** 2 / ((A + TAU_M) * (B + TAU_M)), rel=1e-12)
    assert high == pytest.approx((b + TAU_M) ** 2 / ((A - TAU_M) * (B - TAU_M)), rel=1e-12)
    assert not vacuous
    # Where tau reaches A there is no upper end, and where it exceeds b no lower end.
    assert intervals.alignment_interval_from(10, 0.05, 0.8, 1.0, 4.0, 2.0, 3.0) == (0, 1, True)
    assert intervals.alignment_interval_from(M, 0.05, 0.8, 1e-6, 4.0, 2.0, 3.0).high == 1.0
    learned_one = fitted.learned_alignment_interval(M, 0.05, 0.8, 1.0, 4.0, 2.0, 3.0, 1)
    assert learned_one == (low, high, vacuous)
    # Three kernels: 3 + 6 + 1 operators in place of 3.
    tau = 2 / root(3 * M) + 4 * (M - 1) / M * root(ln(10 / 0.05) / (2 * M))
    three = fitted.learned_alignment_interval(M, 0.05, 0.8, 1.0, 4.0, 2.0, 3.0, 3)
    assert three.low == pytest.approx((b - tau) ** 2 / ((A + tau) * (B + tau)), rel=1e-12)


def test_bounds_in_units_of_both_kernels():
    found = concentration.alignment_deviation(100, 0.06, 0.5, 0.125, 2.0, 3.0)
    assert found == pytest.approx(6 * 2 * 3 / 0.25 * TAU, rel=1e-12)
    assert fitted.intercept_residual_bound(3.0, 5.0, 0.04) == pytest.approx(3 * (2 + 5 / 0.4))


def test_the_interval_by_the_numerator_ends_at_1():
    """A variance with the trivial interval, and a quotient above 1."""
    by = intervals.alignment_interval_by_numerator
    assert by(10, 0.05, 0.8, 1.0, 4.0, 3.0, 5.0) == (0.0, 1.0, True)
    assert by(M, 0.05, 1.9, 1.0, 4.0, 3.0, 5.0).high == 1.0
    assert by(M, 0.05, 0.8, 1e-6, 4.0, 3.0, 5.0).high == 1.0


@pytest.mark.parametrize(("scalar", "constant"), [(False, SHARP), (True, 128 / 27)])
def test_the_interval_by_the_numerator(scalar, constant):
    found = intervals.alignment_interval_by_numerator(M, 0.05, 0.8, 1.0, 4.0, 3.0, 5.0, scalar)
    spread, bias = root(ln(120) / (2 * M)), (2 * M * M - 3 * M + 2) / M**3
    a, b, f = 1 / 9, 4 / 25, 0.8 / 15
    df, da = bias + constant * spread, bias + 27 / 8 * spread
    assert found.low == pytest.approx((f - df) / root((a + da) * (b + da)), rel=1e-12)
    assert found.high == pytest.approx((f + df) / root((a - da) * (b - da)), rel=1e-12)


def test_the_interval_of_matrices_of_two_scalars():
    """K = ff', L = gg': <K_c, L_c>/m^2 is the squared covariance, ||K_c||/m the variance."""
    m, rng = 1500, np.random.default_rng(0)
    g = np.sign(rng.normal(size=m))
    f = (g + rng.uniform(-0.3, 0.3, m)) * 0.7
    numbers = np.cov(f, g, bias=True)[0, 1] ** 2, f.var() ** 2, g.var() ** 2
    low, high, _ = intervals.alignment_interval_of_grams(
        np.outer(f, f), np.outer(g, g), 0.05, 0.9, 1.1
    )
    tau = 2 / root(3 * m) + 4 * (m - 1) / m * root(ln(60) / (2 * m))
    b, A, B = (root(v) for v in (numbers[0] / 0.99, numbers[1] / 0.81, numbers[2] / 1.21))
    assert low == pytest.approx((b - tau) ** 2 / ((A + tau) * (B + tau)))
    assert (low > 0.1, high) == (True, 1.0)


def test_deviations_of_the_predictor_of_a_sample():
    # R^2 = 2, M = 1.5: A = a^(1/2)/2, V = Var/2.25; rho = 0.4, tau at delta/4.
    tau = 2 / root(3 * M) + 4 * (M - 1) / M * root(ln(80) / (2 * M))
    A, V = 1.2 / 2, 0.9 / 2.25
    s = root(0.4 / (A * V))
    D = tau * (1 + s * (A + V - tau)) / ((A - tau) * (V - tau))
    numbers = M, 0.05, 1.44, 0.9, 0.4, 2.0, 1.5
    assert predictors.predictor_deviation(*numbers) == pytest.approx((2 * D + s * tau) / 1.5)
    found = predictors.root_risk_deviation(*numbers)
    assert found == pytest.approx((root(A + tau**2) * D + s * tau) / 1.5, rel=1e-12)


# -- the unbiased statistic ------------------------------------------------------------


def test_the_ranges_of_the_kernel():
    assert u_statistics.kernel_range(2.0, 3.0) == pytest.approx((-8, 16))
    assert u_statistics.kernel_range(2.0, 3.0, True) == pytest.approx((-4, 8))
    assert u_statistics.kernel_range(2.0, 3.0, True, True) == pytest.approx((-2, 4))
    assert u_statistics.kernel_range(2.0, 2.0, same_kernel=True) == pytest.approx((0, 32 / 3))


def test_the_deviation_of_the_unbiased_alignment():
    # R = R' = 1, a = 0.5, a' = 0.8, rho = 0.6: b = 0.6 * 0.4^(1/2); k = 25000, level log(120).
    deviation, level, k = u_statistics.alignment_deviation_unbiased, ln(120), 25000
    means, variances = (0.6 * root(0.4), 0.5, 0.8), (0.1, 0.2, 0.3)
    # Of non-negative kernels the range of the first two is halved, and quartered.
    for nonnegative, tops, low in (
        (False, [8 / 3] * 3, -4 / 3),
        (True, [4 / 3, 2 / 3, 8 / 3], -2 / 3),
    ):
        e = [
            root(2 * v * level / k) + max(top - x, x - bottom) * level / (3 * k)
            for x, v, top, bottom in zip(means, variances, tops, (low, 0.0, 0.0))
        ]
        stretch = 1 / root((1 - e[1] / 0.5) * (1 - e[2] / 0.8))
        expected = e[0] / root(0.4) * stretch + 0.6 * (stretch - 1)
        found = deviation(4 * k, 0.05, 0.5, 0.8, 0.6, variances, nonnegative=nonnegative)
        assert found == pytest.approx(expected, rel=1e-12)
    assert deviation(8, 0.05, 0.5, 0.8, 0.6, variances) == 1.0


def test_nothing_is_known_where_one_norm_may_be_0_or_the_sum_is_above_1():
    deviation, k = u_statistics.alignment_deviation_unbiased, 250
    for a, b in ((0.01, 0.8), (0.8, 0.01)):
        assert deviation(4 * k, 0.05, a, b, 0.6, (0.0, 0.0, 0.0)) == 1.0
    # e_a = 8/3 ln(120)/750 = 0.017 of 0.05: s = 1.23, e_b = 0.0135 is 0.27 of it, far above 1 with
    # Var.
    assert 0 < deviation(4 * k, 0.05, 0.05, 0.05, 0.6, (0.0, 0.0, 0.0)) < 1.0
    assert deviation(4 * k, 0.05, 0.05, 0.05, 0.6, (0.05, 0.0, 0.0)) == 1.0


def test_the_variance_within_quadruples_by_the_definition():
    """Ten points have two quadruples; also for kernels in other units."""
    rng = np.random.default_rng(0)
    F = rng.normal(size=(10, 2))
    K, L = F @ F.T, F**2 @ (F**2).T
    draws, found = np.random.default_rng(3), []
    for _ in range(30):
        rows = draws.permutation(10)[:8].reshape(2, 4)
        h = [u_statistics.quadruple_kernel(K[np.ix_(r, r)], L[np.ix_(r, r)]) for r in rows]
        found.append((h[0] - h[1]) ** 2 / 2)
    assert u_statistics.quadruple_variance(K, L, random_state=3) == pytest.approx(np.mean(found))


def test_intervals_around_the_unbiased_statistic_by_the_empirical_variance():
    m, rng = 400, np.random.default_rng(1)
    x = np.sign(rng.normal(size=m))
    y = np.where(rng.random(m) < 0.25, -x, x)
    K, L = 2.0 * np.outer(x, x), 3.0 * np.outer(y, y)
    U = u_statistics.u_statistic(K, L)
    variance = u_statistics.quadruple_variance(K, L, random_state=0)
    half = u_statistics.empirical_bernstein_deviation(m, 0.9, variance, 4 * 6.0)
    found = u_statistics.empirical_bernstein_interval(K, L, 0.9, 2.0, 3.0)
    assert found[:2] == pytest.approx((U - half, U + half), rel=1e-9)
    assert 0 < found.low < found.high < 6
    few = slice(0, 12)
    for interval in (u_statistics.empirical_bernstein_interval, u_statistics.u_statistic_interval):
        assert interval(K[few, few], L[few, few], 0.05, 2.0, 3.0) == (0.0, 6.0, True)


def test_intervals_around_the_unbiased_statistic():
    m = 40
    x = np.sign(np.random.default_rng(0).normal(size=m))
    K = L = np.outer(x, x)
    U = u_statistics.u_statistic(K, L)
    half = u_statistics.u_statistic_deviation(m, 0.9, 1.0, 1.0)
    low, high, vacuous = u_statistics.u_statistic_interval(K, L, 0.9)
    assert (low, high) == pytest.approx((max(U - half, 0), min(U + half, 1)))
    assert not vacuous
    z = np.where(np.arange(m) % 2, 1.0, -1.0)
    inside = u_statistics.u_statistic_interval(K, np.outer(z, z), 0.9)
    assert inside.high == pytest.approx(u_statistics.u_statistic(K, np.outer(z, z)) + half)
    assert inside.high < 1
    half = u_statistics.u_statistic_deviation(m, 0.9, 1.0, 1.0, True)
    found = u_statistics.u_statistic_interval(K, L, 0.9, 1.0, 1.0, True)
    assert found.low == pytest.approx(max(U - half, 0))


# -- betting ---------------------------------------------------------------------------


def wealth(U, v, log_inverse, prior):
    """The mean over the rows of prod (1 + lambda_i (U_i - v)), as the docstring has it."""
    count, mean, variance = prior
    total = 0.0
    for row in U:
        product, seen, squares = 1.0, 0.0, 0.0
        for i, u in enumerate(row):
            average = (mean * count + seen) / (count + i)
            spread = (variance * count + squares) / (count + i)
            bet = root(2 * log_inverse / (len(row) * spread))
            product *= 1 + min(bet, 0.95 / v) * (u - v)
            seen, squares = seen + u, squares + (u - average) ** 2
        total += product
    return total / len(U)


@each("prior", [(1.0, 0.5, 0.25), (2.0, 0.1, 0.02)])
@each("delta", [0.05, 0.3])
def test_betting_bounds_solve_their_equations(prior, delta):
    U = np.random.default_rng(0).uniform(0.2, 0.9, (3, 40))
    low = betting.betting_lower(U, ln(1 / delta), prior)
    assert wealth(U, low, ln(1 / delta), prior) == pytest.approx(1 / delta, rel=1e-5)
    high = betting.betting_upper(U, ln(1 / delta), prior)
    flipped = prior[0], 1 - prior[1], prior[2]
    assert wealth(1 - U, 1 - high, ln(1 / delta), flipped) == pytest.approx(1 / delta, rel=1e-5)
    assert 0 < low < U.mean() < high < 1


def test_betting_upper_of_losses_is_at_level_delta():
    losses = np.random.default_rng(0).uniform(0.0, 2.0, 40)
    orders = np.random.default_rng(7).permuted(np.tile(losses / 2, (30, 1)), axis=1)
    high = held_out.betting_upper(losses, 2.0, 0.05, random_state=7) / 2
    assert wealth(1 - orders, 1 - high, ln(20), (1.0, 0.5, 0.25)) == pytest.approx(20, rel=1e-5)


def test_rounding_beyond_the_range_is_cut():
    inside, beyond = np.full((1, 30), 1.0), np.full((1, 30), 1.0 + 1e-3)
    inside[0, ::3] = beyond[0, ::3] = 0.0
    beyond[0, 0] = -1e-3
    assert betting.betting_lower(beyond, 1.0) == betting.betting_lower(inside, 1.0)


def test_nothing_bet_and_everything_won():
    assert betting.betting_lower(np.zeros((1, 0)), 1.0) == 0.0
    assert betting.betting_lower(np.zeros((2, 5)), 3.0) == 0.0
    assert betting.betting_lower(np.ones((1, 10**4)), 0.1) > 0.9
    # One sample, bet (2 L/0.25)^(1/2): 1 + bet (1 - v) = e^L.
    bet = root(2 * 0.1 / 0.25)
    assert betting.betting_lower(np.ones((1, 1)), 0.1) == pytest.approx(
        1 - (math.exp(0.1) - 1) / bet, abs=1e-8
    )


# -- binomials -------------------------------------------------------------------------


def test_clopper_pearson_at_its_levels():
    low, high = clopper_pearson(3, 10, 0.02, 0.07)
    assert binom.sf(2, 10, low) == pytest.approx(0.02)
    assert binom.cdf(3, 10, high) == pytest.approx(0.07)
    assert clopper_pearson(0, 10, 0.02, 0.07)[0] == 0.0
    assert clopper_pearson(10, 10, 0.02, 0.07)[1] == 1.0
    # An end that may not fail is what is always true.
    assert clopper_pearson(3, 10, 0.0, 0.1)[0] == 0.0
    assert clopper_pearson(3, 10, 0.1, 0.0)[1] == 1.0
    assert binom.cdf(3, 10, held_out.binomial_upper(3, 10, 0.07)) == pytest.approx(0.07)


def test_small_numbers_of_the_closed_form():
    """Below 1, where 0 and 1 differ."""
    m, L, c, e = 100, 1.0, 100 / 99, 0.25
    shift = (3 * c - 1) / 6 * L
    norm = (e + shift + root(shift**2 + 2 * L * c * e)) * 2 * 99 / m**2
    assert class_intervals.expected_spread_lower(norm, m, L, 2.0) == pytest.approx(2 / 100 * e)
    assert class_intervals.spread_lower(0.01, m, L, UNIT) == 0.0
    assert class_intervals.ratio(1.0, 0.0) == math.inf
    F, y = np.array([[0.1], [0.3], [0.5], [0.5]]), np.array([0, 0, 1, 1])
    assert class_intervals.class_statistics(F @ F.T, y)[2] == pytest.approx(0.3)


@pytest.mark.parametrize(("plus", "minus"), [(2, 18), (18, 2), (10, 10)])
def test_the_share_of_the_classes_has_half_of_the_level_on_each_side(plus, minus):
    m = plus + minus
    low = brentq(lambda p: binom.sf(plus - 1, m, p) - 0.05, 1e-9, 1 - 1e-9)
    high = brentq(lambda p: binom.cdf(plus, m, p) - 0.05, 1e-9, 1 - 1e-9)
    least = min(low * (1 - low), high * (1 - high))
    most = 0.25 if low <= 0.5 <= high else max(low * (1 - low), high * (1 - high))
    found = class_intervals.share_product_interval(plus, minus, 0.1)
    assert found == pytest.approx((least, most), rel=1e-6)


# -- the asymptotic interval -----------------------------------------------------------


def test_the_asymptotic_interval_is_a_jackknife():
    """Also for classes in which one sample makes up a variance: the interval is trivial there."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 1)), np.sign(rng.normal(size=15))
    K, L = 3 * np.exp(-((X - X.T) ** 2)) + np.outer(y, y), np.outer(y, y)

    def ratio(rows):
        A, B = K[np.ix_(rows, rows)], L[np.ix_(rows, rows)]
        U = u_statistics.u_statistic
        return U(A, B) / root(U(A, A) * U(B, B))

    each = np.array([ratio(np.delete(np.arange(15), i)) for i in range(15)])
    error = root(14 / 15 * np.sum((each - each.mean()) ** 2))
    middle = ratio(np.arange(15))
    low, high, vacuous = asymptotic_interval(K, L, 0.3)
    assert low == pytest.approx(middle - norm.ppf(0.85) * error)
    assert high == pytest.approx(min(middle + norm.ppf(0.85) * error, 1.0))
    assert 0 < low < high < 1
    assert not vacuous
    assert asymptotic_interval(K, L, 1e-12).high == 1.0
    free = np.where(np.arange(15) % 2, 1.0, -1.0)
    assert asymptotic_interval(K, np.outer(free, free), 1e-12).low == 0.0
    alone = np.r_[1.0, -np.ones(5)]
    for pair in ((K[:6, :6], np.outer(alone, alone)), (np.outer(alone, alone), K[:6, :6])):
        assert asymptotic_interval(*pair) == (0.0, 1.0, True)
    assert asymptotic_interval(np.ones((15, 15)), L) == (0.0, 1.0, True)
    same = asymptotic_interval(L, L, 0.3)
    assert same[:2] == pytest.approx((1.0, 1.0))


# -- two classes and real targets ------------------------------------------------------

NUMBERS = 10_000, 30_000  # samples of the classes
UNIT, ANY = FeatureRange(1.0, True), FeatureRange(2.0)


def test_the_lower_bound_of_the_spread_solves_its_equation():
    # e + c'L + ((c'L)^2 + 2 L c e)^(1/2) = m^2 A_S/(D^2 (m-1)), c = 10/9, c' = 7/18, L = 2
    found = class_intervals.expected_spread_lower(0.9, 10, 2.0, 2.0)
    e, shift = found * 10 / 2, 7 / 18 * 2
    assert e + shift + root(shift**2 + 4 * 10 / 9 * e) == pytest.approx(90 / 18, rel=1e-9)
    assert class_intervals.expected_spread_lower(0.2, 10, 2.0, 2.0) == 0.0


@pytest.mark.parametrize(
    ("features", "kappa", "tt", "diameter2"), [(UNIT, 1.0, 1.0, 2.0), (ANY, 16 / 3, 4.0, 8.0)]
)
def test_the_norm_without_its_bias(features, kappa, tt, diameter2):
    m = 50
    e = class_intervals.expected_spread_lower(0.9, m, 0.2, diameter2) * 49 / 50
    square = (m**3 * e**2 - 49**2 * kappa - 49 * tt) / (49 * (m * m - 2 * m + 2))
    assert square > 0
    found = class_intervals.spread_lower(0.9, m, 0.2, features)
    assert found == pytest.approx(root(square), rel=1e-12)


def levels(p):
    """log(1/delta) of the numerator, the norm, and delta of the shares, at delta = 0.1."""
    return ln(2 * p / 0.045), ln(2 * p / 0.045), 0.01


@pytest.mark.parametrize("p", [1, 3])
def test_the_closed_form_for_two_classes(p):
    m_plus, m_minus = NUMBERS
    m, (L1, L2, share) = m_plus + m_minus, levels(p)
    parts = [(1.1, 0.3, 0.5, UNIT), (1.5, 0.7, 2.0, ANY)][: min(p, 2)]
    near = far = wide = narrow = 0.0
    for distance, spread, w, f in parts:
        slack = root(f.diameter2 * L1 * (1 / m_plus + 1 / m_minus) / 2)
        near += w * ((distance - slack) ** 2 - f.radius2 * (1 / m_plus + 1 / m_minus))
        far += w * min((distance + slack) ** 2, f.diameter2)
        wide += w * class_intervals.spread_upper(spread, m, L2, f.diameter2)
        narrow += (w * class_intervals.spread_lower(spread, m, L2, f)) ** 2
    least, most = class_intervals.share_product_interval(m_plus, m_minus, share)
    found = class_intervals.learned_class_interval(m_plus, m_minus, 0.1, *zip(*parts), p)
    expected = least * near / wide, min(most * far / root(narrow), 1.0)
    assert found[:2] == pytest.approx(expected, rel=1e-12)
    assert 0 < found.low < found.high
    if p == 1:
        same = class_intervals.class_interval_from(m_plus, m_minus, 0.1, 1.1, 0.3, UNIT)
        assert same == found


def test_the_closed_form_for_real_targets():
    m, features, length2 = 40_000, ANY, 9.0
    L1, L3 = ln(2 / 0.045), ln(2 / 0.01)
    slack = root(8 * 9 * L1 / (2 * m)) * (m - 1) / m
    kappa = root(16 / 3 * 4 / 3) * 9 / 4
    square = (m**3 * (0.9 - slack) ** 2 - (m - 1) ** 2 * kappa - (m - 1) * 2 * 9 / 4) / (
        (m - 1) * (m * m - 2 * m + 2)
    )
    wide = class_intervals.spread_upper(0.8, m, L1, 8.0)
    wide *= class_intervals.spread_upper(1.7, m, L3, 9.0)
    narrow = class_intervals.spread_lower(0.8, m, L1, features)
    narrow *= class_intervals.expected_spread_lower(1.7, m, L3, 9.0)
    high = ((0.9 + slack) * m / (m - 1)) ** 2 / narrow
    found = class_intervals.target_interval_from(m, 0.1, 0.9, 0.8, 1.7, features, length2)
    assert found[:2] == pytest.approx((square / wide, min(high, 1.0)), rel=1e-12)
    assert 0 < found.low < found.high < 1


def sample(m=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < m // 3, 1.0, -1.0)
    X = rng.normal(size=(m, 2)) + 3 * (y > 0)[:, None]
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    return np.exp(-D / 4), np.exp(-D), y


def test_the_betting_interval_puts_its_parts_together():
    """Two kernels, of three: p = 3 events for d^2, and 6 for the norms."""
    K, L, y = sample()
    weights, rng = (0.4, 1.3), np.random.default_rng(5)
    L1, L2, above = ln(6 / 0.045), ln(12 / 0.045), ln(2)
    blocks = class_betting.class_blocks(y > 0, rng)
    groups = class_betting.random_groups(60, 4, rng)
    d, sums = np.zeros(2), [class_betting.sums_of_fours(A, groups) for A in (K, L)]
    for w, A in zip(weights, (K, L)):
        low, high = class_betting.norm2_interval(A, blocks, root(2), L1, L1 + above)
        distance = class_intervals.class_statistics(A, y)[2]
        closed = class_intervals.mean_distance2_upper(distance, 20, 40, L1 + above, UNIT)
        d += w * np.array([low, min(high, closed)])
    norm = np.zeros(2)
    for i, j, factor in ((0, 0, 0.16), (0, 1, 2 * 0.52), (1, 1, 1.69)):
        h = class_betting.four_point_values(sums[i], sums[j])
        ends = class_betting.product_interval(h, 2 / 3, L2, L2, i == j)
        norm += factor * np.maximum(ends, 0)
    least, most = class_intervals.share_product_interval(20, 40, 0.01)
    found = class_betting.learned_betting_interval((K, L), weights, (UNIT, UNIT), y, 0.1, 3, 5)
    assert found.low == pytest.approx(least * d[0] / root(norm[1]), rel=1e-9)
    expected = min(most * d[1] / root(norm[0]), 1.0) if norm[0] > 0 else 1.0
    assert found.high == pytest.approx(expected, rel=1e-9)
    assert found.low > 0


def test_the_betting_interval_of_real_targets_puts_its_parts_together():
    m, noise = 160, np.random.default_rng(1)
    K, _, y = sample(m)
    y = np.where(noise.random(m) < 0.25, -y, y) + noise.uniform(-0.05, 0.05, m)
    L1, L3, rng = ln(2 / 0.405), ln(2 / 0.09), np.random.default_rng(5)
    blocks = class_betting.target_blocks(y, rng)
    low, high = class_betting.norm2_interval(K, blocks, root(2 * 2.1**2) / 2, L1, L1 + ln(2))
    covariance = class_intervals.target_statistics(K, y)[0]
    high = min(high, class_intervals.covariance2_upper(covariance, m, L1 + ln(2), UNIT, 2.1**2))
    groups = class_betting.random_groups(m, 4, rng)
    h = class_betting.four_point_values(*(2 * [class_betting.sums_of_fours(K, groups)]))
    norm = class_betting.product_interval(h, 2 / 3, L1, L1)
    pairs = class_betting.random_groups(m, 2, rng)
    halves = (y[pairs[..., 0]] - y[pairs[..., 1]]) ** 2 / 2
    variance = class_betting.product_interval(halves, 2.1**2 / 2, L3, L3)
    found = class_betting.target_betting_interval(K, y, (-1.05, 1.05), 0.9, UNIT, 5)
    expected = low / (root(norm[1]) * variance[1]), min(high / root(norm[0]) / variance[0], 1.0)
    assert found[:2] == pytest.approx(expected, rel=1e-9)
    assert 0 < found.low < found.high < 1


def test_blocks_and_groups_by_hand():
    K = np.arange(16.0).reshape(4, 4) ** 2
    K = K + K.T
    sums = class_betting.sums_of_fours(K, np.array([[[0, 1, 2, 3]]]))
    expected = [K[0, 1] + K[2, 3], K[0, 2] + K[1, 3], K[0, 3] + K[1, 2]]
    assert sums.ravel().tolist() == expected
    other = np.array([1.0, 5.0, 0.0]).reshape(3, 1, 1)
    found = class_betting.four_point_values(sums, other)
    assert found.item() == pytest.approx(0.75 * np.cov(expected, other.ravel(), bias=True)[0, 1])
    positive, y = np.arange(7) < 2, np.arange(7.0) ** 2
    order, coefficients, size = class_betting.class_blocks(positive, np.random.default_rng(0))
    assert (order.shape, size) == ((100, 6), 3)
    assert coefficients[3].tolist() == [1.0, -0.5, -0.5] * 2
    order, coefficients, size = class_betting.target_blocks(y, np.random.default_rng(0))
    assert (order.shape, size) == ((100, 6), 2)
    half = (y[order[:, ::2]] - y[order[:, 1::2]]) / 2
    assert np.array_equal(coefficients[:, ::2], half)
    assert np.array_equal(coefficients[:, 1::2], -half)


def test_neighbors_are_multiplied_by_hand():
    """Of three blocks the last has no neighbor."""
    features, c = np.random.default_rng(0).normal(size=(6, 3)), np.arange(1.0, 7.0)
    order = np.array([[3, 0, 5, 1, 4, 2]])
    first, second = (c[i] * features[order[0, i]] for i in (0, 1)), range(2, 4)
    expected = sum(first) @ sum(c[i] * features[order[0, i]] for i in second)
    found = class_betting.neighbor_products(features @ features.T, order, c[None], 2)
    assert found.shape == (1, 1)
    assert found.item() == pytest.approx(expected)


def test_levels_of_the_betting_intervals(monkeypatch):
    """What each part is called with, and how the results are combined, with known parts."""
    asked = []

    def part(name, *answer):
        def ask(*given):
            asked.append((name, *(v for v in given if isinstance(v, float))))
            return np.array(answer) if len(answer) > 1 else answer[0]

        monkeypatch.setattr(class_betting, name, ask)

    part("norm2_interval", 0.04, 0.09)
    part("mean_distance2_upper", 0.08)
    part("covariance2_upper", 0.07)
    part("_norm2_of_sum", 0.25, 0.36)
    part("share_product_interval", 0.2, 0.24)
    part("product_interval", 0.5, 0.8)
    K, _, y = sample()
    L1, L2 = ln(6 / 0.045), ln(12 / 0.045)
    found = class_betting.learned_betting_interval([K], [2.0], [UNIT], y, 0.1, 3, 5)
    assert found[:2] == pytest.approx((0.2 * 2 * 0.04 / 0.6, 0.24 * 2 * 0.08 / 0.5))
    levels = {name: given for name, *given in asked}
    assert levels["norm2_interval"] == pytest.approx([root(2), L1, L1 + ln(2)])
    assert levels["mean_distance2_upper"][1:] == pytest.approx([L1 + ln(2)])
    assert levels["_norm2_of_sum"] == pytest.approx([L2])
    assert levels["share_product_interval"] == pytest.approx([0.01])
    asked.clear()
    one = class_betting.class_betting_interval(K, y, 0.1, UNIT, 5)
    assert one[:2] == pytest.approx((0.2 * 0.04 / 0.6, 0.24 * 0.08 / 0.5))
    assert asked[0][2] == pytest.approx(ln(2 / 0.045))
    asked.clear()
    found = class_betting.target_betting_interval(K, y, (-1.0, 1.0), 0.1, UNIT, 5)
    assert found[:2] == pytest.approx((0.04 / (0.6 * 0.8), 0.07 / (0.5 * 0.5)))
    L1, L3 = ln(2 / 0.045), ln(2 / 0.01)
    levels = {name: given for name, *given in asked}
    assert levels["norm2_interval"] == pytest.approx([root(2), L1, L1 + ln(2)])
    assert levels["covariance2_upper"][-2:] == pytest.approx([L1 + ln(2), 4.0])
    assert levels["product_interval"] == pytest.approx([2.0, L3, L3])


def test_the_ends_of_a_norm_are_bets_on_projections_and_products():
    K, _, y = sample()
    order, coefficients, size = blocks = class_betting.class_blocks(y > 0, np.random.default_rng(0))
    low, high = class_betting.norm2_interval(K, blocks, 3.0, 1.0, 2.0)
    Z = np.zeros((30, order.shape[1] // size))
    class_betting.projections(K, order[:30], coefficients[:30], size, Z)
    below = betting.betting_lower((Z / 3 + 1) / 2, 1.0)
    assert low == pytest.approx((3 * (2 * below - 1)) ** 2, rel=1e-9)
    assert 0.01 < low < 0.9
    products = class_betting.neighbor_products(K, order, coefficients, size)
    above = betting.betting_upper((products / 9 + 1) / 2, 2.0, (2.0, 0.5, 0.1))
    assert high == pytest.approx(min(9 * (2 * above - 1), 9.0), rel=1e-9)
    assert 0 < low < high < 9


def test_the_ends_of_a_mean_of_products():
    h = np.random.default_rng(0).uniform(0.1, 0.5, (4, 30))
    low, high = class_betting.product_interval(h, 2 / 3, 1.0, 2.0)
    assert low == pytest.approx(2 / 3 * betting.betting_lower(1.5 * h, 1.0, (2.0, 0.1, 0.02)))
    assert high == pytest.approx(2 / 3 * betting.betting_upper(1.5 * h, 2.0, (2.0, 0.1, 0.02)))
    low, high = class_betting.product_interval(h, 2 / 3, 1.0, 2.0, False)
    U, prior = (1.5 * h + 1) / 2, (2.0, 0.55, 0.005)
    assert low == pytest.approx(2 / 3 * (2 * betting.betting_lower(U, 1.0, prior) - 1))
    assert high == pytest.approx(2 / 3 * (2 * betting.betting_upper(U, 2.0, prior) - 1))


def test_the_bias_of_the_distance_of_the_means_is_needed():
    """Features of different samples are orthogonal: d = 0, and d_S^2 = 1/m_+ + 1/m_- surely.

    Without the bias term the bound would be positive for any labels and every L < 1: it would be
    wrong with probability 1 instead of exp(-L).
    """
    bound = class_intervals.mean_distance2_lower
    for L in (0.01, 0.5, 0.9):
        for plus, minus in ((5, 5), (100, 7)):
            distance = root(1 / plus + 1 / minus)
            assert bound(distance, plus, minus, L, UNIT) == 0.0
            slack = class_intervals.mean_distance_slack(plus, minus, L, 2.0)
            assert distance - slack > 0  # The bound without the bias.


# -- learned kernels -------------------------------------------------------------------


def test_radii_of_the_list():
    assert learned.ratio_list(64) == pytest.approx([4, 4 / root(2), 2, root(2), 1])
    assert learned.ratio_list(64, 2.0) == pytest.approx([4, 4 / root(2), 2])


def test_the_margin_bound():
    # m = 16: radii 2, 2^(1/2), 1; N(h) = 4, so margins are divided by 2, 2^(3/2) and 4.
    margins = np.r_[np.full(12, 3.0), np.full(4, -1.0)]
    added = [2 * g * 0.01 + 3 * root(ln(3 / 0.1) / 32) for g in (2, root(2), 1)]
    risks = [0.25, 0.25, (12 * 0.25 + 4) / 16]
    found = learned.margin_bound(margins, 4.0, 0.01, 0.1)
    value = min(a + r for a, r in zip(added, risks))
    assert found[:4] == pytest.approx((value, 0.25, added[1], root(2)))
    assert learned.margin_bound(margins, 0.0, 0.01, 0.1).empirical == pytest.approx(0.25)


def test_the_clipped_bound():
    # W = 2, N(h) = 0.9: radii from 2 down to 1/8, 9 of them; the least that is at least 0.45.
    residuals = np.full(16, 0.5)
    found = learned.clipped_bound(residuals, 0.9, 2.0, 0.01, 0.1)
    added = 4 * 0.5 * 0.01 + 3 * root(ln(9 / 0.1) / 32)
    assert found[:4] == pytest.approx((4 * (1 / 16 + added), 0.25, 4 * added, 0.5))
    assert learned.clipped_bound(residuals, 5.0, 2.0, 0.01, 0.1).value == math.inf


def test_the_loss_of_the_ramp():
    assert learned.ramp_loss([-1.0, 0.25, 2.0]).tolist() == [1.0, 0.75, 0.0]


def test_pac_bayes():
    """All choices by hand: 40 sizes c, 8 levels t, and the union over them and the shares."""
    margins, sizes = np.linspace(-0.2, 2.0, 30), np.array([1.0, 0.5])
    shares, variances = np.array([0.75, 0.25]), np.full(30, 0.8)
    length = root(1 / 0.75 + 0.25 / 0.25)
    cosines = margins / (length * root(0.8))
    cost = ln(2 * root(30) / 0.1) + ln(17 * 8)  # 17 = C(16 + 1, 1) shares
    best = 1.0
    for c in np.geomspace(0.25, root(30), 40):
        for t in (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0):
            q, right = norm.cdf(t - c * cosines).mean(), (c**2 / 2 + cost) / 30

            def gap(p, q=q, right=right):
                return q * ln(q / p) + (1 - q) * ln((1 - q) / (1 - p)) - right

            p = brentq(gap, q, 1 - 1e-15)
            best = min(best, p / norm.cdf(t))
    found = learned.random_predictor_bound(margins, sizes, shares, variances, 0.1)
    assert found.value == pytest.approx(best, rel=1e-9)
    assert best < 1


def test_the_inverse_of_kl():
    p = learned.kl_inverse(0.3, 0.05)
    assert 0.3 * ln(0.3 / p) + 0.7 * ln(0.7 / (1 - p)) == pytest.approx(0.05)
    assert learned.kl_inverse(0.0, 0.05) == pytest.approx(1 - math.exp(-0.05))
    assert learned.kl_inverse(0.3, 0.0) == pytest.approx(0.3)
    assert learned.kl_inverse(1.0, 0.05) == 1.0


def test_lists_and_ends_of_learned_bounds():
    assert learned.LEVELS.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]
    assert learned.ratio_list(1).tolist() == [0.5]
    # A size below 1 divides, too; a size in the list has its own place.
    margins = np.full(16, 0.25)
    assert learned.margin_bound(margins, 0.5, 0.0, 0.1).empirical == 0.0
    residuals = np.full(64, 0.5)
    assert learned.clipped_bound(residuals, 4.0, 1.0, 0.01, 0.1).ratio == 4.0
    # W = 3, where W^2 is no multiple of W.
    added = 4 * 1.0 * 0.01 + 3 * root(ln(11 / 0.1) / 128)
    found = learned.clipped_bound(residuals, 2.9, 3.0, 0.01, 0.1)
    assert found[:4] == pytest.approx((9 * (1 / 36 + added), 0.25, 9 * added, 1.0))
    far = learned.clipped_bound(residuals, 50.0, 3.0, 0.01, 0.1)
    assert far[:4] == (math.inf, pytest.approx(0.25), math.inf, math.inf)
    for bound in (found, far):
        assert "labels in an interval of length 3, predictions clipped to it" in bound.hypotheses


def test_pac_bayes_of_a_machine_that_is_wrong_and_of_a_part_of_size_0():
    bound = learned.random_predictor_bound
    assert bound(-np.ones(30), [1.0], [1.0], np.ones(30), 0.1)[:4] == (1.0, 1.0, 0.0, 0.0)
    found = bound(np.ones(30), [1.0, 0.0], [1.0, 0.0], np.ones(30), 0.1)
    assert 0 < found.value < 1
    wrong = bound(-np.ones(30), [1.0], [1.0], np.ones(30), 0.1)
    assert wrong.hypotheses == found.hypotheses


def test_shares_minimize_the_length_of_three():
    sizes = np.array([12.0, 26.0, 4.0])
    every = [(i, j, 16 - i - j) for i in range(1, 15) for j in range(1, 16 - i)]
    best = min(every, key=lambda n: (sizes**2 / np.array(n)).sum())
    assert (16 * learned.rounded_shares(sizes)).tolist() == list(best) == [4, 10, 2]


# -- Rademacher ------------------------------------------------------------------------

SIZES = rademacher.KernelSizes(
    np.array([6.0, 2.0]), np.array([9.0, 1.5]), np.array([2.0, 1.0]), np.array([1.5, 0.5]), 8
)


def test_moments_of_a_quadratic_form():
    # Cumulants tr K = 6, 2 tr K^2 = 18, 8 tr K^3 <= 8 * 9 * 2 = 144, 48 * 9 * 4 = 1728.
    k1, k2, k3, k4 = 6, 18, 144, 1728
    moments = [
        k1,
        k2 + k1**2,
        k3 + 3 * k2 * k1 + k1**3,
        k4 + 4 * k3 * k1 + 3 * k2**2 + 6 * k2 * k1**2 + k1**4,
    ]
    found = rademacher.gaussian_moments(6.0, 9.0, 2.0, 4) * 6.0 ** np.arange(1, 5)
    np.testing.assert_allclose(found, moments, rtol=1e-12)


@pytest.mark.parametrize(("q", "dual"), [(1.0, math.inf), (2.0, 2.0), (math.inf, 1.0)])
def test_bounds_of_the_complexity(q, dual):
    moments = [
        rademacher.gaussian_moments(t, s, e) * t ** np.arange(1.0, 25)
        for t, s, e in ((6.0, 9.0, 2.0), (2.0, 1.5, 1.0))
    ]
    ours, cortes = [], []
    for r in range(1, 25):
        total = moments[0][r - 1] + moments[1][r - 1]
        ours.append(2 ** max(0.0, 1 / dual - 1 / r) * total ** (1 / r))
        if r <= dual:
            cortes.append(23 / 22 * r * (6.0**r + 2.0**r) ** (1 / r))
    assert rademacher.moment_bound(SIZES, q) == pytest.approx(min(ours), rel=1e-9)
    assert rademacher.cortes_bound(SIZES, q) == pytest.approx(min(cortes), rel=1e-12)
    top = {1.0: 2.0, 2.0: root(5), math.inf: 3.0}[q]
    assert rademacher.lanckriet_bound(SIZES, q) == pytest.approx(min(8.0, 8 * top))
    found = rademacher.class_bounds(SIZES, 3.0, q)
    assert found["ours"] == pytest.approx(3 / 8 * root(min(ours)), rel=1e-9)
    assert found["lanckriet-2004"] == pytest.approx(3 / 8 * root(min(8.0, 8 * top)))
    assert found["cortes-2010"] == pytest.approx(3 / 8 * root(min(cortes)))
    assert ("cortes-2010-diagonal" in found) == (q == 1.0)


def test_thirty_equal_kernels_and_signs():
    sizes = rademacher.KernelSizes(*(np.ones(30) for _ in range(4)), 8)
    expected = min(23 / 22 * r * 30 ** (1 / r) for r in range(1, 25))
    assert rademacher.cortes_bound(sizes, 1.0) == pytest.approx(expected)
    # q* = 3
    expected = min(23 / 22 * r * 30 ** (1 / r) for r in (1, 2, 3))
    assert rademacher.cortes_bound(sizes, 1.5) == pytest.approx(expected)
    signs = rademacher.sign_vectors(3).tolist()
    assert signs == [[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]]


def test_powers_end_at_the_dual_exponent():
    """r p^(1/r) with r <= q*, of p equal kernels; a kernel of trace 0 does not count."""

    def cortes(q, traces):
        ones = np.ones(len(traces))
        return rademacher.cortes_bound(rademacher.KernelSizes(traces, ones, ones, ones, 8), q)

    thirty = np.ones(30)
    assert cortes(2.0, thirty) == pytest.approx(23 / 22 * 2 * root(30))
    assert cortes(3.0, thirty) == cortes(math.inf, thirty) == pytest.approx(23 / 22 * 30)
    # 1.1/(1.1 - 1) is rounded to less than 11.
    many = np.ones(59874)
    assert cortes(1.1, many) == pytest.approx(23 / 22 * 11 * 59874 ** (1 / 11))
    assert cortes(2.0, np.array([6.0, 0.0])) == pytest.approx(23 / 22 * 6)


def test_moments_of_thirty_equal_kernels():
    """p^max(0, 1/q* - 1/r) (p E (g'Kg)^r)^(1/r), of kernels of trace 1/2."""
    half = np.full(30, 0.5)
    sizes = rademacher.KernelSizes(half, half**2, half, half, 8)
    moments = rademacher.gaussian_moments(1.0, 1.0, 1.0)  # 1, 3, 15, ...
    assert moments[:3] == pytest.approx([1.0, 3.0, 15.0])
    expected = min(
        0.5 * 30 ** max(0.0, 0.5 - 1 / r) * (30 * moments[r - 1]) ** (1 / r) for r in range(1, 25)
    )
    assert rademacher.moment_bound(sizes, 2.0) == pytest.approx(expected)


def test_signs_and_their_forms():
    signs = rademacher.sign_vectors(5)
    assert (signs.shape, len(np.unique(signs, axis=0))) == ((16, 5), 16)
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    found = rademacher.quadratic_forms([K, np.eye(2)], rademacher.sign_vectors(2))
    assert found.tolist() == [[7.0, 2.0], [3.0, 2.0]]


def test_the_diagonal_bound_counts_kernels_by_logarithm():
    for p, rounds in ((2, 1), (3, 2), (7, 2), (8, 3), (20, 3), (21, 4)):
        sizes = rademacher.KernelSizes(*(np.ones(p) for _ in range(3)), np.full(p, 0.5), 8)
        found = rademacher.cortes_diagonal_bound(sizes)
        assert found == pytest.approx(23 / 22 * math.e * rounds * 8 * 0.5)


def test_sizes_and_norms():
    K = np.array([[2.0, 1.0], [1.0, 1.0]])
    sizes = rademacher.gram_sizes([K, np.eye(2)])
    assert (sizes.traces.tolist(), sizes.squares.tolist()) == ([3.0, 2.0], [7.0, 2.0])
    # min of the largest row sum, the trace and the Frobenius norm.
    assert sizes.eigenvalues == pytest.approx([root(7), 1.0])
    assert (sizes.diagonals.tolist(), sizes.n_samples) == ([2.0, 1.0], 2)
    forms = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 2.0]])
    assert rademacher.dual_norm(forms, 1.0).tolist() == [4.0, 0.0, 2.0]
    assert rademacher.dual_norm(forms, 2.0) == pytest.approx([5.0, 0.0, 2.0])
    assert rademacher.dual_norm(forms, 1.5) == pytest.approx([(27 + 64) ** (1 / 3), 0.0, 2.0])
    assert rademacher.dual_norm(forms, np.inf) == pytest.approx([7.0, 0.0, 2.0])


# -- weights that change ---------------------------------------------------------------


def test_change_of_alignf():
    a, M = np.array([1.0, 2.0]), np.diag([2.0, 4.0])
    b, N = np.array([1.5, 2.0]), np.diag([3.0, 4.0])
    v, w = np.array([3.0, 4.0]), np.array([0.6, 0.8])
    # Delta a - Delta M v' = (0.5 - 0.6, 0), lambda_min = 2, ||v|| + ||v'|| = 6
    found = stability.alignf_change(a, M, b, N, v, w)
    assert found == pytest.approx((0.05, 0.1 / 6))
    # Unit vectors are at most 2 apart.
    far = stability.alignf_change(a, M, 9 * b, N, 1e-3 * v, 1e-3 * w)
    assert (far.mu, far.v > 2) == (2.0, True)


def test_capacity():
    # mu0.k + L ||k|| and with 3 L; k = (3, 4) and (1, 0), mu0 = (1, 2), L = 0.5
    found = stability.lkrr_capacity([[3.0, 4.0], [1.0, 0.0]], [1.0, 2.0], 0.5)
    assert found == pytest.approx((11 + 2.5, 11 + 7.5))
