"""The confidence interval of the alignment by way of its numerator and the two variances.

Not in the paper: McDiarmid's inequality for f, E_S K_c^2 and E_S K'_c^2 with the constants of lemma
18, and their biases, gives an interval from the sample alone; `p1-interval` by way of the
covariances is shorter where it says anything. Sharpened: 128/27 for 5.379 where K' is the target
kernel of real labels; proofs.md, sections 7 and 17. Checked: how often rho lies outside, against
delta, on finite supports. Verdict: holds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..bounds.intervals import alignment_interval_by_numerator
from ..claim import Claim, NegativeControl
from ..papers import P1
from . import prop_11
from .theorem_12 import _control_case, arguments, cases, sample_alignment, statistics

# -- cases: those of theorem 12, and of proposition 11 for target kernels --------------


def intervals(case, scalar_target=False):
    """Lower and upper ends (TRIALS, 2), nan where undefined."""
    (m, delta, _, _), radii = arguments(case)
    defined = ~np.isnan(sample_alignment(case))
    ends = np.full((len(defined), 2), np.nan)
    for i, (f, a, c) in enumerate(zip(*statistics(case))):
        if defined[i]:
            found = alignment_interval_by_numerator(
                m, delta, f, a, c, **radii, scalar_target=scalar_target
            )
            ends[i] = found.low, found.high
    return ends


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """rho exceeds the upper end, or falls below the lower one, by nothing."""
    return 0.0


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return _outside(case, intervals(case))


def target_measure(case):
    return _outside(case, intervals(case, scalar_target=True))


def _outside(case, ends, shrunk=1.0):
    rho, middle = case["law"].alignment(case["K"], case["L"]), sample_alignment(case)
    low, high = (middle + shrunk * (end - middle) for end in ends.T)
    return np.maximum(low - rho, rho - high)


# -- negative control ------------------------------------------------------------------

# Three McDiarmid inequalities and a union bound: the interval is ten times too wide.
PART = 0.1


def _large_sample():
    return _control_case() | {"m": 10**4}


def _narrow(scalar_target):
    return NegativeControl(
        _large_sample,
        measure=lambda case: _outside(case, intervals(case, scalar_target), PART),
        note=f"{PART} of its length",
    )


# -- claim -----------------------------------------------------------------------------

TARGET = Claim(
    name="p1-interval-numerator-target",
    source=f"{P1}, after Theorem 12, new, for a target kernel",
    statement=(
        r"\rho \in \Big[\tfrac{(f - d)_+}{\sqrt{(\hat a+e)(\hat a'+e')}},"
        r" \min\big(1, \tfrac{f + d}{\sqrt{(\hat a-e)(\hat a'-e')}}\big)\Big],"
        r"\ d = R^2R'^2\big[\tfrac{2m^2-3m+2}{m^3} + \tfrac{128}{27}s\big]"
    ),
    hypotheses="Independent points; K(x, x) <= R^2; K' = yy' with |y| <= R'; both vary.",
    kind="upper",
    bound=bound,
    measure=target_measure,
    cases=prop_11.target_cases,
    confidence=0.95,
    scale=lambda case: 1.0,
    negative_control=_narrow(True),
    proof="17",
)

CLAIM = replace(
    TARGET,
    name="p1-interval-numerator",
    source=f"{P1}, after Theorem 12, new",
    statement=(
        r"\rho \in \Big[\tfrac{(f - d)_+}{\sqrt{(\hat a+e)(\hat a'+e')}},"
        r" \min\big(1, \tfrac{f + d}{\sqrt{(\hat a-e)(\hat a'-e')}}\big)\Big],\ s ="
        r" \sqrt{\tfrac{\log(6/\delta)}{2m}},\ d = R^2R'^2\big[\tfrac{2m^2-3m+2}{m^3} +"
        r" \tfrac{25\sqrt{15}}{18}s\big],\ e = R^4\big[\tfrac{2m^2-3m+2}{m^3} + \tfrac{27}{8}s\big]"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, K'(x, x) <= R'^2; both vary on the sample.",
    measure=measure,
    cases=cases,
    negative_control=_narrow(False),
    corrected=TARGET,
    proof="7",
)
