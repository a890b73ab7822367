"""The regression guarantee for labels that are not centred.

Statement (section 4.2 of the 2012 paper): with the definitions for labels that are not centred,
h* divided also by E[K_Yc^2]^(1/2), theorem 14 keeps its form, E(y - h*)^2 <= 2 (1 - rho).
Checked: both sides for labels +-1. Verdict: false; y = +-1 with P(1) = 3/4 and K = K_Y has rho =
1 and risk 1/3. Correct: standardise y first, predict y = E[y] + sd(y) h*; then the risk is at
most Var(y) (1 - rho); proofs.md, section 10.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import predictors as promised

from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference import predictors
from ..reference.problems import FiniteDistribution
from .theorem_13 import alignment_of, standardised
from .theorem_13_binary import cases

# -- cases: labels +-1, balanced or not ------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return promised.regression_guarantee_printed(alignment_of(case))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    alignment_of(case)
    law = case["law"]
    return float(predictors.regression_risk(law, predictors.h_star(law, case["K"], general=True)))


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    y = np.array([1.0, -1.0])
    return {"law": FiniteDistribution(np.array([0.75, 0.25]), y), "K": np.outer(y, y)}


def _variance(law):
    return law.mean(law.labels**2) - law.mean(law.labels) ** 2


def corrected_bound(case):
    return _variance(case["law"]) * promised.regression_guarantee(alignment_of(case))


def corrected_measure(case):
    alignment_of(case)
    law = case["law"]
    h = predictors.h_star(standardised(law.weights, law.labels), case["K"])
    return predictors.regression_risk(law, law.mean(law.labels) + np.sqrt(_variance(law)) * h)


# -- negative control ------------------------------------------------------------------


def _noisy():
    """The kernel sees nothing of the label, whose variance remains."""
    y, z = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, -1.0, 0.0, 0.0])
    return {"law": FiniteDistribution(np.full(4, 0.25), y), "K": np.outer(z, z)}


def _not_shifted(case):
    law = case["law"]
    h = predictors.h_star(standardised(law.weights, law.labels), case["K"])
    return predictors.regression_risk(law, np.sqrt(_variance(law)) * h)


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p1-theorem-14-footnote-corrected",
    source=f"{P1}, Theorem 14 for labels that are not centred, corrected",
    statement=(
        r"\mathrm{E}(y - \bar y - \sigma h^*)^2 \le \sigma^2(1-\rho),"
        r"\ \sigma^2 = \mathrm{Var}(y)"
    ),
    hypotheses="Var(y) > 0, 0 < E[K_c^2] finite; h* of the standardised labels.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(_noisy, measure=_not_shifted, note="E[y] is not added"),
    proof="10",
)

CLAIM = replace(
    CORRECTED,
    name="p1-theorem-14-footnote",
    source=f"{P1}, Theorem 14 with the definitions for labels that are not centred",
    statement=r"\mathrm{E}(y - h^*(x))^2 \le 2(1 - \rho)",
    bound=bound,
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, measure=_not_shifted, note="E[y] is not added"
    ),
    proof="",
)
