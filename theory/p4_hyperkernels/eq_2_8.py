"""The sign of the coefficients of support vector regression.

Statement ((2.7) and (2.8) of the 2020 paper): beta = beta-hat - beta-check, where the hat belongs
to the constraint k + b - K <= eps + xi-hat. Checked: at the pairs where k + b overshoots by more
than eps, where beta-hat = C, and at those where it falls short; and the duality gap. Verdict:
false; with the labels of (2.7) it is beta-check - beta-hat. The value of the dual is right, as
renaming does not change it; proofs.md, section 6.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P4
from ..reference import hyper
from .problems import random_case

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = random_case(draw, most=3)
    # A small C and a large diagonal, so that most cases have pairs that miss their target.
    case["target"] = case["target"] + 3 * np.eye(len(case["X"]))
    return case | {"C": draw.log_real(0.01, 0.3), "eps": draw.real(0.01, 0.3)}


def solution(case):
    """K, y, beta, b and the dual value."""
    K, y = hyper.hyper_matrix(case["X"], case["kernel"]), case["target"].ravel()
    return K, y, *hyper.svr(K, y, case["C"], case["eps"])


def _beyond(case):
    """+1 where k + b overshoots, -1 where it falls short, by more than eps."""
    K, y, beta, b, _ = solution(case)
    miss = K @ beta + b - y
    side = np.sign(miss) * (np.abs(miss) > case["eps"] + 1e-4)
    if not side.any():
        raise HypothesisNotMet("some pair must miss its target by more than eps")
    return side, beta


# -- bound: what the statement says ----------------------------------------------------


def bound(case, sign=1.0, share=1.0):
    side, _ = _beyond(case)
    *_, value = solution(case)
    return np.r_[sign * side, share * value / _size(case)]


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    side, beta = _beyond(case)
    K, y, coefficients, b, _ = solution(case)
    primal = hyper.svr_objective(K, y, coefficients, b, case["C"], case["eps"])
    return np.r_[np.where(side != 0, beta / case["C"], 0.0), primal / _size(case)]


def _size(case):
    return case["C"] * (1.0 + np.abs(case["target"]).sum())


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """Three pairs with target 0 and one with 1, C = .05: the last falls short, beta = +C there."""
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    target = np.array([[1.0, 0.0], [0.0, 0.0]])
    case = {"X": np.array([[0.0], [1.0]]), "kernel": kernel, "target": target}
    return case | {"C": 0.05, "eps": 0.1}


def corrected_bound(case):
    return bound(case, sign=-1.0)


# -- negative control ------------------------------------------------------------------


def _too_small(case):
    return bound(case, sign=-1.0, share=0.99)


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p4-eq-2-8-corrected",
    source=f"{P4}, (2.7) and (2.8), corrected",
    statement=r"\beta = \check\beta - \hat\beta,\quad \text{primal} = \text{dual}",
    hypotheses="The hat as in (2.7): for pairs where k + b overshoots.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-5,
    negative_control=NegativeControl(
        counterexample, bound=_too_small, note="dual value 1 % too small"
    ),
    proof="6",
)

CLAIM = replace(
    CORRECTED,
    name="p4-eq-2-8",
    source=f"{P4}, (2.7) and (2.8)",
    statement=r"\beta = \hat\beta - \check\beta",
    bound=bound,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 0.9 * bound(case), note="nine tenths"
    ),
    proof="",
)
