"""The bounds and intervals of the theory as plain functions, by subject.

The estimators and the claims of `alignlearn.theory`, which test each bound, call these functions;
this package imports neither. Bounds that only the theory evaluates are in
`alignlearn.theory.bounds`, in the same form.

The main functions are also attributes of this package. Called from here, functions of a number of
samples m accept an array of numbers, and return an array or a named tuple of arrays.

    >>> import numpy as np
    >>> from alignlearn import bounds
    >>> bounds.bias_bound(np.array([10, 100, 1000])).round(4).tolist()
    [0.172, 0.0197, 0.002]
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "asymptotic": ("asymptotic_interval",),
    "class_betting": ("class_betting_interval", "target_betting_interval"),
    "class_intervals": ("class_interval_from", "target_interval_from"),
    "conformal": ("plus_interval", "plus_set"),
    "fitted": (
        "exchange_bound",
        "intercept_bound",
        "intercept_stability",
        "learned_alignment_interval",
    ),
    "held_out": ("betting_upper", "binomial_upper", "empirical_bernstein_upper"),
    "intervals": ("alignment_interval_from", "bias_bound", "covariance_deviation"),
    "learned": ("clipped_bound", "margin_bound", "random_predictor_bound"),
    "own_sample": ("own_sample_machine", "prior_bound", "random_part"),
    "rademacher": (
        "class_bounds",
        "cortes_bound",
        "gram_sizes",
        "lanckriet_bound",
        "local_bound",
        "local_radius",
        "moment_bound",
    ),
    "ratio_betting": ("ratio_interval",),
    "sample_price": ("price_from_sums", "price_of_sample", "quadratic_weights"),
}
_MODULE = {name: module for module, names in _WHERE.items() for name in names}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .checks import over_sizes

    function = over_sizes(getattr(import_module(f".{_MODULE[name]}", __name__), name))
    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *__all__})
