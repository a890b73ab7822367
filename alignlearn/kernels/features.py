"""Linear kernels with one weight per feature: combinations of rank-one kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._lapack import product
from alignlearn.validation import check_features, check_finite, check_numbers, is_sparse

from .base import Kernel


@dataclass(frozen=True, eq=False)
class FeatureWeighted(Kernel):
    """``sum_k w_k x_k x'_k``, on dense samples or the rows of a SciPy sparse matrix.

    Parameters
    ----------
    weights : array-like of shape (p,)
        Finite; a negative weight makes the kernel indefinite.

    Examples
    --------
    >>> from alignlearn.kernels import FeatureWeighted
    >>> FeatureWeighted([2.0, 0.5])([[1.0, 2.0]], [[3.0, 4.0]])  # 2 * 1 * 3 + 0.5 * 2 * 4
    array([[10.]])
    """

    weights: np.ndarray

    def __post_init__(self):
        weights = check_numbers("weights", self.weights, 1)
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def __eq__(self, other):
        return type(other) is FeatureWeighted and np.array_equal(self.weights, other.weights)

    def __hash__(self):
        return hash(self.weights.tobytes())

    def __str__(self):
        return f"feature-weighted linear ({self.weights.size} features)"

    @property
    def is_psd(self):
        return bool(np.all(self.weights >= 0))

    def _matrix(self, X, Y):
        X = self._features("X", X)
        return self._product(X, X if Y is None else self._features("Y", Y))

    def diag(self, X):
        """``k(x, x)`` for each row of X, float64 of shape (n_X,)."""
        X = self._features("X", X)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = X.multiply(X) if is_sparse(X) else np.square(X)
            return self._finite(np.asarray(squares @ self.weights).ravel())

    def _features(self, name, X):
        X = check_features(X)
        if X.shape[1] != self.weights.size:
            raise ValueError(
                f"{name} has {X.shape[1]} columns, but the kernel has {self.weights.size} weights."
            )
        return X.tocsr() if is_sparse(X) else np.asarray(X, dtype=np.float64)

    def _product(self, X, Y):
        with np.errstate(over="ignore", invalid="ignore"):
            weighted = X.multiply(self.weights).tocsr() if is_sparse(X) else X * self.weights
            sparse = is_sparse(X) or is_sparse(Y)
            values = weighted @ Y.T if sparse else product(weighted, Y.T)
        return self._finite(values.toarray() if is_sparse(values) else np.asarray(values))

    def _finite(self, values):
        check_finite(f"{self}: the products of the columns of X", values)
        return values

    def block(self, X, Y):
        return self._matrix(X, Y)
