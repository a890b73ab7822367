"""The numbers of the counterexamples, to their known digits."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.claim import HypothesisNotMet
from cases import each


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


def test_uncentered_objective():
    file = CLAIMS.module("p1-eq-3")
    case = file.counterexample()
    assert (file.bound(case)[-1], file.measure(case)[-1]) == (4, 0)


def test_rho_0():
    file = CLAIMS.module("p1-rho-0")
    shifted = file._control_case()
    assert file.measure(shifted) == pytest.approx(2)
    assert np.linalg.norm(np.outer(shifted["y"], shifted["y"])) == 4


def test_overall_problem_is_unbounded():
    file = CLAIMS.module("p1-overall-problem")
    assert file.measure(file.counterexample()) == 2420
    assert file.measure(file._further_out()) == 24990200


def test_iteration_for_the_single_stage_problem():
    file = CLAIMS.module("p1-eq-9-iteration")
    case = file.counterexample()
    from alignlearn.theory.reference.learners import aligned_iteration

    _, steps = aligned_iteration(case["kernels"], case["y"], *file._terms(case))
    np.testing.assert_allclose(sorted(steps[-2:]), [0.169, 0.180], atol=5e-4)
    _, steps = aligned_iteration(case["kernels"], case["y"], np.zeros(2), 0.1 * np.eye(2))
    assert steps[-1] < 1e-12


@each(("m", "value"), [(3, "64/27"), (6, "32/9"), (12, "112/27"), (24, "40/9")])
def test_attained_perturbations(m, value):
    file = CLAIMS.module("p1-lemma-18")
    assert m * file.measure(file.extremal(m)) == pytest.approx(float(Fraction(value)))
    assert float(Fraction(value)) == pytest.approx(128 / 27 * (1 - 3 / (2 * m)))


@pytest.mark.parametrize(
    ("m", "right", "printed"),
    [(2, "217/1296", "47/144"), (3, "719/4374", "3919/13122"), (4, "2531/15552", "4247/15552")],
)
def test_bias_table(m, right, printed):
    claim = CLAIMS["p1-lemma-19-table"]
    case = claim.counterexample(m)
    assert claim.bound(case) == Fraction(printed)
    assert claim.measure(case) == claim.corrected.bound(case) == Fraction(right)
    # With 4 and -2 in place of 2 and -1 the printed table is right.
    assert claim.bound(case, middle=4, edge=2) == Fraction(right)


@pytest.mark.parametrize(("m", "bias"), [(2, "-1/2"), (3, "-11/27"), (4, "-11/32")])
def test_bias_is_attained(m, bias):
    case = CLAIMS.module("p1-lemma-19").extremal(m)
    law, K = case["law"], case["K"]
    assert law.expected_numerator(K, K, m) - law.moments(K, K).theta == Fraction(bias)
    assert Fraction(-(2 * m * m - 3 * m + 2), m**3) == Fraction(bias)


def test_rate_of_theorem_12():
    file = CLAIMS.module("p1-theorem-12-rate")
    law, K, L = file.law_of({"q": 0.01})
    assert law.alignment(K, L) == pytest.approx(0.240, abs=5e-4)
    low = file.measure({"q": 0.01, "m": 2000, "eps": 0.2, "C": 1.0})
    assert np.log(low) / 2000 == pytest.approx(np.log(0.99), abs=1e-4)


@pytest.mark.parametrize("m", [101, 1001, 10001])
def test_gap_of_the_sample_predictor(m):
    file = CLAIMS.module("p1-h-s-rate")
    assert file.measure(file.counterexample(m)) == pytest.approx(0.25)


def test_theorem_16_fails_in_three_ways():
    file = CLAIMS.module("p1-theorem-16")
    assert check(file.CORRECTED, file.CLAIM.counterexample()).outcome == "holds"
    first = check(file.CLAIM, file.residual_counterexample())
    assert first.bound == pytest.approx(0.2)
    assert first.measured == pytest.approx(0.2882, abs=5e-5)
    assert check(file.CLAIM, file.residual_counterexample(96)).outcome == "holds"
    assert check(file.CLAIM, file.residual_counterexample(97)).outcome == "violated"
    third = check(file.CLAIM, file.constant_counterexample())
    assert (third.measured, third.bound) == (pytest.approx(1 / 11), pytest.approx(1 / 50))
    for case in (file.residual_counterexample(), file.constant_counterexample()):
        assert check(file.CORRECTED, case).outcome == "holds"


@pytest.mark.parametrize(
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
    from alignlearn.theory.bounds.stability import two_stage_stability_printed
    from alignlearn.theory.reference.exchange import flipped_label, two_stage_change

    case = flipped_label(m, ridge)
    np.testing.assert_allclose([case["mu"], case["mu_new"]], np.eye(2), atol=1e-9)
    assert two_stage_change(case)[-1] == pytest.approx(float(Fraction(change)))
    assert two_stage_stability_printed(m, 1.0, ridge, 1.0, 1.0, 2.0 * m) == pytest.approx(
        float(Fraction(printed))
    )
    assert float(Fraction(change)) > float(Fraction(printed))


def test_hypothesis_bound_is_attained():
    file = CLAIMS.module("p1-hypothesis-bound")
    case = file._control_case()
    assert file.measure(case)[-1] == pytest.approx(5)
    assert file.sharp_bound(case) == pytest.approx(5)


def test_generalization_bounds_of_both_papers():
    file = CLAIMS.module("p1-theorem-17")
    misprinted = replace(file.FIXED, bound=file.printed_bound)
    found = check(misprinted, file.one_toss())
    assert (found.measured, round(found.bound, 4)) == (pytest.approx(0.5, abs=1e-3), 0.0046)
    assert found.outcome == "violated"
    assert check(file.FIXED, file.one_toss()).outcome == "holds"


def test_propositions_1_and_2_of_the_2009_paper():
    file = CLAIMS.module("p2-prop-1")
    assert check(file.CLAIM, file.other_reading()).outcome == "violated"
    file = CLAIMS.module("p2-prop-2")
    other = file.counterexample() | {"old_alpha": False}
    assert file.measure(other) == pytest.approx(1.082e-3, abs=5e-7)


def test_y_norm_argument_fails():
    file = CLAIMS.module("p2-y-norm")
    case = file.argument_counterexample()
    first = file.rank_one_terms(case)[0]
    eigenvalue = np.linalg.eigvals(first).real
    assert eigenvalue.min() == pytest.approx(-0.5)
    assert case["alpha"] @ np.linalg.pinv(case["kernels"][0]) @ first @ case[
        "alpha"
    ] == pytest.approx(0)


def test_proposition_3():
    file = CLAIMS.module("p2-prop-3")
    # With kappa from the two norms, and the residual 1.0002 rounded up.
    from alignlearn.theory.bounds.stability import lkrr_stability_printed

    residual, kappa = file.residuals(file.counterexample()), np.sqrt(2) * 1e4 * (np.sqrt(2) + 1)
    assert residual == pytest.approx(1.0002, abs=1e-4)
    assert lkrr_stability_printed(2, 1e8, residual, kappa, 1.0, 2) == pytest.approx(
        3.4519e-4, abs=1e-7
    )


@pytest.mark.parametrize(("m", "ratio"), [(50, 0.99889), (200, 0.99993)])
def test_stability_of_lkrr_is_sharp(m, ratio):
    file = CLAIMS.module("p2-prop-3")
    assert check(file.CORRECTED, file.sharp_case(m)).tightness == pytest.approx(ratio, abs=5e-6)


@each(
    ("radius", "eta", "converges"),
    [
        (100.0, 0.2, False),
        (100.0, 0.01, False),
        (1e6, 0.30, False),
        (1e6, 0.34, True),
        (1e6, 0.5, True),
    ],
)
def test_algorithm_1(radius, eta, converges):
    file = CLAIMS.module("p2-algorithm-1")
    step = file.relative_step(file.counterexample(eta, radius), eta)
    assert (step < 1e-7) == converges


def test_theorem_1_needs_a_kernel_that_sees_the_labels():
    file = CLAIMS.module("p2-theorem-1")
    with pytest.raises(HypothesisNotMet, match="K_k y"):
        file.corrected_bound(file.counterexample())


def test_proposition_7_as_printed_is_right_for_even_powers():
    file = CLAIMS.module("p1-prop-7")
    rng = np.random.default_rng(0)
    for q in (2.0, 4.0):
        for _ in range(50):
            case = {"a": rng.random(3) + 0.1, "q": q, "budget": 1.0, "mu": rng.standard_normal(3)}
            assert check(file.CLAIM, case).outcome == "holds"


@pytest.mark.parametrize(("ratio", "least"), [(1e-2, 0.98), (1e-4, 0.9998)])
def test_stability_for_one_kernel_is_sharp(ratio, least):
    """One point whose label goes from 1 to -1, kappa / lam0 small."""
    file = CLAIMS.module("p2-theorem-2")
    case = {"F": np.ones((3, 2)) / np.sqrt(2), "y": np.ones(1), "y_new": -1.0, "lam0": 1 / ratio}
    verdict = check(file.CLAIM, case)
    assert verdict.outcome == "holds"
    assert least <= verdict.tightness <= 1
