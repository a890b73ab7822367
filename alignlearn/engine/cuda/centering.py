"""Centering of a Gram matrix on a CUDA device.

This module imports `numba.cuda`: import it inside functions.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float64

from alignlearn._jit import cuda_kernel

from .device import quiet
from .parts import TARGET_THREADS, THREADS, add_parts, n_blocks

_n_threads = THREADS  # a kernel takes it as a constant


@cuda_kernel
def _row_means(K, share, out):
    """out[i] = sum_j K[i, j] share[j]: a block per row, its threads on neighboring columns."""
    sums = cuda.shared.array(_n_threads, float64)
    i, thread = cuda.blockIdx.x, cuda.threadIdx.x
    total = 0.0
    for j in range(thread, K.shape[1], _n_threads):
        total += K[i, j] * share[j]
    sums[thread] = total
    cuda.syncthreads()
    if thread == 0:
        total = 0.0
        for t in range(_n_threads):
            total += sums[t]
        out[i] = total


@cuda_kernel
def _column_means(K, share, step, out):
    """out[t, j, 0] = sum of K[i, j] share[i] over the t-th part of the rows."""
    j = cuda.grid(1)
    if j < K.shape[1]:
        first = cuda.blockIdx.y * step
        last = first + step if first + step < K.shape[0] else K.shape[0]
        total = 0.0
        for i in range(first, last):
            total += K[i, j] * share[i]
        out[cuda.blockIdx.y, j, 0] = total


@cuda_kernel
def _subtract(K, rows, columns):
    """K[i, j] - rows[i], then - columns[j]; for new samples every row has its own constant."""
    i = cuda.blockIdx.x
    for j in range(cuda.threadIdx.x, K.shape[1], _n_threads):
        K[i, j] = K[i, j] - rows[i]
        K[i, j] = K[i, j] - columns[j]


def center_gram(K, means=None, share=None):
    """Center a Gram matrix on the device in place, as `statistics.center_gram` does.

    Parameters
    ----------
    K : device array of shape (m, m), or (n, m) with ``means``, float32 or float64
        Or another object with ``__cuda_array_interface__``. Sums are in float64.
    means : ndarray of shape (m,), optional
        Column means of the training matrix; default K's own.
    share : ndarray of shape (m,), optional
        Weights of the training samples that sum to 1; default equal ones.

    Returns
    -------
    device array
        K, with entries ``K_ij - (row mean)_i - means_j + mean(means)``; the same bits every time.
    """
    values = K if getattr(K, "__cuda_ndarray__", False) else cuda.as_cuda_array(K)
    n, m = values.shape
    share = np.full(m, 1.0 / m) if share is None else np.asarray(share, dtype=np.float64)
    on_device, rows = cuda.to_device(share), cuda.device_array(n, np.float64)
    with quiet():
        _row_means[n, THREADS](values, on_device, rows)
        if means is None:
            means = _means(values, on_device)
        columns = cuda.to_device(np.asarray(means, dtype=np.float64) - share @ means)
        _subtract[n, THREADS](values, rows, columns)
    return K


def _means(K, share):
    """Column means of K, on the host."""
    m = K.shape[1]
    n_parts = max(1, min(n_blocks(m, 4), TARGET_THREADS // m))
    parts, means = cuda.device_array((n_parts, m, 1)), cuda.device_array((m, 1))
    _column_means[(n_blocks(m, THREADS), n_parts), THREADS](K, share, n_blocks(m, n_parts), parts)
    add_parts(parts, means, 0, 0)
    return means.copy_to_host()[:, 0]
