"""Concentration of the centred alignment, as the printed proof gives it once it is repaired.

Not printed: theorem 12 of the 2012 paper bounds the deviations of E K_c^2 and E K'_c^2 by R^2R'^2,
where its proof gives R^4 and R'^4. With these, |rho - rho_S| <= 18 beta [3/m + 4
(log(6/delta)/2m)^(1/2)] with beta = max(R^4/E K_c^2, R'^4/E K'_c^2), which does not change when a
kernel is multiplied by a constant; proofs.md, section 7, form (i). Checked: the frequency of
violations over samples from a finite support. Verdict: holds, and is far longer than forms (ii) and
(iii) of `p1-theorem-12`.
"""

from __future__ import annotations

from alignlearn.bounds.concentration import alignment_deviation_by_printed_proof

from ..claim import Claim, NegativeControl
from ..papers import P1
from .theorem_12 import _control_case, arguments, cases, extremes, measure

# -- cases and measure: those of theorem 12 --------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    values, radii = arguments(case)
    return alignment_deviation_by_printed_proof(*values, **radii)


# -- measure ---------------------------------------------------------------------------

# -- negative control ------------------------------------------------------------------

# The bound is 100 times what samples show: McDiarmid's inequality for a sum of three deviations.
PART = 0.008

# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-theorem-12-proof",
    source=f"{P1}, Theorem 12, form (i)",
    statement=(
        r"|\rho-\hat\rho| \le 18\beta\Big[\tfrac3m + 4\sqrt{\tfrac{\log(6/\delta)}{2m}}\Big],"
        r"\ \beta = \max\big(\tfrac{R^4}{a}, \tfrac{R'^4}{a'}\big)"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, K'(x, x) <= R'^2; both variances positive.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    extremes=extremes,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: PART * bound(case), note=f"{PART} of it"
    ),
    proof="7",
)
