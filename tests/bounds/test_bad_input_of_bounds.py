"""Every public bound raises an error that names the number that its hypotheses exclude."""

import importlib
import inspect
import pkgutil
from functools import partial

import alignlearn.theory.bounds
import numpy as np
from cases import each
from refusals import not_refused

import alignlearn.bounds
from alignlearn.bounds.class_intervals import FeatureRange
from alignlearn.bounds.price import PriceMoments

_X = np.random.default_rng(0).standard_normal((20, 2))
_K = np.exp(-0.5 * ((_X[:, None] - _X[None]) ** 2).sum(2))
_Y = np.where(_X[:, 0] > 0, 1.0, -1.0)


# Valid values of each parameter name, in every bound that has the parameter.
def _cosines(i, j):
    """Values of a kernel in [0, 1] and a target in [-1, 1] on pairs."""
    return np.stack([np.cos(i + j) ** 2, np.cos(i * j)])


_SUMS = np.tile(np.array([[0.2], [0.1], [-0.3]]) * [1.0, 2.0], (9, 1, 1))  # of quadruples
GOOD = {
    "K": _K, "L": np.outer(_Y, _Y), "grams": [_K], "X": _X, "y": _Y, "label_range": (-1.0, 1.0),
    "m": 50, "delta": 0.05, "m_plus": 20, "m_minus": 30, "n_kernels": 3, "p": 4, "draws": 100,
    "a": 0.5, "a_prime": 0.5, "numerator": 0.2, "theta": 0.2, "rho": 0.4, "rho_u": 0.3,
    "norm": 0.3, "norms": [0.3], "distance": 0.5, "distances": [0.5], "weights": [1.0],
    "features": FeatureRange(), "losses": [0.1, 0.5, 0.9], "errors": 3, "variance": 0.1,
    "variances": (0.1, 0.1, 0.1), "level": 3.0, "covariance": 0.3, "length2": 4.0,
    "margins": np.ones(20), "residuals": np.full(20, 0.1), "sizes": [1.0, 0.0],
    "shares": [1.0, 0.0], "lam0": 0.5, "eps": 0.5, "log_inverse": 3.0,
}  # fmt: skip
# Parameters that have another meaning in these bounds.
OTHERWISE = {
    "learned_betting_interval": {"features": [FeatureRange()]},
    "learned_class_interval": {"features": [FeatureRange()]},
    "random_predictor_bound": {"variances": np.ones(20)},
    "own_sample_machine": {"K": np.eye(20), "y": np.where(np.arange(20) % 2, 1.0, -1.0)},
    "learned_price_deviation": {"moments": PriceMoments(0.1, *np.ones(6)), "distance": 0.5},
    "price_from_sums": {"first": _SUMS, "second": _SUMS, "widths": [1.0, 2.0]},
    "price_of_sample": {"values": _cosines, "widths": [1.0, 2.0]},
    "choose_eps": {"first": _SUMS, "n": 9, "widths": [1.0, 2.0]},
    "prior_bound": {"cosines": np.full(20, 0.5), "agreement": 0.9},
    "covering_radius": {"bound": 2.0},
    "predictor_deviation": {"m": 5000},
    "root_risk_deviation": {"m": 5000},
}
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


def _is(value, other):
    """Whether a value, or an entry of a list, is invalid."""
    return bool(np.all(np.asarray(value, dtype=object) == other))


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
            if set(parameters) & {"delta", "radius2", "lam0", "label_range"}:
                given = {
                    n: GOOD.get(n, 1.0)
                    for n, p in parameters.items()
                    if p.default is p.empty or n in ("delta", "radius2", "radius2_prime")
                }
                if not name.startswith(UNCHECKED):
                    given = {n: 1.0 if n.startswith("radius2") else v for n, v in given.items()}
                    called = f"{module.__name__.rpartition('.')[2]}.{name}"
                    yield called, function, given | OTHERWISE.get(name, {})


BOUNDS = {name: (function, given) for name, function, given in bounds()}


def test_the_table_covers_the_bounds():
    assert len(BOUNDS) > 45
    some = {
        "held_out.binomial_upper",
        "learned.margin_bound",
        "stability.two_stage_stability_printed",
    }
    assert some | {"class_betting.target_betting_interval"} <= set(BOUNDS)


@each("name", BOUNDS)
def test_the_good_arguments_are_accepted(name):
    function, given = BOUNDS[name]
    function(**given)


@each("name", BOUNDS)
def test_what_a_hypothesis_excludes_is_refused_by_its_name(name):
    function, given = BOUNDS[name]
    cases = [
        (f"{parameter}={value!r}", partial(function, **given | {parameter: value}), word)
        for parameter, (values, word) in BAD.items()
        if parameter in given
        for value in values
        if not any(w in name and p == parameter and _is(value, v) for w, p, v in ALLOWED)
    ]
    assert cases
    assert not_refused(cases) == []
