"""What the benchmarks share: how calls are timed."""

from __future__ import annotations

import time

import numpy as np


def clock(function, repeats=1):
    """Least time of several calls, and the result of the last."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def interleaved(repeats, *functions):
    """Times of each function in turn, (repeats, functions)."""
    return np.array([[clock(f)[0] for f in functions] for _ in range(repeats)])


def best_of(repeats, *functions):
    """Least time of each function over interleaved repeats."""
    return list(interleaved(repeats, *functions).min(axis=0))
