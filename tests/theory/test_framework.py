"""`Claim`, `check`, the draws, the lazy registry and the layers of the package."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, Claim, HypothesisNotMet, NegativeControl, check
from alignlearn.theory.draws import KERNEL_FORMS, RandomDraw
from cases import each


def make(kind, value, measured, **more):
    sides = {"bound": lambda case: value, "measure": lambda case: measured}
    words = dict.fromkeys(("source", "statement", "hypotheses"), "none")
    control = NegativeControl(dict, note="none")
    given = sides | {"cases": lambda draw: {}, "negative_control": control} | more
    return Claim(name="toy", kind=kind, **words, **given)


@each(
    ("kind", "bound", "measured", "outcome"),
    [
        ("upper", 1.0, 0.5, "holds"),
        ("upper", 1.0, 1.0 + 1e-6, "violated"),
        ("upper", 1.0, 1.0 + 1e-12, "holds"),
        ("lower", 0.0, -1e-6, "violated"),
        ("identity", 2.0, 2.0, "holds"),
        ("identity", 2.0, 2.1, "violated"),
        ("equivalence", True, False, "violated"),
        ("convergence", 1e-6, np.inf, "violated"),
        ("upper", np.nan, 1.0, "inconclusive"),
        ("upper", np.array([1.0, 1.0]), np.array([0.0, 2.0]), "violated"),
    ],
)
def test_outcomes(kind, bound, measured, outcome):
    assert check(make(kind, bound, measured), {}).outcome == outcome


def test_rationals_are_compared_without_tolerance():
    eps = Fraction(1, 10**30)
    assert check(make("upper", Fraction(1), 1 + eps), {}).outcome == "violated"
    assert check(make("upper", Fraction(1), 1 - eps), {}).outcome == "holds"


def test_vacuous_and_slack():
    verdict = check(make("upper", 3.0, 0.5, trivial=lambda case: 1.0), {})
    assert (verdict.outcome, verdict.slack, verdict.tightness) == ("vacuous", 2.5, 0.5 / 3)


@pytest.mark.parametrize(
    ("violations", "outcome"), [(0, "holds"), (50, "inconclusive"), (200, "violated")]
)
def test_probabilistic_claims_use_the_violation_frequency(violations, outcome):
    measured = np.r_[np.full(violations, 2.0), np.zeros(1000 - violations)]
    verdict = check(make("upper", 1.0, measured, confidence=0.95), {"delta": 0.05})
    assert (verdict.outcome, verdict.violations, verdict.trials) == (outcome, violations, 1000)


def test_hypothesis_not_met_is_inconclusive_and_named():
    def refuse(case):
        raise HypothesisNotMet("labels must be bounded by M")

    verdict = check(make("upper", 1.0, 0.0, bound=refuse), {})
    assert verdict.outcome == "inconclusive"
    assert "bounded by M" in verdict.note


def test_claims_are_validated():
    with pytest.raises(ValueError, match="kind"):
        make("sideways", 1, 1)
    with pytest.raises(KeyError, match="p1-lemma-1"):
        CLAIMS["no-such-claim"]


@each("form", KERNEL_FORMS)
def test_drawn_kernels_are_positive_semidefinite(form):
    draw = RandomDraw(3)
    for n in (1, 2, 5):
        K = draw.kernel(n, form)
        assert K.shape == (n, n)
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(np.abs(K).max(), 1e-300)


def test_importing_is_light():
    code = (
        "import sys, alignlearn; assert 'alignlearn.theory' not in sys.modules;"
        "import alignlearn.theory as t; list(t.CLAIMS);"
        "bad = {'hypothesis', 'matplotlib', 'scipy.stats', 'sklearn'} & set(sys.modules);"
        "assert not bad, bad;"
        "assert 'alignlearn.theory.p1_alignment.lemma_1' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
