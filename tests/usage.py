"""Threads that a call may use, and memory that it uses."""

import tracemalloc
from contextlib import contextmanager

import numba


@contextmanager
def threads(count):
    """Numba may use this many threads within, at most its own limit."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def peak_of(function):
    """The most bytes that Python holds at once during a call, beyond what it held before."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
