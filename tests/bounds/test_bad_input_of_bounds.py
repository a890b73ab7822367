"""Every public bound raises an error that names the number that its hypotheses exclude."""

import importlib
import inspect
import pkgutil
from functools import partial

import alignlearn.theory.bounds
import numpy as np
from alignlearn.theory.bounds import (
    concentration,
    generalization,
    intervals,
    ladder,
    neighborhood,
    predictors,
    stability,
    u_statistics,
)
from alignlearn.theory.bounds import hyper_rates as rates
from alignlearn.theory.bounds.price import PriceMoments
from cases import each
from refusals import not_refused

import alignlearn.bounds
from alignlearn.bounds import (
    asymptotic,
    binomial,
    class_betting,
    class_intervals,
    fitted,
    held_out,
    learned,
    rademacher,
    ratio_betting,
)
from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.bounds.class_intervals import FeatureRange

_X = np.random.default_rng(0).standard_normal((20, 2))
_K = np.exp(-0.5 * ((_X[:, None] - _X[None]) ** 2).sum(2))
_Y = np.where(_X[:, 0] > 0, 1.0, -1.0)


# Valid values of each parameter name, in every bound that has the parameter.
_SUMS = np.tile(np.array([[0.2], [0.1], [-0.3]]) * [1.0, 2.0], (9, 1, 1))  # of quadruples
GOOD = {
    "K": _K, "L": np.outer(_Y, _Y), "grams": [_K], "X": _X, "y": _Y, "label_range": (-1.0, 1.0),
    "m": 50, "delta": 0.05, "m_plus": 20, "m_minus": 30, "n_kernels": 3, "p": 4, "draws": 100,
    "a": 0.5, "a_prime": 0.5, "numerator": 0.2, "theta": 0.2, "rho": 0.4, "rho_u": 0.3,
    "norm": 0.3, "norms": [0.3], "distance": 0.5, "distances": [0.5], "weights": [1.0],
    "features": FeatureRange(), "losses": [0.1, 0.5, 0.9], "errors": 3, "variance": 0.1,
    "variances": (0.1, 0.1, 0.1), "level": 3.0, "covariance": 0.3, "length2": 4.0,
    "margins": np.ones(20), "residuals": np.full(20, 0.1), "sizes": [1.0, 0.0],
    "shares": [1.0, 0.0], "lam0": 0.5, "eps": 0.5, "log_inverse": 3.0, "scalar_target": False,
}  # fmt: skip
# Parameters that have another meaning in these bounds.
OTHERWISE = {
    "learned_betting_interval": {"features": [FeatureRange()]},
    "learned_class_interval": {"features": [FeatureRange()]},
    "random_predictor_bound": {"variances": np.ones(20)},
    "own_sample_machine": {"K": np.eye(20), "y": np.where(np.arange(20) % 2, 1.0, -1.0)},
    "learned_price_deviation": {"moments": PriceMoments(0.1, *np.ones(6)), "distance": 0.5},
    "price_from_sums": {"first": _SUMS, "second": _SUMS, "widths": [1.0, 2.0]},
    "price_of_sample": {
        "values": lambda i, j: np.stack([np.cos(i + j) ** 2, np.cos(i * j)]),
        "widths": [1.0, 2.0],
    },
    "choose_eps": {"first": _SUMS, "n": 9, "widths": [1.0, 2.0]},
    "prior_bound": {"cosines": np.full(20, 0.5), "agreement": 0.9},
    "covering_radius": {"bound": 2.0},
    "predictor_deviation": {"m": 5000},
    "root_risk_deviation": {"m": 5000},
}
DEFAULTS = ("delta", "radius2", "radius2_prime", "scalar_target")
# Invalid values, and the words that the error has to contain.
BAD = {
    "delta": ([0.0, 1.0, -0.1, 1.5, np.nan, np.inf, "a", None], "delta"),
    "m": ([0, -5, np.nan, "a", None], r"\bm\b"),
    "radius2": ([0.0, -1.0, np.nan, np.inf, "a"], r"R\^2|radius2"),
    "radius2_prime": ([0.0, -1.0, np.nan, np.inf, "a"], r"R\^2|radius2_prime"),
    "lam0": ([0.0, -1.0, np.nan, "a"], "lam0"),
    "label_bound": ([-1.0, np.nan, "a"], "label_bound|label bound|labels|M > 0|M >= 0"),
    "label_range": ([(1.0, -1.0), (-0.5, 0.5), (0.0,), "a", (0.0, np.inf)], "label_range"),
    "largest": ([0.0, -1.0, np.nan, np.inf, "a"], "largest"),
    "losses": ([[], [np.nan], ["a"], [2.0, 0.5]], "losses"),
    "errors": ([-1, 51, 0.5, "a"], "errors"),
    "n_kernels": ([0, -1, np.nan, "a"], "n_kernels"),
    "rho": ([-0.5, 1.5, np.nan], "rho"),
    "a": ([0.0, -1.0, 2.0, np.nan], r"\ba\b|E\[K_c\^2\]"),
    "a_prime": ([0.0, -1.0, 2.0, np.nan], r"a_prime|E\[K_c\^2\]"),
    "norm": ([-0.1, 1.5], "K_c"),
    "y": ([np.ones(20)], "classes|vary|labels"),
    "weights": ([[-1.0], [0.0]], "weights"),
    "scalar_target": (["no", None, [], "128/27"], "scalar_target"),
}
# Unusual values that these bounds accept: K = 0 has stability 0, a constant target gives [0, 1].
ALLOWED = {
    ("stability", "radius2", 0.0),
    ("target_betting_interval", "y", 1.0),
    ("ratio_interval", "y", 1.0),
    ("own_sample_machine", "y", 1.0),
    ("price_from_sums", "weights", 0.0),
    ("price_of_sample", "weights", 0.0),
}
# Helpers with checked arguments, and lemmas whose numbers have no such hypothesis.
UNCHECKED = ("check_", "positive_class", "random_", "target_blocks", "class_statistics")


def bounds():
    """Every public function of the bounds that has a parameter of BAD, with good arguments."""
    packages = (alignlearn.bounds, alignlearn.theory.bounds)
    names = [f"{p.__name__}.{i.name}" for p in packages for i in pkgutil.iter_modules(p.__path__)]
    for module in map(importlib.import_module, sorted(names)):
        for name, function in vars(module).items():
            own = getattr(function, "__module__", None) == module.__name__
            if not own or name.startswith("_") or not inspect.isfunction(function):
                continue
            parameters = inspect.signature(function).parameters
            known = set(parameters) & {"delta", "radius2", "lam0", "label_range"}
            if known and not name.startswith(UNCHECKED):
                used = [n for n, p in parameters.items() if p.default is p.empty or n in DEFAULTS]
                given = {n: GOOD.get(n, 1.0) for n in used} | OTHERWISE.get(name, {})
                yield f"{module.__name__.rpartition('.')[2]}.{name}", function, given


BOUNDS = {name: (function, given) for name, function, given in bounds()}


def test_the_table_covers_the_bounds():
    assert len(BOUNDS) > 45
    assert {"held_out.binomial_upper", "stability.two_stage_stability_printed"} <= set(BOUNDS)


@each("name", BOUNDS)
def test_what_a_hypothesis_excludes_is_refused_by_its_name(name):
    function, given = BOUNDS[name]
    function(**given)
    cases = [
        (f"{parameter}={value!r}", partial(function, **given | {parameter: value}), word)
        for parameter, (values, word) in BAD.items()
        if parameter in given
        for value in values
        if not any(
            w in name and p == parameter and set(np.ravel(value)) == {v} for w, p, v in ALLOWED
        )
    ]
    assert cases
    assert not_refused(cases) == []


# What the names and values above do not have: function, arguments, words of the error. Those of
# the first list violate a hypothesis.
_GRAM, _CLASSES = np.eye(5), np.array([1, 1, 0, 0, 0])
_UNIT, _TWO = FeatureRange(1.0, non_negative=True), (np.ones(2), np.ones((2, 2)))
NOT_MET = [
    (concentration.alignment_deviation, "zero variance", (100, 0.05, 0.0, 0.5)),
    (concentration.alignment_deviation, r"K\(x, x\) <= R\^2", (100, 0.05, 2.0, 0.5)),
    (held_out.betting_upper, r"must lie in \[0, largest\]", ([-0.1, 0.5], 1.0, 0.05)),
    (held_out.betting_upper, "the loss must be bounded", ([0.5], np.inf, 0.05)),
    (intervals.alignment_interval_of_grams, "zero variance", (np.ones((5, 5)), _GRAM)),
    (intervals.alignment_interval_of_grams, "exceeds", (_GRAM, _GRAM, 0.05, 0.5)),
    (class_betting.class_betting_interval, "exceeds R", (2 * _GRAM, _CLASSES)),
    (class_betting.class_betting_interval, r"K\(x, x'\) >= 0 does not hold",
     (2 * _GRAM - 1, _CLASSES, 0.05, _UNIT)),
    (class_betting.class_betting_interval, "5 classes", (_GRAM, np.arange(5))),
    (class_betting.target_betting_interval, "does not contain the labels",
     (_GRAM, _CLASSES, (0.0, 0.5))),
    (ratio_betting.ratio_interval, "exceeds R", (30 * _K, _Y, (-1, 1), 0.05, _UNIT)),
    (ratio_betting.ratio_interval, "does not contain", (_K, 2 * _Y, (-1, 1), 0.05, _UNIT)),
    (class_intervals.target_interval_from, "larger than their range",
     (9, 0.05, 0.1, 0.1, 2.0, _UNIT, 4.0)),
    (u_statistics.bernstein_deviation, "variance", (8, 1.0, -0.1, 1.0)),
    (u_statistics.bernstein_deviation, "above", (8, 1.0, 0.1, 0.0)),
    (u_statistics.empirical_bernstein_interval, "exceeds", (2 * np.eye(9), np.eye(9))),
    (stability.lkrr_capacity, "mu0", ([[1.0]], [-1.0], 1.0)),
    (stability.two_stage_stability, "kernel_change", (5, 1, 1, 1, 1, -1.0, 0.0)),
    (stability.two_stage_stability, "section_change",
     (10, 1.0, 1.0, 1.0, 1.0, 0.1, np.array([-1.0, 2.0]))),
    (stability.alignf_change, "positive definite", (*_TWO, np.ones(2), np.eye(2), *_TWO[:1] * 2)),
    (generalization.exchange_bound, ">= 0", (-0.1, 5, 0.5, 0.1, 1.0)),
    (predictors.classification_guarantee, "Gamma", (0.5, 0.0)),
    (fitted.intercept_stability, "half range", (10, -1.0, 1.0, 1.0)),
    (rates.svr_exponent_printed, "r=0.0.*0 < r <= 1", (0.5, 0.0, 0.5, 0.5)),
    (rates.svr_exponent_printed, "s=-1.0", (0.5, 0.5, -1.0, 0.5)),
    (rates.svr_exponent_printed, "theta=1.5", (0.5, 0.5, 0.5, 1.5)),
    (rates.ridge_exponent_printed, "r=1.5", (0.5, 1.5, 0.5)),
    (rates.noise_exponent, "p=0.0", (0.0, 2)),
    (rates.norm_exponent, "q=1.0", (1.0, 1.0)),
    (rates.pair_mean_tail, "eps=0.0", (5, 0.0, 1.0, 1.0, 0.5)),
    (rates.pair_mean_tail, "c1 and T", (5, 0.1, 0.0, 0.0, 0.5)),
    (rates.covering_exponent, "dimension", (0, 1)),
    (rates.gaussian_log10_constant, "sigma2", (2, -1.0, 1.0)),
    (rates.gaussian_moment_scale, "M", (1.0, 0.5)),
    (partial(rates.covering_radius, bound=1.0, capacity=1.0, noise=1.0, radius=1.0),
     "at least 2|>= 2", (5, 0.05, 1.0, 0.5)),
    (ladder.ladder_error, "", (0.0, [1.0])),
    (ladder.ladder_error, "", (1.0, [1.0, -1.0])),
    (ladder.ladder_error, "", (1.0, [1.0], 0.0)),
    (ladder.ratio_error, "", (1.0,)),
    (ladder.ratio_for, "", (0.0,)),
    (ladder.ratio_for, "", (1.0,)),
    (neighborhood.neighborhood_bounds, "rho=1: the class is empty",
     ([np.eye(2)[None]], [-np.eye(2)], 1.0, 1.0)),
]  # fmt: skip
WRONG = [
    (concentration.alignment_deviation, "m >= 2", (1, 0.05, 0.1, 0.5)),
    (held_out.empirical_bernstein_upper, "m >= 2", ([0.5], 1.0, 0.05)),
    (class_intervals.class_interval_from, "m of a class", (0, 5, 0.05, 0.1, 0.1)),
    (u_statistics.u_statistic, "m >= 4", (np.eye(3), np.eye(3))),
    (u_statistics.u_statistic_deviation, "m >= 4", (3, 0.05)),
    (u_statistics.bernstein_deviation, "m >= 4", (3, 1.0, 0.1, 1.0)),
    (u_statistics.empirical_bernstein_deviation, "m >= 8", (7, 0.05, 0.1, 1.0)),
    (u_statistics.quadruple_variance, "m >= 8", (np.eye(7), np.eye(7))),
    (rates.pair_mean_tail, "m=1", (1, 0.1, 1.0, 1.0, 0.5)),
    (class_intervals.target_interval_from, "m >= 2", (1, 0.05, 0.1, 0.1, 0.5, _UNIT, 4.0)),
    (asymptotic.asymptotic_interval, "m >= 5", (np.eye(4), np.eye(4))),
    (binomial.clopper_pearson, "whole number from 0 to 2", (3, 2, 0.1, 0.1)),
    (binomial.clopper_pearson, "trials", (0, 0, 0.1, 0.1)),
    (binomial.clopper_pearson, "below=1.0", (1, 2, 1.0, 0.1)),
    (class_intervals.FeatureRange, "positive finite R", (0.0,)),
    (rates.width_error, "must", (0.0, [1.0], [1.0])),
    (rates.width_error, "must", (1.0, [0.0], [1.0])),
    (rates.width_error, "must", (1.0, [1.0], [0.0])),
    (rates.mean_gaussian, ">= 0", (-1.0, [1.0])),
    (learned.margin_bound, "finite numbers", ([np.nan], 1.0, 0.1, 0.1)),
    (learned.margin_bound, "must be >= 0", ([1.0], -1.0, 0.1, 0.1)),
    (learned.clipped_bound, "width", ([1.0], 1.0, 0.0, 0.1, 0.1)),
    (learned.random_predictor_bound, "m >= 8", ([1.0], [1.0], [1.0], [1.0], 0.1)),
    (rademacher.local_bound, "must not be negative", ([-1.0], 3, 1.0)),
    (rademacher.local_bound, "m", ([1.0], 0, 1.0)),
    (rademacher.local_bound, "r", ([1.0], 3, 0.0)),
    (rademacher.local_bound, "radius", ([1.0], 3, 1.0, -1.0)),
]  # fmt: skip


@each("calls, kinds", [(NOT_MET, (HypothesisNotMet,)), (WRONG, (ValueError, TypeError))])
def test_other_values_are_refused(calls, kinds):
    cases = [(f"{f} {given}", partial(f, *given), words) for f, words, given in calls]
    assert not_refused(cases, kinds) == []
