"""The verdicts: each has an oracle, the counts are those of the claims, the prose agrees."""

import ast
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, Status, check
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.figures.table import counts, counts_table
from alignlearn.theory.reference import kcca
from alignlearn.theory.reference.problems import FiniteDistribution
from alignlearn.theory.verification import examine
from cases import each

from alignlearn.bounds.class_intervals import class_interval_from, class_statistics

PRINTED = [claim for claim in CLAIMS.values() if claim.status is not Status.NEW]


# -- the record ------------------------------------------------------------------------


def _counts(paper):
    found = Counter(claim.status for claim in PRINTED if claim.name.startswith(paper))
    return tuple(found[status] for status in Status if status is not Status.NEW)


COUNTS = {paper: _counts(paper) for paper in ("p1", "p2", "p3", "p4", "p5")}


def ledger_verdicts(text):
    """(names of claims, verdicts) of each list of true claims and each row of the ledger."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("True as printed:"):
            yield re.findall(r"`(p\d-[\w-]+)`", paragraph), {"true"}
    for row in re.findall(r"(?m)^\| (.*?) \| (.*?) \| .* \|$", text):
        if names := re.findall(r"`(p\d-[\w-]+)`", row[0]):
            yield names, set(row[1].split("; "))


def test_the_ledger_has_the_recorded_verdicts():
    path = Path(__file__).resolve().parents[2] / "docs/development/ledger.md"
    if not path.is_file():
        pytest.skip("needs the source tree")
    found = list(ledger_verdicts(path.read_text(encoding="utf-8")))
    assert sum(len(names) for names, _ in found) > 100
    for names, verdicts in found:
        assert {CLAIMS[name].status.value for name in names} == verdicts, names


def test_the_papers_claims_are_counted_apart_from_ours():
    for found in COUNTS.values():
        row = next(line for line in counts_table().splitlines() if f" {sum(found)} |" in line)
        assert " | ".join(map(str, found)) in row
    total = sum(map(sum, COUNTS.values()))
    assert counts().startswith(f"Of {total} claims of the five papers, ")
    assert f"{len(CLAIMS) - total} claims are new." in counts()
    for claim in CLAIMS.values():
        assert (claim.status is Status.NEW) == (", new" in claim.source), claim.name


def test_rows_that_follow_name_a_row_that_fails():
    followers = [claim for claim in PRINTED if claim.follows]
    assert {claim.name: claim.follows for claim in followers} == {
        "p1-prop-7-linear": "p1-prop-7",
        "p1-theorem-17": "p1-theorem-16",
        "p2-prop-3": "p2-prop-1",
        "p2-theorem-3": "p2-prop-1",
        "p3-omega-bound": "p3-omega",
        "p3-model": "p3-omega",
        "p3-prop-1": "p3-omega",
    }
    roots = [CLAIMS[claim.follows] for claim in followers]
    assert not any(root.status.holds or root.follows for root in roots)


def test_the_docstrings_say_the_same():
    for claim in PRINTED:
        text = " ".join(_paragraph(claim.name).split())
        true = claim.status is Status.TRUE
        assert true or f"Verdict: {claim.status.value}" in text, claim.name


def _paragraph(name):
    """The verdict in the docstring of a claim's file."""
    file = Path(CLAIMS.module(name).__file__)
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    parts = re.split(r"\n\n(?=`p\d-[\w-]+`\.)", text)
    return next((part for part in parts if part.startswith(f"`{name}`.")), parts[0])


# -- the oracles -----------------------------------------------------------------------


# test_claims checks that the counterexamples violate false claims, and that the intended form of a
# misprint holds.


def test_a_degenerate_claim_says_nothing_in_any_case():
    (claim,) = (claim for claim in PRINTED if claim.status is Status.DEGENERATE)
    cases = [*claim.extreme_cases(), *(claim.cases(RandomDraw(seed)) for seed in range(10))]
    assert {check(claim, case).outcome for case in cases} == {"vacuous"}
    file = CLAIMS.module(claim.name)
    for case in cases:
        for h, size in zip(file.predictions(case), file.sizes(case)):
            assert np.abs(h).max() <= size * (1 + 1e-9)
    # The left side of the learning bound tends to the predictor 0, of risk 1.
    h, _ = file.predictions(file.one_kernel(400, 1.0))
    assert np.abs(h).max() < 0.01
    # A record that is wrong is noticed.
    finding = examine(replace(claim, status=Status.TRUE), 2)
    assert not finding.as_recorded
    useful = replace(claim, trivial=lambda case: 2 * claim.bound(case))
    assert "found holds" in " ".join(examine(useful, 2).problems)


@each(
    ("fields", "words"),
    [
        ({"status": "wrong"}, "accepted: 'true'"),
        ({"status": "true but degenerate", "remark": "x"}, "known without it"),
        ({"status": "false"}, "a counterexample"),
        ({"status": "false", "counterexample": dict}, "a remark"),
        ({"status": "misprint", "counterexample": dict, "remark": "x"}, "that is meant"),
    ],
)
def test_a_status_without_its_evidence_is_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        replace(CLAIMS["p1-lemma-1"], **fields)


# -- decided disputes ------------------------------------------------------------------


def test_no_kappa_makes_the_estimate_that_of_the_penalty():
    """Views of one eigenvalue s: N kappa' = 2 kappa + kappa^2/s, which depends on s."""
    kappa, found = 0.1, []
    for s in (0.5, 2.0):
        G = np.array([s * np.array([[0.5, -0.5], [-0.5, 0.5]])] * 2)
        estimate = kcca.correlation(G, kappa)
        assert estimate == pytest.approx((s / (s + kappa)) ** 2)
        same = (2 * kappa + kappa**2 / s) / 2
        assert kcca.penalized(G, same) == pytest.approx(estimate)
        found.append(same)
    assert found[0] > 1.05 * found[1]


def test_theorem_17_fails_with_the_misprint_mended():
    file = CLAIMS.module("p1-theorem-17")
    verdict = check(file.CLAIM, file.counterexample())
    assert (verdict.outcome, verdict.violations) == ("violated", verdict.trials)
    c = 1 / 49
    assert verdict.measured == pytest.approx(4 * c * (1 - 100 / 600))
    assert verdict.bound == pytest.approx(0.0629, abs=5e-5)


@each("lam0", [1e-3, 1e-1, 10.0])
def test_theorem_17_for_one_kernel_where_the_stability_it_uses_is_wrong(lam0):
    """Large kappa/lam0: M2/m is no bound of |Delta h|, and the risk obeys it all the same."""
    file, stability = CLAIMS.module("p1-theorem-17"), CLAIMS.module("p1-theorem-16")
    for delta in (0.3, 0.9):
        case = file.memorized(10, 60) | {"lam0": lam0, "delta": delta}
        assert check(file.FIXED, case).outcome in ("holds", "vacuous")
    case = stability.residual_counterexample(200)
    assert stability.measure(case).max() > 2 / case["lam0"] / 200


def test_other_readings_and_an_underflow():
    """A kernel of a negative coefficient, smooth kernels, the Gaussian hyper-kernel's constant."""
    file = CLAIMS.module("p4-negative-coefficients")
    case = file.still_definite()
    assert case["beta"].min() < 0 < file.sharp_measure(case)
    file = CLAIMS.module("p5-smooth")
    assert (file.jump(file.total_order()), file.measure(file.total_order())) == (4.0, 0.0)
    case = {"dimension": 300, "sigma2": 1.0, "sigma_h2": 1.0}  # the logarithm is -404.3
    assert CLAIMS.module("p4-gaussian-scale").computed_log10(case) == -400


# -- proofs ----------------------------------------------------------------------------


def test_the_2_cycle_in_the_limit():
    """a b (1 - eta) = eta (a^2 + b^2) as L grows, and no cycle from eta = 1/3 on."""
    file = CLAIMS.module("p2-algorithm-1-cycle")
    for eta in (0.05, 0.2, 0.3, 0.33):
        t = file.ratio({"eta": eta, "lam": 1.0, "radius": 1e9})
        assert t * (1 - eta) == pytest.approx(eta * (1 + t**2), rel=1e-5)
        assert t > 1
    assert file.least_radius(1 / 3, 1.0) == np.inf
    assert file.least_radius(1 / 3 - 1e-9, 1.0) > 1e8
    t = np.linspace(1.001, 50, 500)
    assert (t * (1 - 1 / 3) < (1 + t**2) / 3).all()


def test_refusing_where_a_class_is_missing_counts_as_no_error():
    """Section 19, exactly: given intervals that miss, over all samples of three points."""
    file, m, delta = CLAIMS.module("p1-class-interval"), 12, 0.3
    law = FiniteDistribution(np.array([0.06, 0.3, 0.64]), np.array([1.0, -1.0, -1.0]))
    K = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.3], [0.0, 0.3, 1.0]])
    rho = file.alignment({"law": law, "K": K})
    refused = missed = 0.0
    for count, probability in law.all_samples(m):
        rows = np.repeat(np.arange(3), count)
        labels = law.labels[rows]
        if np.ptp(labels) == 0:
            refused += probability
            continue
        plus, minus, *sizes = class_statistics(K[np.ix_(rows, rows)], labels)
        low, high, *_ = class_interval_from(plus, minus, delta, *sizes, file.FEATURES)
        missed += probability * (not low <= rho <= high)
    assert 0.4 < refused < 0.5
    assert missed <= delta * (1 - refused)
