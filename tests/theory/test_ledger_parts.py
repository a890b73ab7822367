"""Numbers and properties of the claims that complete the rows of the two alignment papers."""

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.bounds.predictors import predictor_deviation, root_risk_deviation
from alignlearn.theory.bounds.u_statistics import hoeffding_deviation, u_statistic_deviation
from alignlearn.theory.claim import HypothesisNotMet
from alignlearn.theory.reference.problems import FiniteDistribution
from cases import each
from refusals import raises


@each("t", [1.0, 10.0, 1e6])
def test_proposition_7_at_q_1_is_unbounded(t):
    claim = CLAIMS["p1-prop-7-linear"]
    case = claim.counterexample(t)
    assert (claim.measure(case), claim.bound(case)) == (pytest.approx(2 + t), 2)
    # The corrected constraint shrinks it: (2 + t)/(1 + 2t) at most 1.
    assert claim.corrected.measure(case) == pytest.approx((2 + t) / (1 + 2 * t))


def test_iteration_for_the_single_stage_problem_cycles_with_the_square_only():
    file = CLAIMS.module("p1-eq-9-rate")
    assert file.share_of_cycles(16, square=False) == 0
    assert 0.05 <= file.share_of_cycles(16) <= 0.5


def test_eta_of_one_half_has_the_best_guarantee():
    file = CLAIMS.module("p2-algorithm-1-rate")
    etas = np.array([0.34, 0.4, 0.5, 0.6, 0.8])
    rates = np.array([file.worst_rate(eta) for eta in etas])
    np.testing.assert_allclose(rates, np.maximum(etas, 2 - 3 * etas), atol=1e-4)
    assert etas[rates.argmin()] == pytest.approx(0.5)


@each(("m", "shorter"), [(4, True), (20, True), (24, False), (1000, False)])
def test_hoeffding_is_shorter_for_small_samples_or_a_nonnegative_kernel_and_labels(m, shorter):
    """Range 2 R^2R'^2, as for a Gaussian kernel and labels +-1: 4 against at least 4.74."""
    assert (hoeffding_deviation(m, 0.05) < u_statistic_deviation(m, 0.05)) == shorter
    bound = hoeffding_deviation(m, 0.05, nonnegative=True)
    assert bound < u_statistic_deviation(m, 0.05, scalar_target=True)


def test_predictor_deviation_is_of_order_one_over_the_root_of_m():
    values = [predictor_deviation(m, 0.05, 0.2, 0.5, 0.3) for m in (10**10, 4 * 10**10)]
    assert values[0] / values[1] == pytest.approx(2, rel=1e-2)


@each(
    ("change", "error"),
    [
        ({"m": 100}, "m=100 is too small"),
        ({"m": 1}, "m=1"),
        ({"delta": 0.0}, "delta"),
        ({"rho": 1.5}, "rho"),
        ({"label_variance": 0.0}, "zero variance"),
        ({"label_variance": 2.0}, "exceeds"),
        ({"label_bound": 0.0}, "label_bound"),
        ({"radius2": 0.1}, "exceeds"),
    ],
)
def test_predictor_deviation_names_what_is_wrong(change, error):
    given = {"m": 10**6, "delta": 0.05, "a": 0.2, "label_variance": 0.5, "rho": 0.3} | change
    for deviation in (predictor_deviation, root_risk_deviation):
        raises(ValueError, error, deviation, **given)


def test_a_margin_makes_the_risks_of_classification_equal():
    """h* = +-1 on both points: no sign can change once the deviation is below 1."""
    claim = CLAIMS["p1-h-s-margin"]
    law = FiniteDistribution(np.array([0.5, 0.5]), np.array([1.0, -1.0]))
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    case = {"law": law, "K": K, "m": 10**5, "delta": 0.05, "seed": 0}
    assert claim.bound(case) == 0
    assert np.all(claim.measure(case) == 0)
    raises(HypothesisNotMet, "too small", claim.bound, case | {"m": 40})


@each("name", ["p2-prop-1-shape", "p2-prop-2-shape"])
def test_no_constant_saves_propositions_1_and_2(name):
    """With p, m, L and kappa fixed both quotients grow without bound, for both readings."""
    claim, file = CLAIMS[name], CLAIMS.module(name)
    case = file.family(1.0, 100.0, 1.0)
    larger = file.family(1.0, 1000.0, 1.0)
    assert np.all(case["kernels"] == larger["kernels"])
    assert case["radius"] == larger["radius"]
    assert np.all(claim.measure(larger) > 9 * claim.measure(case))
    if name == "p2-prop-1-shape":  # the correction is too long by the golden ratio only
        verdict = check(CLAIMS["p2-prop-1"].corrected, case)
        assert verdict.tightness == pytest.approx(2 / (1 + np.sqrt(5)))


def test_direct_sum_makes_any_kernels_orthogonal_and_keeps_them():
    file = CLAIMS.module("p2-definition-1")
    features = np.random.default_rng(0).standard_normal((3, 4, 2))
    apart = file.direct_sum(features)
    products = np.einsum("iad,jbd->ijab", apart, apart)
    np.testing.assert_allclose(
        products[range(3), range(3)], np.einsum("kad,kbd->kab", features, features)
    )
    assert not products[~np.eye(3, dtype=bool)].any()


def test_weights_learned_on_neighboring_samples_can_change_completely():
    """The supremum of ||Delta mu||_1 that theorem 17 needs is 2 here, as large as it can be."""
    file = CLAIMS.module("p1-theorem-17-learned")
    law = FiniteDistribution(np.array([0.5, 0.25, 0.25]), np.array([1.0, -1.0, -1.0]))
    one, two = np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0, -1.0])
    case = {"law": law, "kernels": np.array([np.outer(one, one), np.outer(two, two)]), "m": 2}
    weights = file.learned(case)
    np.testing.assert_allclose(weights[(1, 1, 0)], [1, 0], atol=1e-9)
    np.testing.assert_allclose(weights[(1, 0, 1)], [0, 1], atol=1e-9)
    assert file.largest_change(weights) == pytest.approx(2)
