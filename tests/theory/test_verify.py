"""The runner: its output, its exit code, and outcomes that differ from the record."""

import io
from dataclasses import replace

import pytest
from alignlearn.theory import CLAIMS, NegativeControl
from alignlearn.theory.verification import examine, select, verify


def test_table_and_exit_code():
    stream = io.StringIO()
    assert verify(["p1-lemma-1", "p1-lemma-6"], examples=5, stream=stream) == 0
    lines = stream.getvalue().splitlines()
    names = ["p1-lemma-1", "p1-lemma-6", "p1-lemma-6-corrected"]
    assert [line.split()[0] for line in lines[1:4]] == names
    assert "3 claims, 0 not as recorded" in lines[-1]


def test_a_wrong_record_is_noticed(monkeypatch):
    broken = replace(CLAIMS["p1-lemma-6"], status="true")
    finding = examine(broken, 5)
    assert not finding.as_recorded
    assert "recorded 'true'" in " ".join(finding.problems)
    monkeypatch.setattr("alignlearn.theory.verification.select", lambda names=None: [broken])
    assert verify(examples=5, stream=io.StringIO()) == 1


def test_a_claim_that_hypothesis_can_break_is_shrunk_and_reported():
    claim = CLAIMS["p1-lemma-18"]
    too_small = replace(claim, bound=lambda case: 0.1 / (len(case["F"]) - 1))
    finding = examine(too_small, 50)
    assert finding.found == "violated"
    assert any("violated" in problem for problem in finding.problems)


def test_a_control_that_passes_is_noticed():
    claim = CLAIMS["p1-lemma-1"]
    control = NegativeControl(claim.negative_control.case, note="idle")
    problems = examine(replace(claim, negative_control=control), 3).problems
    assert "negative control" in " ".join(problems)


def test_without_hypothesis_numpy_draws_take_over(monkeypatch):
    monkeypatch.setattr("alignlearn.theory.verification.find_spec", lambda name: None)
    stream = io.StringIO()
    assert verify(["p1-lemma-3"], examples=5, stream=stream) == 0
    assert "NumPy" in stream.getvalue()


def test_bad_input():
    with pytest.raises(KeyError, match="p1-lemma-1"):
        select(["nothing"])
    with pytest.raises(ValueError, match="examples"):
        verify(examples=0)
