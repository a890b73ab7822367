"""Estimators in scikit-learn's conventions, without importing scikit-learn."""

from .classifier import MKLClassifier
from .combiner import KernelCombiner
from .cross_validation import cross_validate_kernels
from .regressor import MKLRegressor
from .tuned import MKLClassifierCV, MKLRegressorCV

__all__ = [
    "KernelCombiner",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "cross_validate_kernels",
]
