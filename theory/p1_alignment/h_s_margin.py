"""The signs of the predictors of a sample and of its distribution.

Not in the paper, whose rate for the 0/1 loss is false (`p1-h-s-rate`): with probability 1 - delta,
|R(h*) - R(h_S)| <= Pr[|h*(x)| <= e], e = `bounds.predictors.predictor_deviation`; under the margin
condition |h*| > e almost surely the risks are equal; proofs.md, section 11. Checked: the frequency
of violations over samples from a finite support. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.problems import FiniteDistribution
from .h_s_deviation import arguments, cases, population, predictor_deviation, sample_predictors

# -- cases: those of `p1-h-s-deviation` ------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    values, radii = arguments(case)
    near = np.abs(population(case)) <= predictor_deviation(*values, **radii)
    return case["law"].mean(near.astype(float))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    law, h_sample = case["law"], sample_predictors(case)
    h = population(case)
    # h* is exactly zero where the labels are noise.
    h = np.where(np.abs(h) < 1e-12 * np.abs(h).max(), 0.0, h)
    gap = ((law.labels * h_sample < 0).astype(float) - (law.labels * h < 0)) @ law.weights
    return np.where(np.isnan(h_sample).any(1), np.nan, np.abs(gap))


# -- negative control ------------------------------------------------------------------


def _noisy_point():
    """At the third point h* = 0 and the label is a fair coin: any sign there errs half the time."""
    law = FiniteDistribution(np.full(4, 0.25), np.array([1.0, -1.0, 1.0, -1.0]))
    K = np.eye(3)[np.ix_([0, 1, 2, 2], [0, 1, 2, 2])]
    return {"law": law, "K": K, "m": 10**6, "delta": 0.05, "seed": 1}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-h-s-margin",
    source=f"{P1}, after Theorem 14, new",
    statement=r"|R(h^*) - R(h_S)| \le \Pr[|h^*(x)| \le e] \text{ for the 0/1 loss}",
    hypotheses="Those of `p1-h-s-deviation`, whose bound is e.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _noisy_point, bound=lambda case: 0.49 * bound(case), note="0.49 of a bound reached by half"
    ),
    proof="11",
)
