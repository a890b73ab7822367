"""An adversary against the corrected claims; it finds violations of wrong ones."""

import pytest
from alignlearn.theory import CLAIMS
from alignlearn.theory.search import adversary
from alignlearn.theory.verification import select
from cases import each

CORRECTED = {claim.name: claim for claim in select()}

# Claims, with how close the adversary is known to come.
CLOSE = {
    "p1-lemma-6-corrected": 0.9,
    "p1-lemma-18-sharpened": 0.5,
    "p1-lemma-18-same-kernel": 0.9,
    "p1-covariance-change": 0.9,
    "p1-lemma-19-sharpened": 0.99,
    "p1-theorem-13-corrected": 0.8,
    "p1-theorem-14-sharpened": 0.99,
    "p1-hypothesis-bound-sharpened": 0.8,
    "p1-theorem-16-corrected": 0.99,
    "p1-trace-degenerate": 0.99,
    "p1-lemma-20-corollary": 0.9,
    "p1-prop-21": 0.9,
    "p2-theorem-2": 0.9,
    "p2-prop-3-corrected": 0.0,
    "p2-y-norm": 0.9,
    "p4-eq-2-1-corrected": 0.99,
    "p4-theorem-2-corrected": 0.95,
    "p4-prop-4-1-sharpened": 0.7,
    "p4-lemma-4-4-sharpened": 0.5,
    "p4-lemma-4-3-step-corrected": 0.99,
    "p4-eq-4-13-corrected": 0.9,
    "p4-a-5-corrected": 0.85,
    "p4-moment-hypothesis-corrected": 0.2,
}


@pytest.mark.parametrize("name", CLOSE)
def test_corrected_claims_resist_and_are_not_idle(name):
    steps = {"p1-theorem-16-corrected": 2000, "p2-prop-3-corrected": 80}.get(name, 500)
    verdict = adversary(CORRECTED[name], steps, random_state=0)
    assert verdict.outcome == "holds" or (name.startswith("p4") and verdict.outcome == "vacuous")
    assert CLOSE[name] <= verdict.tightness <= 1 + 1e-6


@each("name", ["p1-lemma-6", "p1-prop-7", "p1-theorem-14-footnote", "p1-l1-l2"])
def test_the_adversary_finds_violations_of_false_claims(name):
    assert adversary(CLAIMS[name], 800, random_state=0).outcome == "violated"
