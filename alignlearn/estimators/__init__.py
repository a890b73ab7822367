"""Estimators in scikit-learn's conventions, without importing scikit-learn."""

from alignlearn.estimators.classifier import MKLClassifier
from alignlearn.estimators.regressor import MKLRegressor

__all__ = ["MKLClassifier", "MKLRegressor"]
