"""What a kernel is: primitives, scalar formulas, algebra, families. No loop over pairs here."""

from .base import Kernel, KernelRuleError, Scaled, weighted_sum
from .columns import Columns
from .families import (
    RankOneKernels,
    as_kernel,
    distinct,
    gaussian_kernels,
    kernel_list,
)
from .features import FeatureWeighted
from .objects import FromFunction, Precomputed, precomputed_kernels
from .vector import (
    TL1,
    Binomial,
    Cosine,
    Exponential,
    ExponentialDot,
    Gaussian,
    Laplacian,
    Linear,
    Log,
    Polynomial,
    Sigmoid,
)

__all__ = [
    "TL1",
    "Binomial",
    "Columns",
    "Cosine",
    "Exponential",
    "ExponentialDot",
    "FeatureWeighted",
    "FromFunction",
    "Gaussian",
    "Kernel",
    "KernelRuleError",
    "Laplacian",
    "Linear",
    "Log",
    "Polynomial",
    "Precomputed",
    "RankOneKernels",
    "Scaled",
    "Sigmoid",
    "as_kernel",
    "distinct",
    "gaussian_kernels",
    "kernel_list",
    "precomputed_kernels",
    "weighted_sum",
]
