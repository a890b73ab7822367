"""``alignlearn bounds`` and ``alignlearn verify``."""

import json
import re
from dataclasses import replace

import pytest
from alignlearn.theory import CLAIMS
from alignlearn.theory.bounds.concentration import alignment_deviation_printed
from alignlearn.theory.figures.curves import mixture
from command_lines import assert_one_line
from commands import run


def rows_of(text):
    """{m: cells} of the table."""
    lines = [line.split() for line in text.splitlines()]
    return {int(c[0].replace(",", "")): c[1:] for c in lines if c and c[0][0].isdigit()}


def test_bounds_prints_the_table_and_writes_the_figure(capsys, tmp_path):
    path = tmp_path / "theorem.svg"
    words = ("--claim", "p1-theorem-12", "--m", "10:1e8", "--delta", ".05", "--out", str(path))
    code, out, err = run(capsys, "bounds", *words)
    assert (code, err) == (0, "")
    assert path.read_text().startswith("<?xml")
    rows = rows_of(out)
    a = mixture().gaussian_moments(1.0).kernel_norm
    printed = alignment_deviation_printed(1000, 0.05, a, 1.0)
    assert float(rows[1000][0]) == pytest.approx(printed, rel=1e-3)
    assert rows[10][-1] == "all"
    assert rows[100_000_000][-1] == "-"
    assert "not vacuous: printed: from m = 12,113,323 on" in out
    assert "not vacuous: interval: from m = 582 on" in out


def test_bounds_says_when_the_printed_bound_is_false_and_lists_claims(capsys):
    code, out, _ = run(capsys, "bounds", "--claim", "p1-theorem-17", "--no-figure")
    assert code == 0
    assert "printed (false)" in out
    assert "not vacuous: corrected: from m = 633 on" in out
    changed = ("bounds", "--claim", "p1-theorem-17", "--no-figure", "--set", "lam0=0.1")
    assert "lam0 = 0.1" in run(capsys, *changed)[1]
    out = run(capsys, "bounds")[1]
    assert "p1-theorem-12 " in out
    assert "p2-prop-3" in out


def test_bounds_refuses(capsys):
    sizes = ("10", "100:10", "0:10", "10:ten", "10:1e99", "1.5:9")
    cases = [
        (("--claim", "theorem 12"), "not a claim; claims with a bound for each m: p1-prop-11"),
        (("--claim", "p1-lemma-1"), "has no bound for each m"),
        (("--claim", "p1-theorem-12", "--delta", "1.5"), "accepted: 0 < delta < 1"),
        (("--claim", "p1-theorem-12", "--set", "b=1"), "accepted: a, a_prime, rho"),
        (("--claim", "p1-theorem-12", "--set", "a=0"), "zero variance"),
        (("--claim", "p1-u-statistic", "--m", "2:3"), "needs m >= 4"),
        (("--claim", "p1-theorem-12", "--out", "x.txt"), "accepted endings"),
        (("--claim", "p1-theorem-12", "--out", "no/such/x.png"), "does not exist"),
        *((("--claim", "p1-theorem-12", "--m", m), "whole numbers") for m in sizes),
    ]
    assert_one_line(capsys, [(("bounds", *words), re.escape(text)) for words, text in cases])


def test_verify_passes_what_the_theory_says(capsys, tmp_path):
    path = tmp_path / "table.txt"
    words = ("--claims", "p1-lemma-1,p1-rho-0", "--examples", "5", "--out", str(path))
    code, out, _ = run(capsys, "verify", *words)
    assert code == 0
    assert "p1-rho-0" in out
    assert path.read_text() == out


def test_verify_fails_when_a_claim_is_not_as_recorded(capsys, monkeypatch):
    claim = CLAIMS["p1-rho-0"]
    monkeypatch.setattr(CLAIMS.module("p1-rho-0"), "CLAIM", replace(claim, status="true"))
    code, out, _ = run(capsys, "verify", "--claims", "p1-rho-0", "--examples", "5")
    assert code == 1
    assert "1 not as recorded" in out


def test_verify_mutations(capsys, tmp_path):
    """Lemma 18 is sharp for labels. For two kernels, an error below 12% of 5.379 is not noticed."""
    path = tmp_path / "table.txt"
    words = ("--mutations", "--claim", "p1-lemma-18", "--examples", "3", "--out", str(path))
    code, out, _ = run(capsys, "verify", *words)
    assert code == 0
    assert path.read_text() == out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:-1]}
    assert rows["p1-lemma-18-scalar"][0] == "1%"
    assert rows["p1-lemma-18-scalar"][-1] == "sharp"
    assert rows["p1-lemma-18-sharpened"][:2] == ["20%", "1.14"]
    code, out, _ = run(capsys, "verify", *words[:-2], "--json", "-")
    found = json.loads(out)["claims"]
    assert found["p1-lemma-18-sharpened"]["caught_at"] == 0.2
    assert found["p1-lemma-18-sharpened"]["mutants_refused"]["constant 4.35"]
    assert found["p1-lemma-18-scalar"]["sharp"]


def test_verify_refuses(capsys):
    cases = (("--claims", "p9"), "p1-lemma-1"), (("--examples", "0"), "examples >= 1")
    assert_one_line(capsys, [(("verify", *words), text) for words, text in cases])
