"""Serialization of data for the workers of a cluster: arrays one by one, or references to files."""

from __future__ import annotations

import os
import pickle
import socket
import zlib
from io import BytesIO
from typing import NamedTuple

import numpy as np

_SMALL = 2**12  # bytes; arrays up to this size are sent within the object that contains them


class _Mapped(NamedTuple):
    """An array in a file."""

    path: str
    offset: int
    shape: tuple
    dtype: np.dtype
    ends: int  # checksum of the first and the last bytes

    def open(self):
        """The array, if the file on this computer is the same one."""
        path, offset, shape, dtype, ends = self
        try:
            array = np.asarray(np.memmap(path, dtype, "r", offset, shape))
            reason = None if _ends(array) == ends else "another file"
        except (OSError, ValueError) as error:
            reason = str(error)
        if reason is not None:
            raise OSError(
                f"{path}, the file of a memory-mapped array, cannot be read by the "
                f"worker on {socket.gethostname()} ({reason}); accepted: a file that "
                "all workers share under this path, or an array in memory (np.array(X)), "
                "which is sent to them."
            )
        return array


def _ends(array):
    flat = array.reshape(-1).view(np.uint8)
    return zlib.crc32(flat[-_SMALL:], zlib.crc32(flat[:_SMALL]))


def _mapped(array):
    """The file of an array in C order and its offset, or None."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    # Changes of a private mapping (mode "c") are not in the file.
    if not isinstance(root, np.memmap) or root.mode == "c" or not array.flags.c_contiguous:
        return None
    if root.filename is None or not os.path.isfile(root.filename):
        return None
    if root.mode != "r":
        root.flush()
    offset = root.offset + array.ctypes.data - root.ctypes.data
    path = os.path.abspath(root.filename)
    return _Mapped(path, offset, array.shape, array.dtype, _ends(array))


def parted(data):
    """A list of the data, pickled without the arrays in them (at any depth), and the arrays.

    Arrays of more than a few bytes are removed, and sent one by one if necessary.
    """
    from cloudpickle import Pickler

    arrays, file = [], BytesIO()

    class WithoutArrays(Pickler):
        def persistent_id(self, value):
            if type(value) not in (np.ndarray, np.memmap) or value.dtype.hasobject:
                return None
            if value.nbytes <= _SMALL and value.flags.c_contiguous:
                what = value.tobytes(), value.dtype, value.shape
            elif (what := _mapped(value)) is None:
                what = len(arrays)
                arrays.append(np.asarray(value))
            # For compiled loops, writable arrays are another type.
            return what, value.flags.writeable

    WithoutArrays(file, protocol=5).dump(data)
    return [file.getvalue(), *arrays]


def whole(pickled, arrays):
    """The data of `parted`."""

    class WithArrays(pickle.Unpickler):
        def persistent_load(self, found):
            what, writeable = found
            if isinstance(what, _Mapped):
                array = what.open()
            elif isinstance(what, tuple):
                array = np.frombuffer(what[0], what[1]).reshape(what[2])
            else:
                array = arrays[what]
            # Aligned like the arrays of one process; otherwise loops would be compiled again.
            array = np.require(array, requirements=["A", "W"] if writeable else ["A"]).view()
            array.flags.writeable = writeable
            return array

    return WithArrays(BytesIO(pickled)).load()
