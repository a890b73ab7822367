"""Kernel machines on a precomputed Gram matrix: ridge regression and support vector machines."""

from alignlearn.machines._regressor import SupportVectorRegressor
from alignlearn.machines._ridge import KernelRidge, RidgePath, ridge_loo_path
from alignlearn.machines._svm import SupportVectorClassifier

__all__ = [
    "KernelRidge",
    "RidgePath",
    "SupportVectorClassifier",
    "SupportVectorRegressor",
    "ridge_loo_path",
]
