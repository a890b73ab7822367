"""A large alignment means that a classifier with few errors exists: labels +-1.

Statement (theorem 13 of the 2012 paper with its definitions for labels that are not centred): for
y = +-1, balanced or not, Pr[y h*(x) < 0] <= 1 - rho/Gamma with h* and gamma divided by
E[K_Yc^2]^(1/2) = Var(y). Checked: both sides on finite supports. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..bounds import predictors
from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.problems import FiniteDistribution
from .theorem_13 import alignment_of

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    n = draw.integer(2, 6)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    y = draw.signs(n)
    y[:2] = 1.0, -1.0
    return {"law": FiniteDistribution(draw.weights(n), y), "K": draw.kernel(n, form)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    gamma = predictors.gamma_values(case["law"], case["K"], general=True).max()
    return predictors.classification_guarantee(alignment_of(case), gamma)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    alignment_of(case)
    h = predictors.h_star(case["law"], case["K"], general=True)
    h = np.where(np.abs(h) < 1e-10 * np.abs(h).max(), 0.0, h)
    return predictors.classification_risk(case["law"], h)


# -- negative control ------------------------------------------------------------------


def _control_case():
    """Most points lie where the kernel is nearly silent and on the wrong side: risk 0.8."""
    u = np.array([1.0, -1.0, 0.01, -0.01])
    weights = np.array([0.1, 0.1, 0.4, 0.4])
    return {
        "law": FiniteDistribution(weights, np.array([1.0, -1.0, -1.0, 1.0])),
        "K": np.outer(u, u),
    }


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
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.8 * bound(case), note="0.8 of it"
    ),
)
