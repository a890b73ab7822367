"""The Gram matrix of a source for machines solved by SMO, or its rows where it has no room."""

from __future__ import annotations

import copy

import numpy as np

from alignlearn.solvers.smo_rows import RowCache
from alignlearn.sources import FeatureSource, GramSource

_MATRICES = 1.3  # that a machine holds at its peak


def matrix_fits(source, memory, itemsize=8):
    """Whether a source's Gram matrix fits ``memory`` bytes; given matrices do: they are there."""
    return isinstance(source, GramSource) or _MATRICES * itemsize * source.n_samples**2 <= memory


def gram_or_rows(source, memory):
    """The training Gram matrix of a combination, or a cache of its rows of ``memory`` bytes.

    Parameters
    ----------
    source : PairSource, FeatureSource or GramSource
        With weights. Given matrices are always combined into one.
    memory : int

    Returns
    -------
    ndarray of shape (m, m) or RowCache
        What `SupportVectorClassifier` and `SupportVectorRegressor` take, with the same solution to
        the same ``tol``. Kernel functions and given matrices are not checked to be positive
        semi-definite by rows.

    Raises
    ------
    ValueError
        Where ``memory`` does not hold two rows.
    """
    single = getattr(source.X, "dtype", None) == np.float32
    if matrix_fits(source, memory, 4 if single else 8):
        return source.gram()
    return row_cache(source, memory)


def row_cache(source, memory):
    """A `RowCache` of the combination of a source of kernels on pairs, or of features."""

    def part(columns):
        some = copy.copy(source)
        some.X = source.X if columns is None else source.samples(columns)
        return some

    def rows(columns):
        some = part(columns)
        return lambda index: some.cross_gram(source.samples(index))

    def times(rows, columns, weights):
        X = None if rows is None else source.samples(rows)
        return source.products(X, source.samples(columns), exact=False).times(weights)

    times = None if isinstance(source, FeatureSource) else times
    return RowCache(rows, source.n_samples, memory, times=times)
