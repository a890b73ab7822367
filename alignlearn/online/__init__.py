"""Kernel models that learn from one sample at a time."""

from .classifier import KernelSGDClassifier
from .regressor import KernelSGDRegressor

__all__ = ["KernelSGDClassifier", "KernelSGDRegressor"]
