"""One-stage kernel learning: weights and dual coefficients from one optimisation problem."""

from alignlearn.onestage.aligned import AlignedKRR
from alignlearn.onestage.base import OneStageResult, OneStageWeighting
from alignlearn.onestage.ensemble import Ensemble
from alignlearn.onestage.families import FeatureFamily, GramFamily
from alignlearn.onestage.l1svm import L1SVM
from alignlearn.onestage.lkrr import LKRR

__all__ = [
    "L1SVM",
    "LKRR",
    "AlignedKRR",
    "Ensemble",
    "FeatureFamily",
    "GramFamily",
    "OneStageResult",
    "OneStageWeighting",
]
