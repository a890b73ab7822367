"""Learn the kernel from data by centered alignment.

Names are loaded on first use, so ``import alignlearn`` costs little more than ``import numba``.
"""

from importlib import import_module

# The one name that is also a module's: loaded here (it needs NumPy only), since a later first
# import of that module by another would put the module in the function's place.
from alignlearn.alignment import alignment as alignment

__version__ = "0.1.0"

_KERNELS = (
    "Binomial Columns Cosine Exponential ExponentialDot FeatureWeighted FromFunction Gaussian "
    "Kernel Laplacian Linear Log Polynomial Precomputed RankOneKernels Sigmoid TL1 gaussian_kernels"
)
_WHERE = {
    "kernels": _KERNELS,
    "alignment": "alignment center_kernel cka hsic",
    "statistics": "AlignmentStatistics",
    "streaming": "AlignmentAccumulator alignment_statistics",
    "onestage": "AlignedKRR Ensemble L1SVM LKRR",
    "weights": "Align AlignF AlignLinear AlignLq Uniform",
    "estimators": "KernelCombiner MKLClassifier MKLClassifierCV MKLRegressor MKLRegressorCV",
    "validation": "ConvergenceWarning DegenerateKernelWarning",
}
_NAMES = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = (
    "datasets",
    "engine",
    "estimators",
    "kernels",
    "machines",
    "significance",
    "theory",
    "weights",
)

__all__ = sorted([*_NAMES, "datasets", "machines", "theory"])


def __getattr__(name):
    if name in _NAMES:
        value = getattr(import_module(f"alignlearn.{_NAMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"alignlearn.{name}")
    else:
        raise AttributeError(f"module 'alignlearn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
