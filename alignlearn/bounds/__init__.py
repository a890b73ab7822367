"""The bounds and intervals of the theory as plain functions, by subject.

The estimators and the claims of `alignlearn.theory`, which test each bound, call these functions;
this package imports neither. A function that ends in "printed" is the formula of a paper, kept for
comparison. Its docstring states whether the formula is correct.

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
    "concentration": (
        "alignment_deviation",
        "alignment_deviation_printed",
        "alignment_deviation_refined",
        "bias_bound",
        "covariance_deviation",
        "numerator_deviation",
        "numerator_deviation_printed",
        "perturbation_bound",
        "smallest_sample_size",
    ),
    "conformal": ("plus_interval", "plus_set"),
    "fitted": ("intercept_bound", "intercept_stability", "learned_alignment_interval"),
    "generalization": (
        "exchange_bound",
        "lkrr_bound",
        "lkrr_bound_printed",
        "two_stage_bound",
        "two_stage_bound_printed",
    ),
    "held_out": ("betting_upper", "binomial_upper", "empirical_bernstein_upper"),
    "intervals": ("alignment_interval_from", "alignment_interval_of_grams"),
    "ladder": ("ladder_error", "ratio_error", "ratio_for"),
    "learned": ("clipped_bound", "margin_bound", "random_predictor_bound"),
    "own_sample": ("own_sample_machine", "prior_bound", "random_part"),
    "price": (
        "learned_price",
        "learned_price_deviation",
        "price_moments",
        "quadratic_weights",
    ),
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
    "sample_price": ("price_from_sums", "price_of_sample"),
    "stability": (
        "hypothesis_bound",
        "krr_stability",
        "lkrr_stability",
        "lkrr_stability_printed",
        "residual_bound",
        "two_stage_stability",
        "two_stage_stability_by_weights",
        "two_stage_stability_printed",
    ),
    "u_statistics": (
        "alignment_deviation_unbiased",
        "bernstein_deviation",
        "empirical_bernstein_deviation",
        "hoeffding_deviation",
        "u_statistic",
        "u_statistic_deviation",
        "u_statistic_interval",
    ),
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
