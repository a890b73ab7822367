"""A CUDA device as a target: boxes of data alternate between two streams, results come in order.

The code that all operations share: which arrays are on the device, which of them are sliced and
copied for every box, and when to wait for a box. An operation (`alignlearn.engine.cuda.gram`,
...) is a class made from the data, with

``rows``, ``columns``, ``whole``
    Tuples of arrays: those of samples, of which a box takes a range of rows, and those that every
    box takes whole. They are host arrays, memmaps, or arrays on the device.
``ranges(box)``
    The slices of rows and of columns that a box takes.
``outside(rows, columns)``
    Values of external kernels for such ranges, a host array, or None.
``scratch(n_rows, n_columns)``
    Bytes of results, of intermediate sums and of external values of a box of this size.
``launch(box, rows, columns, whole, near, room)``
    Starts the kernels on the parts of a box; ``room.array(name, shape, dtype)`` is memory that they
    may write, ``room.stream`` their stream. Returns the arrays that hold the results.
``finish(box, *results)``
    The result of the box from these arrays, on the host.

A kernel gets only the samples of its box, counted from 0, whether they are in an array of all
samples or were copied for the box, so results are the same to the last bit either way. No kernel
adds with atomic operations, and every sum has an order that the sizes alone decide: two runs give
identical bits.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from alignlearn.engine.base import Engine
from alignlearn.validation.devices import original

from . import memory
from .device import check, quiet

# Module and class of each operation, imported when it is first used.
_OPERATIONS = {
    "pair_sums": ("pair_sums", "PairSums"),
    "gram": ("gram", "Gram"),
    "times": ("gram", "Times"),
    "normal_times": ("gram", "NormalTimes"),
    "pair_gram": ("hyper", "PairGram"),
    "pair_times": ("hyper", "PairTimes"),
}
# Operations that solvers repeat: arrays on the device stay there for one more run of the same one.
_REPEATED = frozenset(("times", "normal_times", "pair_times"))
_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


class Cuda(Engine):
    """Runs operations on boxes on the first CUDA device.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory to use. Default: the free memory. Data that need more are copied box
        by box.
    here : bool, default True
        Whether this process has the device. With False, the engine is pickled for other processes.

    Raises
    ------
    CudaUnavailable
        No usable device; the message states what to do.
    """

    # Whole Gram matrices are made here, too.
    in_place = False
    operations = frozenset(_OPERATIONS)

    def __init__(self, memory=None, *, here=True):
        if here:
            check()
        self._memory = memory

    def large_boxes(self, n_pairs):
        """Always true: the cost of a box on the host is that of millions of pairs on the device."""
        return True

    def run_boxes(self, operation, data, boxes, take, watch=None):
        """Run an operation on every box, and pass the results on in the order of the boxes.

        Parameters
        ----------
        operation : str
            A name in `operations`.
        data : named tuple
            The input of the operation; arrays with ``__cuda_array_interface__`` are not copied.
        boxes : list of tuple
        take : callable
            ``take(k, result)`` is called once for each box, k = 0, 1, ...; results are arrays of
            the host.
        watch : callable, optional
            Not called: this thread takes the results.

        Raises
        ------
        CudaOutOfMemory
            A box does not fit; the message states the number of rows and columns that fit.
        """
        if not boxes:
            return
        check()  # this may be another process
        module, name = _OPERATIONS[operation]
        work = getattr(import_module(f".{module}", __package__), name)(_where_they_lie(data))
        lying = memory.lent(work, boxes, self._memory)
        with _memory_named(lying.plan):
            lying.bring(work)
            waiting, rooms = deque(), lying.rooms
            try:
                for k, box in enumerate(boxes):
                    room = rooms[k % len(rooms)]
                    if len(waiting) == len(rooms):
                        _collect(work, waiting, take)
                    waiting.append((k, box, room, _start(work, box, lying, room)))
                while waiting:
                    _collect(work, waiting, take)
            finally:
                # However the loop ended, memory in use must not be freed.
                for room in rooms:
                    room.stream.synchronize()
        if operation in _REPEATED:
            memory.keep(lying)


def _start(work, box, lying, room):
    """Start a box: copy arrays to the device, launch the kernels, and fetch the results."""
    ranges = work.ranges(box)
    near = work.outside(*ranges)
    if near is not None:
        near = room.copied("near", near)
    rows = [lying.part("rows", t, ranges[0], room) for t in range(len(work.rows))]
    columns = [lying.part("columns", t, ranges[1], room) for t in range(len(work.columns))]
    with quiet():
        results = work.launch(box, rows, columns, lying.whole, near, room)
    return room.start_copies(results)


def _collect(work, waiting, take):
    """Wait for the oldest box and pass its result on."""
    k, box, room, results = waiting.popleft()
    take(k, work.finish(box, *room.to_host(results)))


@contextmanager
def _memory_named(plan):
    """Turn an allocation error of the driver, whose memory others share, into `CudaOutOfMemory`."""
    from numba.cuda.cudadrv.driver import CudaAPIError

    try:
        yield
    except CudaAPIError as error:
        if getattr(error, "code", None) != _OUT_OF_MEMORY:
            raise
        raise plan.error() from error


def _where_they_lie(data):
    """The data with device arrays in place of their host copies, which were used for checks."""
    arrays = {name: v for name, v in data._asdict().items() if isinstance(v, np.ndarray)}
    found = {name: original(v) for name, v in arrays.items()}
    return data._replace(**{name: v for name, v in found.items() if v is not None})
