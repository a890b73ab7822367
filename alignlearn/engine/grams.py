"""Gram matrices of weighted sums of kernels, and products with them that store none."""

from __future__ import annotations

import numpy as np

from alignlearn.validation import check_finite, take

from . import external, loops, product_loops
from .binding import (
    PRODUCT_ROWS,
    BoundPairs,
    check_domains,
    compiled,
    factor_values,
    product_block,
    program_of,
    run,
    vectors,
)
from .threads import thread_count

_HEIGHT = 512  # rows of a block; its columns are gathered once


def weighted_gram(kernels, weights, X, Y=None, *, exact=True, out=None):
    """``sum_k weights_k K_k(X, Y)`` without forming the K_k.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved.
    weights : array-like of shape (p,)
    X : ndarray or SparseRows of shape (n, d), or list of n objects
        Checked.
    Y : the same, m samples, also sparse where X is not; None for X itself (half the work)
    exact : bool, default True
        With False the result may lack f(x) + f(x'), in exchange for accuracy near constant kernels
        and far from the origin; use it where the result is centred, or multiplied by coefficients
        that sum to 0.
    out : ndarray of shape (n, m), optional

    Returns
    -------
    ndarray of shape (n, m), of X's dtype
    """
    pairs = BoundPairs(kernels, weights, X, Y, exact)
    program, X, Z = pairs.program, pairs.X, pairs.Z
    out = np.empty((len(X), len(Z)), dtype=pairs.dtype) if out is None else out

    def fill(rows, columns, values, symmetric, part):
        (VX, FX), (VZ, FZ) = pairs.rows(rows), pairs.columns(columns)
        data = VX, VZ, FX, FZ, values
        work = pairs.ops, data, pairs.weights, pairs.shape, symmetric, part
        run(loops.weighted_gram, work, part.size)

    everything = slice(None)
    if not program.external:
        fill(everything, everything, np.empty((0, len(X), len(Z))), Y is None, out)
    elif Y is None:
        for box, values in external.boxes(program, X, (0, len(X), 0, len(X)), {}):
            rows, columns = slice(*box[:2]), slice(*box[2:])
            whole = values.shape[1:] == out.shape
            part = out if whole else np.empty(values.shape[1:], out.dtype)
            fill(rows, columns, values, rows == columns, part)
            if not whole:
                out[rows, columns] = part
                out[columns, rows] = part.T
    else:
        for rows, values in external.strips(program, X, Z):
            fill(rows, everything, values, False, out[rows])
    return _finite(out, "the Gram matrix", kernels)


def gram_times(kernels, weights, X, Z, V, *, exact=True):
    """``sum_k weights_k K_k(X, Z) V`` without storing a Gram matrix.

    Parameters
    ----------
    kernels, weights, X
        As in `weighted_gram`.
    Z : as X, m samples; None for X itself
    V : array of shape (m,) or (m, c)
        Real and finite.
    exact : bool, default True
        With False f(x) + f(z) may be missing in the kernel: for columns that sum to 0, whose
        products then lack a constant, and keep their digits where the kernel is near 1 or far
        above its variation.

    Returns
    -------
    ndarray of shape (n,) or (n, c), float64
        Sums are taken in float64, also of float32 kernel values.

    Raises
    ------
    ValueError
        V has another shape or holds NaN or infinity, or a result does.
    """
    return GramProducts(kernels, weights, X, Z, exact=exact).times(V)


class GramProducts:
    """Products with ``K = sum_k weights_k K_k(X, Z)``, n x m, which is computed again for each.

    Parameters
    ----------
    kernels, weights, X, Z, exact
        As in `gram_times`.
    """

    def __init__(self, kernels, weights, X, Z=None, *, exact=True):
        self._pairs, self._kernels = BoundPairs(kernels, weights, X, Z, exact), kernels
        self.shape = len(self._pairs.X), len(self._pairs.Z)
        # Of one kernel the loops take the values as they are.
        self._unit = self._pairs.weights[0] if len(kernels) == 1 else 1.0

    @property
    def lacks_sides(self):
        """Whether the products lack terms f(x) + f(z) of the kernel, not only a constant."""
        return self._pairs.program.lacks_sides

    def times(self, V):
        """``K V``, (n,) or (n, c) as V, float64."""
        columns, flat = self._columns(V)
        columns *= self._unit
        out = np.zeros((self.shape[0], len(columns)))
        VZ, FZ = self._pairs.columns(slice(None))
        for rows, values in self._strips():
            VX, FX = self._pairs.rows(rows)
            data, part = (VX, VZ, FX, FZ, values), out[rows]
            shape = self._shape(len(part))
            work = self._pairs.ops, data, self._pairs.weights, columns, shape, part
            run(product_loops.times, work, len(part) * self.shape[1])
        return _finite(out[:, 0] if flat else out, "a product with the Gram matrix", self._kernels)

    def normal_times(self, V, *, shift=None, weight=None):
        """``K' diag(weight) (K V - 1 shift')``, (m,) or (m, c) as V, float64.

        Every kernel value is computed once for both products.

        Parameters
        ----------
        V : array of shape (m,) or (m, c)
        shift : array of shape (c,), optional
            0 by default.
        weight : array of shape (n,), optional
            1 by default.
        """
        columns, flat = self._columns(V)
        columns *= self._unit
        shift = np.zeros(len(columns)) if shift is None else np.array(shift, float).reshape(-1)
        weight = np.ones(self.shape[0]) if weight is None else np.ascontiguousarray(weight, float)
        sums = np.zeros((thread_count(), *columns.shape))
        VZ, FZ = self._pairs.columns(slice(None))
        tiles = self._tiles(VZ)
        for rows, values in self._strips():
            VX, FX = self._pairs.rows(rows)
            data, given = (VX, tiles, FX, FZ, values), (columns, shift, weight[rows])
            shape = self._shape(len(given[2]))
            work = self._pairs.ops, data, self._pairs.weights, given, shape, sums
            run(product_loops.normal_times, work, len(given[2]) * self.shape[1])
        out = self._unit * np.ascontiguousarray(sums.sum(axis=0).T)
        return _finite(out[:, 0] if flat else out, "a product with the Gram matrix", self._kernels)

    def matrix(self, rows):
        """Some rows of K, a slice or numbers, of the samples' dtype."""
        pairs = self._pairs
        X = pairs.X[rows] if isinstance(rows, slice) else take(pairs.X, rows)
        return weighted_gram(self._kernels, pairs.weights, X, pairs.Z)

    def _columns(self, V):
        """V transposed, (c, m), and whether it is one column."""
        V = np.asarray(V)
        m = self.shape[1]
        if V.ndim not in (1, 2) or len(V) != m or V.dtype.kind not in "iuf":
            raise ValueError(
                f"V has shape {V.shape} and dtype {V.dtype}; accepted: real numbers of shape "
                f"({m},) or ({m}, c), a row for each of the samples Z."
            )
        check_finite("V", V)
        return np.array(V.reshape(m, -1).T, dtype=np.float64, order="C"), V.ndim == 1

    def _strips(self):
        """Ranges of rows and the values from outside of their pairs."""
        pairs, (n, m) = self._pairs, self.shape
        if pairs.program.external:
            return external.strips(pairs.program, pairs.X, pairs.Z)
        return [(slice(None), np.empty((0, n, m)))]

    def _shape(self, n):
        """Columns per block, rows per tile, rows per block: at least a block for each thread."""
        block = product_block(self._pairs.program, self._pairs.dtype.itemsize, self.shape[1])
        share = -(-n // (thread_count() * PRODUCT_ROWS)) * PRODUCT_ROWS
        return block, PRODUCT_ROWS, max(PRODUCT_ROWS, min(_HEIGHT, share))

    def _tiles(self, VZ):
        block = self._shape(1)[0]
        features, means = self._pairs.ops[3:5]
        tiles = np.zeros((-(-len(VZ) // block), len(features), block), VZ.dtype)
        product_loops.gather_blocks(VZ, features, means, block, tiles)
        return tiles


def _finite(values, what, kernels):
    """The values, or an error: a formula may leave its domain."""
    names = " + ".join(str(k) for k in kernels[:3]) + (" + ..." if len(kernels) > 3 else "")
    check_finite(f"{what} of {names}", values)
    return values


def gram_diagonals(kernels, X):
    """Diagonals of the Gram matrices of p resolved kernels on checked samples, (p, m) float64."""
    V = vectors(kernels, X)
    program = program_of(kernels, X, V)
    check_domains(program, X)
    values = external.diagonals(program, X)
    F = factor_values(program, X)
    values = loops.paired_values(compiled(program), V, V, F, F, values)
    return _finite(values, "the Gram matrix", kernels)
