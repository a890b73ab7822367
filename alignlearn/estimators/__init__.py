"""Estimators in scikit-learn's conventions, without importing scikit-learn."""

from alignlearn.estimators.classifier import MKLClassifier
from alignlearn.estimators.combiner import KernelCombiner
from alignlearn.estimators.cross_validation import cross_validate_kernels
from alignlearn.estimators.regressor import MKLRegressor
from alignlearn.estimators.tuned import MKLClassifierCV, MKLRegressorCV

__all__ = [
    "KernelCombiner",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "cross_validate_kernels",
]
