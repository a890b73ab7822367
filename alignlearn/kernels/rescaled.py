"""A kernel of linearly transformed features."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from .algebra import Unary
from .families import as_kernel


@dataclass(frozen=True)
class Rescaled(Unary):
    """A kernel of scaled features, or of features multiplied by a symmetric matrix.

    Parameters
    ----------
    kernel : Kernel or str
    factors : array-like of shape (d,) or (d, d)
        For d features; kept as nested tuples.

    Notes
    -----
    Values are those of ``kernel(X * factors, X' * factors)``, computed block by block. For many
    kernel values, transform X once instead, as `alignlearn.FeatureScales` does.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian
    >>> from alignlearn.kernels import Rescaled
    >>> X = np.array([[0.0, 5.0], [1.0, -3.0]])
    >>> np.array_equal(Rescaled(Gaussian(0.5), [1.0, 0.0])(X), Gaussian(0.5)(X * [1.0, 0.0]))
    True
    """

    factors: tuple = ()

    takes_sparse = False
    largest_value = property(attrgetter("kernel.largest_value"))
    has_unit_diagonal = property(attrgetter("kernel.has_unit_diagonal"))

    def __post_init__(self):
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        factors = np.asarray(self.factors, dtype=np.float64)
        square = factors.ndim == 2 and factors.shape[0] == factors.shape[1]
        if not (factors.ndim == 1 or square) or not factors.size or not np.isfinite(factors).all():
            raise ValueError(
                f"factors has shape {factors.shape}; accepted: finite numbers (d,) or (d, d)."
            )
        rows = factors.tolist()
        nested = tuple(rows) if factors.ndim == 1 else tuple(map(tuple, rows))
        object.__setattr__(self, "factors", nested)

    def __str__(self):
        return f"{self.kernel} on learned scales"

    def columns_as_numbers(self, n):
        return set(range(n))

    def resolve(self, X, weight=None):
        return Rescaled(self.kernel.resolve(self._of(X), weight), self.factors)

    def block(self, X, Y):
        return self.kernel(self._of(X), self._of(Y))

    def _of(self, X):
        factors = np.asarray(self.factors)
        X = np.asarray(X)
        if X.shape[-1] != len(factors):
            raise ValueError(
                f"X has {X.shape[-1]} features; accepted: {len(factors)}, the number of scales of "
                f"the kernel."
            )
        return X * factors if factors.ndim == 1 else X @ factors
