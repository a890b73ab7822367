"""Every argument of the public calls raises an error that names it, for values out of range."""

import warnings
from functools import partial

import fuzz_calls as calls
import numpy as np
import pytest
from alignlearn.theory import HypothesisNotMet
from refusals import not_refused
from test_fuzz_arguments import ALSO

import alignlearn as al
from alignlearn.kernels.base import KernelRuleError

_COUNT, _SHARE = (0, -3, 2.5, "3"), (-1.0, np.nan, "1")
# Values that no call accepts, by the name of the parameter.
BAD = {
    **dict.fromkeys(("C", "eta0", "alpha_lambda", "sigma_g"), (0.0, -1.0, np.nan)),
    **dict.fromkeys(("beta_lambda", "alpha_gamma", "beta_gamma"), (0.0, -1.0, np.inf)),
    **dict.fromkeys(("alpha_omega", "beta_omega"), (0.0, "1", np.nan)),
    **dict.fromkeys(("alpha", "epsilon", "beta", "margin", "gamma1", "gamma2"), _SHARE),
    **dict.fromkeys(("ridge", "sigma2", "sigma_h2", "kernel_C"), (0.0, -1.0, np.nan)),
    **dict.fromkeys(("max_iter", "n_centers", "n_permutations", "n_passes", "budget"), _COUNT),
    **dict.fromkeys(("n_components", "n_features", "max_rank", "max_pairs", "max_kernels"), _COUNT),
    **dict.fromkeys(("gamma", "degree", "mu0", "rank_tol"), (-1.0, np.nan, np.inf)),
    **dict.fromkeys(("multiple", "tau", "sigma"), (0, -1.0, np.inf)),
    **dict.fromkeys(("period", "length_scale", "n_kernels", "timeout"), (0, -1.0, np.inf)),
    **dict.fromkeys(("delta", "level"), (0.0, 1.0, np.nan)),
    **dict.fromkeys(("n_train", "n_test", "n_datasets"), (0, -1, np.inf)),
    "coef0": (None, np.nan, np.inf),
    "n_folds": (0, 2),
    "kappa": (np.nan,),
    "rho": (-1.0, np.nan),
    "tol": (-1.0, np.nan, "small"),
    "multiclass": ("all", None),
    "class_weight": ("equal", {"z": 1.0}, 3.0),
    "normalize": ("max",),
    "random_state": ("a", -1, 1.5),
    "kernels": ([], "rfb", ["rbf", "x"], [2.0], 2.0),
    "kernel": ("rfb", 5),
    "weighting": ("best", al.AlignF),
    "machine": ("abc", 5),
    "method": ("exact", 5),
    "loss": ("log", None),
    "solver": ("magic", 5),
    "centers": ("best", None),
    "coupling": ("lasso", None),
    "regression": ("ols",),
    "learning_rate": ("adaptive", None),
    "cross": ("mean",),
    "measure": ("mean",),
    "unbiased": (1, "yes"),
    "offsets": (1, "yes"),
    "center": (1, "yes"),
    "task": ("ranking",),
    "Cs": ([], [0.0], ["a"]),
    "alphas": ([], [-1.0], [np.inf]),
    "multiples": ([], [0.0]),
    "cv": (0, 1, "abc", []),
    "scoring": ("roc", 5),
    "Lambda": (-1.0, np.nan),
    "norm": (-1.0, np.nan, "a"),
    "discount": (-1.0, 4.0),
    "hyper_kernel": ("wide", 5),
    "decomposition": (0, 1.5),
    "memory": (0, "lots"),
    "probability": ("yes", True),
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
        (
            f"{name}={value!r}"[:200],
            partial(refuse, call, name, value),
            rf"(?<![A-Za-z_])({'|'.join((name, *ALSO.get(name, '').split()))})(?![A-Za-z_])",
        )
        for name in call.arguments
        if name != "v"  # Python's own errors of operators
        for value in values_of(call, name)
    ]
    assert not_refused(cases) == []
