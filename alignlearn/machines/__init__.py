"""Kernel machines on Gram matrices: ridge regression, support vector machines, ensembles."""

from ._regressor import SupportVectorRegressor
from ._ridge import KernelRidge, RidgePath, ridge_loo_path
from ._svm import SupportVectorClassifier
from .ensemble import Ensemble

__all__ = [
    "Ensemble",
    "KernelRidge",
    "RidgePath",
    "SupportVectorClassifier",
    "SupportVectorRegressor",
    "ridge_loo_path",
]
