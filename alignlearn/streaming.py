"""Alignment statistics of p kernels streamed from samples: p Gram matrices never exist."""

from __future__ import annotations

import numpy as np

from alignlearn._centring import finish_sums
from alignlearn.engine import cpu, features
from alignlearn.folds import fold_codes, fold_statistics
from alignlearn.kernels import Columns, Linear, RankOneKernels, kernel_list, precomputed_kernels
from alignlearn.kernels.base import Scaled
from alignlearn.statistics import AlignmentStatistics
from alignlearn.targets import target_columns
from alignlearn.validation import check_finite, check_samples


def alignment_statistics(X, y, kernels=None, *, task="auto", unbiased=False, folds=None):
    """Everything stage 1 needs, in one pass over the pairs of samples.

    Parameters
    ----------
    X : array-like of shape (m, d)
        float64 or float32 (computed in that precision, summed in float64), also a memmap: only
        blocks of rows are read. A list of objects if all kernels are functions. With
        ``kernels="precomputed"``, a sequence of p Gram matrices or an array (p, m, m). With
        RankOneKernels or linear kernels on columns also a SciPy sparse matrix.
    y : array-like of shape (m,) or (m, c)
        Real targets or class labels; see ``task``.
    kernels : sequence of Kernel and str, "precomputed" or RankOneKernels, optional
        Default: a ladder of nine Gaussians around ``gamma="scale"``.
    task : {"auto", "classification", "regression"}
        How to read y; "auto" takes floating-point values as regression.
    unbiased : bool, default False
        Return ``m^2`` times U-statistics (m >= 4) in place of ``<K_kc, K_lc>_F``. M stays positive
        semi-definite (they are inner products of U-centred matrices), ``a`` may be negative.
    folds : array-like of shape (m,), optional
        Fold labels. The result is then a list with the statistics of every *training set*, all
        samples outside one fold, in the order of the sorted labels and still from one pass.
        ``gamma="scale"`` is then fixed on all samples.

    Returns
    -------
    AlignmentStatistics, or a list of them with ``folds``

    Notes
    -----
    Memory is O(m p + p^2) beside the input, times the number of folds; no Gram matrix is formed.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012), section 3.2. Szekely and Rizzo (2014), Partial distance
    correlation with methods for dissimilarities, section 3, for U-centring.
    """
    if isinstance(kernels, str) and kernels == "precomputed":
        X, kernels = precomputed_kernels(X)
    if folds is not None and unbiased:
        raise ValueError("unbiased=True is not available together with folds.")
    if isinstance(kernels, RankOneKernels):
        return _feature_statistics(X, y, kernels, task, unbiased, folds=folds)
    kernels = kernel_list(kernels)
    groups = _linear_groups(kernels)
    if groups is not None and (features.is_sparse(X) or not unbiased):
        kernels, index = _distinct(kernels)
        groups = _linear_groups(kernels)
        return _repeat(_feature_statistics(X, y, kernels, task, unbiased, groups, folds), index)
    X = check_samples("X", X, any(k._needs_vectors for k in kernels))
    Y = target_columns(y, len(X), task)
    kernels, index = _distinct([k.resolve(X) for k in kernels])
    names = tuple(str(k) for k in kernels)
    if folds is not None:
        return _repeat(fold_statistics(X, Y, kernels, names, fold_codes(folds, len(X))), index)
    sums = cpu.centred_sums(X, Y, kernels)
    return _repeat(finish_sums(*sums, Y, names, unbiased), index)


def _distinct(kernels):
    """Kernels without repeats, in order of appearance, and the place of each given one there.

    Equal kernels so have equal statistics to the last bit: sums differ by rounding with their place
    among others, in the loops over pairs as in BLAS products.
    """
    places, index = {}, []
    for kernel in kernels:
        try:
            index.append(places.setdefault(kernel, len(places)))
        except TypeError:  # it holds a callable that cannot be hashed
            index.append(places.setdefault(id(kernel), len(places)))
    first = np.unique(index, return_index=True)[1]
    return [kernels[k] for k in first], index


def _repeat(statistics, index):
    """Statistics of distinct kernels, or a list of them, as statistics of all kernels."""
    if isinstance(statistics, list):
        return [_repeat(s, index) for s in statistics]
    return statistics if statistics.n_kernels == len(index) else statistics.take(index)


def _linear_groups(kernels):
    """Column groups and scales if every kernel is a multiple of a linear one, else None."""
    groups = []
    for kernel in kernels:
        scale, columns = 1.0, None
        while isinstance(kernel, (Scaled, Columns)):
            if isinstance(kernel, Scaled):
                scale *= kernel.scale
            else:
                columns = (
                    kernel.columns if columns is None else [columns[c] for c in kernel.columns]
                )
            kernel = kernel.kernel
        if not isinstance(kernel, Linear):
            return None
        groups.append((columns, scale))
    return groups


def _feature_statistics(X, y, kernels, task, unbiased, groups=None, folds=None):
    if unbiased:
        raise ValueError("unbiased=True is not available for rank-one or sparse input.")
    X = check_features(X)
    if folds is not None:
        # Features cost little: each training set by itself.
        codes, Y = fold_codes(folds, X.shape[0]), target_columns(y, X.shape[0], task)
        rows = [np.flatnonzero(codes != t) for t in range(codes.max() + 1)]
        X = X.tocsr() if features.is_sparse(X) else X
        return [_feature_statistics(X[r], Y[r], kernels, "regression", False, groups) for r in rows]
    Y = target_columns(y, X.shape[0], task)
    if groups is None:
        a, M, trace = features.rank_one_sums(X, Y)
        names = kernels.names or tuple(f"column {k}" for k in range(X.shape[1]))
        if len(names) != X.shape[1]:
            raise ValueError(
                f"RankOneKernels has {len(names)} names, but X has {X.shape[1]} columns."
            )
    else:
        every = np.arange(X.shape[1])
        for columns, _ in groups:
            if columns is not None and max(columns) >= X.shape[1]:
                raise ValueError(
                    f"Columns selects column {max(columns)}, but X has only {X.shape[1]} columns."
                )
        columns = [every if c is None else c for c, _ in groups]
        a, M, trace = features.low_rank_sums(X, Y, columns, np.array([s for _, s in groups]))
        names = tuple(str(k) for k in kernels)
    target_norm = float(np.linalg.norm(Y.T @ Y))
    return AlignmentStatistics(a, M, trace, target_norm, X.shape[0], tuple(names))


def check_features(X):
    """A finite feature matrix, dense or SciPy sparse."""
    if not features.is_sparse(X):
        return check_samples("X", X)
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: at least one sample and feature are needed.")
    check_finite("X", X.tocsr().data)
    return X


class AlignmentAccumulator:
    """Alignment statistics averaged over mini-batches.

    Every batch gives unbiased (U-statistic) estimates of ``E[K_kc K_lc]`` and ``E[K_kc T]``; their
    averages are unbiased too, at any batch size from 4 up, which averages of the biased ones are
    not. Partial results merge, so batches may be spread over processes.

    Parameters
    ----------
    kernels : as in :func:`alignment_statistics`
        Data-dependent parameters (``gamma="scale"``) are fixed by the first batch.
    task : {"auto", "classification", "regression"}

    Notes
    -----
    With more than two classes each batch must hold the same classes; pass one-hot columns as a
    matrix y with ``task="regression"`` where it may not.

    References
    ----------
    Nguyen, Raghu and Kornblith (2021), Do wide and deep networks learn the same things?, for the
    mini-batch CKA.
    """

    def __init__(self, kernels=None, *, task="auto"):
        self.kernels = kernels
        self.task = task
        self.n_batches = 0
        self._resolved = None
        self._sum = None

    def update(self, X, y):
        """Add a batch: X of shape (b, d), y of shape (b,) or (b, c), b >= 4. Returns self."""
        kernels = self.kernels if self._resolved is None else self._resolved
        if self._resolved is None and not isinstance(kernels, (str, RankOneKernels)):
            kernels = kernel_list(kernels)
            X = check_samples("X", X, any(k._needs_vectors for k in kernels))
            kernels = self._resolved = [k.resolve(X) for k in kernels]
        s = alignment_statistics(X, y, kernels, task=self.task, unbiased=True)
        m2 = float(s.n_samples) ** 2
        parts = [s.a / m2, s.M / m2, s.trace / s.n_samples, s.target_norm**2 / m2, s.n_samples]
        self._add(parts, 1, s.names)
        return self

    def merge(self, other):
        """Add what another accumulator of the same kernels has seen. Returns self."""
        if other.n_batches:
            self._add(other._sum, other.n_batches, other._names)
            self._resolved = self._resolved if self._resolved is not None else other._resolved
        return self

    def _add(self, parts, n_batches, names):
        if self._sum is None:
            self._sum = list(parts)
        elif len(parts[0]) != len(self._sum[0]):
            raise ValueError(
                f"the batch has {len(parts[0])} kernels, the accumulator has {len(self._sum[0])}."
            )
        else:
            self._sum = [old + new for old, new in zip(self._sum, parts)]
        self._names = names
        self.n_batches += n_batches

    def statistics(self) -> AlignmentStatistics:
        """Averages over the batches: unbiased estimates of the expectations over pairs.

        In these units ``a`` and ``M`` do not grow with the number of samples; ``trace`` is a mean
        per sample. M is positive semi-definite, as every batch's is.
        """
        if self._sum is None:
            raise ValueError("no batch has been added; call update(X, y) first.")
        a, M, trace, target, _ = (np.asarray(part) / self.n_batches for part in self._sum)
        target_norm = float(np.sqrt(max(float(target), 0.0)))
        return AlignmentStatistics(a, M, trace, target_norm, int(self._sum[4]), self._names)
