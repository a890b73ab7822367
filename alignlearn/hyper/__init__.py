"""Hyper-kernels: the kernel function itself is learned, from a matrix of similarities."""

from ._pairs import ideal_kernel, known_pairs
from .classifier import HyperKernelClassifier
from .hyperkernels import GaussianHyperKernel, HyperKernel, WishartHyperKernel
from .learned import LearnedKernel
from .regression import HyperKRR, HyperNNLS, HyperSVR
from .tuned import HyperKernelClassifierCV

__all__ = [
    "GaussianHyperKernel",
    "HyperKRR",
    "HyperKernel",
    "HyperKernelClassifier",
    "HyperKernelClassifierCV",
    "HyperNNLS",
    "HyperSVR",
    "LearnedKernel",
    "WishartHyperKernel",
    "ideal_kernel",
    "known_pairs",
]
