"""Checks of the arguments of the bounds; each error names the hypothesis that is not met."""

from __future__ import annotations

import numpy as np


class HypothesisNotMet(ValueError):
    """A bound was asked for where a hypothesis fails; the message names the hypothesis."""


def check_delta(delta) -> float:
    """Return delta if 0 < delta < 1, else raise."""
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} is out of range; accepted: 0 < delta < 1.")
    return float(delta)


def check_size(m, least: int = 2) -> float:
    """Return the sample size m if it is at least `least`, else raise."""
    if not (m >= least and np.isfinite(m)):
        raise ValueError(f"m={m!r} is out of range; accepted: m >= {least}.")
    return float(m)


def check_positive(name: str, value, hypothesis: str) -> float:
    """Return a positive finite number, else raise an error that names the hypothesis."""
    if not (value > 0 and np.isfinite(value)):
        raise HypothesisNotMet(f"{name}={value!r}: {hypothesis}")
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
        raise HypothesisNotMet("E[K_c^2] exceeds R^4: K(x, x) <= R^2 is not met.")
    return a, a_prime
