"""Gradients of sums of kernels, by products with matrices of kernels.

The gradient of a kernel in its first argument is a sum of *terms*, values of a kernel times ``x -
x'`` or ``x'``: ``phi(|x - x'|^2)`` has ``2 phi' (x - x')`` and ``psi(<x, x'>)`` has ``psi' x'``.
The gradient of ``f(x) = sum_i a_i k(x, z_i)`` is therefore

    x * (W a) - W (a * Z)    and    W (a * Z),

where W is the matrix of the term's kernel. This takes one product for each f, and no array of pairs
times features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._lapack import product
from alignlearn.engine import grams
from alignlearn.engine.cpu import CPU
from alignlearn.validation import is_sparse

_LARGEST = 1000  # largest exponent of the power of two that scales coefficients
_ENTRIES = 2**21  # number of entries in a strip of kernel values or gradients: 16 MB


class GradientTerm(NamedTuple):
    """``factor * kernel(x, x')`` times ``x - x'`` or ``x'``, a part of a gradient in x.

    Attributes
    ----------
    factor : float
    kernel : Kernel
        Not necessarily positive semidefinite.
    of_difference : bool
        Whether the factor is ``x - x'``.
    columns : tuple of int, optional
        The features of the term. Default: all features.
    """

    factor: float
    kernel: object
    of_difference: bool
    columns: tuple = None

    def times(self, number):
        """Multiply the term by a number."""
        return self._replace(factor=self.factor * number)


class Gradients:
    """Gradients of ``f_c(x) = sum_i coef_ic k(x, z_i)`` at the rows of X.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    X : ndarray or SparseRows of shape (n, d)
        Checked.
    coef : ndarray of shape (m, c)
    Z : as X, m samples; X itself by default
    gram : ndarray of shape (n, m), optional
        The kernel matrix, if it was computed before. The gradient of a Gaussian uses the same
        matrix.
    engine : Cpu, Cuda or Cluster
    dtype : dtype, default float64
        Dtype of products with matrices of dense samples; float32 is faster, and used for
        coefficients in float32.

    Raises
    ------
    TypeError
        The gradient of the kernel is not a sum of terms.
    """

    def __init__(self, kernel, X, coef, Z=None, *, gram=None, engine=CPU, dtype=np.float64):
        self._X, self._Z = X, X if Z is None else Z
        self._coef, self._engine = coef, engine
        self._gram = kernel, gram
        self._dtype = np.dtype(np.float32 if coef.dtype == np.float32 else dtype)
        groups = {}
        for term in kernel.gradient():
            groups.setdefault((term.of_difference, term.columns), []).append(term)
        self._groups = groups
        self._origin = None if is_sparse(X) else np.mean(self._Z, axis=0, dtype=np.float64)

    def squares(self, weight=None, full=False):
        """Sums over outputs, and (weighted) over rows, of squared derivatives.

        Parameters
        ----------
        weight : ndarray of shape (n,), optional
        full : bool, default False
            If True, sum all products of two derivatives, (d, d), instead of the squares, (d,).
        """
        d = self._X.shape[1]
        total, unit = np.zeros((d, d) if full else d), self._unit()
        for rows, G in self._strips(np.ldexp(self._coef, -unit)):
            if weight is not None:
                G *= np.sqrt(weight[rows]).astype(G.dtype)[:, None, None]
            G = G.reshape(-1, d)
            total += G.T @ G if full else np.einsum("ij,ij->j", G, G)
        return np.ldexp(total, 2 * unit)

    def _unit(self):
        """Scaling exponent of derivatives; their squares must not vanish in float32."""
        X = self._X.data if is_sparse(self._X) else self._X
        factors = [abs(t.factor) for terms in self._groups.values() for t in terms]
        reach = max(X.max(initial=0.0), -X.min(initial=0.0))
        sizes = np.abs(self._coef).max(initial=0.0), reach, max(factors, default=0.0)
        exponents = [int(np.frexp(size)[1]) for size in sizes]
        return max(sum(exponents), exponents[0] - _LARGEST)

    def blocks(self):
        """Yield (rows, gradients), a slice and an array of shape (c, rows, d), for all rows."""
        for rows, G in self._strips(self._coef):
            yield rows, np.moveaxis(G, 1, 0)

    def _strips(self, coef):
        """Yield rows and gradients (rows, c, d)."""
        (n, d), c = self._X.shape, coef.shape[1]
        width = max(len(self._Z) if self._engine.in_place else 1, c * d)
        step = max(16, _ENTRIES // width)
        for i in range(0, n, step):
            rows = slice(i, min(i + step, n))
            parts = []
            for (of_difference, columns), terms in self._groups.items():
                at = slice(None) if columns is None else list(columns)
                parts.append((at, self._term(rows, terms, of_difference, at, coef)))
            if len(parts) == 1 and parts[0][1].shape[2] == d:
                yield rows, parts[0][1]
                continue
            G = np.zeros((rows.stop - i, c, d))
            for at, part in parts:
                G[:, :, at] += part
            yield rows, G

    def _term(self, rows, terms, of_difference, at, coef):
        """The contribution of terms of one kind at some rows, (rows, c, columns)."""
        if is_sparse(self._X):
            found = self._sparse_term(rows, terms, of_difference, coef)
            return np.moveaxis(found[:, :, at], 0, 1)
        Z, X = self._Z[:, at], self._X[rows, at]
        if of_difference:
            Z, X = Z - self._origin[at], X - self._origin[at]
        coef, Z, X = (A.astype(self._dtype, copy=False) for A in (coef, Z, X))
        V = (coef[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
        found = self._products(rows, terms, [V, coef] if of_difference else [V])
        G = found[0].reshape(len(X), coef.shape[1], -1)
        if of_difference:
            np.subtract(found[1][:, :, None] * X[:, None, :], G, out=G)
        return G

    def _products(self, rows, terms, sides):
        """List of the products of the matrix of some terms with each of ``sides``."""
        (kernel, gram), dtype = self._gram, self._dtype
        if gram is not None and len(terms) == 1 and terms[0].kernel == kernel:
            W, factor = gram[rows].astype(dtype, copy=False), dtype.type(terms[0].factor)
            return [product(W, factor * V) for V in sides]
        if self._engine.in_place:
            W = self._values(rows, terms).astype(dtype, copy=False)
            return [product(W, V) for V in sides]
        kernels, factors = [t.kernel for t in terms], [t.factor for t in terms]
        V, ends = np.hstack(sides), np.cumsum([side.shape[1] for side in sides])
        on = {"engine": self._engine}
        found = grams.gram_times(kernels, factors, self._X[rows], self._Z, V, **on)
        return np.split(found, ends[:-1], axis=1)

    def _values(self, rows, terms):
        """Rows of the matrix of the terms' kernels, float64."""
        kernels, factors = [t.kernel for t in terms], [t.factor for t in terms]
        whole = self._X is self._Z and rows == slice(0, len(self._Z))
        samples = (self._X,) if whole else (self._X[rows], self._Z)
        found = grams.weighted_gram(kernels, factors, *samples, engine=self._engine)
        return found.astype(np.float64, copy=False)

    def _sparse_term(self, rows, terms, of_difference, coef):
        from scipy.sparse import csr_array

        def matrix(S):
            return csr_array((S.data, S.indices, S.indptr), shape=S.shape)

        X, Z, W = matrix(self._X[rows]), matrix(self._Z), self._values(rows, terms)
        out = np.empty((coef.shape[1], *X.shape))
        for g, a in zip(out, coef.T):
            W_a = W * a
            g[:] = W_a @ Z
            if of_difference:
                np.negative(g, out=g)
                row = np.repeat(np.arange(len(g)), np.diff(X.indptr))
                g[row, X.indices] += W_a.sum(axis=1)[row] * X.data
        return out


def gradients(kernel, X, coef, Z=None, *, engine=CPU):
    """Gradients of ``f_c(x) = sum_i coef_ic k(x, z_i)`` at the rows of X, (c, n, d).

    Parameters as in `Gradients`.
    """
    parts = [G for _, G in Gradients(kernel, X, coef, Z, engine=engine).blocks()]
    return np.concatenate(parts, axis=1)
