"""Kernel machines that learn from one sample at a time."""

from .sgd import KernelSGDClassifier, KernelSGDRegressor

__all__ = ["KernelSGDClassifier", "KernelSGDRegressor"]
