"""The library's warnings, and checks of single arguments: choices, numbers, counts."""

from __future__ import annotations

import numpy as np


class ConvergenceWarning(UserWarning):
    """An iterative solver stopped before it reached its tolerance; the message says where."""


class DegenerateKernelWarning(UserWarning):
    """A kernel or the target has zero variance on the sample; its alignment is set to 0."""


def check_choice(name: str, value, accepted):
    """Return ``value`` if it is one of ``accepted``, else raise a ValueError that lists them."""
    if not isinstance(value, str) or value not in accepted:
        options = ", ".join(repr(a) for a in accepted)
        raise ValueError(f"{name}={value!r} is not known; accepted: {options}.")
    return value


def check_number(name: str, value, *, low=None, high=None, strict=False, finite=True) -> float:
    """Return ``value`` as a float within the stated range, else raise an error that states it."""
    real = (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, real):
        raise TypeError(f"{name} must be a real number, got {value!r}.")
    value = float(value)
    bad = np.isnan(value) or (finite and np.isinf(value))
    if low is not None:
        bad = bad or (value <= low if strict else value < low)
    if high is not None:
        bad = bad or (value >= high if strict else value > high)
    if bad:
        lo = "" if low is None else f"{low:g} {'<' if strict else '<='} "
        hi = "" if high is None else f" {'<' if strict else '<='} {high:g}"
        kind = "finite " if finite else ""
        raise ValueError(f"{name}={value!r} is out of range; accepted: {kind}{lo}{name}{hi}.")
    return value


def check_count(name: str, value, *, low=1):
    """Return an integer of at least ``low``, or None for None."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be an integer >= {low} or None, got {value!r}.")
    if not np.isfinite(value) or value != int(value):
        raise TypeError(f"{name} must be an integer >= {low} or None, got {value!r}.")
    return int(check_number(name, value, low=low))
