"""Every argument of the public calls raises an error that names it, for values out of range."""

import warnings
from functools import partial

import fuzz_calls as calls
import numpy as np
import pytest
from alignlearn.theory import HypothesisNotMet
from refusals import not_refused
from test_fuzz_arguments import name_pattern

from alignlearn.kernels.base import KernelRuleError

# Values that no call accepts, by the name of the parameter, beside those of every parameter of its
# kind in `fuzz_values`.
_BELOW = "alpha epsilon beta margin gamma1 gamma2 tol rho Lambda norm"
_POSITIVE = "C eta0 alpha_lambda sigma_g ridge sigma2 sigma_h2 kernel_C"
_FINITE = "beta_lambda alpha_gamma beta_gamma multiple tau sigma period length_scale timeout"
_COUNTS = (
    "max_iter n_centers n_permutations n_passes budget n_components n_features max_rank max_pairs "
    "max_kernels"
)
BAD = {
    **dict.fromkeys(_BELOW.split(), (-1.0,)),
    **dict.fromkeys(_POSITIVE.split(), (0.0, -1.0)),
    **dict.fromkeys(_FINITE.split(), (0.0, -1.0, np.inf)),
    **dict.fromkeys(_COUNTS.split(), (0, -3)),
    **dict.fromkeys(("alpha_omega", "beta_omega", "memory", "decomposition"), (0,)),
    **dict.fromkeys(("gamma", "degree", "mu0", "rank_tol"), (-1.0, np.inf)),
    **dict.fromkeys(("delta", "level"), (0.0, 1.0)),
    **dict.fromkeys(("n_train", "n_test", "n_datasets", "n_kernels"), (0, -1, np.inf)),
    **dict.fromkeys(("unbiased", "offsets", "center"), (1, "yes")),
    **dict.fromkeys(("multiclass", "loss", "centers", "coupling", "learning_rate"), (None,)),
    **{"Cs": ([0.0],), "multiples": ([0.0],), "alphas": ([np.inf],), "discount": (-1.0, 4.0)},
    **{"coef0": (None, np.inf), "n_folds": (0, 2), "class_weight": ({"z": 1.0},)},
    "kernels": (["rbf", "x"], [2.0]),
}
# These are read after a fit: every fifth value is tried, and none after a search.
LATE = ("T", "X_", "K_test", "T_task")


def values_of(call, name):
    """The values of one argument that the call must reject."""
    kind, valid = call.arguments[name]
    wrong = [value for value, must in kind(valid) if must]
    if name in LATE:
        wrong = [] if call.name.endswith("CV") else wrong[::5]
    return [*BAD.get(name, ()), *wrong]


def refuse(call, name, value):
    """Call with one wrong argument; errors of rules and of hypotheses need not name it."""
    valid = {key: good for key, (_, good) in call.arguments.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return call.function(**valid | {name: value})
    except (KernelRuleError, HypothesisNotMet) as error:
        raise ValueError(name) from error


@pytest.mark.parametrize("call", calls.all_calls(), ids=lambda call: call.name)
def test_wrong_values_are_named(call):
    cases = [
        (f"{name}={value!r}"[:200], partial(refuse, call, name, value), name_pattern(name))
        for name in call.arguments
        if name != "v"  # Python's own errors of operators
        for value in values_of(call, name)
    ]
    assert not_refused(cases) == []
