"""Estimators in scikit-learn's conventions, without importing scikit-learn."""

from .bayesian import BayesianMKLClassifier
from .classifier import MKLClassifier
from .combiner import KernelCombiner
from .complexity import rademacher
from .cross_validation import cross_validate_kernels
from .random_features import AlignedRandomFeatures, AlignedRandomFeaturesClassifier
from .regressor import MKLRegressor
from .tuned import MKLClassifierCV, MKLRegressorCV

__all__ = [
    "AlignedRandomFeatures",
    "AlignedRandomFeaturesClassifier",
    "BayesianMKLClassifier",
    "KernelCombiner",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "cross_validate_kernels",
    "rademacher",
]
