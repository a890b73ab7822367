"""A model as a list of values, each built from earlier ones; see docs/guide/model-files.md."""

from __future__ import annotations

import base64
import types

import numpy as np

from alignlearn._limits import check_bytes
from alignlearn._versions import KEY
from alignlearn.engine.cpu import CPU
from alignlearn.engine.engines import AUTO

from . import _arrays
from ._registry import name_of

MAX_DEPTH = 100
"""Maximum levels of nested values."""
MAX_VALUES = 10_000_000
"""Maximum number of nested values; shared ones count at every occurrence."""
MAX_KEYS = 10_000
"""Keys of a dict that are no strings: they can be chosen to be slow to compare."""
MAX_DIGITS = 1000
"""Of an integer; states of random numbers have 39."""
_LARGEST = 10**MAX_DIGITS
ENGINES = {"cpu": CPU, "auto": AUTO}
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, type)
_ADVICE = (
    "a model file holds data and no code. Accepted: the library's own kernels, rules and "
    "estimators, arrays, numbers and strings; pickle what holds anything else."
)


class Writer:
    """Collects the values and the arrays of a model.

    Attributes
    ----------
    values : list
        JSON values. ``[i]`` inside one stands for value number i.
    arrays : list of ndarray
        Arrays that are members of the file.
    """

    def __init__(self):
        self.values, self.arrays = [], []
        self._sizes, self._total, self._size = [], 0, 0
        self._numbers = {}  # id -> (number, the object itself, whose reference keeps its id valid)
        self._open = []  # the objects that are being written, outermost first
        self._path = ["model"]

    def item(self, value):
        """A value inside another: itself if it is a JSON value, else a reference."""
        kind = type(value)
        if value is None or kind in (bool, int, str) or (kind is float and np.isfinite(value)):
            if kind is int and abs(value) >= _LARGEST:
                raise ValueError(f"{self._where} has more than {MAX_DIGITS} digits.")
            self._size += 1
            return value
        if id(value) not in self._numbers:
            if any(value is other for other in self._open):
                raise ValueError(f"{self._where} refers to itself, which cannot be saved.")
            if len(self._open) >= MAX_DEPTH:
                raise ValueError(f"{self._where[:80]}... is nested deeper than {MAX_DEPTH} levels.")
            outer, self._size = self._size, 1
            self._open.append(value)
            entry = self._entry(value, kind)
            self._open.pop()
            self._numbers[id(value)] = len(self.values), value
            self.values.append(entry)
            self._sizes.append(self._size)
            self._total, self._size = self._total + self._size, outer
            if self._total > MAX_VALUES:
                raise ValueError(f"{self._where} holds more than {MAX_VALUES} nested values.")
        number = self._numbers[id(value)][0]
        self._size += self._sizes[number]
        return [number]

    @property
    def _where(self):
        return "".join(self._path)

    def _inside(self, step, value):
        self._path.append(step)
        found = self.item(value)
        self._path.pop()
        return found

    def _items(self, values):
        return [self._inside(f"[{k}]", value) for k, value in enumerate(values)]

    def _state(self, state):
        return {name: self._inside(f".{name}", value) for name, value in state.items()}

    def _dict(self, value):
        if sum(type(key) is not str for key in value) > MAX_KEYS:
            raise ValueError(f"{self._where} has more than {MAX_KEYS} keys that are not strings.")
        pairs = value.items()
        keys = [self._inside(".key", key) for key in value]
        return [[k, self._inside(f"[{key!r:.40}]", entry)] for k, (key, entry) in zip(keys, pairs)]

    def _entry(self, value, kind):
        simple = _SIMPLE.get(kind)
        if simple is not None:
            return simple(self, value)
        if kind in (np.ndarray, np.memmap):
            return self._array(value)
        if isinstance(value, np.generic):
            return {"scalar": value.dtype.str, "entries": self._listed(np.asarray(value))}
        if isinstance(value, np.dtype):
            return {"dtype": self._kind(value)}
        for name, engine in ENGINES.items():
            if value is engine:
                return {"engine": name}
        if kind.__module__.startswith("scipy.sparse") and kind.__name__ in SPARSE:
            names = "data", "indices", "indptr"
            parts = self._state({name: getattr(value, name) for name in names})
            return {"sparse": kind.__name__, "shape": list(map(int, value.shape)), **parts}
        if kind is np.random.Generator:
            state = value.bit_generator.state
            return {"generator": state["bit_generator"], "state": self._inside(".state", state)}
        return self._object(value, kind)

    def _object(self, value, kind):
        name = name_of(kind)
        if name is None:
            raise self._refused(value, kind)
        if isinstance(value, tuple):
            return {"record": name, "state": self._state(value._asdict())}
        own = getattr(kind, "__getstate__", None)
        plain = own is getattr(object, "__getstate__", None)  # from Python 3.11 on, there is one
        state = dict(vars(value) if plain else own(value))
        state.pop(KEY, None)
        if name == "kernels.Precomputed" and type(state["gram"]) is not np.ndarray:
            # Any array-like object, also one that would not fit into memory.
            check_bytes(8 * len(state["gram"]) ** 2, f"{self._where}.gram: its entries")
            state["gram"] = np.asarray(state["gram"][:])
        return {"object": name, "state": self._state(state)}

    def _refused(self, value, kind):
        """The error that names a value that cannot be saved."""
        if isinstance(value, _FUNCTIONS):
            what = f"the function or class {getattr(value, '__qualname__', value)!r}"
        else:
            what = f"an object of the class {kind.__module__}.{kind.__qualname__}"
            held = vars(value).items() if hasattr(value, "__dict__") else ()
            names = [name for name, part in held if isinstance(part, _FUNCTIONS)]
            if names:
                what += f", which holds a function ({', '.join(names)})"
        return TypeError(f"{self._where} is {what}: {_ADVICE}")

    def _kind(self, dtype):
        try:
            _arrays.check_type(dtype.str)
        except ValueError:
            raise TypeError(f"{self._where} has the type {dtype}: {_ADVICE}") from None
        return dtype.str

    def _listed(self, array):
        self._kind(array.dtype)
        return _arrays.listed(array)

    def _array(self, array):
        array = np.asarray(array)
        order = {} if array.flags.c_contiguous or not array.flags.f_contiguous else {"order": "F"}
        if array.dtype == object:
            entries = self._items(array.ravel().tolist())
            return {"array": "O", "shape": list(array.shape), "entries": entries, **order}
        if _arrays.is_small(array):
            kind, shape = array.dtype.str, {"shape": list(array.shape), **order}
            if _arrays.is_packed(array):
                return {"packed": kind, "base64": _arrays.packed(array), **shape}
            return {"array": kind, "entries": _arrays.listed(array), **shape}
        if array.dtype.kind not in "biufcUSmM":
            raise TypeError(f"{self._where} is an array of {array.dtype}: {_ADVICE}")
        self.arrays.append(array)
        return {"member": len(self.arrays) - 1}


SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")
_SIMPLE = {
    float: lambda writer, value: {"float": _arrays.number(value)},
    complex: lambda writer, value: {
        "complex": [_arrays.number(value.real), _arrays.number(value.imag)]
    },
    bytes: lambda writer, value: {"bytes": base64.b64encode(value).decode("ascii")},
    tuple: lambda writer, value: {"tuple": writer._items(value)},
    list: lambda writer, value: {"list": writer._items(value)},
    dict: lambda writer, value: {"dict": writer._dict(value)},
    slice: lambda writer, value: {"slice": writer._items([value.start, value.stop, value.step])},
    range: lambda writer, value: {"range": [value.start, value.stop, value.step]},
}
