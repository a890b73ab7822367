"""Parts that CUDA kernels share: transposition, and sums of partial sums."""

from __future__ import annotations

import numpy as np
from numba import config, cuda

from alignlearn._jit import cuda_kernel

# Threads of a block: four warps, one for each scheduler of a multiprocessor. The simulator runs a
# Python thread for each.
THREADS = 8 if config.ENABLE_CUDASIM else 128
# Sums over many columns are split into parts if the rows alone give fewer threads than this, the
# number on 132 multiprocessors at half occupancy. It does not depend on the device, because the
# parts determine the order of additions.
TARGET_THREADS = 64 if config.ENABLE_CUDASIM else 2**17


def n_blocks(n, size):
    """Number of blocks of this size for n items."""
    return -(-n // size)


@cuda_kernel
def _transpose(A, out):
    """out[f, i] = A[i, f], in the type of ``out``."""
    i = cuda.grid(1)
    if i < out.shape[1]:
        for f in range(A.shape[1]):
            out[f, i] = A[i, f]


def transposed(room, name, A, dtype):
    """Rows (d, n) of the columns of A (n, d) on the device; an unused row if there are none."""
    out = room.array(name, (max(A.shape[1], 1), A.shape[0]), np.dtype(dtype))
    if A.shape[1]:
        transpose(A, out, room.stream)
    return out


def transpose(A, out, stream):
    """Copy A (n, d) to ``out`` (d, n), in the type of ``out``."""
    _transpose[n_blocks(A.shape[0], THREADS), THREADS, stream](A, out)


@cuda_kernel
def _add_parts(parts, first, out):
    """out[i, first + q] = sum_t parts[t, i, q], in the order of t."""
    place = cuda.grid(1)
    n, c = parts.shape[1], parts.shape[2]
    if place < n * c:
        i, q = place // c, place % c
        total = 0.0
        for t in range(parts.shape[0]):
            total += parts[t, i, q]
        out[i, first + q] = total


def add_parts(parts, out, first, stream):
    """Sum float64 parts (t, n, c) into the columns of ``out`` from ``first`` on, in order."""
    _add_parts[n_blocks(parts.shape[1] * parts.shape[2], THREADS), THREADS, stream](
        parts, first, out
    )


@cuda_kernel
def residual(product, shift, row_weight, out):
    """out[q, i] = row_weight[i] (product[i, q] - shift[q])."""
    i = cuda.grid(1)
    if i < product.shape[0]:
        for q in range(product.shape[1]):
            out[q, i] = row_weight[i, 0] * (product[i, q] - shift[q])
