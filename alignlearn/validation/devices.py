"""Arrays on a device that were copied to host memory for checks.

An engine that computes on the device uses the device array instead of the copy.
"""

from __future__ import annotations

import weakref

import numpy as np

# Keys are the ids of the arrays that own the memory of copies. Values are a weak reference to the
# owner, the description of the copy, and the array on the device.
_originals = {}


def lies_on_device(array, dtype=None):
    """Whether an array is in the memory of a CUDA device, or of Numba's simulated one.

    With ``dtype``, whether an array of this type is.
    """
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return bool(getattr(array, "__cuda_ndarray__", False))
    return dtype is None or interface["typestr"] == np.dtype(dtype).str


def remember(copied, original):
    """Register an array as a copy of one on a device, until the memory of the copy is freed."""
    if copied.flags.c_contiguous:
        owner = _owner(copied)
        key = id(owner)
        kept = weakref.ref(owner, lambda _: _originals.pop(key, None))
        _originals[key] = kept, _description(copied), original


def original(array):
    """The array on a device with the whole content of this one, or None."""
    owner = _owner(array)
    kept, description, found = _originals.get(id(owner), (None, None, None))
    if kept is None or kept() is not owner or not array.flags.c_contiguous:
        return None
    return found if description == _description(array) else None


def _owner(array):
    """The array that owns the memory: Numba's copies are views of an array of bytes."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _description(array):
    return array.shape, array.dtype, array.__array_interface__["data"][0]
