"""The concentration of the unbiased estimate by Hoeffding's inequality.

Not in the paper. U is a mean over quadruples of a kernel h of range [-4/3, 8/3] R^2 R'^2, half of
that if K >= 0, so |U - E[K_c K'_c]| <= w (log(2/delta)/(2 floor(m/4)))^(1/2) with w = 4 R^2R'^2, or
2 R^2R'^2; proofs.md, section 18. For K >= 0, and for small m, this is shorter than the bound by
exchange of one point (`p1-u-statistic`), otherwise longer. Checked: the frequency of violations
over samples from a finite support. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.u_statistics import hoeffding_deviation

from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.problems import FiniteDistribution
from .lemma_18 import unit_features
from .u_statistic import cases as general_cases
from .u_statistic import measure

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = general_cases(draw) | {"nonnegative": draw.choice((False, True))}
    if case["nonnegative"]:
        F = np.abs(unit_features(draw, len(case["K"])))
        case["K"] = F @ F.T
    return case


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return hoeffding_deviation(case["m"], case["delta"], nonnegative=case["nonnegative"])


# -- measure: that of `p1-u-statistic` -------------------------------------------------

# -- negative control ------------------------------------------------------------------

PART = 0.15


def _control_case():
    """Two points, the rarer of weight 1/5, far from each other."""
    law, z = FiniteDistribution(np.array([0.2, 0.8])), np.array([1.0, -1.0])
    case = {"law": law, "K": np.eye(2), "L": np.outer(z, z), "nonnegative": True}
    return case | {"m": 100, "delta": 0.05, "seed": 1}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-u-hoeffding",
    source=f"{P1}, after Proposition 11, new",
    statement=(
        r"|U - \mathrm{E}[K_cK'_c]| \le w\sqrt{\tfrac{\log(2/\delta)}{2\lfloor m/4\rfloor}},"
        r"\ w = 4R^2R'^2 \text{, or } 2R^2R'^2 \text{ for } K \ge 0"
    ),
    hypotheses="m >= 4 independent points; K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        _control_case, bound=lambda case: PART * bound(case), note=f"{PART} of it"
    ),
    proof="18",
)
