"""A confidence interval for the alignment with labels of two classes, by betting.

Not in the paper. The three numbers of the closed form (`p1-class-interval`), each bounded by a
product that grows fast if the number were another one; proofs.md, section 20. Checked: how often
rho lies outside, against delta, on the laws of the closed form. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.class_betting import class_betting_interval

from ..claim import Claim, NegativeControl, once
from ..papers import P1
from ..reference.coverage import position, reach
from ..reference.problems import FiniteDistribution
from .class_interval import FEATURES, alignment, control_case, draw_law

# -- cases -----------------------------------------------------------------------------

TRIALS = 40  # each is a sample with its own orders


def cases(draw):
    return draw_law(draw) | {
        "m": draw.choice((10, 30, 80)),
        "delta": draw.choice((0.2, 0.5)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def samples(case, trials=TRIALS):
    """(K, y) of independent samples, those of one class left out."""
    rng = np.random.default_rng(case["seed"])
    for _ in range(trials):
        rows = case["law"].sample(case["m"], rng)
        y = case["law"].labels[rows]
        if y.min() < y.max():
            yield case["K"][np.ix_(rows, rows)], y


@once
def intervals(case):
    """Lower and upper end and rho_S, (trials, 3)."""
    found = [
        (*class_betting_interval(K, y, case["delta"], FEATURES, random_state=0)[:2], aligned(K, y))
        for K, y in samples(case)
    ]
    return np.array(found if found else [(np.nan,) * 3])


def aligned(K, y):
    """rho_S of one sample; 0 where the kernel does not vary on it."""
    law, L = FiniteDistribution(np.full(len(y), 1 / len(y)), y), np.outer(y, y)
    return float(np.nan_to_num(law.alignment(K, L)))


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that says anything."""
    return reach(*intervals(case).T[:2])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return position(*intervals(case).T, alignment(case))


# -- negative control ------------------------------------------------------------------


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-class-betting",
    source=f"{P1}, after Theorem 12, new",
    statement=(
        r"\Pr\big[\exists v \ge \theta:\ \tfrac1N\sum_{\sigma}\prod_i (1+\lambda_{\sigma i}(v)"
        r"(U_{\sigma i}-v)) \ge \tfrac1\delta\big] \le \delta"
        r"\text{ for } d, d^2, \mathrm{E}K_c^2"
    ),
    hypotheses="Independent points of two classes; 0 <= K(x, x'), K(x, x) <= R^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    extremes=lambda: [control_case(200) | {"delta": 0.5}],
    negative_control=NegativeControl(
        lambda: control_case(200), bound=lambda c: 0.15 * bound(c), note="0.15 of its length"
    ),
    proof="20",
)
