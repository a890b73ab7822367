"""Checks of the arguments of the bounds; each error names the hypothesis that is not met."""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import wraps
from inspect import signature

import numpy as np

from alignlearn.validation import check_number


class HypothesisNotMet(ValueError):
    """Raised by a bound whose hypothesis fails; the message names the hypothesis.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, HypothesisNotMet, Linear, alignment_interval
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> try:
    ...     alignment_interval(X, X[:, 0] > 0, Linear(), radius2=0.1)
    ... except HypothesisNotMet:
    ...     print("the kernel exceeds radius2 on these samples")
    ...
    the kernel exceeds radius2 on these samples
    """


class _BeyondRange(ValueError):
    """Raised by a bound inside another bound, which then shows its own arguments."""


def of_numbers(*arrays, exact=False):
    """Decorate a bound of real numbers; the parameters named ``arrays`` may be arrays of them.

    Arguments become floats; with ``exact`` an int or Fraction stays one. Values that are not real
    numbers raise a TypeError or ValueError that names the parameter. A bound that overflows is
    infinite. If infinities make it undefined, a ValueError shows the arguments.
    """

    def decorate(bound):
        parameters = signature(bound)

        @wraps(bound)
        def checked(*args, **kwargs):
            given = parameters.bind(*args, **kwargs).arguments
            given = {
                n: _array(n, v) if n in arrays else _real(n, v, exact) for n, v in given.items()
            }
            with np.errstate(all="ignore"):
                try:
                    value = bound(**given)
                except (OverflowError, ZeroDivisionError, _BeyondRange):
                    value = np.nan
            if np.any(np.asarray(value) != np.asarray(value)):
                shown = ", ".join(f"{n}={v!r:.40}" for n, v in given.items())
                raise _BeyondRange(f"{bound.__name__}({shown}) is beyond the range of float64.")
            return value

        return checked

    return decorate


def _real(name, value, exact):
    if isinstance(value, Fraction):
        return value if exact else float(value)
    if isinstance(value, (float, np.floating)) and np.isnan(value):
        raise HypothesisNotMet(
            f"{name} is NaN, which stands for an undefined value, for instance of a kernel "
            "with zero variance."
        )
    # Bounds are computed from other bounds, which may be infinite.
    number = check_number(name, value, low=-sys.float_info.max, finite=False)
    return value if exact and isinstance(value, int) else number


def _array(name, values):
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.size == 0:
        raise TypeError(f"{name} must be a real number or an array of them, got {values!r:.80}.")
    if np.any(array == -np.inf):
        raise ValueError(f"{name} holds -inf; accepted: real numbers, and NaN where undefined.")
    return array[()]


def over_sizes(bound):
    """The bound for each number of samples if ``m`` is an array; unchanged if it has no ``m``.

    Results are stacked along the axes of ``m``: numbers to an array, named tuples to one of arrays.
    """
    parameters = signature(bound)
    if "m" not in parameters.parameters:
        return bound

    @wraps(bound)
    def at_sizes(*args, **kwargs):
        given = parameters.bind(*args, **kwargs).arguments
        sizes = np.asarray(given["m"])
        if sizes.ndim == 0:
            return bound(*args, **kwargs)
        values = [bound(**{**given, "m": m}) for m in sizes.ravel().tolist()]
        if values and hasattr(values[0], "_fields"):
            columns = [np.array(c).reshape(sizes.shape) for c in zip(*values)]
            return type(values[0])(*columns)
        return np.array(values).reshape(*sizes.shape, *np.shape(values[0] if values else 0.0))

    return at_sizes


def check_delta(delta) -> float:
    """Return delta if 0 < delta < 1, else raise an error."""
    return check_number("delta", delta, low=0.0, high=1.0, strict=True)


def check_size(m, least: int = 2, name: str = "m") -> float:
    """Return the sample size m if it is at least `least`, else raise an error."""
    if check_number(name, m) < least:
        raise ValueError(f"{name}={m!r} is out of range; accepted: {name} >= {least}.")
    return float(m)


def check_positive(name: str, value, hypothesis: str) -> float:
    """Return a positive finite number, else raise an error that names the hypothesis."""
    try:
        positive = bool(value > 0 and np.isfinite(value))
    except (TypeError, ValueError):
        positive = False  # not a number
    if not positive:
        raise HypothesisNotMet(f"{name}={value!r:.80}: {hypothesis}")
    return float(value)


def check_radii(radius2, radius2_prime):
    """Bounds of K(x, x) and K'(x, x), positive."""
    text = "K(x, x) <= R^2 needs a positive finite R^2."
    return (
        check_positive("radius2", radius2, text),
        check_positive("radius2_prime", radius2_prime, text),
    )


def check_variances(a, a_prime, radius2, radius2_prime):
    """E[K_c^2] and E[K'_c^2], positive and at most R^4 and R'^4."""
    text = "the kernel has zero variance, E[K_c^2] must be positive."
    a = check_positive("a", a, text)
    a_prime = check_positive("a_prime", a_prime, text)
    if a > radius2**2 * (1 + 1e-9) or a_prime > radius2_prime**2 * (1 + 1e-9):
        raise HypothesisNotMet("E[K_c^2] exceeds R^4, so K(x, x) <= R^2 does not hold.")
    return a, a_prime
