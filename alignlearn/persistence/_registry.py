"""The classes whose objects a model file may contain, by their names in the file.

A name consists of the package and the class. If a class moves inside its package, only its line
here moves. A class that is renamed is also listed in ``RENAMED``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

_CLASSES = {
    "_pairs": "ClassCoefficients PairCoefficients",
    "bounds.guarantee": "AlignmentInterval ErrorBound HeldOutBound RiskBound",
    "cca.kernel_cca": "KernelCCA",
    "dependence.independence": "DependenceTest",
    "dependence.representations": "CKAAccumulator",
    "estimators.average": "Average AveragePredictor Member",
    "estimators.bayesian": "BayesianMKLClassifier",
    "estimators.classifier": "MKLClassifier",
    "estimators.combiner": "KernelCombiner",
    "estimators.feature_scales": "FeatureScales ScalePath",
    "estimators.guarantees": "SampleRanges",
    "estimators.one_class": "OneClassMKL",
    "estimators.per_target": "TargetPredictor",
    "estimators.column_maps": "CategoryMap NumberMaps OrderedMap",
    "estimators.prepared_columns": "Preparation",
    "estimators.random_features": "AlignedRandomFeatures AlignedRandomFeaturesClassifier",
    "estimators.regressor": "MKLRegressor",
    "estimators.seen_rows": "SeenRows",
    "estimators.table_preparer": "TablePreparer",
    "estimators.tuned_classifier": "MKLClassifierCV",
    "estimators.tuned_regressor": "MKLRegressorCV",
    "hyper.algebra": "HyperKernelSum MidpointProduct",
    "hyper.classifier": "HyperKernelClassifier",
    "hyper.hyperkernels": "GaussianHyperKernel WishartHyperKernel",
    "hyper.learned": "ClusterKernel LearnedKernel",
    "hyper.regression": "HyperKRR HyperNNLS HyperSVR",
    "hyper.ridge_search": "HyperKRRCV",
    "hyper.tuned": "HyperKernelClassifierCV",
    "hyper.weights": "PairKernel",
    "kernels.algebra": "Exponentiated Normalized Power Product Scaled Shifted SignedSum Sum "
    "_AnyProduct _ExponentialOfDistance",
    "kernels.columns": "Columns",
    "kernels.families": "RankOneKernels",
    "kernels.features": "FeatureWeighted",
    "kernels.mixed": "Gower",
    "kernels.named": "Named",
    "kernels.objects": "Precomputed",
    "kernels.overlap": "MinMax Tanimoto _TanimotoSlope",
    "kernels.random_features": "FourierFeatures",
    "kernels.rescaled": "Rescaled",
    "kernels.spectrum": "KreinSpectrum SpectrumFix",
    "kernels.stationary": "Exponential ExponentialDot Gaussian Hamming Laplacian Matern "
    "Periodic RationalQuadratic _ExponentialOverDistance _SineSlope",
    "kernels.strings": "StringSpectrum",
    "kernels.vector": "Binomial Cosine Linear Log Polynomial Sigmoid TL1",
    "large.ridge": "NystromRidge NystromRidgeClassifier",
    "large.svc": "NystromSVC",
    "machines._ridge": "KernelRidge RidgePath",
    "machines._svm": "SupportVectorClassifier",
    "machines._svr": "SupportVectorRegressor",
    "machines.bayesian": "Posterior",
    "machines.calibration": "Calibration Isotonic LabelCalibration Sigmoid Temperature",
    "machines.krein": "KreinRidge KreinSVC",
    "machines.least_squares": "LeastSquaresClassifier",
    "machines.linear": "LinearSVM",
    "machines.nystrom_machines": "NystromHinge NystromKernelRidge",
    "machines.one_class": "OneClassSVM",
    "machines.width_and_ridge": "LeaveOneOutTable",
    "multitask._methods": "MultiTaskResult",
    "multitask.classifier": "MultiTaskMKLClassifier",
    "multitask.regressor": "MultiTaskMKLRegressor",
    "online._expansion": "Expansion",
    "online._steps": "Rule",
    "online.classifier": "KernelSGDClassifier",
    "online.regressor": "KernelSGDRegressor",
    "solvers.chi_square": "ChiSquareBall",
    "sources.completion": "Completion TableCompletion",
    "sources.features": "FeatureCombination FeaturePredictor FeatureSource",
    "sources.gapped": "GappedCombination GappedPredictor GappedSource SumOfTables",
    "sources.given": "GramCombination GramPredictor GramSum _NewSamples",
    "sources.pairs": "PairCombination PairPredictor PairSource",
    "sources.streaming": "AlignmentAccumulator",
    "statistics.summary": "AlignmentStatistics",
    "validation.sparse_rows": "SparseRows",
    "weights.base": "WeightResult",
    "weights.one_stage.aligned": "AlignedKRR",
    "weights.one_stage.base": "OneStageResult",
    "weights.one_stage.l1svm": "L1SVM",
    "weights.one_stage.lkrr": "LKRR",
    "weights.path": "SparsePath",
    "weights.two_stage": "Align AlignF AlignLinear AlignLq Uniform",
    "weights.easymkl": "EasyMKL",
    "weights.unsupervised": "Consensus MaxEntropy Structure",
}
RENAMED: dict[str, str] = {}
"""A name in files of earlier versions -> the name of today."""

_MODULES = {
    f"{module.partition('.')[0]}.{name}": module
    for module, names in _CLASSES.items()
    for name in names.split()
}


def class_named(name):
    """The class of a name in a file; None for any other name."""
    name = RENAMED.get(name, name)
    return _loaded(name) if name in _MODULES else None


@cache
def _loaded(name):
    module = import_module(f"alignlearn.{_MODULES[name]}")
    return getattr(module, name.partition(".")[2])


def name_of(cls):
    """The name of a class in files; None if files may not contain it."""
    library, *path = cls.__module__.split(".")
    name = f"{path[0]}.{cls.__qualname__}" if path else ""
    known = library == "alignlearn" and name in _MODULES and class_named(name) is cls
    return name if known else None


def names():
    """All names."""
    return sorted(_MODULES)
