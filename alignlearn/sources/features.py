"""Kernels that are linear in the features: one weight per feature, and no pair of samples."""

from __future__ import annotations

import numpy as np

from alignlearn.engine import features
from alignlearn.kernels import Columns, FeatureWeighted, Linear, Scaled, distinct
from alignlearn.statistics import AlignmentStatistics, check_sums, target_columns, target_norm
from alignlearn.validation import check_features, is_sparse
from alignlearn.validation.memory import check_gram_memory

from .families import FeatureFamily
from .pairs import PairSource


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


class FeatureSource:
    """Linear kernels on groups of features, or a rank-one kernel for each feature.

    Parameters
    ----------
    X : ndarray or SciPy sparse matrix of shape (m, d)
        Checked.
    kernels : list of Kernel, or RankOneKernels
    groups : list of (columns, scale), or None for RankOneKernels
        See `linear_groups`.
    """

    given = False

    def __init__(self, X, kernels, groups):
        self.X = X
        self.n_samples, self.n_features = X.shape
        self.kernels = kernels
        self.groups = groups
        self.sparse = is_sparse(X)
        # A sparse matrix stays sparse, so is not centred.
        self.mean = np.zeros(self.n_features) if self.sparse else X.mean(axis=0, dtype=np.float64)
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
        return self._statistics(self.X, target_columns(y, self.n_samples, task))

    def _statistics(self, X, Y):
        norm = target_norm(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            a, M, trace = self._sums(X, Y)
        check_sums(M, self.names)
        return AlignmentStatistics(a, M, trace, norm, X.shape[0], self.names)

    def _sums(self, X, Y):
        if self.groups is None:
            return features.rank_one_sums(X, Y)
        # Equal kernels get equal sums to the last bit.
        groups, index = distinct([(tuple(c), s) for c, s in zip(self._columns(), self._scales())])
        columns, scales = [np.array(c) for c, _ in groups], np.array([s for _, s in groups])
        a, M, trace = features.low_rank_sums(X, Y, columns, scales)
        return a[index], M[np.ix_(index, index)], trace[index]

    def training_statistics(self, y, task, training_sets):
        """Yield the statistics of every training set, index arrays, each by itself.

        Features cost little, and so there is one (p, p) matrix at a time.
        """
        Y = target_columns(y, self.n_samples, task)
        X = self.X.tocsr() if self.sparse else self.X
        for rows in training_sets:
            yield self._statistics(X[rows], target_columns(Y[rows], task="regression"))

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

    def family(self, scale):
        """The kernels centred and times ``scale`` (p,), as one-stage problems take them."""
        if self.groups is None:
            return FeatureFamily(self.X, scale=scale)
        columns = self._columns()
        owner = np.repeat(np.arange(len(columns)), [len(c) for c in columns])
        X = self.X.tocsc() if self.sparse else self.X
        return FeatureFamily(X[:, np.concatenate(columns)], owner, self._scales() * scale)

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
        self.X = None
        return -(self.mean @ self.coef)

    def check_test(self, X):
        """New samples, validated."""
        return check_features(X)

    def decisions(self, X):
        """``X @ coef``, (n, q)."""
        return np.asarray(X @ self.coef)
