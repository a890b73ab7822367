"""A source of a kind that is not in the library: kernels that are tables over the symbols 0..q-1.

It fulfills the contract of `alignlearn.sources.source` and has no other methods.
"""

import numpy as np

from alignlearn.engine.cpu import CPU
from alignlearn.sources import Combination, GramFamily, Opener, Predictor, Source
from alignlearn.statistics import AlignmentStatistics, center_gram, target_columns


class Tables(Opener):
    """p tables (q, q), positive semi-definite."""

    def __init__(self, tables):
        self.tables = np.asarray(tables, dtype=float)

    def open(self, X, sample_weight, **how):
        assert sample_weight is None
        return TableSource(checked(X), self, **how)


def checked(X):
    X = np.asarray(X)
    if X.ndim != 1 or X.dtype.kind != "i":
        raise ValueError("X must be a vector of symbols.")
    return X


class TableSource(Source):
    def __init__(self, X, kernels, **how):
        super().__init__(X, **how)
        self.kernels = kernels
        self.names = tuple(f"table {k}" for k in range(len(kernels.tables)))

    def _grams(self):
        return self.kernels.tables[:, self.X[:, None], self.X]

    def statistics(self, y, task="auto", *, unbiased=False):
        if unbiased:
            raise ValueError("unbiased=True is not known for tables.")
        Y = target_columns(y, self.n_samples, task)
        grams = np.array([center_gram(K) for K in self._grams()])
        a = np.einsum("kij,ic,jc->k", grams, Y, Y)
        M = np.einsum("kij,lij->kl", grams, grams)
        trace = np.trace(grams, axis1=1, axis2=2)
        norm = np.linalg.norm(Y @ Y.T)
        return AlignmentStatistics(a, M, trace, norm, self.n_samples, self.names, None)

    def part(self, rows):
        return TableSource(self.X[rows], self.kernels, engine=self.engine, progress=self.progress)

    def kept(self):
        return TableSource(self.X.copy(), self.kernels)

    def check(self, X):
        return checked(X)

    def family(self, scale, rooted=False):
        return GramFamily([s * center_gram(K) for s, K in zip(scale, self._grams())])

    def combine(self, weights):
        return TableCombination(self, weights)


class TableKernel:
    is_psd = True

    def __init__(self, table):
        self.table = table

    def __call__(self, X, Z=None):
        return self.table[X[:, None], X if Z is None else Z]


class TableCombination(Combination):
    def __init__(self, source, weights):
        kernel = TableKernel(np.tensordot(weights, source.kernels.tables, 1))
        super().__init__(source, weights, kernel)

    def gram(self, exact=False):
        return self.kernel(self.source.X)

    def cross_gram(self, X, exact=False, engine=None):
        return self.kernel(X, self.source.X)

    def own_gram(self, X):
        return self.kernel(X)

    def predictor(self, support, coef, intercept=0.0, exact=False):
        X = self.source.X if support is None else self.source.X[support]
        return TablePredictor(self.kernel, self.source.kernels.tables, X, coef, intercept)


class TablePredictor(Predictor):
    def __init__(self, kernel, tables, X, coef, intercept):
        super().__init__(coef, intercept)
        self.kernel, self.tables, self.support_samples = kernel, tables, X

    def check(self, X):
        return checked(X)

    def decisions(self, X, engine=CPU):
        return self.kernel(X, self.support_samples) @ self.coef + self.intercept

    def reweighted(self, weights):
        kernel = TableKernel(np.tensordot(weights, self.tables, 1))
        return TablePredictor(kernel, self.tables, self.support_samples, self.coef, 0.0)
