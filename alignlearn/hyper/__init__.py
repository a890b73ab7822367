"""Hyper-kernels: learning the kernel function itself from a matrix of similarities."""

from ._pairs import ideal_kernel, known_pairs
from .algebra import HyperKernel, HyperKernelSum, MidpointProduct
from .classifier import HyperKernelClassifier
from .hyperkernels import GaussianHyperKernel, WishartHyperKernel, hyper_kernels
from .learned import LearnedKernel
from .regression import HyperKRR, HyperNNLS, HyperSVR
from .ridge_search import HyperKRRCV
from .scales import difference_scales
from .tuned import HyperKernelClassifierCV
from .weights import PairKernel, align_hyper_kernels

__all__ = [
    "GaussianHyperKernel",
    "HyperKRR",
    "HyperKRRCV",
    "HyperKernel",
    "HyperKernelClassifier",
    "HyperKernelClassifierCV",
    "HyperKernelSum",
    "HyperNNLS",
    "HyperSVR",
    "LearnedKernel",
    "MidpointProduct",
    "PairKernel",
    "WishartHyperKernel",
    "align_hyper_kernels",
    "difference_scales",
    "hyper_kernels",
    "ideal_kernel",
    "known_pairs",
]
