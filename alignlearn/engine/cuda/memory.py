"""Memory of a CUDA device during a run: arrays, the memory of its streams, and whether all fit.

Solvers repeat products with the same matrix. If only the contents of some arrays have changed, a
run reuses the memory of the last one: read-only arrays are not copied again, and no memory is
allocated. The memory is freed when a run of another kind starts, or when one of these arrays is
deleted.
"""

from __future__ import annotations

import os
import threading
import weakref
from math import prod

import numpy as np

from alignlearn.validation.devices import lies_on_device

from .device import CudaOutOfMemory

_SPARE = 0.9  # of the free memory: the driver rounds allocations up
_N_STREAMS = 2  # one stream computes while the other copies
_lock = threading.Lock()
_kept = []  # the `Lying` that the next run may reuse, at most one


def lent(work, boxes, limit=None):
    """A `Lying` for the work on these boxes, either the stored one or a new one.

    Parameters
    ----------
    work : object
        An operation, see `alignlearn.engine.cuda.engine`.
    boxes : list of tuple
    limit : int, optional
        Bytes of device memory to use. Default: the free memory.

    Raises
    ------
    CudaOutOfMemory
        A box does not fit.
    """
    ranges = [work.ranges(box) for box in boxes]
    lengths = [tuple(part.stop - part.start for part in both) for both in ranges]
    largest, n_streams = tuple(map(max, zip(*lengths))), min(_N_STREAMS, len(boxes))
    kind = _kind(work, largest, n_streams, limit)
    with _lock:
        found = _kept.pop() if _kept else None
    if found is None or found.kind != kind:
        found = None  # its memory is now free
        free = _free() if limit is None else limit
        found = Lying(Plan(work, largest, n_streams, free), kind)
    return found


def keep(lying):
    """Keep the arrays on the device for the next run."""
    lying.leave()
    with _lock:
        _kept[:] = [lying]


def _free():
    """Bytes of device memory that can be used."""
    from numba import cuda

    context = cuda.current_context()
    # Numba delays freeing, unless it is requested (not all memory managers support this, and the
    # simulator has none).
    pending = getattr(getattr(context, "memory_manager", None), "deallocations", None)
    if pending is not None:
        pending.clear()
    return _SPARE * context.get_memory_info().free


def _kind(work, largest, n_streams, limit):
    """The key of a run; runs with the same key differ only in contents of writable arrays."""
    first, arrays = {}, []
    for n, array in enumerate((*work.rows, *work.columns, *work.whole)):
        same = first.setdefault(id(array), n)
        lasting = id(array) if _lasts(array) else None
        arrays.append((array.shape, array.dtype, same, lasting, lies_on_device(array)))
    process = os.getpid()  # device memory does not belong to a fork of this process
    return process, type(work), largest, n_streams, limit, work.scratch(*largest), arrays


def _lasts(array):
    """Whether the contents of a host array cannot change."""
    return isinstance(array, np.ndarray) and not array.flags.writeable


def _size(array, n=None):
    """Bytes of n rows of an array, all by default, on the device if they are copied there."""
    if lies_on_device(array):
        return 0
    return (len(array) if n is None else n) * prod(array.shape[1:]) * array.dtype.itemsize


def plain(array):
    """The array in C order, with the strides of a new one.

    Along an axis of length 1 NumPy leaves any stride, that of the matrix transposed, say: Numba
    then takes it for strided, and cuts ranges of it in Python, element by element.
    """
    return np.ascontiguousarray(array).reshape(-1).reshape(array.shape)


class Plan:
    """The arrays that are on the device as a whole, and the number of simultaneous boxes.

    Attributes
    ----------
    work : object
    rows, columns : bool
        Whether the arrays of this side are copied once, whole.
    n_streams : int
    """

    def __init__(self, work, largest, n_streams, free):
        self.work, self._free, self._largest_box = work, free, largest
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
        work = self.work
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
        """The error with the need of the largest box, and the sizes that would fit."""
        n_rows, n_columns = self._largest_box
        needed = self._need(n_rows, n_columns, False, False, 1)
        text = (
            f"device='cuda': a box of {n_rows} rows and {n_columns} columns needs "
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
        return CudaOutOfMemory(f"{text}, or use device='cpu'.", needed)

    def _largest(self, n, shape):
        """The largest size up to n of which a box fits, by bisection."""
        low, high = 0, n
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._need(*shape(middle), False, False, 1) <= self._free
            low, high = (middle, high) if fits else (low, middle - 1)
        return low


class Lying:
    """The arrays of a run on the device, and slices of all arrays.

    Attributes
    ----------
    plan : Plan
    kind : tuple
        The key of the runs that may use it, see `lent`.
    rooms : list of Room
    whole : list of device array
    """

    def __init__(self, plan, kind):
        from numba import cuda

        self.plan, self.kind, self._stream = plan, kind, cuda.stream()
        self.rooms = [Room() for _ in range(plan.n_streams)]
        self.whole, self._sides, self._copies = [], {}, {}

    def leave(self):
        """End the run and release all host arrays."""
        self.plan.work, self.whole, self._sides = None, [], {}

    def bring(self, work):
        """Copy the arrays that are not on the device."""
        self.plan.work = work
        n_rows, n_columns = len(work.rows), len(work.columns)
        copied = {}
        here = [
            self._brought(n, array, resident, copied)
            for n, (array, resident) in enumerate(
                [(array, self.plan.rows) for array in work.rows]
                + [(array, self.plan.columns) for array in work.columns]
                + [(array, True) for array in work.whole]
            )
        ]
        self._sides = {"rows": here[:n_rows], "columns": here[n_rows : n_rows + n_columns]}
        self.whole = here[n_rows + n_columns :]
        for room in self.rooms:
            room.forget()
        self._stream.synchronize()

    def _brought(self, n, array, resident, copied):
        """The array, copied to the device if it belongs there."""
        from numba import cuda

        if getattr(array, "__cuda_ndarray__", False):
            return array
        if lies_on_device(array):
            return cuda.as_cuda_array(array)
        if not resident:
            return array
        if id(array) not in copied:
            lasting, there = self._copies.get(n, (None, None))
            if there is None:
                there = cuda.to_device(plain(array), stream=self._stream)
                if _lasts(array):
                    lasting = weakref.ref(array, self._gone())
                self._copies[n] = lasting, there
            elif lasting is None or lasting() is not array:
                there.copy_to_device(plain(array), stream=self._stream)
            copied[id(array)] = there
        return copied[id(array)]

    def _gone(self):
        """Called when an array is deleted: free the memory that was kept with it."""
        this = weakref.ref(self)

        def gone(_):
            # Without the lock, which the interrupted thread may hold.
            if this() in _kept:
                _kept.clear()

        return gone

    def part(self, side, t, part, room):
        """Samples of a range on the device."""
        array = self._sides[side][t]
        if array.size == 0:  # Numba cannot slice a device array without columns
            shape = part.stop - part.start, *array.shape[1:]
            return room.array((side, t), shape, array.dtype)
        if lies_on_device(array):
            return array[part]
        return room.copied((side, t), array[part], (part.start, part.stop))


class Room:
    """A stream and the memory, on the device and pinned on the host, of the box it works on."""

    def __init__(self):
        from numba import cuda

        self.stream = cuda.stream()
        self._device, self._host, self._holds = {}, {}, {}

    def forget(self):
        """Start another run, before which the originals of copies may have changed."""
        self._holds = {}

    def array(self, name, shape, dtype):
        """Memory on the device, used again for every box."""
        from numba import cuda

        return _reused(self._device, name, shape, dtype, cuda.device_array)

    def _pinned(self, name, shape, dtype):
        from numba import cuda

        # An empty array cannot be pinned.
        make = cuda.pinned_array if prod(shape) else np.empty
        return _reused(self._host, name, shape, dtype, make)

    def copied(self, name, values, what=None):
        """A copy of host values on the device; ``what`` names the values, for reuse.

        Only copies from pinned memory overlap with work, so values are copied there first.
        """
        target = self.array(name, values.shape, values.dtype)
        if what is None or self._holds.get(name) != what:
            pinned = self._pinned(name, values.shape, values.dtype)
            pinned[...] = values
            target.copy_to_device(pinned, stream=self.stream)
            self._holds[name] = what
        return target

    def start_copies(self, results):
        """Start copying results to the host, except those that are there."""
        host = []
        for t, array in enumerate(results):
            if not isinstance(array, np.ndarray):
                to = self._pinned(("result", t), array.shape, array.dtype)
                array = array.copy_to_host(to, stream=self.stream)
            host.append(array)
        return host

    def to_host(self, results):
        """Wait for the results and return them in new host memory."""
        self.stream.synchronize()
        return [np.array(array) for array in results]


def _reused(kept, name, shape, dtype, make):
    """The array of this name, in the memory that ``kept`` has for it if that is large enough."""
    shape, dtype = tuple(int(n) for n in shape), np.dtype(dtype)
    size, (flat, array) = prod(shape), kept.pop(name, (None, None))
    if array is None or (array.shape, array.dtype) != (shape, dtype):
        if size and flat is not None and flat.dtype == dtype and size <= flat.size:
            array = flat[:size].reshape(shape)
        else:
            flat = array = None  # freed before more is taken
            flat = make((size,) if size else shape, dtype)
            array = flat.reshape(shape) if size else flat
    kept[name] = flat, array
    return array
