"""The exponent of the covering numbers of a smooth hyper-kernel.

Statement (after (3.8) of the 2020 paper): for a hyper-kernel in C^tau, (3.8) holds with s =
2m^2/tau. Checked: against 2n/tau, n the dimension of the domain of the hyper-kernel, here pairs of
points of R^d. Verdict: misprint: n = 2d, so s = 4d/tau, which does not depend on the number of
points m; proofs.md, section 11.
"""

import numpy as np

from ..bounds.hyper_rates import covering_exponent
from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    d, m = draw.integer(1, 10), draw.integer(1, 50)
    return {"X": np.zeros((m, d)), "tau": draw.integer(1, 20)}


def bound(case):
    return 2 * len(case["X"]) ** 2 / case["tau"]


def measure(case):
    """2n/tau for pairs of points, where n is the length of such a pair."""
    pair = np.r_[case["X"][0], case["X"][0]]
    return 2 * len(pair) / case["tau"]


def counterexample():
    """Ten points on a line, two derivatives: 100 instead of 2."""
    return {"X": np.zeros((10, 1)), "tau": 2}


def corrected_bound(case):
    return covering_exponent(case["X"].shape[1], case["tau"])


def _half(case):
    return corrected_bound(case) / 2


CORRECTED = Claim(
    name="p4-covering-corrected",
    source=f"{P4}, after (3.8), corrected",
    statement=r"s = 4d/\tau",
    hypotheses="X in R^d with a regular boundary, hyper-kernel in C^tau.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(counterexample, bound=_half, note="2d/tau, for one point"),
    proof="11",
)

CLAIM = replace(
    CORRECTED,
    name="p4-covering",
    source=f"{P4}, after (3.8)",
    statement=r"s = 2m^2/\tau",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "Pairs of points have dimension 2d, so s = 4d/tau; m is the number of samples, which does "
        "not enter."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
