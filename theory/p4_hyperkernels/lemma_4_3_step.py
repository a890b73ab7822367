"""The first step in the proof of the concentration of the mean over pairs.

Statement ((4.6) of the 2020 paper): the probability that an average of the U_pi over permutations
is at least t is at most the average of the probabilities that U_pi is. Checked: exactly, for points
that are 0 or 1. Verdict: false; .75 against .50 for three fair coins, xi = 1[x != x'], t = .6.
Correct with exponentials: E exp(h U) <= E exp(h U_pi), by convexity; proofs.md, section 17.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P4

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    zero, mixed, one = (draw.real(-1.0, 1.0) for _ in range(3))
    case = {"m": draw.integer(2, 7), "chance": draw.real(0.05, 0.95)}
    return case | {"xi": (zero, mixed, one), "t": draw.real(-1, 1), "h": draw.real(0.1, 20.0)}


def mean_over_pairs(case):
    """Values of the mean of xi over pairs i != j and their probabilities, by the number of ones."""
    m, chance = case["m"], case["chance"]
    zero, mixed, one = case["xi"]
    k = np.arange(m + 1)
    total = (m - k) * (m - k - 1) * zero + 2 * k * (m - k) * mixed + k * (k - 1) * one
    weights = [comb(m, i) * chance**i * (1 - chance) ** (m - i) for i in k]
    return total / (m * (m - 1)), np.array(weights)


def mean_of_disjoint(case):
    """The same for the mean of xi over m // 2 disjoint pairs."""
    c = case["chance"]
    chances = ((1 - c) ** 2, 2 * c * (1 - c), c**2)
    found = [
        (np.mean([case["xi"][i] for i in pick]), np.prod([chances[i] for i in pick]))
        for pick in product(range(3), repeat=case["m"] // 2)
    ]
    values, weights = np.array(found).T
    return values, weights


def _tail(values, weights, t):
    return float(weights[values >= t - 1e-12].sum())


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return _tail(*mean_of_disjoint(case), case["t"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return _tail(*mean_over_pairs(case), case["t"])


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """.75 against .50."""
    return {"m": 3, "chance": 0.5, "xi": (0.0, 1.0, 0.0), "t": 0.6, "h": 1.0}


def _exponential(found, h):
    values, weights = found
    return float(weights @ np.exp(h * values))


def corrected_bound(case):
    return _exponential(mean_of_disjoint(case), case["h"])


def corrected_measure(case):
    return _exponential(mean_over_pairs(case), case["h"])


# -- negative control ------------------------------------------------------------------


def _control_case():
    """Two points: one pair, both sides equal."""
    return counterexample() | {"m": 2}


def _smaller(case):
    return 0.99 * corrected_bound(case)


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p4-lemma-4-3-step-corrected",
    source=f"{P4}, (4.6), corrected",
    statement=r"\mathrm{E}e^{hU} \le \frac1{m!}\sum_\pi \mathrm{E}e^{hU_\pi} = \mathrm{E}e^{hU_1}",
    hypotheses="Independent points, xi symmetric, h real.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    negative_control=NegativeControl(_control_case, bound=_smaller, note="1 % less"),
    proof="17",
)

CLAIM = replace(
    CORRECTED,
    name="p4-lemma-4-3-step",
    source=f"{P4}, (4.6)",
    statement=(
        r"P\{\tfrac1{m!}\textstyle\sum_\pi U_\pi \ge t\} \le \tfrac1{m!}\sum_\pi P\{U_\pi \ge t\}"
    ),
    bound=bound,
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 1.4 * bound(case), note="40 % more"
    ),
    proof="",
)
