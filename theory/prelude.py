"""Names that nearly every claim imports: the framework, the papers, the common oracles."""

from dataclasses import replace

from .claim import Claim, HypothesisNotMet, Mutant, NegativeControl, Status, once
from .draws import RandomDraw
from .papers import P1, P2, P3, P4, P5
from .reference.matrices import alignf_terms, center, combine, krr
from .reference.problems import FiniteDistribution, gaussian_kernel, numerators

__all__ = [
    "Claim",
    "FiniteDistribution",
    "HypothesisNotMet",
    "Mutant",
    "NegativeControl",
    "P1",
    "P2",
    "P3",
    "P4",
    "P5",
    "RandomDraw",
    "Status",
    "alignf_terms",
    "center",
    "combine",
    "gaussian_kernel",
    "krr",
    "numerators",
    "once",
    "replace",
]
