"""Alignment statistics on a CUDA device: sums over the pairs of a box.

This module imports `numba.cuda`: import it inside functions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import config, cuda

from alignlearn._jit import cuda_kernel

from . import cuda_blocks, cuda_tiles
from .cpu import BoxSums
from .cuda_program import pair_functions

# Threads of a block; the simulator runs a Python thread for each.
WIDTH = 4 if config.ENABLE_CUDASIM else 32
# Columns of bound features come in multiples of this, so that tiles need not look for the last.
MULTIPLE = cuda_tiles.REACH * WIDTH


class Side(NamedTuple):
    """The samples of one side of a box, on the device.

    Attributes
    ----------
    bound : array of shape (n_bound, >= n), float32 or float64
        As `bind` leaves them, with the target columns.
    factors : array of shape (n_factors, n), float64
        At least one row, whatever it holds.
    root : array of shape (n,), of the dtype, or None
        Roots of the samples' weights.

    All are C-contiguous; arrays of the host will do in the simulator.
    """

    bound: object
    factors: object
    root: object = None


@cuda_kernel
def _gather(V, Y, features, means, first, last, out):
    j, f = cuda.grid(2)
    if j < out.shape[1] and f < features.shape[0]:
        c = features[f]
        if first + j >= last:
            out[f, j] = 0
        elif c < V.shape[1]:
            out[f, j] = V[first + j, c] - means[f]
        else:
            out[f, j] = Y[first + j, c - V.shape[1]]


def bind(V, Y, features, means, first, last, stream=0):
    """Bound features of samples ``first`` to ``last``, less their means, a row each.

    Parameters
    ----------
    V : array of shape (m, d)
        On the device.
    Y : array of shape (m, c)
        Bound after the features; any array where none are.
    features, means : arrays of shape (n_bound,), int64 and float64
    first, last : int
    stream : CUDA stream

    Returns
    -------
    device array of shape (n_bound, last - first), of V's dtype
        With at least one row, and zeros after the last sample up to a multiple of ``MULTIPLE``.
    """
    wide = -(-(last - first) // MULTIPLE) * MULTIPLE
    out = cuda.device_array((max(1, len(features)), wide), V.dtype, stream=stream)
    if len(features):
        grid = -(-out.shape[1] // 32), -(-out.shape[0] // 4)
        _gather[grid, (32, 4), stream](V, Y, features, means, first, last, out)
    return out


class Box(NamedTuple):
    """What the kernels take of a box of pairs.

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
    stream : CUDA stream
    """

    inputs: tuple
    shape: tuple
    dtype: np.dtype
    symmetric: bool
    weighted: bool
    stream: object


class DeviceSums(NamedTuple):
    """Sums on the device, float64: products as the module that adds them lays them out.

    ``by_column`` is ``by_row`` where the box is symmetric.
    """

    products: object
    by_row: object
    by_column: object


@lru_cache(maxsize=64)
def _diagonal_kernel(pair, weighted):
    """The kernel that writes the values of the pairs (i, i) to ``out[:, 0, i]``."""
    one = pair.dtype.type(1)

    @cuda_kernel
    def kernel(X, Z, FX, FZ, external, root_x, root_z, numbers, ranges, out):
        i = cuda.grid(1)
        if i < FX.shape[1]:
            scale = root_x[i] * root_z[i] if weighted else one
            q = pair.primitives(X, i, Z, i, ranges)
            pair.store(q, i, i, FX, FZ, external, numbers, scale, out, 0, i)

    return kernel


def _box(program, rows, columns, external, stream):
    dtype, other = np.dtype(rows.bound.dtype), rows if columns is None else columns
    for side in (rows, other):
        if side.bound.shape[1] % MULTIPLE or side.bound.shape[1] < side.factors.shape[1]:
            raise ValueError(
                f"bound has {side.bound.shape[1]} columns for {side.factors.shape[1]} samples; "
                f"accepted: at least as many, a multiple of {MULTIPLE}, as `bind` leaves them."
            )
    numbers, ranges = pair_functions(program, dtype, target=True).arguments(program)
    if not isinstance(numbers, tuple):
        numbers = cuda.to_device(numbers, stream)
    # Kernels take arrays of some size and one layout even where they read none.
    if external is None:
        external = cuda.to_device(np.zeros((1, 1, 1)), stream)
    weighted = rows.root is not None
    roots = (
        (rows.root, other.root) if weighted else (cuda.to_device(np.zeros(1, dtype), stream),) * 2
    )
    inputs = rows.bound, other.bound, rows.factors, other.factors, external, *roots, numbers, ranges
    shape = rows.factors.shape[1], other.factors.shape[1]
    return Box(inputs, shape, dtype, columns is None, weighted, stream)


def pair_sums(program, rows, columns=None, external=None, *, stream=0, memory=None):
    """Sums over the pairs of a box.

    Parameters
    ----------
    program : Program
        With a target.
    rows, columns : Side
        None for the columns: a square on the diagonal.
    external : device array of float64, shape (n_external, n, m), optional
        Values from outside of the pairs of the box.
    stream : CUDA stream
    memory : int, optional
        Bytes for what lies between the kernels and the sums.

    Returns
    -------
    BoxSums
    """
    box, p = _box(program, rows, columns, external, stream), program.n_kernels
    ways = cuda_tiles if p <= cuda_tiles.MOST_KERNELS[box.dtype.itemsize] else cuda_blocks
    products, by_row = (_zeros(s, stream) for s in (ways.shape_of_products(p), (p, box.shape[0])))
    by_column = by_row if box.symmetric else _zeros((p, box.shape[1]), stream)
    limit = {} if memory is None else {"memory": memory}
    ways.add(program, box, DeviceSums(products, by_row, by_column), WIDTH, **limit)
    diagonal = np.empty((p, 0))
    if box.symmetric:
        pair = pair_functions(program, box.dtype, target=True)
        values = cuda.device_array((p + 1, 1, box.shape[0]), box.dtype, stream=stream)
        grid = -(-box.shape[0] // WIDTH)
        _diagonal_kernel(pair, box.weighted)[grid, WIDTH, stream](*box.inputs, values)
        diagonal = values.copy_to_host(stream=stream)[:p, 0]
    found = [array.copy_to_host(stream=stream) for array in (products, by_row, by_column)]
    if stream:
        stream.synchronize()
    S, a = ways.unpacked(found[0], p)
    by_column = np.empty((p, 0)) if box.symmetric else found[2]
    return BoxSums(S, a, found[1], by_column, diagonal.astype(np.float64))


def _zeros(shape, stream):
    return cuda.to_device(np.zeros(shape), stream)
