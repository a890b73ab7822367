"""Kernels that are linear in the features: one weight per feature, no pairs of samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.engine import features
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import Columns, FeatureWeighted, Linear, Scaled, distinct
from alignlearn.statistics import (
    AlignmentStatistics,
    centered_columns,
    check_sums,
    target_columns,
    target_norm,
    without_diagonal,
)
from alignlearn.validation import check_features, is_sparse
from alignlearn.validation.memory import check_gram_memory

from .families import FeatureFamily
from .pairs import used_positions
from .source import Combination, Predictor, Source


def linear_groups(kernels):
    """Column groups and scales if every kernel is a multiple of a linear one, else None."""
    groups = []
    for kernel in kernels:
        scale, columns = 1.0, None
        while isinstance(kernel, (Scaled, Columns)):
            if isinstance(kernel, Scaled):
                scale *= kernel.scale
            elif columns is None:
                columns = kernel.columns
            elif max(kernel.columns) < len(columns):
                columns = [columns[c] for c in kernel.columns]
            else:
                return None  # evaluation raises the error
            kernel = kernel.kernel
        if not isinstance(kernel, Linear):
            return None
        groups.append((columns, scale))
    return groups


def column_means(X, weight):
    """(Weighted) means of the columns of an array, float64."""
    if weight is None:
        return X.mean(axis=0, dtype=np.float64)
    return weight @ X / weight.sum()


class FeatureSource(Source):
    """Linear kernels on groups of features, or a rank-one kernel for each feature.

    Parameters
    ----------
    X : ndarray or SciPy sparse matrix of shape (m, d)
        Checked.
    kernels : list of Kernel, or RankOneKernels
    groups : list of (columns, scale), or None for RankOneKernels
        See `linear_groups`.
    weight : ndarray of shape (m,), optional
        Sample weights, already checked. Statistics and families are those of the weighted sample;
        Gram matrices and combinations do not use the weights.
    engine : Cpu, Auto, Cuda or Cluster
        Evaluates pairs of samples.
    progress : bool or callable
        Progress callback of passes over all pairs, see `Progress`. Dropped when pickled.

    Attributes
    ----------
    sparse : bool
        Whether X is sparse.
    mean : ndarray of shape (d,)
        Subtracted from samples if kernels need not be exact; 0 for sparse samples.
    """

    is_linear = True

    def __init__(self, X, kernels, groups, weight=None, **how):
        super().__init__(X, weight, **how)
        self.kernels = kernels
        self.groups = groups
        self.sparse = is_sparse(X)
        # A sparse matrix stays sparse, hence is not centered.
        self.mean = np.zeros(self.n_features) if self.sparse else column_means(X, weight)
        self.names = self._names()

    def _names(self):
        if self.groups is None:
            names = self.kernels.names or [f"column {k}" for k in range(self.n_features)]
            if len(names) != self.n_features:
                raise ValueError(
                    f"RankOneKernels has {len(names)} names, but X has {self.n_features} columns."
                )
            return tuple(names)
        for columns, _ in self.groups:
            if columns is not None and max(columns) >= self.n_features:
                raise ValueError(
                    f"Columns selects column {max(columns)}, but X has only {self.n_features} "
                    "columns."
                )
        return tuple(str(k) for k in self.kernels)

    def column_groups(self):
        """``(columns, scale)`` of each kernel; every rank-one kernel has one column."""
        if self.groups is None:
            return [(np.array([k]), 1.0) for k in range(self.n_features)]
        return list(zip(self._columns(), self._scales()))

    def _columns(self):
        every = np.arange(self.n_features)
        return [every if columns is None else np.asarray(columns) for columns, _ in self.groups]

    def _scales(self):
        return np.array([scale for _, scale in self.groups])

    def statistics(self, y, task="auto", *, unbiased=False):
        """Alignment statistics of the kernels with y."""
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        return self._statistics(used.X, Y, used.weight, unbiased)

    def _statistics(self, X, Y, weight, unbiased):
        norm = target_norm(Y, weight=weight)
        # Equal kernels get bitwise equal statistics.
        (columns, scales, index), names = self._distinct(), self.names
        with np.errstate(over="ignore", invalid="ignore"):
            if columns is None:
                a, M, trace = features.rank_one_sums(X, Y, weight)
            else:
                a, M, trace = features.low_rank_sums(X, Y, columns, scales, weight)
        check_sums(M, [names[k] for k in np.unique(index, return_index=True)[1]])
        if unbiased:
            centered = self._centered_diagonals(X, columns, scales)
            a, M, norm, zero = without_diagonal(a, M, norm, centered, Y)
            M[zero], M[:, zero], a[zero], trace[zero] = 0.0, 0.0, 0.0, 0.0
        total = None if weight is None else float(weight.sum())
        found = AlignmentStatistics(a, M, trace, norm, X.shape[0], (), total)
        if columns is not None:
            found = found.take(index)
        return replace(found, names=names)

    def _distinct(self):
        """Columns and scales of the distinct kernels, and the index among them of each kernel."""
        if self.groups is None:
            return None, None, np.arange(self.n_features)
        groups, index = distinct([(tuple(c), s) for c, s in zip(self._columns(), self._scales())])
        return [np.array(c) for c, _ in groups], np.array([s for _, s in groups]), index

    def _centered_diagonals(self, X, columns, scales):
        """Diagonals of the centered kernels, (p, m)."""
        if self.sparse:
            raise ValueError(
                "unbiased=True is not available for rank-one kernels of sparse samples, because "
                "centering makes them dense; accepted: dense samples, such as X.toarray()."
            )
        squares = np.square(centered_columns(X.astype(np.float64, copy=False))).T
        if columns is None:
            return squares
        return scales[:, None] * np.array([squares[list(c)].sum(axis=0) for c in columns])

    def training_statistics(self, y, task, training_sets, *, unbiased=False):
        """Yield the statistics of every training set (index arrays), each by its own pass.

        Passes over features are cheap, and so only one (p, p) matrix is held at a time.
        """
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        X = used.X.tocsr() if self.sparse else used.X
        for rows in used_positions(training_sets, self.weight):
            weight = used.weight_of(rows)
            yield self._statistics(X[rows], centered_columns(Y[rows], weight), weight, unbiased)

    def part(self, rows):
        """The source on the samples of an index array."""
        X, weight = self.samples(rows), self.weight_of(rows)
        return FeatureSource(X, self.kernels, self.groups, weight, **self._how)

    def kept(self):
        """The source to store in a model, on a copy of its samples; see `Source.kept`."""
        return FeatureSource(self.X.copy(), self.kernels, self.groups, self.weight)

    def samples(self, rows):
        """Select samples in the form that ``fit`` accepts."""
        return self.X.tocsr()[rows] if self.sparse else self.X[rows]

    def largest_diagonals(self):
        """The maximum K_k(x, x) of each kernel over the samples, (p,)."""
        X = self.X.tocsc() if self.sparse else self.X
        squares = X.multiply(X).tocsc() if self.sparse else np.square(X)
        if self.groups is None:
            top = squares.max(axis=0)
            return np.asarray(top.todense() if self.sparse else top, dtype=float).ravel()
        sums = [np.asarray(squares[:, columns].sum(axis=1)).max() for columns in self._columns()]
        return self._scales() * np.array(sums)

    def family(self, scale, rooted=False):
        """The centered kernels times ``scale`` (p,), as one-stage problems use them.

        With ``rooted`` also times the square roots of both samples' weights.
        """
        X, center = self.X, True
        if self.weight is not None:
            if self.sparse:
                raise ValueError(
                    "sample_weight with a one-stage rule needs dense X; accepted: "
                    "X.toarray(), or a two-stage rule."
                )
            X, center = np.asarray(X, np.float64) - column_means(X, self.weight), False
            X = np.sqrt(self.weight)[:, None] * X if rooted else X
        if self.groups is None:
            return FeatureFamily(X, scale=scale, center=center)
        columns = self._columns()
        owner = np.repeat(np.arange(len(columns)), [len(c) for c in columns])
        X = X.tocsc() if self.sparse else X
        return FeatureFamily(X[:, np.concatenate(columns)], owner, self._scales() * scale, center)

    def check(self, X):
        """Validate new samples."""
        return check_features(X)

    def combine(self, weights):
        """The combination with weights (p,)."""
        return FeatureCombination(self, weights)

    def per_feature(self, weights):
        """The weight of every feature, (d,), for kernel weights (p,)."""
        if self.groups is None:
            return np.asarray(weights)
        found = np.zeros(self.n_features)
        for w, columns, scale in zip(weights, self._columns(), self._scales()):
            np.add.at(found, columns, w * scale)
        return found


class FeatureCombination(Combination):
    """A weighted sum of kernels that are linear in the features: one weight for each feature."""

    def __init__(self, source, weights):
        super().__init__(source, weights, FeatureWeighted(source.per_feature(weights)))

    def _near_origin(self, X, exact=False):
        if exact or self.source.sparse:
            return X
        return (X.toarray() if is_sparse(X) else X) - self.source.mean

    def features(self):
        """The centered features of positive weight, times the square roots of their weights.

        Returns
        -------
        Z : ndarray or CSR matrix of shape (m, q)
            Not centered if sparse.
        active : ndarray of int of shape (q,)
        root : ndarray of shape (q,)
        """
        weights, source = self.kernel.weights, self.source
        active = np.flatnonzero(weights)
        root = np.sqrt(weights[active])
        if source.sparse:
            return source.X.tocsc()[:, active].multiply(root).tocsr(), active, root
        Z = np.asarray(source.X[:, active], dtype=np.float64)
        return (Z - source.mean[active]) * root, active, root

    def gram(self, exact=False):
        """Training Gram matrix (m, m), of centered features if they are dense and not exact."""
        check_gram_memory(self.n_samples)
        return self.kernel(self._near_origin(self.source.X, exact))

    def cross_gram(self, X, exact=False, engine=None):
        """Gram matrix of new samples against those of the source, (n, m)."""
        return self.kernel(*(self._near_origin(A, exact) for A in (X, self.source.X)))

    def own_gram(self, X):
        """Gram matrix of new samples with each other."""
        return self.kernel(self._near_origin(X))

    def rows(self, index, columns=None, exact=False):
        """Rows of the training Gram matrix, or of some of its columns."""
        Z = self.source.X if columns is None else self.source.samples(columns)
        pair = self.source.samples(index), Z
        return self.kernel(*(self._near_origin(A, exact) for A in pair))

    def times(self, V):
        """Product of the exact training Gram matrix with V, (m,) or (m, c)."""
        X, weights = self.source.X, self.kernel.weights
        inner = np.asarray(X.T @ V)
        return np.asarray(X @ (weights.reshape(-1, *[1] * (inner.ndim - 1)) * inner))

    def diagonal(self, X=None):
        """``k(x, x)`` of every sample, (m,), or of checked new ones, (n,)."""
        X = self.source.X if X is None else X
        squares = X.multiply(X) if self.source.sparse else np.square(X)
        return np.asarray(squares @ self.kernel.weights).ravel()

    def predictor(self, support, coef, intercept=0.0, exact=False):
        """The `Predictor` with dual coefficients; see `Combination.predictor`."""
        X = self.source.X if support is None else self.source.samples(support)
        X = self._near_origin(X, exact)
        of_features = self.kernel.weights[:, None] * np.asarray(X.T @ coef)
        return self.linear_predictor(of_features, intercept, exact)

    def linear_predictor(self, of_features, intercept=0.0, exact=False):
        """The `Predictor` with coefficients (d, q) of the features."""
        shift = 0.0 if exact else -(self.source.mean @ of_features)
        return FeaturePredictor(of_features, intercept + shift)


class FeaturePredictor(Predictor):
    """Decisions from a coefficient of each feature."""

    is_linear = True

    def __init__(self, coef, intercept):
        super().__init__(coef, intercept)
        self.n_features = len(coef)

    def check(self, X):
        """Validate new samples, except their width."""
        return check_features(X)

    def count(self, X):
        """The number of checked samples."""
        return X.shape[0]

    def take(self, X, rows):
        """Select some of the checked samples."""
        return X.tocsr()[rows] if is_sparse(X) else X[rows]

    def decisions(self, X, engine=CPU):
        """``X @ coef`` plus the intercept, (n, q)."""
        return np.asarray(X @ self.coef) + self.intercept

    def reweighted(self, weights):
        """Raise an error: the coefficients of the features contain the kernel weights."""
        raise ValueError(
            "a predictor that stores one coefficient per feature does not store the "
            "weights of kernels."
        )
