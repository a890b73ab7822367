"""A large alignment means that a good regression function exists.

Statement (theorem 14 of the 2012 paper): if E[y] = 0 and E[y^2] = 1, then E(y - h*)^2 <= 2 (1 -
rho). Checked: both sides on finite supports. Verdict: holds, with a factor 2 to spare. Sharpened:
E h*^2 <= rho, hence E(y - h*)^2 = 1 - 2 rho + E h*^2 <= 1 - rho, attained by kernels of rank one;
the best multiple of h* has risk 1 - rho^2/E h*^2 exactly; proofs.md, section 10.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import predictors as promised

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P1
from ..reference import predictors
from ..reference.problems import FiniteDistribution
from .theorem_13 import alignment_of, cases

# -- cases: those of theorem 13 --------------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return promised.regression_guarantee_printed(alignment_of(case))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    alignment_of(case)
    return predictors.regression_risk(case["law"], predictors.h_star(case["law"], case["K"]))


# -- correction ------------------------------------------------------------------------


def sharp_bound(case):
    return promised.regression_guarantee(alignment_of(case))


def scaled_bound(case):
    law, rho = case["law"], alignment_of(case)
    energy = law.mean(predictors.h_star(law, case["K"]) ** 2)
    if energy < 1e-12:
        raise HypothesisNotMet("h* must not vanish")
    return promised.scaled_regression_risk(rho, energy)


def scaled_measure(case):
    """Least squares on the single feature h*."""
    law = case["law"]
    h = predictors.h_star(law, case["K"])
    return predictors.regression_risk(law, h * law.mean(law.labels * h) / law.mean(h**2))


# -- negative control ------------------------------------------------------------------


def _control_case():
    u = np.array([1.0, 2.0, -3.0])
    y = np.array([1.0, 0.0, -1.0]) * np.sqrt(1.5)
    return {"law": FiniteDistribution(np.full(3, 1 / 3), y), "K": np.outer(u, u)}


# -- claim -----------------------------------------------------------------------------

SCALED = Claim(
    name="p1-theorem-14-scaled",
    source=f"{P1}, Theorem 14, best multiple of h*",
    statement=r"\min_c \mathrm{E}(y - c h^*)^2 = 1 - \rho^2/\mathrm{E}h^{*2}",
    hypotheses="E[y] = 0, E[y^2] = 1, 0 < E[K_c^2] finite, h* not zero.",
    kind="identity",
    bound=scaled_bound,
    measure=scaled_measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 1 - alignment_of(case) ** 2, note="1 - rho^2"
    ),
    proof="10",
)

SHARP = replace(
    SCALED,
    name="p1-theorem-14-sharpened",
    source=f"{P1}, Theorem 14, sharpened",
    statement=r"\mathrm{E}(y - h^*(x))^2 = 1 - 2\rho + \mathrm{E}h^{*2} \le 1 - \rho",
    hypotheses="E[y] = 0, E[y^2] = 1, 0 < E[K_c^2] finite.",
    kind="upper",
    bound=sharp_bound,
    measure=measure,
    trivial=lambda case: 1.0,
    sharp=True,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.9 * sharp_bound(case), note="0.9 of a sharp bound"
    ),
    corrected=SCALED,
)

CLAIM = replace(
    SHARP,
    name="p1-theorem-14",
    source=f"{P1}, Theorem 14",
    statement=r"\mathrm{E}(y - h^*(x))^2 \le 2(1 - \rho)",
    bound=bound,
    corrected=SHARP,
    sharp=False,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.45 * bound(case), note="constant 0.9 instead of 2"
    ),
    proof="",
)
