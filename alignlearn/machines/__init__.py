"""Kernel machines on Gram matrices: ridge regression, support vector machines, ensembles."""

from alignlearn.machines._regressor import SupportVectorRegressor
from alignlearn.machines._ridge import KernelRidge, RidgePath, ridge_loo_path
from alignlearn.machines._svm import SupportVectorClassifier
from alignlearn.machines.ensemble import Ensemble

__all__ = [
    "Ensemble",
    "KernelRidge",
    "RidgePath",
    "SupportVectorClassifier",
    "SupportVectorRegressor",
    "ridge_loo_path",
]
