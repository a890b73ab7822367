"""A large unnormalized alignment means that a classifier with few errors exists.

Statement (theorem 15 of the 2012 paper): for y = +-1 and K_c(x, x) <= R^2, Pr[y g*(x) < 0] <= 1 -
rho_u/R^2. Checked: both sides on finite supports, balanced or not; the labels need no centering.
Verdict: holds.
"""

import numpy as np

from ..bounds import predictors as promised
from ..prelude import P1, Claim, HypothesisNotMet, Mutant, NegativeControl
from ..reference import predictors
from .theorem_13 import binary_cases as cases
from .theorem_13 import silent, stronger


def _radius2(case):
    Kc = case["law"].center(case["K"])
    top = np.diagonal(Kc).max()
    if top < 1e-9 * np.abs(case["K"]).max() or top == 0:
        raise HypothesisNotMet("the kernel must vary")
    return top


def bound(case):
    law = case["law"]
    rho_u = law.moments(case["K"], law.target()).theta
    return promised.unnormalized_guarantee(rho_u, _radius2(case))


def measure(case):
    g = predictors.g_star(case["law"], case["K"])
    g = np.where(np.abs(g) < 1e-10 * _radius2(case), 0.0, g)
    return predictors.classification_risk(case["law"], g)


CLAIM = Claim(
    name="p1-theorem-15",
    source=f"{P1}, Theorem 15",
    statement=r"\Pr[y g^*(x) < 0] \le 1 - \rho_u/R^2",
    hypotheses="Labels +-1, K_c(x, x) <= R^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    trivial=lambda case: 1.0,
    extremes=lambda: [silent(0.01), silent(0.96)],
    sharp=True,
    mutants=(Mutant("1.05 times the alignment", stronger(bound, 1.05)),),
    negative_control=NegativeControl(
        lambda: silent(0.96), bound=stronger(bound, 1.05), note="1.05 times the alignment"
    ),
)
