"""Models on Gram matrices: ridge regression, support vector machines, ensembles."""

from alignlearn.kernels import KreinSpectrum, SpectrumFix, krein_spectrum

from ._ridge import KernelRidge, RidgePath, ridge_loo_path
from ._svm import SupportVectorClassifier
from ._svr import SupportVectorRegressor
from .krein import KreinRidge, KreinSVC
from .least_squares import LeastSquaresClassifier
from .linear import LinearSVM
from .one_class import OneClassSVM

__all__ = [
    "KernelRidge",
    "KreinRidge",
    "KreinSVC",
    "KreinSpectrum",
    "LeastSquaresClassifier",
    "LinearSVM",
    "OneClassSVM",
    "RidgePath",
    "SpectrumFix",
    "SupportVectorClassifier",
    "SupportVectorRegressor",
    "krein_spectrum",
    "ridge_loo_path",
]
