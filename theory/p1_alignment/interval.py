"""A confidence interval for the alignment that uses nothing but the sample.

Not in the paper: theorem 12 needs E[K_c^2] and E[K'_c^2], which nobody knows. The interval of
`intervals.alignment_interval_from` needs the three statistics of the sample, R and R'; proofs.md,
section 7. Checked: how often rho lies outside, against delta, on finite supports; where a kernel
does not vary on the sample there is no interval and the sample is not counted. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..bounds.intervals import alignment_interval_from
from ..claim import Claim, NegativeControl
from ..papers import P1
from .theorem_12 import _control_case, arguments, cases, sample_alignment, statistics

# -- cases: those of theorem 12 --------------------------------------------------------


def intervals(case):
    """Lower and upper ends (TRIALS, 2), nan where undefined."""
    (m, delta, _, _), radii = arguments(case)
    defined = ~np.isnan(sample_alignment(case))
    ends = np.full((len(defined), 2), np.nan)
    for i, (f, a, c) in enumerate(zip(*statistics(case))):
        if defined[i]:
            ends[i] = alignment_interval_from(m, delta, f, a, c, **radii)[:2]
    return ends


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """rho exceeds the upper end, or falls below the lower one, by nothing."""
    return 0.0


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    low, high = intervals(case).T
    rho = case["law"].alignment(case["K"], case["L"])
    return np.maximum(low - rho, rho - high)


# -- negative control ------------------------------------------------------------------


def _tiny_interval(case):
    """The interval with its half-width divided by fifty."""
    rho = case["law"].alignment(case["K"], case["L"])
    low, high = intervals(case).T
    middle = sample_alignment(case)
    return np.maximum(middle - (middle - low) / 50 - rho, rho - middle - (high - middle) / 50)


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
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case, measure=_tiny_interval, note="too narrow by 50"
    ),
    proof="7",
)
