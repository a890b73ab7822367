"""Counts of the common bits of two numbers on the device; see `alignlearn.engine.bits`.

A module of its own, because the simulator replaces only a global ``cuda``, and `program` is
imported without a device.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from alignlearn._jit import cuda_device


def bit_counts(T):
    """Device functions ``common_bits`` and ``different_bits`` of two numbers, by name.

    Numbers are 2^52 (float32: 2^23) plus the bits, so all have this bit in common.
    """

    @cuda_device
    def common_bits(x, z):
        return T(cuda.popc(np.int64(x) & np.int64(z)) - 1)

    @cuda_device
    def different_bits(x, z):
        return T(cuda.popc(np.int64(x) ^ np.int64(z)))

    return {"common_bits": common_bits, "different_bits": different_bits}
