"""Arrays as data: entries in the description if there are few, else a member in npy format."""

from __future__ import annotations

import base64
import math
import re

import numpy as np

FEW = 200
"""Entries up to which an array stands in the description; in a member its header costs more."""
_READABLE = (
    16  # entries up to which floats are written as such, which takes a tenth more than bytes
)
_BYTES = 2**16  # bytes of such an array, whose strings may be long
_TYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|c(8|16)|[mM]8(\[\w+\])?|[US]\d{1,9})")
_STRANGE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def check_type(text):
    """The dtype of a name, of numbers, strings or dates; raises ValueError for others."""
    if not isinstance(text, str) or not _TYPE.fullmatch(text):
        raise ValueError(f"{text!r:.40} is not a type of numbers or strings")
    return np.dtype(text)


def is_small(array):
    """Whether an array is written into the description."""
    listed = _TYPE.fullmatch(array.dtype.str) is not None
    return listed and array.size <= FEW and array.nbytes <= _BYTES


def is_packed(array):
    """Whether a small array is written as bytes."""
    return array.dtype.kind in "fc" and array.size > _READABLE


def packed(array):
    """The bytes of an array in C order, as a string."""
    return base64.b64encode(array.tobytes()).decode("ascii")


def from_bytes(kind, shape, text, fortran):
    """The array of such bytes; raises ValueError if they do not fit its type and shape."""
    dtype, shape = check_type(kind), check_shape(shape)
    raw = base64.b64decode(text, validate=True)
    if dtype.kind not in "fc" or len(raw) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape} has {len(raw)} bytes")
    return np.array(np.frombuffer(raw, dtype).reshape(shape), order="F" if fortran else "C")


def listed(array):
    """The entries of an array in C order, as JSON values."""
    if array.dtype.kind == "c":
        array = np.ravel(array).view(array.real.dtype)
    elif array.dtype.kind in "mM":
        array = array.astype(np.int64)
    elif array.dtype.kind == "S":
        return [entry.decode("latin-1") for entry in array.ravel().tolist()]
    return [number(entry) for entry in array.ravel().tolist()]


def number(value):
    """A number as a JSON value; floats that are not finite become strings."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "nan" if value != value else "inf" if value > 0 else "-inf"


def from_words(value):
    """The inverse of `number`, for a float."""
    if isinstance(value, str):
        if value not in _STRANGE:
            raise ValueError(f"{value!r:.40} is not a number")
        return _STRANGE[value]
    if type(value) not in (int, float):
        raise ValueError(f"{value!r:.40} is not a number")
    return float(value)


def from_list(kind, shape, entries, fortran):
    """The array of such entries; raises ValueError if they do not fit its type and shape."""
    dtype, shape = check_type(kind), check_shape(shape)
    count = math.prod(shape) * (2 if dtype.kind == "c" else 1)
    if not isinstance(entries, list) or len(entries) != count:
        raise ValueError(f"an array of shape {shape} needs {count} entries")
    if math.prod(shape) * dtype.itemsize > _BYTES:
        raise ValueError(f"an array in the description has more than {_BYTES} bytes")
    flat = _flat(dtype, entries)
    return np.array(flat.reshape(shape), order="F" if fortran else "C")


def _flat(dtype, entries):
    if dtype.kind in "fc":
        part = np.dtype(f"{dtype.byteorder}f{dtype.itemsize // (2 if dtype.kind == 'c' else 1)}")
        return np.array([from_words(e) for e in entries], dtype=part).view(dtype)
    wanted = {"b": bool, "U": str, "S": str}.get(dtype.kind, int)
    for entry in entries:
        if type(entry) is not wanted:
            raise ValueError(f"{entry!r:.40} is not a valid entry of an array of {dtype}")
    if dtype.kind == "S":
        entries = [entry.encode("latin-1") for entry in entries]
    if dtype.kind in "mM":
        return np.array(entries, dtype=np.int64).astype(dtype)
    return np.array(entries, dtype=dtype)


def check_shape(shape):
    """A shape from a list of numbers."""
    if not isinstance(shape, list) or len(shape) > 32:
        raise ValueError("a shape is a list of at most 32 numbers")
    if not all(type(n) is int and 0 <= n < 2**48 for n in shape):
        raise ValueError(f"{shape!r:.60} is not a shape")
    return tuple(shape)
