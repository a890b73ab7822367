"""Common code of the benchmarks: timing, threads, warnings and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

# Of scripts in this folder, for `_studies`.
sys.path.append(str(Path(__file__).resolve().parents[1] / "lab"))


def clock(function, repeats=1, timer=time.perf_counter):
    """Minimal time of several calls, and the result of the last one.

    ``timer`` may also return an array, whose entries are minimized separately.
    """
    times = []
    for _ in range(repeats):
        start = timer()
        result = function()
        times.append(timer() - start)
    return np.min(times, axis=0), result


# Seconds of the processor, summed over threads, and the result.
cpu_clock = partial(clock, timer=time.process_time)


def wall_and_core():
    """A timer: seconds of the clock, and of the processor, summed over threads."""
    return np.array([time.perf_counter(), time.process_time()])


def interleaved(repeats, *functions):
    """Times of each function in turn, (repeats, functions)."""
    return np.array([[clock(f)[0] for f in functions] for _ in range(repeats)])


def best_of(repeats, *functions):
    """Minimal time of each function over interleaved repeats."""
    return list(interleaved(repeats, *functions).min(axis=0))


@contextmanager
def quiet():
    """Without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def threads(n):
    """Limit BLAS and the library to n threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(n, numba.config.NUMBA_NUM_THREADS))
    try:
        with threadpool_limits(n):
            yield
    finally:
        numba.set_num_threads(before)


# For programs in processes of their own: the largest memory so far, in bytes. Linux keeps that of
# the parent in ru_maxrss across a fork; VmHWM starts anew.
PEAK = """
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line[:5] == "VmHWM")
    except OSError:
        import resource
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def output(code, **environment):
    """The output of a Python program in a process of its own."""
    command, env = [sys.executable, "-W", "ignore", "-c", code], {**os.environ, **environment}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env).stdout
