"""What the page of a class lists, for the template of autosummary."""

from __future__ import annotations

import inspect
from importlib import import_module

# Methods that every text and every number has are not the library's.
_BUILT_IN = (object, str, int, dict, tuple, BaseException)


def _found(fullname):
    module, _, name = fullname.rpartition(".")
    return getattr(import_module(module), name)


def _public(fullname):
    """(name, attribute, class that it is of) of a class, its own before those of its bases."""
    seen = set()
    for base in _found(fullname).__mro__:
        if base in _BUILT_IN:
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def properties(fullname):
    """The properties of a class that have a docstring."""
    return sorted(name for name, value in _public(fullname) if _is_property(value))


def _is_property(value):
    return isinstance(value, property) and bool(value.__doc__)


def public_methods(fullname):
    """The methods of a class that have a docstring."""
    cls = _found(fullname)
    found = (name for name, _ in _public(fullname) if inspect.isroutine(getattr(cls, name, None)))
    return sorted(name for name in found if inspect.getdoc(getattr(cls, name)))


CONTEXT = {"properties": properties, "public_methods": public_methods}
