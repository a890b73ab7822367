"""The repairs of Numba's simulator work, and a missing barrier is found."""

import numpy as np
import pytest
import simulator
from cuda_cases import SIMULATED
from numba import cuda, float64

from alignlearn._jit import cuda_kernel

pytestmark = pytest.mark.skipif(not SIMULATED, reason="NUMBA_ENABLE_CUDASIM=1 chooses it")
N = 8


@cuda_kernel
def _reversed(given, out):
    numbers = cuda.shared.array(N, float64)
    thread = cuda.threadIdx.x
    numbers[thread] = given[thread]
    cuda.syncthreads()
    out[thread] = numbers[N - 1 - thread]


@cuda_kernel
def _reversed_too_early(given, out):
    numbers = cuda.shared.array(0, float64)
    thread = cuda.threadIdx.x
    numbers[thread] = given[thread]
    out[thread] = numbers[N - 1 - thread]


@cuda_kernel
def _overwritten_too_early(given, out):
    numbers = cuda.shared.array(N, float64)
    thread = cuda.threadIdx.x
    numbers[thread] = given[thread]
    cuda.syncthreads()
    out[thread] = numbers[N - 1 - thread]
    numbers[thread] = 0.0


def test_a_missing_barrier_is_found_whatever_the_order_of_the_threads():
    given, out = np.arange(float(N)), np.empty(N)
    _reversed[1, N](given, out)
    np.testing.assert_array_equal(out, given[::-1])
    for kernel in (_reversed_too_early, _overwritten_too_early):
        with pytest.raises(simulator.Race, match="no syncthreads between"):
            kernel[1, N, 0, 8 * N](given, out)
