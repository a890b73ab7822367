"""The published claims about learning with centred alignment, evaluated.

`CLAIMS` maps names to `Claim` objects in the order of the papers; ``check(claim, case)`` gives a
`Verdict`. Each paper has a folder with one file per claim, and the proofs in its ``proofs.md``.
The bounds are plain functions in `bounds`, and attributes of this package; those whose docstring
says "as printed" are the papers' own. Exact population quantities and naive learners are in
`reference`, the figures in `figures`. ``verify.verify()`` runs everything and prints the table.
Nothing heavy is imported until it is used.
"""

from __future__ import annotations

from importlib import import_module

from .claim import Claim, HypothesisNotMet, NegativeControl, Verdict, check, clopper_pearson
from .registry import CLAIMS, all_claims

# The function `verify` is not here: the module of that name would hide it.
_MODULES = {
    "draws": ("RandomDraw",),
    "reference.problems": ("FiniteDistribution", "GaussianMixture", "Moments", "two_points"),
    "bounds.concentration": (
        "alignment_deviation",
        "alignment_deviation_refined",
        "bias_bound",
        "covariance_deviation",
        "expected_numerator",
        "numerator_deviation",
        "perturbation_bound",
        "proposition_11",
        "smallest_sample_size",
        "theorem_12",
        "theorem_12_by_its_proof",
    ),
    "bounds.intervals": (
        "Interval",
        "alignment_interval",
        "alignment_interval_by_numerator",
        "alignment_interval_from",
        "u_statistic",
        "u_statistic_deviation",
        "u_statistic_interval",
    ),
    "bounds.class_intervals": (
        "FeatureRange",
        "class_interval_from",
        "learned_class_interval",
        "target_interval_from",
    ),
    "bounds.class_betting": (
        "class_betting_interval",
        "learned_betting_interval",
        "target_betting_interval",
    ),
    "bounds.u_statistics": (
        "alignment_deviation_unbiased",
        "bernstein_deviation",
        "empirical_bernstein_deviation",
        "empirical_bernstein_interval",
        "hoeffding_deviation",
        "kernel_range",
        "quadruple_kernel",
        "quadruple_variance",
    ),
    "bounds.predictors": (
        "classification_guarantee",
        "classification_risk",
        "g_star",
        "gamma_values",
        "h_sample",
        "h_star",
        "regression_guarantee",
        "regression_risk",
        "scaled_regression_risk",
        "theorem_14",
        "unnormalised_guarantee",
    ),
    "bounds.sample_predictor": ("predictor_deviation", "root_risk_deviation"),
    "bounds.stability": (
        "alignf_change",
        "hypothesis_bound",
        "krr_stability",
        "lkrr_capacity",
        "lkrr_stability",
        "proposition_3",
        "residual_bound",
        "theorem_16",
        "two_stage_stability",
        "two_stage_stability_by_weights",
    ),
    "bounds.generalization": (
        "exchange_bound",
        "lkrr_bound",
        "theorem_17",
        "theorem_17_with_loss_bound",
        "theorem_3",
        "two_stage_bound",
    ),
    "bounds.learned": (
        "clipped_bound",
        "margin_bound",
        "random_predictor_bound",
    ),
    "bounds.neighbourhood": (
        "neighbourhood_bounds",
        "neighbourhood_complexity",
    ),
    "bounds.held_out": (
        "betting_upper",
        "binomial_upper",
        "empirical_bernstein_upper",
    ),
    "bounds.rademacher": (
        "class_bounds",
        "gram_sizes",
    ),
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CLAIMS",
    "Claim",
    "HypothesisNotMet",
    "NegativeControl",
    "Verdict",
    "all_claims",
    "check",
    "clopper_pearson",
    *_LAZY,
]


def __getattr__(name):
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
