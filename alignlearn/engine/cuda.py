"""A CUDA device as a target: boxes of data go to two streams in turn, results come back in order.

What is common to all operations is here: which arrays lie on the device, which of them are cut and
copied for every box, and when a box is waited for. An operation (`alignlearn.engine.cuda_gram`,
...) is a class made from the data, with

``rows``, ``columns``, ``whole``
    Tuples of arrays: of samples that a box takes a range of (along the first axis), and those that
    every box takes as they are. Host arrays, memmaps, or arrays on the device.
``ranges(box)``
    The slices of rows and of columns that a box takes.
``outside(rows, columns)``
    Values of external kernels for such ranges, a host array, or None.
``scratch(n_rows, n_columns)``
    Bytes of results, of intermediate sums and of values from outside of a box of this size.
``launch(box, rows, columns, whole, near, room)``
    Starts the kernels on the parts of a box; ``room.array(name, shape, dtype)`` is memory that they
    may write, ``room.stream`` their stream. Returns the arrays that hold the results.
``finish(box, *results)``
    The result of the box from these arrays, on the host.

A kernel sees the samples of its box only, counted from 0, whether they lie in an array of all
samples or were copied for the box: so results are the same to the last bit either way. No kernel
adds with atomic operations, and every sum has an order that the sizes alone decide: two runs give
identical bits.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from importlib import import_module
from math import prod

import numpy as np

from alignlearn.validation.devices import lies_on_device, original

from .cuda_device import CudaOutOfMemory, available, check, quiet

__all__ = ["Cuda", "available"]

# Module and class of each operation, imported when it is first used.
_OPERATIONS = {
    "pair_sums": ("cuda_pair_sums", "PairSums"),
    "gram": ("cuda_gram", "Gram"),
    "times": ("cuda_gram", "Times"),
    "normal_times": ("cuda_gram", "NormalTimes"),
    "pair_gram": ("cuda_hyper", "PairGram"),
    "pair_times": ("cuda_hyper", "PairTimes"),
}
_SPARE = 0.9  # of the free memory: the driver rounds allocations up
_N_STREAMS = 2  # one computes while the other copies
_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


class Cuda:
    """Runs operations on boxes on the first CUDA device.

    Parameters
    ----------
    memory : int, optional
        Bytes of device memory to use; what is free, by default. Data that need more are copied box
        by box.

    Raises
    ------
    CudaUnavailable
        No device can be used; the message says what to do.
    """

    # Whole Gram matrices are made here, too.
    in_place = False
    operations = frozenset(_OPERATIONS)

    def __init__(self, memory=None):
        check()
        self._memory = memory

    def run(self, operation, data, boxes, take):
        """Run an operation on every box, and pass the results on in the order of the boxes.

        Parameters
        ----------
        operation : str
            A name in `operations`.
        data : named tuple
            What the operation takes; arrays with ``__cuda_array_interface__`` are used where they
            lie.
        boxes : list of tuple
        take : callable
            ``take(k, result)`` is called once for each box, k = 0, 1, ...; results are arrays of
            the host.

        Raises
        ------
        CudaOutOfMemory
            A box does not fit; the message says how many rows and columns would.
        """
        if not boxes:
            return
        check()  # this may be a copy in another process
        module, name = _OPERATIONS[operation]
        work = getattr(import_module(f".{module}", __package__), name)(_where_they_lie(data))
        plan = _Plan(work, [work.ranges(box) for box in boxes], self._free())
        with _memory_named(plan):
            lying, waiting = _Lying(work, plan), deque()
            rooms = [_Room() for _ in range(plan.n_streams)]
            try:
                for k, box in enumerate(boxes):
                    room = rooms[k % len(rooms)]
                    if len(waiting) == len(rooms):
                        _collect(work, waiting, take)
                    waiting.append((k, box, room, _start(work, box, lying, room)))
                while waiting:
                    _collect(work, waiting, take)
            finally:
                # Whatever ended the loop: memory in use must not be freed.
                for room in rooms:
                    room.stream.synchronize()

    def _free(self):
        if self._memory is not None:
            return self._memory
        from numba import cuda

        context = cuda.current_context()
        # What was dropped earlier is freed late, unless asked for (not by all memory managers; the
        # simulator has none).
        pending = getattr(getattr(context, "memory_manager", None), "deallocations", None)
        if pending is not None:
            pending.clear()
        return _SPARE * context.get_memory_info().free


def _start(work, box, lying, room):
    """Start a box: copy what is not on the device, launch the kernels, and fetch the results."""
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
    """Turn the driver's error of an allocation into `CudaOutOfMemory`: others use memory, too."""
    from numba.cuda.cudadrv.driver import CudaAPIError

    try:
        yield
    except CudaAPIError as error:
        if getattr(error, "code", None) != _OUT_OF_MEMORY:
            raise
        raise plan.error() from error


def _where_they_lie(data):
    """The data with arrays of the device in place of the copies of them that were checked."""
    arrays = {name: v for name, v in data._asdict().items() if isinstance(v, np.ndarray)}
    found = {name: original(v) for name, v in arrays.items()}
    return data._replace(**{name: v for name, v in found.items() if v is not None})


def _on_device(array, stream):
    """The array on the device: as it is where it lies there, else a copy."""
    from numba import cuda

    if getattr(array, "__cuda_ndarray__", False):
        return array
    if lies_on_device(array):
        return cuda.as_cuda_array(array)
    return cuda.to_device(np.ascontiguousarray(array), stream=stream)


def _size(array, n=None):
    """Bytes of n rows of an array, all by default, on the device if they are copied there."""
    if lies_on_device(array):
        return 0
    return (len(array) if n is None else n) * prod(array.shape[1:]) * array.dtype.itemsize


class _Plan:
    """What lies on the device as a whole, and how many boxes are there at once.

    Attributes
    ----------
    rows, columns : bool
        Whether the arrays of this side are copied once, whole.
    n_streams : int
    """

    def __init__(self, work, ranges, free):
        lengths = [tuple(part.stop - part.start for part in both) for both in ranges]
        largest = tuple(map(max, zip(*lengths)))
        self._work, self._free, self._largest_box = work, free, largest
        n_streams = min(_N_STREAMS, len(ranges))
        for choice in (
            (True, True, n_streams),
            (False, True, n_streams),
            (False, False, n_streams),
            (False, True, 1),
            (False, False, 1),
        ):
            if self._need(*largest, *choice) <= free:
                self.rows, self.columns, self.n_streams = choice
                return
        raise self.error()

    def _need(self, n_rows, n_columns, all_rows, all_columns, n_streams):
        """Bytes for boxes of this size."""
        work = self._work
        whole = {id(a): _size(a) for a in work.whole}
        box = work.scratch(n_rows, n_columns)
        for arrays, n, resident in (
            (work.rows, n_rows, all_rows),
            (work.columns, n_columns, all_columns),
        ):
            for array in arrays:
                if resident:
                    whole[id(array)] = _size(array)
                else:
                    box += _size(array, n)
        return sum(whole.values()) + n_streams * box

    def error(self):
        """What the largest box needs and what would fit."""
        n_rows, n_columns = self._largest_box
        needed = self._need(n_rows, n_columns, False, False, 1)
        text = (
            f"target='cuda': a box of {n_rows} rows and {n_columns} columns needs "
            f"{needed / 1e6:.3g} MB of device memory, and {max(self._free, 0.0) / 1e6:.3g} MB can "
            "be used; "
        )
        rows = self._largest(n_rows, lambda n: (n, n_columns))
        side = self._largest(max(n_rows, n_columns), lambda n: (min(n, n_rows), min(n, n_columns)))
        if rows:
            text += f"{rows} rows of it would fit. Free memory of the device"
        elif side:
            text += f"{min(side, n_rows)} rows and {min(side, n_columns)} columns would fit. "
            text += "Use fewer samples"
        else:
            text += "not one pair would fit. Free memory of the device"
        return CudaOutOfMemory(f"{text}, or use target='cpu'.", needed)

    def _largest(self, n, shape):
        """The largest size up to n of which a box fits, by bisection."""
        low, high = 0, n
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._need(*shape(middle), False, False, 1) <= self._free
            low, high = (middle, high) if fits else (low, middle - 1)
        return low


class _Lying:
    """The arrays of an operation that lie on the device, and parts of all of them."""

    def __init__(self, work, plan):
        from numba import cuda

        copies = {}

        def copy(array):
            if id(array) not in copies:
                copies[id(array)] = _on_device(array, stream)
            return copies[id(array)]

        stream = cuda.stream()
        self.whole = [copy(array) for array in work.whole]
        self._sides = {}
        for side, arrays, resident in (
            ("rows", work.rows, plan.rows),
            ("columns", work.columns, plan.columns),
        ):
            self._sides[side] = [
                copy(array) if resident or lies_on_device(array) else array for array in arrays
            ]
        stream.synchronize()

    def part(self, side, t, part, room):
        """Samples of a range, on the device."""
        array = self._sides[side][t]
        if array.size == 0:  # Numba cuts no array on a device that has no columns
            shape = part.stop - part.start, *array.shape[1:]
            return room.array((side, t), shape, array.dtype)
        if lies_on_device(array):
            return array[part]
        return room.copied((side, t), array[part], (part.start, part.stop))


class _Room:
    """A stream and the memory, on the device and pinned on the host, of the box it works on."""

    def __init__(self):
        from numba import cuda

        self.stream = cuda.stream()
        self._device, self._host, self._holds = {}, {}, {}

    def array(self, name, shape, dtype):
        """Memory on the device, used again for every box."""
        from numba import cuda

        return _reused(self._device, name, shape, dtype, cuda.device_array)

    def _pinned(self, name, shape, dtype):
        from numba import cuda

        # No memory can be pinned of no bytes.
        make = cuda.pinned_array if prod(shape) else np.empty
        return _reused(self._host, name, shape, dtype, make)

    def copied(self, name, values, what=None):
        """A copy of host values on the device; ``what`` says which values they are, if that helps.

        Copies overlap with work from pinned memory only, so values go there first.
        """
        target = self.array(name, values.shape, values.dtype)
        if what is None or self._holds.get(name) != what:
            pinned = self._pinned(name, values.shape, values.dtype)
            pinned[...] = values
            target.copy_to_device(pinned, stream=self.stream)
            self._holds[name] = what
        return target

    def start_copies(self, results):
        """Start copying results to the host, but those that are there."""
        host = []
        for t, array in enumerate(results):
            if not isinstance(array, np.ndarray):
                to = self._pinned(("result", t), array.shape, array.dtype)
                array = array.copy_to_host(to, stream=self.stream)
            host.append(array)
        return host

    def to_host(self, results):
        """The results, when they have come, in memory of their own."""
        self.stream.synchronize()
        return [np.array(array) for array in results]


def _reused(kept, name, shape, dtype, make):
    """The array of this name in ``kept``, made anew where its size has changed."""
    shape = tuple(int(n) for n in shape)
    if name not in kept or kept[name].shape != shape or kept[name].dtype != dtype:
        kept.pop(name, None)
        kept[name] = make(shape, dtype)
    return kept[name]
