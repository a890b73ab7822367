"""Deprecated names: one form of warning for all of them, and a list that is tested.

The promise to users is in docs/support.md; how to deprecate something, in CONTRIBUTING.md.
"""

from __future__ import annotations

import sys
from functools import wraps
from typing import NamedTuple

from .arguments import _is_ours, warn


class Old(NamedTuple):
    """A deprecated public name: its place, the new name, and the version that removes it."""

    where: str
    old: str
    new: str | None
    gone: str

    def warn(self):
        """Give a FutureWarning, which Python shows to users, at the line of their own code."""
        instead = f"is now called {self.new}" if self.new else "has no effect any more"
        warn(
            (
                f"{self.old} of {self.where} {instead}; the old name will be removed in "
                f"alignlearn {self.gone}."
            ),
            FutureWarning,
        )


_parameters: list[Old] = []


def renamed_parameter(old, new, gone):
    """Decorator of a function or constructor: the keyword ``old`` is still accepted for ``new``.

    The signature, and therefore ``get_params``, has only the new name; ``set_params`` accepts both.

    Parameters
    ----------
    old : str
    new : str or None
        None: the parameter is ignored, and will be removed without a replacement.
    gone : str
        The first version without the old name.
    """

    def decorate(function):
        entry = Old(function.__qualname__.removesuffix(".__init__"), old, new, gone)
        _parameters.append(entry)

        @wraps(function)
        def with_old_name(*args, **given):
            return function(*args, **_renamed(entry, given))

        with_old_name.old_parameters = (*getattr(function, "old_parameters", ()), entry)
        return with_old_name

    return decorate


def current_names(function, given):
    """Arguments by name, ``a__b`` names too; the old names of ``function`` are replaced."""
    for entry in getattr(function, "old_parameters", ()):
        given = _renamed(entry, given)
    return given


def _renamed(entry, given):
    """The arguments without the old name, with a warning if it was used."""
    found = {}
    for key, value in given.items():
        name, separator, inner = key.partition("__")
        if name != entry.old:
            found[key] = value
            continue
        entry.warn()
        if entry.new is None:
            continue
        if entry.new + separator + inner in given:
            raise TypeError(
                f"{entry.where}: {entry.old} is the old name of {entry.new}; set one of them."
            )
        found[entry.new + separator + inner] = value
    return found


def renamed_name(module, name):
    """The value of an old name of a module, with a warning; for the module's ``__getattr__``.

    The module's table ``_RENAMED`` has ``{old: (new, gone)}``.
    """
    module = sys.modules[module]
    if name not in module._RENAMED:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    new, gone = module._RENAMED[name]
    Old(module.__name__, name, new, gone).warn()
    return getattr(module, new)


def old_names():
    """Every old name that the loaded modules still accept."""
    modules = [module for name, module in list(sys.modules.items()) if _is_ours(name)]
    tables = {m.__name__: table for m in modules if (table := vars(m).get("_RENAMED"))}
    names = [Old(where, old, *to) for where, table in tables.items() for old, to in table.items()]
    return [*_parameters, *names]
