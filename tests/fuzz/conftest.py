"""Surroundings of the fuzz cases."""

import sys
from pathlib import Path

import numba
import numpy as np
import pytest

MEMORY = 16 * 2**30  # bytes of address space beyond today's, so that a wrong size is a MemoryError


@pytest.fixture(autouse=True, scope="module")
def surroundings():
    """Bounded memory and one thread: the cases fill one block of rows; more threads would wait."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("numpy.longdouble has no more digits than float64: nothing to compare with")
    if sys.platform == "win32":
        pytest.skip("needs the signals and limits of POSIX")
    import resource

    threads, limits = numba.get_num_threads(), resource.getrlimit(resource.RLIMIT_AS)
    taken = Path("/proc/self/statm")
    if taken.is_file():
        pages = int(taken.read_text().split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)
    resource.setrlimit(resource.RLIMIT_AS, limits)
