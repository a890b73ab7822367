"""Reconstruct the values of a description without calling anything that it names."""

from __future__ import annotations

import base64
import inspect

import numpy as np

from alignlearn._limits import check_bytes

from . import _arrays
from ._checks import check_fields, completed
from ._registry import class_named
from ._writing import ENGINES, MAX_DEPTH, MAX_KEYS, MAX_VALUES, SPARSE

_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
# Indices in the state of generators, which do not check them: {generator: (key, largest)}.
_PLACES = {"MT19937": ("pos", 624), "Philox": ("buffer_pos", 4)}


class Reader:
    """Reconstructs the values in order.

    Parameters
    ----------
    array : callable
        ``array(k)`` reads the k-th array of the file.
    """

    def __init__(self, array):
        self._array = array
        self._made, self._sizes, self._depths = [], [], []
        self._total = self._checked = 0

    def model(self, values):
        """The last of the values."""
        if not isinstance(values, list) or not values:
            raise ValueError("it describes no values")
        for number, entry in enumerate(values):
            self._size, self._depth = 1, 0
            if not isinstance(entry, dict) or not entry:
                raise ValueError(f"value {number} is not a description")
            kinds = _MAKERS.keys() & entry.keys()
            kind = kinds.pop() if len(kinds) == 1 else None
            parts = set(entry) - ({"order"} if kind in ("array", "packed") else set())
            if kind is None or parts != {kind, *_MAKERS[kind][0].split()}:
                raise ValueError(
                    f"value {number} is of no known kind; its parts are {list(entry)!r:.60}"
                )
            found = _MAKERS[kind][1](self, entry)
            self._total += self._size
            if self._total > MAX_VALUES or self._depth >= MAX_DEPTH:
                raise ValueError(
                    f"it has more than {MAX_VALUES} nested values, or more than {MAX_DEPTH} levels"
                )
            self._made.append(found)
            self._sizes.append(self._size)
            self._depths.append(self._depth + 1)
        return self._made[-1]

    def item(self, item):
        """The value of an item: itself, or an earlier value."""
        if not isinstance(item, list):
            if isinstance(item, dict):
                raise ValueError("a value contains another one directly, not by reference")
            self._size += 1
            return item
        if len(item) != 1 or type(item[0]) is not int or not 0 <= item[0] < len(self._made):
            raise ValueError(f"{item!r:.40} is not a reference to an earlier value")
        self._size += self._sizes[item[0]]
        self._depth = max(self._depth, self._depths[item[0]])
        return self._made[item[0]]

    def items(self, entries, count=None):
        """The values of the items of a list."""
        if not isinstance(entries, list) or count not in (None, len(entries)):
            raise ValueError("a list of items is expected")
        return [self.item(entry) for entry in entries]

    def state(self, entries):
        """The values of the items of a dict."""
        if not isinstance(entries, dict):
            raise ValueError("the attributes of an object are expected")
        return {name: self.item(entry) for name, entry in entries.items()}

    def _class(self, name):
        found = class_named(name) if isinstance(name, str) else None
        if found is None:
            raise ValueError(f"{name!r:.60} is not a class that model files may contain")
        return found

    def _object(self, entry):
        cls, state = self._class(entry["object"]), self.state(entry["state"])
        if issubclass(cls, tuple):
            raise ValueError(f"{cls.__name__} is a named tuple, not an object with attributes")
        try:
            if "__setstate__" not in vars(cls):  # which checks its keys itself
                state = completed(cls, state)
            made = object.__new__(cls)
            restore = getattr(made, "__setstate__", None)
            vars(made).update(state) if restore is None else restore(state)
            self._check(cls, made)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{cls.__name__}: {error}") from error
        return made

    def _check(self, cls, made):
        """The checks of the class itself: those of its constructor, and those for files."""
        check = getattr(cls, "__post_init__", None)
        if check is not None or hasattr(cls, "check_loaded"):
            self._count_bytes(vars(made).values())
        if check is not None:
            # An argument of the constructor that is not a field is not passed again.
            check(made, *[None] * (len(inspect.signature(check).parameters) - 1))
        if hasattr(cls, "check_loaded"):
            made.check_loaded()

    def _count_bytes(self, values):
        """Limit what checks read and copy: a file may refer to one array many times."""
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        self._checked += sum(array.size * max(array.itemsize, 8) for array in arrays)
        check_bytes(self._checked, "the arrays that are looked at")

    def _record(self, entry):
        cls, state = self._class(entry["record"]), self.state(entry["state"])
        if not issubclass(cls, tuple) or tuple(state) != cls._fields:
            raise ValueError(
                f"{cls.__name__} is not a named tuple with the fields {list(state)!r:.80}"
            )
        check_fields(cls.__annotations__, state)
        return tuple.__new__(cls, state.values())

    def _dict(self, entry):
        pairs = [self.items(pair, 2) for pair in self._listed(entry["dict"])]
        if sum(type(key) is not str for key, _ in pairs) > MAX_KEYS:
            raise ValueError(f"a dict has more than {MAX_KEYS} keys that are not strings")
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a dict has a key twice")
        return found

    def _listed(self, entries):
        if not isinstance(entries, list):
            raise ValueError("a list of pairs is expected")
        return entries

    def _fortran(self, entry):
        if entry.get("order", "F") != "F":
            raise ValueError(f"{entry['order']!r:.40} is not a memory order of an array")
        return "order" in entry

    def _packed(self, entry):
        fortran = self._fortran(entry)
        return _arrays.from_bytes(entry["packed"], entry["shape"], entry["base64"], fortran)

    def _array_of(self, entry):
        fortran = self._fortran(entry)
        if entry["array"] != "O":
            return _arrays.from_list(entry["array"], entry["shape"], entry["entries"], fortran)
        shape, entries = _arrays.check_shape(entry["shape"]), self.items(entry["entries"])
        found = np.empty(len(entries), dtype=object)
        for k, value in enumerate(entries):
            found[k] = value
        return np.array(found.reshape(shape), order="F" if fortran else "C")

    def _scalar(self, entry):
        return _arrays.from_list(entry["scalar"], [], entry["entries"], False)[()]

    def _complex(self, entry):
        real, imaginary = map(_arrays.from_words, entry["complex"])
        return complex(real, imaginary)

    def _sparse(self, entry):
        from scipy import sparse

        if entry["sparse"] not in SPARSE:
            raise ValueError(f"{entry['sparse']!r:.40} is not a sparse matrix")
        parts = [self.item(entry[name]) for name in ("data", "indices", "indptr")]
        if not all(isinstance(part, np.ndarray) and part.dtype != object for part in parts):
            raise ValueError("a sparse matrix needs three arrays")
        self._count_bytes(parts)
        found = getattr(sparse, entry["sparse"])(
            tuple(parts), shape=_arrays.check_shape(entry["shape"])
        )
        found.check_format(full_check=True)
        return found

    def _generator(self, entry):
        name, state = entry["generator"], self.item(entry["state"])
        if name not in _BIT_GENERATORS or not isinstance(state, dict):
            raise ValueError(f"{name!r:.40} is not a random number generator")
        key, largest = _PLACES.get(name, ("", 0))
        places = [part[key] for part in (state, state.get("state")) if key and key in part]
        if not all(type(place) is int and 0 <= place <= largest for place in places):
            raise ValueError(f"the state of {name} is not valid")
        found = getattr(np.random, name)(0)
        found.state = state
        return np.random.Generator(found)

    def _engine(self, entry):
        if entry["engine"] not in ENGINES:
            raise ValueError(f"{entry['engine']!r:.40} is not an engine")
        return ENGINES[entry["engine"]]


# kind: (its other parts, its constructor)
_MAKERS = {
    "object": ("state", Reader._object),
    "record": ("state", Reader._record),
    "tuple": ("", lambda reader, entry: tuple(reader.items(entry["tuple"]))),
    "list": ("", lambda reader, entry: reader.items(entry["list"])),
    "dict": ("", Reader._dict),
    "array": ("shape entries", Reader._array_of),
    "packed": ("shape base64", Reader._packed),
    "member": ("", lambda reader, entry: reader._array(entry["member"])),
    "scalar": ("entries", Reader._scalar),
    "dtype": ("", lambda reader, entry: _arrays.check_type(entry["dtype"])),
    "float": ("", lambda reader, entry: _arrays.from_words(entry["float"])),
    "complex": ("", Reader._complex),
    "bytes": ("", lambda reader, entry: base64.b64decode(entry["bytes"], validate=True)),
    "slice": ("", lambda reader, entry: slice(*reader.items(entry["slice"], 3))),
    "range": ("", lambda reader, entry: range(*reader.items(entry["range"], 3))),
    "sparse": ("shape data indices indptr", Reader._sparse),
    "generator": ("state", Reader._generator),
    "engine": ("", Reader._engine),
}
