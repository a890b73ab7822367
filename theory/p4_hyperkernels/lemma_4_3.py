"""Concentration of a mean over pairs of independent points.

Statement (lemma 4.3 of the 2020 paper, (4.5)): Prob{(U - E xi)/((E xi)^theta + eps^theta)^(1/2) >=
eps^(1-theta/2)} <= exp(-(m-1) eps^(2-theta)/(4 c1 + (4/3) T eps^(1-theta))). Checked: the exact
probability for points that are 0 or 1. Verdict: gap. The constants are right, the first step of the
proof is not (`p4-lemma-4-3-step`); averaging exponentials repairs it; proofs.md, section 17.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.hyper_rates import pair_mean_tail

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P4
from .lemma_4_3_step import mean_over_pairs

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    xi = tuple(draw.real(-1.0, 1.0) for _ in range(3))
    case = {"m": draw.integer(2, 40), "chance": draw.real(0.01, 0.99), "xi": xi}
    # Of mean 0 or more, as in the lemma.
    if moments(case)[0] < 0:
        case["xi"] = tuple(-value for value in xi)
    return case | {"theta": draw.real(0.0, 1.0), "eps": draw.log_real(1e-3, 2.0)}


def moments(case):
    """E xi, E xi^2 and T = max |xi - E xi|."""
    c = case["chance"]
    weights, xi = np.array([(1 - c) ** 2, 2 * c * (1 - c), c**2]), np.array(case["xi"])
    mean = weights @ xi
    return float(mean), float(weights @ xi**2), float(np.abs(xi - mean).max())


# -- bound: what the statement says ----------------------------------------------------


def bound(case, factor=1.0):
    mean, square, spread = moments(case)
    if not mean > 1e-9:
        raise HypothesisNotMet("E xi^2 <= c1 (E xi)^theta needs E xi > 0 here")
    c1 = square / mean ** case["theta"]
    return pair_mean_tail(case["m"], factor * case["eps"], c1, spread, case["theta"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    mean, *_ = moments(case)
    theta, eps = case["theta"], case["eps"]
    values, weights = mean_over_pairs(case)
    limit = eps ** (1 - theta / 2) * np.sqrt(mean**theta + eps**theta)
    return float(weights[values - mean >= limit - 1e-12].sum())


# -- negative control ------------------------------------------------------------------


def ledger_case():
    """x of chance .3, xi = x x', m = 10, eps = .2, theta = 1."""
    return {"m": 10, "chance": 0.3, "xi": (0.0, 0.0, 1.0), "theta": 1.0, "eps": 0.2}


def _control_case():
    """One pair of fair coins, probability 1/2; the bound is exp(-1/29)."""
    return {"m": 2, "chance": 0.5, "xi": (1.0, 0.0, 1.0), "theta": 0.0, "eps": 0.5**0.5 / 2}


def _sharper(case):
    return bound(case, factor=4.2)


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p4-lemma-4-3",
    source=f"{P4}, Lemma 4.3",
    statement=(
        r"P\Big\{\frac{U-\mathrm{E}\xi}{\sqrt{(\mathrm{E}\xi)^\theta+\epsilon^\theta}} \ge"
        r" \epsilon^{1-\theta/2}\Big\} \le \exp\Big\{-\frac{(m-1)\epsilon^{2-\theta}}"
        r"{4c_1+\frac43T\epsilon^{1-\theta}}\Big\}"
    ),
    hypotheses="E xi >= 0, E xi^2 <= c1 (E xi)^theta, |xi - E xi| <= T; independent points.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    status="gap",
    trivial=lambda case: 1.0,
    negative_control=NegativeControl(_control_case, bound=_sharper, note="4.2 eps for eps"),
    proof="17",
)
