"""Multiple kernel learning by centered alignment.

Names are loaded on first use, so ``import alignlearn`` costs little more than ``import numba``.
"""

from importlib import import_module

__version__ = "0.1.0"

_KERNELS = (
    "Binomial Columns Cosine Exponential ExponentialDot FourierFeatures FromFunction Gaussian "
    "Gower Hamming Kernel KernelRuleError Laplacian Linear Log Matern MinMax Periodic Polynomial "
    "Precomputed RankOneKernels RationalQuadratic Sigmoid StringSpectrum TL1 Tanimoto "
    "columns_by_prefix gaussian_kernels ladder"
)
_WHERE = {
    "kernels": _KERNELS,
    "statistics": "AlignmentStatistics alignment alignment_gradient center_kernel cka hsic",
    "dependence": "CKAAccumulator CKARecorder alignment_test cka_matrix dhsic_test hsic_test "
    "kci_test mmd_test",
    "cca": "KernelCCA",
    "sources": "AlignmentAccumulator GramStack Tables alignment_statistics",
    "weights": "Align AlignF AlignLinear AlignLq Consensus EasyMKL MaxEntropy Structure Uniform",
    "weights.one_stage": "AlignedKRR L1SVM LKRR",
    "estimators": "AlignedRandomFeatures AlignedRandomFeaturesClassifier BayesianMKLClassifier "
    "DataConversionWarning FeatureScales KernelCombiner MKLClassifier MKLClassifierCV "
    "MKLRegressor MKLRegressorCV NotFittedError OneClassMKL TablePreparer TableTransformer "
    "alignment_interval cross_validate_kernels",
    "hyper": "GaussianHyperKernel HyperKRR HyperKRRCV HyperKernelClassifier "
    "HyperKernelClassifierCV HyperNNLS HyperSVR WishartHyperKernel hyper_kernels",
    "inspection": "CKADisplay CVScoreDisplay ContributionsDisplay KernelWeightsDisplay",
    "large": "NystromRidge NystromRidgeClassifier NystromSVC",
    "multitask": "MultiTaskMKLClassifier MultiTaskMKLRegressor",
    "online": "KernelSGDClassifier KernelSGDRegressor",
    "comparison": "Comparison compare",
    "bounds.checks": "HypothesisNotMet",
    "datasets": "DatasetError",
    "engine.cluster_losses": "ClusterLost",
    "engine.cuda.device": "CudaOutOfMemory CudaUnavailable",
    "_warmup": "warmup",
    "persistence": "ModelFileError load save",
    "validation": "ConvergenceWarning DegenerateKernelWarning DoubtfulResultWarning VersionWarning",
}
_NAMES = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = (
    "bounds",
    "cca",
    "comparison",
    "datasets",
    "dependence",
    "engine",
    "estimators",
    "hyper",
    "inspection",
    "kernels",
    "large",
    "machines",
    "multitask",
    "online",
    "persistence",
    "significance",
    "statistics",
    "theory",
    "weights",
)

_RENAMED: dict[str, tuple[str, str]] = {}
"""Old name -> (new name, first version without the old one)."""

__all__ = sorted([*_NAMES, "datasets", "theory"])


def __getattr__(name):
    if name in _NAMES:
        value = getattr(import_module(f"alignlearn.{_NAMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"alignlearn.{name}")
    elif name in _RENAMED:
        return import_module("alignlearn.validation").renamed_name(__name__, name)
    else:
        raise AttributeError(f"module 'alignlearn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
