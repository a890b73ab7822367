"""Open kernels on data."""

from __future__ import annotations

from abc import ABC, abstractmethod

from alignlearn.engine.cpu import CPU
from alignlearn.kernels import (
    are_per_column,
    as_kernel,
    column_names,
    kernel_list,
    kernel_samples,
    precomputed_kernels,
    weighted_terms,
)
from alignlearn.validation import (
    check_features,
    check_progress,
    columns_as_rows,
    optional_weights,
)

from .features import FeatureSource, linear_groups
from .gapped import GappedSource
from .given import GramSource
from .pairs import PairSource
from .tables import GramStack, Tables, as_tables, open_tables, table_kernels, with_gaps


class Opener(ABC):
    """A ``kernels`` argument of a special kind, which opens itself on samples."""

    @abstractmethod
    def open(self, X, sample_weight, **how):
        """The `Source` on samples that are not checked yet.

        ``how`` are ``engine`` and ``progress``, as `Source` takes them.
        """


def open_source(
    X, kernels, *, pairs=False, gaps=False, sample_weight=None, engine=CPU, progress=False
):
    """Check the samples and open the kernels on them.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Or a list of objects, a SciPy sparse matrix, p Gram matrices or several tables, as
        ``kernels`` allows.
    kernels : sequence of Kernel and str, dict, RankOneKernels, Opener, "precomputed" or None
        Default: a ladder of Gaussian kernels; see `kernel_list` and `table_kernels`.
    pairs : bool
        Also evaluate linear kernels pair by pair, as U-statistics of sparse samples need.
    gaps : bool
        Whether samples may have missing tables, each a row of NaN. If no table is missing, the
        source equals that without ``gaps``.
    sample_weight : array-like of shape (m,), optional
        Nonnegative. Default: ones. Statistics, families and data-dependent parameters use the
        weighted sample.
    engine : Engine
        Evaluates the kernels.
    progress : callable or None
        Progress callback of passes over all pairs.

    Returns
    -------
    Source

    Raises
    ------
    ValueError, TypeError
        Invalid samples or kernels. The message names the argument and what is accepted.
    """
    how = {"engine": engine, "progress": check_progress("verbose", progress)}
    if gaps:
        source = _open_with_gaps(X, kernels, sample_weight, how)
        if source.has_gaps:
            return source
    if isinstance(kernels, Opener):
        return kernels.open(X, sample_weight, **how)
    if isinstance(kernels, str) and kernels == "precomputed":
        X = as_tables(X, kernels)
        if isinstance(X, GramStack):
            X = X.kernels()
        elif isinstance(X, (list, tuple)):
            X = [columns_as_rows(f"matrix {k}", K) for k, K in enumerate(X)]
        numbers, kernels = precomputed_kernels(X)
        return GramSource(numbers, kernels, optional_weights(sample_weight, len(numbers)), **how)
    X, kernels = open_tables(X, kernels)
    if are_per_column(kernels):
        X = check_features(X)
        weight = optional_weights(sample_weight, X.shape[0])
        return FeatureSource(X, kernels, None, weight, **how)
    names = column_names(X)
    kernels = [kernel.resolve_names(names) for kernel in kernel_list(kernels)]
    groups = linear_groups(kernels)
    if groups is not None and not pairs:
        X = check_features(X)
        weight = optional_weights(sample_weight, X.shape[0])
        return FeatureSource(X, kernels, groups, weight, **how)
    X = kernel_samples("X", X, kernels)
    return PairSource(X, kernels, optional_weights(sample_weight, len(X)), **how)


def _open_with_gaps(X, kernels, sample_weight, how):
    """The `GappedSource` on several tables."""
    X = as_tables(X, kernels)
    if isinstance(kernels, Opener) or are_per_column(kernels) or not isinstance(X, Tables):
        given = type(kernels if isinstance(X, Tables) else X).__name__
        raise TypeError(
            "missing='tables' needs X of several tables (a dict, a list or Tables) and "
            f"kernels of vectors, got {given}; accepted otherwise: missing=None."
        )
    joined = with_gaps("X", X.joined(gaps=True), X.spans())
    weight = optional_weights(sample_weight, len(joined))
    return GappedSource(joined, X.spans(), table_kernels(X, kernels), weight, **how)


def open_kernel(X, kernel, sample_weight=None, **how):
    """The `Combination` of one kernel on samples, a sum of kernels by its terms.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Or a list of objects, a SciPy sparse matrix or several tables, if the kernel allows it.
    kernel : Kernel or str
        For instance the ``kernel_`` of a fitted estimator.
    sample_weight : array-like of shape (m,), optional
        Nonnegative. Default: ones.
    **how
        Further arguments of `open_source`: ``engine`` and ``progress``.
    """
    kernel, X = as_kernel(kernel), as_tables(X, kernel)
    if isinstance(X, Tables):  # the kernel uses all tables side by side
        kernel, X = kernel.resolve_names(X.columns), X.joined()
    kernels, weights = weighted_terms(kernel)
    source = open_source(X, kernels, pairs=True, sample_weight=sample_weight, **how)
    return source.combine(weights)
