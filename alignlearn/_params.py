"""Constructor parameters as scikit-learn's tools expect them, without importing scikit-learn."""

from __future__ import annotations

import copy
import inspect
from functools import cache
from types import MappingProxyType

from ._text import cut, listed, short
from ._versions import Versioned
from .validation import current_names

_LONGEST = 4000  # characters of an estimator with all its parameters

OF_PROCESS = ("client", "verbose")
"""Parameters that copies share: a connection, and a callback of the user's program."""


def _without(state):
    """A state without the client and the callback, which are useless in other processes."""
    state = dict(state)
    if "client" in state:
        state["client"] = None
    if callable(state.get("verbose")):
        state["verbose"] = False
    return state


@cache
def _parameters(constructor):
    signature = inspect.signature(constructor).parameters.values()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [p for p in signature if p.name != "self" and p.kind not in variadic]
    return MappingProxyType({p.name: p for p in sorted(named, key=lambda p: p.name)})


class ParamsMixin(Versioned):
    """``get_params``, ``set_params`` and ``repr`` from the signature of ``__init__``.

    A subclass stores every argument of its constructor under the argument's own name, unchanged;
    then `sklearn.base.clone`, `GridSearchCV` and ``a__b`` names work on it.
    """

    _requests: dict  # of metadata, where any were made

    @classmethod
    def _parameters(cls):
        """The constructor's parameters by name, sorted, without ``self``."""
        return _parameters(cls.__init__)

    def __getstate__(self):
        """The state without what belongs to this process, see `_without`."""
        return _without(super().__getstate__())

    def __copy__(self):
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def __sklearn_clone__(self):
        """For `sklearn.base.clone`: share ``client`` and ``verbose``, copy everything else.

        The metadata requests are copied too: plain data here, scikit-learn's object elsewhere.
        """
        from sklearn.base import BaseEstimator

        bare = copy.copy(self)
        vars(bare).update(_without(vars(self)))
        found = BaseEstimator.__sklearn_clone__(bare)
        for name in OF_PROCESS:
            if name in vars(self):
                setattr(found, name, getattr(self, name))
        if "_requests" in vars(self):
            found._requests = copy.deepcopy(self._requests)
        return found

    def get_params(self, deep=True):
        """Return the parameters as a dict; with ``deep``, also nested ones as ``a__b``."""
        params = {}
        for name in self._parameters():
            value = getattr(self, name)
            params[name] = value
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params(deep=True)
                params.update({f"{name}__{key}": item for key, item in inner.items()})
        return params

    def set_params(self, **params):
        """Set parameters, ``a__b=value`` setting ``b`` of the parameter ``a``; return ``self``.

        Raises
        ------
        ValueError
            A name is not a parameter; the message lists the parameters.
        """
        valid = self._parameters()
        nested = {}
        for key, value in current_names(type(self).__init__, params).items():
            name, separator, inner = key.partition("__")
            if name not in valid:
                raise ValueError(
                    f"{name!r} is not a parameter of {type(self).__name__}; accepted: "
                    f"{listed(list(valid), show=str) or 'none'}."
                )
            if separator:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner in nested.items():
            target = getattr(self, name)
            if not hasattr(target, "set_params"):
                raise ValueError(
                    f"{name}={short(target)} of {type(self).__name__} has no parameters of its "
                    f"own, so {name}__{next(iter(inner))} cannot be set."
                )
            target.set_params(**inner)
        return self

    def _described(self, name, default):
        """The string of a parameter's value, and whether it differs from that of the default."""
        text = short(getattr(self, name))
        return text, text != short(default)

    def __repr__(self):
        """The parameters that differ from the default, in a string of bounded length."""
        shown = []
        for name, parameter in self._parameters().items():
            value, changed = self._described(name, parameter.default)
            if changed:
                shown.append(f"{name}={value}")
        return cut(f"{type(self).__name__}({', '.join(shown)})", _LONGEST)
