"""Kernels: primitives, scalar formulas, algebra, families. No module here loops over pairs."""

from .algebra import Scaled, weighted_sum, weighted_terms
from .base import Kernel, KernelRuleError, column_names, kernel_samples, refuse_packed
from .columns import Columns, column_group
from .families import (
    RankOneKernels,
    are_per_column,
    as_kernel,
    distinct,
    gaussian_kernels,
    ladder,
)
from .features import FeatureWeighted
from .mixed import Gower
from .named import (
    Named,
    check_group_names,
    columns_by_prefix,
    group_kernels,
    group_name,
    kernel_list,
)
from .objects import (
    FromFunction,
    Precomputed,
    given_list,
    gram_items,
    plain_gram,
    precomputed_kernels,
    read_block,
)
from .overlap import MinMax, Tanimoto
from .random_features import FourierFeatures
from .rescaled import Rescaled
from .spectrum import KreinSpectrum, SpectrumFix, krein_spectrum, open_spectrum
from .stationary import (
    Exponential,
    ExponentialDot,
    Gaussian,
    Hamming,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
)
from .strings import StringSpectrum
from .vector import TL1, Binomial, Cosine, Linear, Log, Polynomial, Sigmoid

__all__ = [
    "TL1",
    "Binomial",
    "Columns",
    "Cosine",
    "Exponential",
    "ExponentialDot",
    "FeatureWeighted",
    "FourierFeatures",
    "FromFunction",
    "Gaussian",
    "Gower",
    "Hamming",
    "Kernel",
    "KernelRuleError",
    "KreinSpectrum",
    "Laplacian",
    "Linear",
    "Log",
    "Matern",
    "MinMax",
    "Named",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "RankOneKernels",
    "RationalQuadratic",
    "Rescaled",
    "Scaled",
    "Sigmoid",
    "SpectrumFix",
    "StringSpectrum",
    "Tanimoto",
    "are_per_column",
    "as_kernel",
    "check_group_names",
    "column_group",
    "column_names",
    "columns_by_prefix",
    "distinct",
    "gaussian_kernels",
    "given_list",
    "gram_items",
    "group_kernels",
    "group_name",
    "kernel_list",
    "kernel_samples",
    "refuse_packed",
    "krein_spectrum",
    "ladder",
    "open_spectrum",
    "plain_gram",
    "precomputed_kernels",
    "read_block",
    "weighted_sum",
    "weighted_terms",
]
