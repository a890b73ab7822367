"""Arrays that lie on a device and were copied to this memory to be checked.

An engine that computes on the device takes them where they lie, instead of the copy.
"""

from __future__ import annotations

import weakref

import numpy as np

_originals = {}  # id of the copy -> (the copy, weakly, and the array on the device)


def lies_on_device(array, dtype=None):
    """Whether an array is in the memory of a CUDA device, or of Numba's simulated one.

    With ``dtype`` whether one of this type is.
    """
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return bool(getattr(array, "__cuda_ndarray__", False))
    return dtype is None or interface["typestr"] == np.dtype(dtype).str


def remember(copied, original):
    """Note that an array is a copy of one on a device, until the copy is gone."""
    key = id(copied)
    _originals[key] = weakref.ref(copied, lambda _: _originals.pop(key, None)), original


def original(array):
    """The array on a device whose whole content this one is, or None."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    copied, found = _originals.get(id(root), (None, None))
    if copied is None or copied() is not root or not array.flags.c_contiguous:
        return None
    same = (array.shape, array.dtype) == (root.shape, root.dtype)
    return found if same and root.flags.c_contiguous else None
