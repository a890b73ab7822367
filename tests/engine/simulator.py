"""Numba's simulator of CUDA with two faults repaired, and a detector of races in shared memory.

The simulator runs a Python thread for each thread of a block. Two of its functions are not
thread-safe (seen in Numba 0.68): a kernel fails, or returns wrong numbers, if the interpreter
switches threads at a bad time:

- A device function that does not lie in the kernel's module gets a replacement of its global
  ``cuda`` while it runs. The first thread that leaves it takes the replacement away from all.
- ``cuda.shared.array`` looks for the block's array, then makes one: two threads may each make one.

It also polls the threads without a pause until all wait at a barrier, which takes more time than
the threads do. Here the last thread that reaches the barrier signals the others.

The repairs order only these two functions. The kernels' own statements still run in any order, and
`Watched` reports races: a number in shared memory that one thread writes and another reads or
writes with no ``syncthreads`` between them.
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


class Race(AssertionError):
    """Two threads use a number in shared memory, one of them writes, and nothing orders them."""


class Watched:
    """An array in shared memory that records which thread used each number since the last barrier.

    It is filled with NaN (or the largest integer), where a device leaves memory uninitialized, so
    that reading a number before it is written spoils the result.
    """

    def __init__(self, array):
        array.fill(np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).max)
        self._array, self._used, self._lock = array, {}, threading.Lock()
        self.shape, self.dtype = array.shape, array.dtype

    def _note(self, index, writes):
        thread = threading.current_thread()
        # Threads of a block that may run at the same time have passed as many barriers.
        now = thread._manager, thread._manager.barriers
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


def run_block(self, grid_point, *args):
    """Run the threads of a block from barrier to barrier; raise what one of them raised."""
    from numba.cuda.simulator.kernel import BlockThread

    self.changed, self.barriers, self.waiting = threading.Condition(), 0, []
    threads = [
        BlockThread(lambda: self._f(*args), self, grid_point, place, self._debug)
        for place in np.ndindex(*self._block_dim)
    ]
    self.running = len(threads)
    for thread in threads:
        thread.start()
    failed = []
    while not failed:
        with self.changed:
            self.changed.wait_for(lambda: not self.running)
            if not self.waiting:
                break
            failed = [thread for thread in threads if thread.exception]
            released, self.waiting, self.running = self.waiting, [], len(self.waiting)
            self.barriers += 1
        for thread in released:
            thread.abort = bool(failed)
            thread.syncthreads_event.set()
    for thread in threads:
        thread.join()
    for thread in failed or threads:
        if thread.exception:
            raise thread.exception[0].with_traceback(thread.exception[1])


def leave(thread, waits):
    """Note that a thread of a block has ended, or waits at a barrier."""
    block = thread._manager
    with block.changed:
        if waits:
            block.waiting.append(thread)
        block.running -= 1
        if not block.running:
            block.changed.notify()


def run_thread(self):
    """The thread, which notifies the block when it has ended."""
    try:
        NUMBAS["run"](self)
    finally:
        leave(self, False)


def syncthreads(self):
    """Wait for the other threads of the block."""
    leave(self, True)
    self.syncthreads_event.wait()
    self.syncthreads_event.clear()
    if self.abort:
        raise RuntimeError("another thread of the block has failed")


def mend():
    """Repair the simulator of this process, once."""
    from numba.cuda.simulator import kernel, kernelapi

    if NUMBAS:
        return
    for place, name, new in (
        (kernel, "swapped_cuda_module", swapped_cuda_module),
        (kernelapi.FakeCUDAShared, "array", shared_array),
        (kernel.BlockThread, "run", run_thread),
        (kernel.BlockThread, "syncthreads", syncthreads),
        (kernel.BlockManager, "run", run_block),
    ):
        NUMBAS.setdefault(name, getattr(place, name))
        setattr(place, name, new)
