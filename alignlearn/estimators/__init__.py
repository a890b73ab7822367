"""Estimators in scikit-learn's conventions, without importing scikit-learn."""

from alignlearn.validation import NotFittedError

from .alignment_intervals import alignment_interval
from .bayesian import BayesianMKLClassifier
from .classifier import MKLClassifier
from .combiner import KernelCombiner
from .complexity import rademacher
from .contributions import Contributions
from .cross_validation import cross_validate_kernels
from .error_bars import PredictionInterval
from .feature_scales import FeatureScales
from .inputs import DataConversionWarning
from .one_class import OneClassMKL
from .random_features import AlignedRandomFeatures, AlignedRandomFeaturesClassifier
from .regressor import MKLRegressor
from .table_preparer import TablePreparer
from .table_transformer import TableTransformer
from .tuned_classifier import MKLClassifierCV
from .tuned_regressor import MKLRegressorCV

__all__ = [
    "AlignedRandomFeatures",
    "AlignedRandomFeaturesClassifier",
    "BayesianMKLClassifier",
    "Contributions",
    "DataConversionWarning",
    "FeatureScales",
    "KernelCombiner",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLRegressor",
    "MKLRegressorCV",
    "NotFittedError",
    "OneClassMKL",
    "PredictionInterval",
    "TablePreparer",
    "TableTransformer",
    "alignment_interval",
    "cross_validate_kernels",
    "rademacher",
]
