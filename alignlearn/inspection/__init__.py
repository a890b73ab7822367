"""Figures of fitted models, in scikit-learn's conventions; matplotlib is imported where one draws.

A display holds what it draws: ``from_estimator`` finds it and draws it, ``plot`` draws it again.
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
