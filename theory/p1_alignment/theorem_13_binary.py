"""A large alignment means that a classifier with few errors exists: labels +-1.

Statement (theorem 13 of the 2012 paper with its definitions for labels that are not centred): for
y = +-1, balanced or not, Pr[y h*(x) < 0] <= 1 - rho/Gamma with h* and gamma divided by
E[K_Yc^2]^(1/2) = Var(y). Checked: both sides on finite supports. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds import predictors as promised

from ..claim import Claim, Mutant, NegativeControl
from ..papers import P1
from ..reference import predictors
from ..reference.problems import FiniteDistribution
from .theorem_13 import alignment_of

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    n = draw.integer(2, 6)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    y = draw.signs(n)
    y[:2] = 1.0, -1.0
    return {"law": FiniteDistribution(draw.weights(n), y), "K": draw.kernel(n, form)}


def silent(share, size=1e-4):
    """That share lies where the kernel says the right thing, the rest where it is nearly silent.

    There it is on the wrong side, so that the risk is 1 - share; the bound is 1 - share^(3/2).
    """
    u = np.array([1.0, -1.0, size, -size])
    weights = np.array([share, share, 1 - share, 1 - share]) / 2
    law = FiniteDistribution(weights, np.array([1.0, -1.0, -1.0, 1.0]))
    return {"law": law, "K": np.outer(u, u)}


def stronger(bound, factor):
    """The bound 1 - a with a multiple of a."""
    return lambda case: 1 - factor * (1 - bound(case))


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    gamma = predictors.gamma_values(case["law"], case["K"], general=True).max()
    return promised.classification_guarantee(alignment_of(case), gamma)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    alignment_of(case)
    h = predictors.h_star(case["law"], case["K"], general=True)
    h = np.where(np.abs(h) < 1e-10 * np.abs(h).max(), 0.0, h)
    return predictors.classification_risk(case["law"], h)


# -- negative control ------------------------------------------------------------------


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-theorem-13-binary",
    source=f"{P1}, Theorem 13 with the definitions for labels that are not centred",
    statement=r"y = \pm1:\ \Pr[y h^*(x) < 0] \le 1 - \rho/\Gamma",
    hypotheses="Labels +-1, both classes present, 0 < E[K_c^2] finite.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    trivial=lambda case: 1.0,
    extremes=lambda: [silent(0.01), silent(0.95)],
    sharp=True,
    mutants=(Mutant("1.05 times the alignment", stronger(bound, 1.05)),),
    negative_control=NegativeControl(
        lambda: silent(0.2), bound=lambda case: 0.8 * bound(case), note="0.8 of it"
    ),
)
