"""The one way to open kernels on data."""

from __future__ import annotations

from alignlearn.kernels import (
    RankOneKernels,
    as_kernel,
    column_names,
    kernel_list,
    kernel_samples,
    weighted_terms,
)
from alignlearn.validation import check_features, optional_weights

from .features import FeatureSource, linear_groups
from .given import GramSource
from .pairs import PairSource


def open_source(X, kernels, *, pairs=False, sample_weight=None):
    """Check the samples and open the kernels on them.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Or a list of objects, a SciPy sparse matrix or p Gram matrices, as ``kernels`` allows.
    kernels : sequence of Kernel and str, RankOneKernels, "precomputed" or None
        None is the default ladder of Gaussians.
    pairs : bool
        Evaluate linear kernels pair by pair too, as U-statistics need.
    sample_weight : array-like of shape (m,), optional
        Not negative, 1 if None: statistics, families and data-dependent parameters are those of
        the weighted sample.

    Returns
    -------
    PairSource, FeatureSource or GramSource

    Raises
    ------
    ValueError, TypeError
        Bad samples or kernels; the message names the argument and what is accepted.
    """
    if isinstance(kernels, str) and kernels == "precomputed":
        return GramSource(X, sample_weight)
    if isinstance(kernels, RankOneKernels):
        X = check_features(X)
        return FeatureSource(X, kernels, None, optional_weights(sample_weight, X.shape[0]))
    names = column_names(X)
    kernels = [kernel.resolve_names(names) for kernel in kernel_list(kernels)]
    groups = linear_groups(kernels)
    if groups is not None and not pairs:
        X = check_features(X)
        return FeatureSource(X, kernels, groups, optional_weights(sample_weight, X.shape[0]))
    X = kernel_samples("X", X, kernels)
    return PairSource(X, kernels, optional_weights(sample_weight, len(X)))


def open_kernel(X, kernel, sample_weight=None):
    """Check the samples and open one kernel on them, a sum of kernels by its terms.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Or a list of objects or a SciPy sparse matrix, as the kernel allows.
    kernel : Kernel or str
        For instance the ``kernel_`` of a fitted estimator.
    sample_weight : array-like of shape (m,), optional
        As in `open_source`.

    Returns
    -------
    PairSource
        With the weights of the terms.
    """
    kernels, weights = weighted_terms(as_kernel(kernel))
    source = open_source(X, kernels, pairs=True, sample_weight=sample_weight)
    source.combine(weights)
    return source
