"""Estimators in scikit-learn's conventions, without importing scikit-learn."""

from alignlearn.estimators.classifier import MKLClassifier
from alignlearn.estimators.combiner import KernelCombiner
from alignlearn.estimators.cross_validation import cross_validate_kernels
from alignlearn.estimators.regressor import MKLRegressor

__all__ = ["KernelCombiner", "MKLClassifier", "MKLRegressor", "cross_validate_kernels"]
