"""One-stage kernel learning: weights and dual coefficients from one optimisation problem."""

from alignlearn.onestage.base import OneStageResult, OneStageWeighting
from alignlearn.onestage.families import FeatureFamily, GramFamily
from alignlearn.onestage.l1svm import L1SVM
from alignlearn.onestage.lkrr import LKRR

__all__ = ["L1SVM", "LKRR", "FeatureFamily", "GramFamily", "OneStageResult", "OneStageWeighting"]
