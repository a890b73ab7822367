"""Numba's simulator of CUDA with two faults mended, and a detector of races in shared memory.

The simulator runs a Python thread for each thread of a block. Two of its functions do not bear
that (Numba 0.68 and before), so that a kernel fails, or is silently wrong, when the interpreter
switches threads at a bad time:

- A device function that does not lie in the kernel's module gets a replacement of its global
  ``cuda`` while it runs. The first thread that leaves it takes the replacement away from all.
- ``cuda.shared.array`` looks for the block's array, then makes one: two threads may each make one.

What is mended orders only these two. The kernels' own statements still run in any order, and
`Watched` reports what the order could change: a number in shared memory that one thread writes and
another reads or writes with no ``syncthreads`` between them.
"""

import sys
import threading
from contextlib import contextmanager

import numpy as np

NUMBAS = {}  # the functions that are replaced, by name
_lock = threading.Lock()
_inside = {}  # by the id of a module's globals: how many threads are inside, and the names replaced


@contextmanager
def swapped_cuda_module(fn, fake):
    """Replace ``cuda`` in the globals of a function until the last thread has left them."""
    from numba import cuda

    names = fn.__globals__
    with _lock:
        depth, replaced = _inside.get(id(names)) or (0, [k for k, v in names.items() if v is cuda])
        _inside[id(names)] = depth + 1, replaced
        names.update(dict.fromkeys(replaced, fake))
    try:
        yield
    finally:
        with _lock:
            depth, replaced = _inside.pop(id(names))
            if depth > 1:
                _inside[id(names)] = depth - 1, replaced
            else:
                names.update(dict.fromkeys(replaced, cuda))


def shared_array(self, shape, dtype):
    """The array that a block has for the line that calls this, or its dynamic shared memory."""
    caller = sys._getframe(1)
    place = "dynamic" if shape == 0 else (caller.f_code, caller.f_lineno)
    dtype = np.dtype(getattr(dtype, "name", dtype))
    with _lock:
        if place not in self._allocations:
            if shape == 0:
                shape = self._dynshared_size // dtype.itemsize
            self._allocations[place] = Watched(np.empty(shape, dtype))
        return self._allocations[place]


def syncthreads(self):
    """The barrier, counted in each thread that has passed it."""
    NUMBAS["syncthreads"](self)
    self.barriers = getattr(self, "barriers", 0) + 1


class Race(AssertionError):
    """Two threads use a number in shared memory, one of them writes, and nothing orders them."""


class Watched:
    """An array in shared memory that knows who used each number since the last barrier.

    It is never initialised, as on a device, but with NaN (or the largest integer): what is read
    before it is written spoils the result.
    """

    def __init__(self, array):
        array.fill(np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).max)
        self._array, self._used, self._lock = array, {}, threading.Lock()
        self.shape, self.dtype = array.shape, array.dtype

    def _note(self, index, writes):
        thread = threading.current_thread()
        # Threads of a block that may run at the same time have passed as many barriers.
        now = thread._manager, getattr(thread, "barriers", 0)
        when, writers, users = self._used.get(index, (None, set(), set()))
        if when != now:
            writers, users = set(), set()
            self._used[index] = now, writers, users
        users.add(thread)
        if writes:
            writers.add(thread)
        if writers and len(users) > 1:
            raise Race(f"threads use shared memory at {index} with no syncthreads between them")

    def __getitem__(self, index):
        with self._lock:
            self._note(index, False)
            return self._array[index]

    def __setitem__(self, index, value):
        with self._lock:
            self._note(index, True)
            self._array[index] = value


def mend():
    """Mend the simulator of this process, once."""
    from numba.cuda.simulator import kernel, kernelapi

    if NUMBAS:
        return
    shared, thread = kernelapi.FakeCUDAShared, kernel.BlockThread
    for place, new in (
        (kernel, swapped_cuda_module),
        (shared, shared_array),
        (thread, syncthreads),
    ):
        name = "array" if new is shared_array else new.__name__
        NUMBAS[name] = getattr(place, name)
        setattr(place, name, new)
