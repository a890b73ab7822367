"""Where a comparison's statistics and Gram matrices come from: kernels on pairs, or columns."""

from __future__ import annotations

import numpy as np

from alignlearn.engine import cpu, features
from alignlearn.kernels import RankOneKernels, kernel_list
from alignlearn.streaming import alignment_statistics


class VectorKernels:
    """Kernels evaluated on pairs of rows."""

    scales = True

    def __init__(self, kernels, names=None):
        self.kernels = kernels
        self.names = tuple(str(k) for k in kernels) if names is None else names

    def resolve(self, X):
        """With parameters such as ``gamma="scale"`` taken from X."""
        return VectorKernels([k.resolve(X) for k in self.kernels], self.names)

    def statistics(self, X, y, task):
        """Alignment statistics of all kernels."""
        return alignment_statistics(X, y, self.kernels, task=task)

    def gram(self, weights, X, Z=None):
        """The weighted sum, up to a constant that centring removes."""
        used = np.flatnonzero(weights)
        kernels = [self.kernels[k] for k in used]
        return cpu.weighted_gram(kernels, weights[used], X, Z, exact=False)


class RankOne:
    """One kernel a column; columns need no scaling, since every kernel gets the same trace."""

    scales = False

    def __init__(self, family):
        self.family, self.names = family, None

    def resolve(self, X):
        """Nothing depends on X."""
        return self

    def statistics(self, X, y, task):
        """Alignment statistics of all columns."""
        return alignment_statistics(X, y, self.family, task=task)

    def gram(self, weights, X, Z=None):
        """The weighted sum."""
        Z = X if Z is None else Z
        if features.is_sparse(X):
            return np.asarray((X.multiply(weights).tocsr() @ Z.T).todense())
        return (X * weights) @ Z.T


def open_kernels(X, kernels):
    """The source behind the argument ``kernels`` of a comparison."""
    if isinstance(kernels, RankOneKernels):
        return RankOne(kernels)
    if features.is_sparse(X):
        raise TypeError(
            "X is a sparse matrix; accepted with it: kernels=RankOneKernels(). For other kernels "
            "use X.toarray()."
        )
    return VectorKernels(kernel_list(kernels))
