"""The repairs of Numba's simulator work, and a missing barrier is found."""

import threading
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
import simulator
from cuda_cases import SIMULATED
from numba import cuda, float64

from alignlearn._jit import cuda_kernel

pytestmark = pytest.mark.skipif(not SIMULATED, reason="NUMBA_ENABLE_CUDASIM=1 chooses it")
N = 8


def swapped(swap):
    """The value of a function's ``cuda`` while two threads are inside, one is, and none is."""
    names, fake = {"cuda": cuda, "other": 1}, object()
    function = SimpleNamespace(__globals__=names)
    first, second = swap(function, fake), swap(function, fake)
    first.__enter__()
    second.__enter__()
    found = [names["cuda"] is fake]
    first.__exit__(None, None, None)
    found.append(names["cuda"] is fake)
    second.__exit__(None, None, None)
    return [*found, names == {"cuda": cuda, "other": 1}]


def test_a_function_keeps_its_device_until_the_last_thread_has_left():
    assert swapped(simulator.swapped_cuda_module) == [True, True, True]
    assert swapped(simulator.NUMBAS["swapped_cuda_module"]) == [True, False, True]


def same_array(array, patience):
    """Whether two threads get one array if both look before either has made it."""
    barrier = threading.Barrier(2)

    class Slow(dict):
        def _wait(self):
            with suppress(threading.BrokenBarrierError):  # the other thread could not look
                barrier.wait(patience)

        def get(self, *args):
            found = super().get(*args)
            self._wait()
            return found

        def __contains__(self, key):
            found = super().__contains__(key)
            self._wait()
            return found

    block, got = SimpleNamespace(_allocations=Slow(), _dynshared_size=0), []

    def ask():
        got.append(array(block, 3, float64))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got[0] is got[1]


def test_threads_of_a_block_share_their_arrays():
    assert same_array(simulator.shared_array, 0.2)
    assert not same_array(simulator.NUMBAS["array"], 60.0)


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
