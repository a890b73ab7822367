"""The published claims about learning with centred alignment, evaluated.

`CLAIMS` maps names to `Claim` objects in the order of the papers; ``check(claim, case)`` gives a
`Verdict`. The bounds that are right are plain functions in `concentration`, `predictors` and
`stability`; exact population quantities are in `problems`; ``verify()`` runs everything and
prints the table. Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from importlib import import_module

from .claim import Claim, HypothesisNotMet, NegativeControl, Verdict, check, clopper_pearson
from .registry import CLAIMS, all_claims

_LAZY = {
    "verify": "verify",
    "RandomDraw": "draws",
}

__all__ = [
    "CLAIMS",
    "Claim",
    "HypothesisNotMet",
    "NegativeControl",
    "Verdict",
    "all_claims",
    "check",
    "clopper_pearson",
    *_LAZY,
]


def __getattr__(name):
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
