"""Figures of fitted models, in scikit-learn's conventions; matplotlib is imported on use.

A display holds its data: ``from_estimator`` computes and draws them, ``plot`` draws them again.
"""

from .displays import CKADisplay, ContributionsDisplay, KernelWeightsDisplay
from .labels import tick_labels, tidy
from .scores import CVScoreDisplay

__all__ = [
    "CKADisplay",
    "CVScoreDisplay",
    "ContributionsDisplay",
    "KernelWeightsDisplay",
    "tick_labels",
    "tidy",
]
