"""One-stage kernel learning: weights and dual coefficients from one optimization problem."""

from .aligned import AlignedKRR
from .base import OneStageResult, OneStageWeighting
from .l1svm import L1SVM
from .lkrr import LKRR

__all__ = ["L1SVM", "LKRR", "AlignedKRR", "OneStageResult", "OneStageWeighting"]
