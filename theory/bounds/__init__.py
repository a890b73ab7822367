"""Bounds that only the theory evaluates, as plain functions; no estimator uses them.

They follow the conventions of `alignlearn.bounds`: rates of hyper-kernels, the complexity of the
multi-task class, the papers' guarantees for predictors, and bounds of the alignment by population
quantities. A function that ends in "printed" is the formula of a paper, kept for comparison. Its
docstring states whether the formula is correct.

Some functions are also attributes of this package. Called from here, they accept an array of
numbers of samples.

    >>> import numpy as np
    >>> from alignlearn.theory import bounds
    >>> bounds.numerator_deviation(np.array([100, 10_000]), 0.05).round(3).tolist()
    [0.75, 0.073]
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from alignlearn.bounds.checks import over_sizes

_WHERE = {
    "concentration": (
        "alignment_deviation",
        "alignment_deviation_printed",
        "alignment_deviation_refined",
        "numerator_deviation",
        "numerator_deviation_printed",
        "perturbation_bound",
        "smallest_sample_size",
    ),
    "generalization": (
        "lkrr_bound",
        "lkrr_bound_printed",
        "two_stage_bound",
        "two_stage_bound_printed",
    ),
    "intervals": ("alignment_interval_of_grams",),
    "ladder": ("ladder_error", "ratio_error", "ratio_for"),
    "price": ("learned_price", "learned_price_deviation", "price_moments"),
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
    function = over_sizes(getattr(import_module(f".{_MODULE[name]}", __name__), name))
    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *__all__})
