"""Alignment statistics on a CUDA device: sums over the pairs of a box; data are `PairData`.

This module imports `numba.cuda`: import it inside functions.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numba import config, cuda

from alignlearn._jit import cuda_kernel

from .. import external
from ..cpu import BoxSums
from . import memory_sums, register_sums
from .parts import n_blocks, transposed
from .program import pair_functions

# Threads of a block; the simulator runs a Python thread for each.
WIDTH = 4 if config.ENABLE_CUDASIM else 32
# The number of columns of bound features is a multiple of this, so that tiles need no check for the
# last one.
MULTIPLE = register_sums.REACH * WIDTH


class Side(NamedTuple):
    """The samples of one side of a box, on the device.

    Attributes
    ----------
    bound : array of shape (n_bound, >= n), float32 or float64
        The result of `bind`, with the target columns.
    factors : array of shape (n_factors, n), float64
        At least one row, of arbitrary values if there are no factors.
    root : array of shape (n,), of the dtype, or None
        Roots of the samples' weights.

    All are C-contiguous; the simulator also accepts host arrays.
    """

    bound: object
    factors: object
    root: object = None


@cuda_kernel
def _gather(V, Y, features, means, out):
    j, f = cuda.grid(2)
    if j < out.shape[1] and f < features.shape[0]:
        c = features[f]
        if j >= V.shape[0]:
            out[f, j] = 0
        elif c < V.shape[1]:
            out[f, j] = V[j, c] - means[f]
        else:
            out[f, j] = Y[j, c - V.shape[1]]


def bind(room, name, V, Y, features, means, multiple=MULTIPLE):
    """Bound features of samples minus their means, one row per feature.

    Parameters
    ----------
    room, name
        Memory as in `start`, and the name of the result in it.
    V : device array of shape (m, d)
    Y : device array of shape (m, c)
        Bound after the features.
    features, means : device arrays of shape (n_bound,), int64 and float64
    multiple : int

    Returns
    -------
    device array of shape (n_bound, >= m), of V's dtype
        With at least one row, and zeros after the last sample up to a multiple of ``multiple``.
    """
    wide = n_blocks(V.shape[0], multiple) * multiple
    out = room.array(name, (max(1, features.shape[0]), wide), V.dtype)
    if features.shape[0]:
        grid = n_blocks(wide, WIDTH), n_blocks(out.shape[0], 4)
        _gather[grid, (WIDTH, 4), room.stream](V, Y, features, means, out)
    return out


class Box(NamedTuple):
    """The arguments of the kernels for a box of pairs.

    Attributes
    ----------
    inputs : tuple
        Arguments of the kernels: bound features, factor values and weights of both sides, values
        from outside, numbers and ranges of the program.
    shape : (int, int)
    dtype : numpy.dtype
        Of kernel values.
    symmetric : bool
        Whether it is a square on the diagonal.
    weighted : bool
    room
        Memory and stream, see `start`.
    """

    inputs: tuple
    shape: tuple
    dtype: np.dtype
    symmetric: bool
    weighted: bool
    room: object


class DeviceSums(NamedTuple):
    """Sums on the device in float64; the layout of products is that of the module that adds them.

    If the box is symmetric, ``by_column`` is ``by_row``, and ``diagonal`` has shape (p + 1, 1, n)
    and the dtype of kernel values; else it is None.
    """

    products: object
    by_row: object
    by_column: object
    diagonal: object


def _box(program, rows, columns, external, room):
    dtype, other = np.dtype(rows.bound.dtype), rows if columns is None else columns
    for side in (rows, other):
        if side.bound.shape[1] % MULTIPLE or side.bound.shape[1] < side.factors.shape[1]:
            raise ValueError(
                f"bound has {side.bound.shape[1]} columns for {side.factors.shape[1]} samples; "
                f"accepted: at least as many, a multiple of {MULTIPLE}, as `bind` leaves them."
            )
    numbers, ranges = (
        given if isinstance(given, tuple) else cuda.to_device(given, room.stream)
        for given in pair_functions(program, dtype, target=True).arguments(program)
    )
    # Kernels need arrays of nonzero size and one layout even if they read none.
    if external is None:
        external = room.array("no values", (1, 1, 1), np.float64)
    weighted = rows.root is not None
    roots = (rows.root, other.root) if weighted else (room.array("no roots", (1,), dtype),) * 2
    inputs = rows.bound, other.bound, rows.factors, other.factors, external, *roots, numbers, ranges
    shape = rows.factors.shape[1], other.factors.shape[1]
    return Box(inputs, shape, dtype, columns is None, weighted, room)


def _ways(p, dtype):
    """The module that sums products of p kernels."""
    return (
        register_sums if p <= register_sums.MOST_KERNELS[np.dtype(dtype).itemsize] else memory_sums
    )


def start(program, rows, columns, external, room, **memory):
    """Start summing over the pairs of a box.

    Parameters
    ----------
    program : Program
        With a target.
    rows, columns : Side
        None for the columns: a square on the diagonal.
    external : device array of float64, shape (n_external, n, m), or None
        External values of the pairs of the box.
    room
        ``room.array(name, shape, dtype)`` is device memory, ``room.stream`` the stream.
    memory : int, optional
        Bytes for intermediate results between the kernels and the sums.

    Returns
    -------
    tuple of device arrays
        Input of `finish` after the stream has finished.
    """
    box, p = _box(program, rows, columns, external, room), program.n_kernels
    ways = _ways(p, box.dtype)
    products = _zeros(room, "products", ways.shape_of_products(p))
    by_row = by_column = _zeros(room, "by row", (p, box.shape[0]))
    diagonal = None
    if box.symmetric:
        diagonal = room.array("diagonal", (p + 1, 1, box.shape[0]), box.dtype)
    else:
        by_column = _zeros(room, "by column", (p, box.shape[1]))
    ways.add(program, box, DeviceSums(products, by_row, by_column, diagonal), WIDTH, **memory)
    return products, by_row, diagonal if box.symmetric else by_column


def finish(program, dtype, symmetric, products, by_row, last):
    """`BoxSums` on the host from the result of `start`; ``dtype`` is that of bound features."""
    p = program.n_kernels
    S, a = _ways(p, dtype).unpacked(products, p)
    if symmetric:
        return BoxSums(S, a, by_row, np.empty((p, 0)), last[:p, 0].astype(np.float64))
    return BoxSums(S, a, by_row, last, np.empty((p, 0)))


@cuda_kernel
def _clear(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 0.0


def _zeros(room, name, shape):
    flat = room.array(name, (prod(shape),), np.float64)
    _clear[n_blocks(flat.shape[0], WIDTH), WIDTH, room.stream](flat)
    return flat.reshape(*shape)


class PairSums:
    """`BoxSums` of a box (i0, i1, j0, j1), a square on the diagonal or disjoint ranges."""

    def __init__(self, data):
        self._data, self._program = data, data.program
        self.dtype = np.dtype(data.V.dtype)
        features, means = data.ops[3:5]
        self._n_bound = max(len(features), 1)
        samples = data.V, data.Y, np.ascontiguousarray(data.F.T)
        if len(data.root):
            samples = *samples, data.root
        self.rows = self.columns = samples
        self.whole = features.astype(np.int64), np.asarray(means, dtype=np.float64)

    def ranges(self, box):
        """Both are ranges of the same samples."""
        return slice(*box[:2]), slice(*box[2:])

    def outside(self, rows, columns):
        """Values of the external kernels of these pairs."""
        if not self._program.external:
            return None
        X, Z = self._data.X[rows], self._data.X[columns]
        return external.block(self._program, X, Z, external.buffer(self._program, len(X) * len(Z)))

    def scratch(self, n_rows, n_columns):
        """Bytes of bound features, factors, external values, and sums of tiles or values."""
        p, itemsize = self._program.n_kernels, self.dtype.itemsize
        per_sample = 2 * self._n_bound * itemsize + 8 * max(len(self._data.F), 1) + 16 * p
        outside = 8 * len(self._program.external) * n_rows * n_columns
        side = register_sums.REACH * WIDTH
        tiles = n_blocks(n_rows, side) * n_blocks(n_columns, side)
        sums = tiles * max(4 * p * (p + 3) + 2 * p * side * itemsize, (p + 1) * side**2 * itemsize)
        return (n_rows + n_columns) * per_sample + outside + min(sums, register_sums.MEMORY)

    def launch(self, box, rows, columns, whole, near, room):
        """All kernels of a box."""
        left = self._side("rows", rows, whole, room)
        right = None if box[0] == box[2] else self._side("columns", columns, whole, room)
        return start(self._program, left, right, near, room)

    def _side(self, name, samples, whole, room):
        V, Y, F, *root = samples
        bound = bind(room, (name, "bound"), V, Y, *whole)
        factors = transposed(room, (name, "factors"), F, np.float64)
        return Side(bound, factors, *root)

    def finish(self, box, *sums):
        """`BoxSums`."""
        return finish(self._program, self.dtype, box[0] == box[2], *sums)
