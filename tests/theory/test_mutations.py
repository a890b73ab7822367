"""The checks notice sharp constants, dropped terms, changed constants, and vacuous runs."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, Claim, NegativeControl, check
from alignlearn.theory.claim import Mutant, least_refused, once, violation_interval
from alignlearn.theory.mutations import Sensitivity, report, sensitivity
from alignlearn.theory.verification import examine, select, verify
from cases import each

FORMS = {claim.name: claim for claim in select() if claim.status.holds}


SHARP = [name for name, claim in FORMS.items() if claim.sharp]


@pytest.mark.parametrize("name", SHARP)
def test_sharp_constants_are_caught_at_five_percent(name):
    result = sensitivity(FORMS[name], 10, evaluations=0)
    assert result.margin < 0.05
    assert result.caught <= 0.05
    assert not result.problems


MUTATED = [name for name, claim in FORMS.items() if claim.mutants or claim.factors]


@pytest.mark.parametrize("name", [name for name in MUTATED if name not in SHARP])
def test_declared_mutants_are_refused(name):
    result = sensitivity(FORMS[name], 10, evaluations=0)
    assert result.mutants
    assert all(result.mutants.values()), result.mutants


def toy(kind="upper", bound=2.0, measured=1.5, **more):
    words = dict.fromkeys(("source", "statement", "hypotheses"), "none")
    sides = {"bound": lambda case: bound, "measure": lambda case: measured}
    control = NegativeControl(dict, note="none")
    given = {"cases": lambda draw: {"delta": 0.1, "m": 4}, "negative_control": control} | more
    return Claim(name="toy", kind=kind, rtol=0.0, **words, **sides, **given)


@each(
    ("kind", "bound", "measured", "margin"),
    [
        ("upper", 2.0, 1.5, 0.25),
        ("upper", -2.0, -2.5, 0.25),
        ("lower", 2.0, 2.5, 0.25),
        ("identity", 2.0, 2.0, 0.0),
        ("upper", np.array([2.0, 0.0, np.inf, 4.0]), np.array([1.0, 0.0, 3.0, 3.0]), 0.25),
        ("upper", 2.0, 2.5, -0.25),
        ("upper", 0.0, 0.0, math.nan),
    ],
)
def test_margin_is_the_share_by_which_the_bound_can_be_shrunk(kind, bound, measured, margin):
    assert check(toy(kind, bound, measured), {}).margin == pytest.approx(margin, nan_ok=True)


def test_margin_of_a_statement_with_probability_needs_enough_violations():
    """Of 1000 repetitions, as many must violate the bound as are evidence against delta = 0.1."""
    measured = np.linspace(0.0, 0.999, 1000)
    verdict = check(toy(bound=1.0, measured=measured, confidence=0.9), {"delta": 0.1})
    needed = least_refused(1000, 0.1)
    assert verdict.margin == pytest.approx(1 - measured[-needed])
    for shrunk, outcome in ((verdict.margin - 1e-9, False), (verdict.margin + 1e-9, True)):
        wrong = toy(bound=1.0 - shrunk, measured=measured, confidence=0.9)
        assert (check(wrong, {"delta": 0.1}).outcome == "violated") == outcome
    few = toy(bound=1.0, measured=np.zeros(3), confidence=0.9)
    assert check(few, {"delta": 0.1}).margin == math.inf


@each(("trials", "delta"), [(40, 0.5), (400, 0.05), (3, 0.1)])
def test_least_refused_is_the_least(trials, delta):
    least = least_refused(trials, delta)
    assert violation_interval(least - 1, trials)[0] <= delta
    assert least == trials + 1 or violation_interval(least, trials)[0] > delta


def test_what_is_not_noticed_is_a_problem(monkeypatch):
    loose = toy(
        sharp=True,
        mutants=(Mutant("a tenth less", lambda case: 1.8), Mutant("half", lambda case: 1.0)),
        factors={"m^(-1/2)": lambda case: case["m"] ** -0.5, "m^(-1/10)": lambda case: 0.87},
    )
    result = sensitivity(loose, 2, 4)
    assert (result.margin, result.caught, result.looseness) == (0.25, 0.5, pytest.approx(4 / 3))
    caught = {"times m^(-1/2)": True, "half": True}
    assert result.mutants == caught | {"times m^(-1/10)": False, "a tenth less": False}
    assert len(result.problems) == 3
    monkeypatch.setattr("alignlearn.theory.mutations.select", lambda names=None: [loose])
    stream = io.StringIO()
    assert report(examples=2, evaluations=4, stream=stream) == 1
    assert "survives: a tenth less" in stream.getvalue()


def test_extreme_cases_come_first_and_the_search_comes_last():
    known = toy(extremes=lambda: [{"known": True}], sharp=True)
    known = replace(known, measure=lambda case: 2.0 if "known" in case else 0.0)
    result = sensitivity(known, 2, 4)
    assert (result.source, result.margin, result.problems) == ("known", 0.0, [])
    searched = replace(toy(), cases=lambda draw: {"x": draw.real(0, 1)})
    searched = replace(searched, measure=lambda case: 2 * case["x"])
    assert sensitivity(searched, 3, 300).margin < 0.01


def test_a_bound_of_zero_is_moved_by_shares_of_the_scale():
    claim = toy("lower", 0.0, 0.05, scale=lambda case: 0.5)
    assert sensitivity(claim, 1, 4).mutants == {"20% of the scale for 0": True}
    assert sensitivity(replace(claim, measure=lambda case: 0.4), 1, 4).mutants == {}


def test_nothing_to_shrink():
    assert sensitivity(toy(bound=0.0, measured=-1.0), 1, 4).caught is None
    assert math.isnan(Sensitivity(toy()).looseness)
    assert math.isnan(sensitivity(toy("convergence"), 1, 4).margin)


def test_the_table():
    stream = io.StringIO()
    assert report(["p1-lemma-18"], 3, 20, stream=stream) == 0
    lines = stream.getvalue().splitlines()
    rows = [["p1-lemma-18-sharpened", "20%"], ["p1-lemma-18-scalar", "1%"]]
    assert [line.split()[:2] for line in lines[2:4]] == rows
    assert "4 forms, 0 that do not notice" in lines[-1]
    with pytest.raises(ValueError, match="examples"):
        report(examples=0)
    with pytest.raises(KeyError, match="p1-lemma-1"):
        report(["nothing"])


@pytest.mark.parametrize("bound", [1.0, math.nan])
def test_only_vacuous_or_inconclusive_outcomes_are_nothing_said(monkeypatch, bound):
    silent = replace(CLAIMS["p1-theorem-15"], bound=lambda case: bound, extremes=None)
    finding = examine(silent, 5)
    assert finding.found == "nothing said"
    assert not finding.as_recorded
    monkeypatch.setattr("alignlearn.theory.verification.select", lambda names=None: [silent])
    stream = io.StringIO()
    assert verify(examples=5, stream=stream) == 1
    assert "of 1 nothing was said" in stream.getvalue()


def test_once_remembers_the_last_case_only():
    calls = []
    value = once(lambda case: calls.append(case) or len(calls))
    first, second = {}, {}
    assert (value(first), value(first), value(second), value(first)) == (1, 1, 2, 3)
