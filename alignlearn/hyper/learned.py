"""Learned kernels: expansions in a hyper-kernel, as kernel objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._lapack import smallest_of_tridiagonal, tridiagonalize
from alignlearn.kernels import Kernel
from alignlearn.solvers.k_means import nearest
from alignlearn.validation import check_samples

from ._terms import total
from .algebra import HyperKernel, merged


class _Evaluated(Kernel):
    """A kernel that is evaluated in blocks, and can compute its eigenvalue range on samples."""

    takes_sparse = False

    def eigenvalue_range(self, X):
        """Smallest and largest eigenvalue of the Gram matrix of samples X (m, d), two floats."""
        K = self(np.asarray(check_samples("X", X), dtype=np.float64))
        diagonal, beside, _ = tridiagonalize(K)
        return (
            smallest_of_tridiagonal(diagonal, beside),
            -smallest_of_tridiagonal(-diagonal, beside),
        )


@dataclass(frozen=True, eq=False)
class LearnedKernel(_Evaluated):
    """``k(x, x') = constant + sum_p coef_p h((a_p, b_p), (x, x'))`` for a hyper-kernel h.

    Parameters
    ----------
    hyper_kernel : HyperKernel
        The hyper-kernel, with numbers for parameters that depend on the data.
    points : ndarray of shape (n, d), float64
    first, second : ndarray of shape (P,), int64
        Rows a_p and b_p of ``points``.
    coef : ndarray of shape (P,), float64
    constant : float, default 0
        The intercept of support vector regression.

    Notes
    -----
    ``is_psd`` means that the learned kernel is positive semidefinite on all samples: all
    coefficients and the constant are >= 0, and every section ``h((a, b), .)`` is a kernel, as in
    the definition of a hyper-kernel by Ong, Smola and Williamson (2005). Other learned kernels may
    be positive semidefinite on given samples; see `eigenvalue_range`.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, GaussianHyperKernel, HyperKRR
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> kernel = HyperKRR(GaussianHyperKernel(), alpha=1e-3).fit(X, Gaussian(0.5)(X)).kernel_
    >>> type(kernel).__name__, kernel.coef.shape  # one for each pair of samples
    ('LearnedKernel', (210,))
    >>> kernel([[0.0, 0.0]], [[0.0, 0.0], [3.0, 3.0]]).shape
    (1, 2)
    """

    hyper_kernel: HyperKernel
    points: np.ndarray
    first: np.ndarray
    second: np.ndarray
    coef: np.ndarray
    constant: float = 0.0

    def __post_init__(self):
        used = np.flatnonzero(self.coef)
        rows, where = np.unique(
            np.concatenate([self.first[used], self.second[used]]), return_inverse=True
        )
        where = where.reshape(2, -1)
        kept = (self.points[rows], where[0], where[1], self.coef[used])
        for name, values in zip(("points", "first", "second", "coef"), kept):
            values = np.ascontiguousarray(values)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def joined(cls, kernels, constant):
        """The sum of kernels of one hyper-kernel, with this constant in place of their own."""
        starts = np.cumsum([0] + [len(kernel.points) for kernel in kernels])
        points = np.concatenate([kernel.points for kernel in kernels])
        ends = [
            np.concatenate([getattr(k, name) + start for k, start in zip(kernels, starts)])
            for name in ("first", "second")
        ]
        coef = np.concatenate([kernel.coef for kernel in kernels])
        return cls(kernels[0].hyper_kernel, points, *ends, coef, constant)

    def _arrays(self):
        return self.points, self.first, self.second, self.coef

    def __eq__(self, other):
        return (
            type(other) is LearnedKernel
            and (self.hyper_kernel, self.constant) == (other.hyper_kernel, other.constant)
            and all(np.array_equal(a, b) for a, b in zip(self._arrays(), other._arrays()))
        )

    def __hash__(self):
        return hash((self.hyper_kernel, self.constant, self.coef.tobytes()))

    def __str__(self):
        return f"learned ({self.coef.size} pairs of {len(self.points)} points)"

    __repr__ = __str__

    @property
    def is_psd(self):
        sections = self.hyper_kernel._sections_psd or not self.coef.size
        return sections and self.constant >= 0.0 and bool(np.all(self.coef >= 0.0))

    def block(self, X, Y):
        d = self.points.shape[1]
        if X.shape[1] != d and self.coef.size:
            raise ValueError(f"X has {X.shape[1]} columns, but the kernel was learned on {d}.")
        same = _same(X, Y)
        X = np.asarray(X, dtype=np.float64)
        Y = X if same else np.asarray(Y, dtype=np.float64)
        if not self.coef.size:
            return np.full((len(X), len(Y)), self.constant)
        values = total(t.expand(X, Y, *self._arrays()) for t in merged(self.hyper_kernel._terms()))
        values += self.constant
        return values


def _same(X, Y):
    """Whether two blocks are the same rows of one array, as on the diagonal."""
    this, other = X.__array_interface__, Y.__array_interface__
    return X is Y or all(this[key] == other[key] for key in ("data", "shape", "strides", "typestr"))


@dataclass(frozen=True, eq=False)
class ClusterKernel(_Evaluated):
    """One kernel for each cluster, and 0 between points of different clusters.

    Parameters
    ----------
    centers : ndarray of shape (c, d)
        A point belongs to the nearest one, the first of several.
    kernels : tuple of c kernels

    Notes
    -----
    Positive semidefinite if all of its kernels are. Similarities across clusters cannot be
    represented.
    """

    centers: np.ndarray
    kernels: tuple

    def __eq__(self, other):
        same = type(other) is ClusterKernel and np.array_equal(self.centers, other.centers)
        return same and self.kernels == other.kernels

    def __hash__(self):
        return hash(self.kernels)

    def __str__(self):
        return f"learned ({len(self.kernels)} clusters)"

    __repr__ = __str__

    @property
    def is_psd(self):
        return all(kernel.is_psd for kernel in self.kernels)

    def block(self, X, Y):
        if X.shape[1] != self.centers.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the kernel was learned on "
                f"{self.centers.shape[1]}."
            )
        out = np.zeros((len(X), len(Y)))
        rows = nearest(np.asarray(X, dtype=np.float64), self.centers)[0]
        columns = rows if X is Y else nearest(np.asarray(Y, dtype=np.float64), self.centers)[0]
        for c, kernel in enumerate(self.kernels):
            i, j = np.flatnonzero(rows == c), np.flatnonzero(columns == c)
            if i.size and j.size:
                out[np.ix_(i, j)] = kernel.block(X[i], Y[j])
        return out
