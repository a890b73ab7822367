"""A confidence interval for the alignment that uses nothing but the sample.

Not in the paper: theorem 12 needs E[K_c^2] and E[K'_c^2], which nobody knows. The interval of
`intervals.alignment_interval_from` needs the three statistics of the sample, R and R'; proofs.md,
section 7. Checked: how often rho lies outside, against delta, on finite supports; where a kernel
does not vary on the sample there is no interval and the sample is not counted. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.intervals import alignment_interval_from

from ..claim import Claim, NegativeControl, once
from ..papers import P1
from ..reference.coverage import position, reach
from .prop_11 import TRIALS
from .theorem_12 import _control_case, arguments, cases, extremes, sample_alignment, statistics

# -- cases: those of theorem 12 --------------------------------------------------------


@once
def intervals(case):
    """Lower and upper end and rho_S (TRIALS, 3), nan where undefined."""
    (m, delta, _, _), radii = arguments(case)
    found = np.full((TRIALS, 3), np.nan)
    for row, sample, (f, a, c) in zip(found, sample_alignment(case), zip(*statistics(case))):
        if not np.isnan(sample):
            row[:] = *alignment_interval_from(m, delta, f, a, c, **radii)[:2], sample
    return found


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that says anything."""
    return reach(*intervals(case).T[:2])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return position(*intervals(case).T, case["law"].alignment(case["K"], case["L"]))


# -- negative control ------------------------------------------------------------------


# McDiarmid's inequality, three times, and an interval that is not centred.
CONTROL = 0.1


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-interval",
    source=f"{P1}, after Theorem 12, new",
    statement=(
        r"\rho \in \Big[\tfrac{(\hat b-\tau)_+^2}{(\hat A+\tau)(\hat A'+\tau)},"
        r" \min\big(1, \tfrac{(\hat b+\tau)^2}{(\hat A-\tau)(\hat A'-\tau)}\big)\Big]"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, K'(x, x) <= R'^2; both vary on the sample.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    extremes=extremes,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        _control_case, bound=lambda case: CONTROL * bound(case), note=f"{CONTROL} of its length"
    ),
    proof="7",
)
