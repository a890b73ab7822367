"""Every claim: no violation where it holds; counterexamples and negative controls rejected."""

import math
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, all_claims, check
from alignlearn.theory.draws import strategy
from hypothesis import given, settings

EVERY = list(all_claims())
IDS = [claim.name for claim in EVERY]
TRUE = [claim for claim in EVERY if claim.status in ("holds", "gap")]
FALSE = [claim for claim in EVERY if claim.status not in ("holds", "gap")]


@pytest.mark.parametrize("claim", EVERY, ids=IDS)
def test_negative_control_is_rejected(claim):
    verdict = check(claim.wrong(), claim.negative_control.case())
    assert verdict.outcome == "violated", verdict


@pytest.mark.parametrize("claim", TRUE, ids=[c.name for c in TRUE])
def test_no_violation(claim):
    outcomes = []

    @settings(max_examples=20 if claim.confidence is None else 4, database=None)
    @given(strategy(claim))
    def run(case):
        verdict = check(claim, case)
        assert verdict.outcome != "violated", verdict
        outcomes.append(verdict.outcome)

    run()
    # A claim whose cases never reach a decision would pass above for nothing.
    assert any(outcome in ("holds", "vacuous") for outcome in outcomes)


@pytest.mark.parametrize("claim", FALSE, ids=[c.name for c in FALSE])
def test_counterexample_violates_and_correction_survives(claim):
    case = claim.counterexample()
    assert check(claim, case).outcome == "violated"
    if claim.corrected is not None and claim.corrected.counterexample is None:
        verdict = check(claim.corrected, case)
        # Inconclusive only where the correction is an added hypothesis, which the case does not
        # meet.
        refused = claim.status == "holds after fix" and verdict.note
        assert verdict.outcome in ("holds", "vacuous") or refused, verdict


def test_names_and_order():
    for name, claim in CLAIMS.items():
        assert claim.name == name
        assert claim.source
        assert claim.statement
        assert claim.hypotheses
        assert claim.negative_control.note
    assert len(set(IDS)) == len(IDS)
    assert math.isnan(check(EVERY[0], EVERY[0].negative_control.case()).frequency[0])


def _module(claim):
    return import_module(f"alignlearn.theory.{claim.name.replace('-', '_')}")


def test_claim_files_have_the_sections_of_the_template_in_order():
    heads = ("cases", "bound", "measure", "negative control", "claim")
    for claim in [*CLAIMS.values(), import_module("alignlearn.theory.template").CLAIM]:
        text = Path(_module(claim).__file__).read_text(encoding="utf-8")
        found = re.findall(r"^# -- (cases|bound|measure|negative control|claim)\b", text, re.M)
        order = [head for head in heads if head in found]
        assert found == order, claim.name
        assert {"cases", "bound", "measure", "claim"} <= set(found), claim.name


def test_template_works():
    claim = import_module("alignlearn.theory.template").CLAIM
    assert check(claim, {"K": np.eye(3)}).outcome == "holds"
    assert check(claim.wrong(), claim.negative_control.case()).outcome == "violated"


def test_every_correction_has_a_proof_that_its_file_names():
    proofs = Path(__file__).parents[2] / "theory" / "proofs.md"
    sections = set(re.findall(r"^## (\d+)\.", proofs.read_text(encoding="utf-8"), re.M))
    used = set()
    for claim in CLAIMS.values():
        form = claim
        while form is not None:
            assert form is claim or form.proof, form.name
            if form.proof:
                used.add(form.proof)
                assert form.proof in sections, form.name
                text = " ".join(_module(claim).__doc__.split())
                named = {
                    n
                    for part in re.findall(r"sections? ([\d, and]+)", text)
                    for n in re.findall(r"\d+", part)
                }
                assert form.proof in named, form.name
            form = form.corrected
    assert used == sections
