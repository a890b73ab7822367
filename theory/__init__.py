"""The published claims about learning with centred alignment, evaluated.

`CLAIMS` maps names to `Claim` objects in the order of the papers; ``check(claim, case)`` gives a
`Verdict`. Each paper has a folder with one file per claim, and the proofs in its ``proofs.md``.
The bounds are plain functions in `alignlearn.bounds`; those whose name ends in "printed" are the
papers' own. Exact population quantities and naive learners are in `reference`, the figures in
`figures`. ``verify.verify()`` runs everything and prints the table.
"""

from __future__ import annotations

from .claim import Claim, HypothesisNotMet, NegativeControl, Status, Verdict, check
from .registry import CLAIMS, all_claims

__all__ = [
    "CLAIMS",
    "Claim",
    "HypothesisNotMet",
    "NegativeControl",
    "Status",
    "Verdict",
    "all_claims",
    "check",
]
