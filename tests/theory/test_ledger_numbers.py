"""The numbers of the counterexamples, to their known digits."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.bounds.stability import lkrr_stability_printed, two_stage_stability_printed
from alignlearn.theory.claim import HypothesisNotMet
from alignlearn.theory.reference.exchange import flipped_label, two_stage_change
from alignlearn.theory.reference.learners import aligned_iteration
from cases import each
from refusals import raises


@each(
    ("name", "measured", "printed", "corrected", "digits"),
    [
        ("p1-lemma-6", 4, 2, 4, 1e-9),
        ("p1-rho-0", 2, 4, 2, 1e-9),
        ("p1-l1-l2", 0.5, 0.25, 0.5, 0),
        ("p1-theorem-13", 0.8, 0.7790, 0.9263, 5e-5),
        ("p1-theorem-14-footnote", 1 / 3, 0, None, 1e-9),
        ("p1-theorem-16", 2 / 11, 19 / 225, None, 1e-9),
        ("p2-theorem-3", 50, 10.73, 107.3, 0.02),
        ("p2-prop-1", 1166.65, 168.72, None, 0.01),
        ("p2-prop-2", 53 / 58080, 4e-5, None, 1e-11),
        ("p2-prop-3", 3.9992e-4, 3.0353e-4, 6.2414e-4, 5e-9),
        ("p3-theta-order", 44, 58, 44, 1e-9),
        ("p4-eq-2-1", 0.01, 0.0001, None, 1e-12),
        ("p4-invariance", -0.11334, 0.39247, None, 5e-6),
        ("p4-cost", 200000, 8000, None, 1e-9),
        ("p4-covering", 2, 100, None, 1e-12),
        ("p4-prop-4-1", 0.05, 0.03193, None, 5e-6),
        ("p4-lemma-4-3-step", 0.75, 0.5, None, 1e-12),
        ("p4-a-5", 10.473, 9.711, None, 5e-4),
        ("p4-prop-4-2", 0.95, 0.025, None, 1e-6),
        ("p4-theta-exponent", 0.46667, 0.4, None, 5e-6),
        ("p4-eq-2-6", 0.5, 0.0, None, 1e-12),
        ("p4-theorem-2", 1.03e-4, 1.096e-5, None, 5e-7),
        ("p4-moment-hypothesis", 3198.3, 24, None, 0.05),
        ("p4-definite-coefficients", -0.618, None, None, 5e-4),
        ("p4-concatenation", 21.066, 1.05 * 9.419, None, 5e-4),
    ],
)
def test_numbers_at_the_counterexamples(name, measured, printed, corrected, digits):
    """Worst entries: what is measured, the printed bound, and the corrected one."""
    claim = CLAIMS[name]
    found = check(claim, claim.counterexample())
    assert found.outcome == "violated"
    assert found.measured == pytest.approx(measured, abs=digits)
    assert printed is None or found.bound == pytest.approx(printed, abs=digits)
    if corrected is not None:
        fixed = check(claim.corrected, claim.counterexample())
        assert fixed.bound == pytest.approx(corrected, abs=digits)


def module(name):
    return CLAIMS.module(name)


def test_further_numbers_of_the_first_paper():
    case = module("p1-eq-3").counterexample()
    assert (module("p1-eq-3").bound(case)[-1], module("p1-eq-3").measure(case)[-1]) == (4, 0)
    shifted = module("p1-rho-0")._control_case()
    assert module("p1-rho-0").measure(shifted) == pytest.approx(2)
    assert np.linalg.norm(np.outer(shifted["y"], shifted["y"])) == 4
    unbounded = module("p1-overall-problem")
    assert unbounded.measure(unbounded.counterexample()) == 2420
    assert unbounded.measure(unbounded._further_out()) == 24990200
    for m in (101, 1001, 10001):  # the gap of the predictor of the sample
        gap = module("p1-h-s-rate")
        assert gap.measure(gap.counterexample(m)) == pytest.approx(0.25)
    attained = module("p1-hypothesis-bound")
    case = attained._control_case()
    assert attained.measure(case)[-1] == pytest.approx(5) == attained.sharp_bound(case)
    rate = module("p1-theorem-12-rate")
    law, K, L = rate.law_of({"q": 0.01})
    assert law.alignment(K, L) == pytest.approx(0.240, abs=5e-4)
    low = rate.measure({"q": 0.01, "m": 2000, "eps": 0.2, "C": 1.0})
    assert np.log(low) / 2000 == pytest.approx(np.log(0.99), abs=1e-4)


def test_iteration_for_the_single_stage_problem():
    file = module("p1-eq-9-iteration")
    case = file.counterexample()
    _, steps = aligned_iteration(case["kernels"], case["y"], *file._terms(case))
    np.testing.assert_allclose(sorted(steps[-2:]), [0.169, 0.180], atol=5e-4)
    _, steps = aligned_iteration(case["kernels"], case["y"], np.zeros(2), 0.1 * np.eye(2))
    assert steps[-1] < 1e-12


@each(("m", "value"), [(3, "64/27"), (6, "32/9"), (12, "112/27"), (24, "40/9")])
def test_attained_perturbations(m, value):
    file = module("p1-lemma-18")
    assert m * file.measure(file.extremal(m)) == pytest.approx(float(Fraction(value)))
    assert float(Fraction(value)) == pytest.approx(128 / 27 * (1 - 3 / (2 * m)))


@each(
    ("m", "right", "printed", "bias"),
    [
        (2, "217/1296", "47/144", "-1/2"),
        (3, "719/4374", "3919/13122", "-11/27"),
        (4, "2531/15552", "4247/15552", "-11/32"),
    ],
)
def test_bias_table_and_attained_bias(m, right, printed, bias):
    claim = CLAIMS["p1-lemma-19-table"]
    case = claim.counterexample(m)
    assert claim.bound(case) == Fraction(printed)
    assert claim.measure(case) == claim.corrected.bound(case) == Fraction(right)
    # With 4 and -2 in place of 2 and -1 the printed table is right.
    assert claim.bound(case, middle=4, edge=2) == Fraction(right)
    case = module("p1-lemma-19").extremal(m)
    law, K = case["law"], case["K"]
    assert law.expected_numerator(K, K, m) - law.moments(K, K).theta == Fraction(bias)
    assert Fraction(-(2 * m * m - 3 * m + 2), m**3) == Fraction(bias)


def test_theorem_16_fails_in_three_ways():
    file = module("p1-theorem-16")
    first, third = file.residual_counterexample(), file.constant_counterexample()
    for case, measured, bound in ((first, 0.2882, 0.2), (third, 1 / 11, 1 / 50)):
        printed = check(file.CLAIM, case)
        assert printed.measured == pytest.approx(measured, abs=5e-5)
        assert printed.bound == pytest.approx(bound)
    for case in (file.CLAIM.counterexample(), first, third):
        assert check(file.CORRECTED, case).outcome == "holds"
    for m, outcome in ((96, "holds"), (97, "violated")):
        assert check(file.CLAIM, file.residual_counterexample(m)).outcome == outcome


@each(
    ("m", "ridge", "change", "printed"),
    [
        (3, 10.0, "2/11", "13/150"),
        (4, 3.0, "1/2", "7/18"),
        (10, 10.0, "2/11", "1/25"),
        (1000, 10.0, "2/11", "101/5000"),
    ],
)
def test_alignf_is_not_stable(m, ridge, change, printed):
    """The bound with ||Delta mu||_1 = 2 and ||K||_2 = m, K not centered."""
    case = flipped_label(m, ridge)
    np.testing.assert_allclose([case["mu"], case["mu_new"]], np.eye(2), atol=1e-9)
    assert two_stage_change(case)[-1] == pytest.approx(float(Fraction(change)))
    found = two_stage_stability_printed(m, 1.0, ridge, 1.0, 1.0, 2.0 * m)
    assert found == pytest.approx(float(Fraction(printed)))
    assert Fraction(change) > Fraction(printed)


def test_generalization_bounds_of_both_papers():
    file = module("p1-theorem-17")
    found = check(replace(file.FIXED, bound=file.printed_bound), file.one_toss())
    assert (found.measured, round(found.bound, 4)) == (pytest.approx(0.5, abs=1e-3), 0.0046)
    assert found.outcome == "violated"
    assert check(file.FIXED, file.one_toss()).outcome == "holds"


def test_proposition_7_as_printed_is_right_for_even_powers():
    rng = np.random.default_rng(0)
    for q in (2.0, 4.0):
        for _ in range(50):
            case = {"a": rng.random(3) + 0.1, "q": q, "budget": 1.0, "mu": rng.standard_normal(3)}
            assert check(CLAIMS["p1-prop-7"], case).outcome == "holds"


def test_propositions_of_the_2009_paper():
    one, two, three = (module(f"p2-prop-{k}") for k in (1, 2, 3))
    assert check(one.CLAIM, one.other_reading()).outcome == "violated"
    other = two.counterexample() | {"old_alpha": False}
    assert two.measure(other) == pytest.approx(1.082e-3, abs=5e-7)
    # With kappa from the two norms, and the residual 1.0002 rounded up.
    residual, kappa = three.residuals(three.counterexample()), np.sqrt(2) * 1e4 * (np.sqrt(2) + 1)
    assert residual == pytest.approx(1.0002, abs=1e-4)
    found = lkrr_stability_printed(2, 1e8, residual, kappa, 1.0, 2)
    assert found == pytest.approx(3.4519e-4, abs=1e-7)
    for m, ratio in ((50, 0.99889), (200, 0.99993)):  # the correction is sharp
        verdict = check(three.CORRECTED, three.sharp_case(m))
        assert verdict.tightness == pytest.approx(ratio, abs=5e-6)


def test_y_norm_argument_fails():
    file = module("p2-y-norm")
    case = file.argument_counterexample()
    first, alpha = file.rank_one_terms(case)[0], case["alpha"]
    assert np.linalg.eigvals(first).real.min() == pytest.approx(-0.5)
    assert alpha @ np.linalg.pinv(case["kernels"][0]) @ first @ alpha == pytest.approx(0)


@each(
    ("radius", "eta", "converges"),
    [(100, 0.2, 0), (100, 0.01, 0), (1e6, 0.30, 0), (1e6, 0.34, 1), (1e6, 0.5, 1)],
)
def test_algorithm_1(radius, eta, converges):
    file = module("p2-algorithm-1")
    step = file.relative_step(file.counterexample(eta, float(radius)), eta)
    assert (step < 1e-7) == converges


def test_theorem_1_needs_a_kernel_that_sees_the_labels():
    file = module("p2-theorem-1")
    raises(HypothesisNotMet, "K_k y", file.corrected_bound, file.counterexample())


@each(("ratio", "least"), [(1e-2, 0.98), (1e-4, 0.9998)])
def test_stability_for_one_kernel_is_sharp(ratio, least):
    """One point whose label goes from 1 to -1, kappa / lam0 small."""
    case = {"F": np.ones((3, 2)) / np.sqrt(2), "y": np.ones(1), "y_new": -1.0, "lam0": 1 / ratio}
    verdict = check(CLAIMS["p2-theorem-2"], case)
    assert verdict.outcome == "holds"
    assert least <= verdict.tightness <= 1
