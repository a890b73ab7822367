"""One-stage kernel learning: weights and dual coefficients from one optimisation problem."""

from alignlearn.weights.one_stage.aligned import AlignedKRR
from alignlearn.weights.one_stage.base import OneStageResult, OneStageWeighting
from alignlearn.weights.one_stage.l1svm import L1SVM
from alignlearn.weights.one_stage.lkrr import LKRR

__all__ = ["L1SVM", "LKRR", "AlignedKRR", "OneStageResult", "OneStageWeighting"]
