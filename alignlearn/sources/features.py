"""Kernels that are linear in the features: one weight per feature, and no pair of samples."""

from __future__ import annotations

import numpy as np

from alignlearn.engine import features
from alignlearn.kernels import Columns, FeatureWeighted, Linear, Scaled, distinct
from alignlearn.statistics import (
    AlignmentStatistics,
    centred_columns,
    check_sums,
    target_columns,
    target_norm,
)
from alignlearn.validation import check_features, is_sparse
from alignlearn.validation.memory import check_gram_memory

from .families import FeatureFamily
from .pairs import PairSource, used_positions


def linear_groups(kernels):
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


def column_means(X, weight):
    """(Weighted) means of the columns of an array, float64."""
    if weight is None:
        return X.mean(axis=0, dtype=np.float64)
    return weight @ X / weight.sum()


class FeatureSource:
    """Linear kernels on groups of features, or a rank-one kernel for each feature.

    Parameters
    ----------
    X : ndarray or SciPy sparse matrix of shape (m, d)
        Checked.
    kernels : list of Kernel, or RankOneKernels
    groups : list of (columns, scale), or None for RankOneKernels
        See `linear_groups`.
    weight : ndarray of shape (m,), optional
        Sample weights, checked.
    """

    given = False

    def __init__(self, X, kernels, groups, weight=None):
        self.X, self.weight = X, weight
        self.n_samples, self.n_features = X.shape
        self.kernels = kernels
        self.groups = groups
        self.sparse = is_sparse(X)
        # A sparse matrix stays sparse, so is not centred.
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

    def _columns(self):
        every = np.arange(self.n_features)
        return [every if columns is None else np.asarray(columns) for columns, _ in self.groups]

    def _scales(self):
        return np.array([scale for _, scale in self.groups])

    def statistics(self, y, task="auto", *, unbiased=False):
        """Alignment statistics of the kernels with y."""
        if unbiased:
            raise ValueError(
                "unbiased=True is not available for rank-one kernels; accepted: kernels on pairs "
                "of samples."
            )
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        return self._statistics(used.X, Y, used.weight)

    def _statistics(self, X, Y, weight):
        norm = target_norm(Y, weight=weight)
        with np.errstate(over="ignore", invalid="ignore"):
            a, M, trace = self._sums(X, Y, weight)
        check_sums(M, self.names)
        total = None if weight is None else float(weight.sum())
        return AlignmentStatistics(a, M, trace, norm, X.shape[0], self.names, total)

    def _sums(self, X, Y, weight):
        if self.groups is None:
            return features.rank_one_sums(X, Y, weight)
        # Equal kernels get equal sums to the last bit.
        groups, index = distinct([(tuple(c), s) for c, s in zip(self._columns(), self._scales())])
        columns, scales = [np.array(c) for c, _ in groups], np.array([s for _, s in groups])
        a, M, trace = features.low_rank_sums(X, Y, columns, scales, weight)
        return a[index], M[np.ix_(index, index)], trace[index]

    def training_statistics(self, y, task, training_sets):
        """Yield the statistics of every training set, index arrays, each by itself.

        Features cost little, and so there is one (p, p) matrix at a time.
        """
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        X = used.X.tocsr() if self.sparse else used.X
        for rows in used_positions(training_sets, self.weight):
            weight = None if used.weight is None else used.weight[rows]
            yield self._statistics(X[rows], centred_columns(Y[rows], weight), weight)

    used, against, _taken = PairSource.used, PairSource.against, PairSource._taken

    def part(self, used):
        """This source on the samples of a mask (m,)."""
        part = PairSource.part(self, used)
        if not self.sparse:
            part.mean = column_means(part.X, part.weight)
        return part

    def samples(self, rows):
        """Some samples, as ``fit`` takes them."""
        return self.X.tocsr()[rows] if self.sparse else self.X[rows]

    def largest_diagonals(self):
        """The largest K_k(x, x) of each kernel over the samples, (p,)."""
        X = self.X.tocsc() if self.sparse else self.X
        squares = X.multiply(X).tocsc() if self.sparse else np.square(X)
        if self.groups is None:
            top = squares.max(axis=0)
            return np.asarray(top.todense() if self.sparse else top, dtype=float).ravel()
        sums = [np.asarray(squares[:, columns].sum(axis=1)).max() for columns in self._columns()]
        return self._scales() * np.array(sums)

    def family(self, scale, rooted=False):
        """The kernels centred and times ``scale`` (p,), as one-stage problems take them.

        With ``rooted`` times the square roots of both samples' weights.
        """
        X, center = self.X, True
        if self.weight is not None:
            if self.sparse:
                raise ValueError(
                    "sample_weight with a one-stage rule needs X that is not sparse; accepted: "
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

    def combine(self, weights):
        """Take the weights of the kernels; return the combined kernel."""
        per_feature = weights
        if self.groups is not None:
            per_feature = np.zeros(self.n_features)
            for w, columns, scale in zip(weights, self._columns(), self._scales()):
                np.add.at(per_feature, columns, w * scale)
        self.kernel = FeatureWeighted(per_feature)
        return self.kernel

    def _centred(self, X):
        if self.sparse:
            return X
        return (X.toarray() if is_sparse(X) else X) - self.mean

    def gram(self, exact=False):
        """Training Gram matrix (m, m), of centred features if they are dense and not exact."""
        check_gram_memory(self.X.shape[0])
        return self.kernel(self.X if exact else self._centred(self.X))

    def cross_gram(self, X, exact=False):
        """The same against new samples, (n, m)."""
        pair = (X, self.X) if exact else (self._centred(X), self._centred(self.X))
        return self.kernel(*pair)

    split_gram = PairSource.split_gram

    def own_gram(self, X):
        """Gram matrix of new samples with each other, up to terms that centring removes."""
        return self.kernel(self._centred(X))

    def keep_all(self):
        """Keep every training sample, in a copy that the caller cannot change."""
        self.X = self.X.copy()

    def reduce(self, support, coef, of_features=None):
        """Keep one coefficient per feature; return what to add to the intercept."""
        if of_features is None:
            X = self.X.tocsr()[support] if self.sparse else self._centred(self.X[support])
            of_features = self.kernel.weights[:, None] * np.asarray(X.T @ coef)
        self.coef = of_features
        self.X = self.weight = None
        return -(self.mean @ self.coef)

    def check_test(self, X):
        """New samples, validated."""
        return check_features(X)

    def decisions(self, X):
        """``X @ coef``, (n, q)."""
        return np.asarray(X @ self.coef)
