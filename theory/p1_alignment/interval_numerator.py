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
from ..claim import Claim, NegativeControl, once
from ..papers import P1
from ..reference.coverage import half_length, position
from . import prop_11
from .theorem_12 import _control_case, arguments, cases, sample_alignment, statistics

# -- cases: those of theorem 12, and of proposition 11 for target kernels --------------


@once
def intervals(case):
    """Ends (TRIALS, 2), nan where undefined: for any two kernels, and for a target kernel."""
    return [_ends(case, scalar_target) for scalar_target in (False, True)]


def _ends(case, scalar_target):
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
    """rho is away from the middle by half of the length at most, where the interval says more."""
    return half_length(*intervals(case)[0].T)


def target_bound(case):
    return half_length(*intervals(case)[1].T)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return position(*intervals(case)[0].T, case["law"].alignment(case["K"], case["L"]))


def target_measure(case):
    return position(*intervals(case)[1].T, case["law"].alignment(case["K"], case["L"]))


# -- negative control ------------------------------------------------------------------

# Three McDiarmid inequalities and a union bound: the interval is ten times too long.
PART = 0.1


def _large_sample():
    return _control_case() | {"m": 10**6}


def _narrow(value):
    return NegativeControl(
        _large_sample, bound=lambda case: PART * value(case), note=f"{PART} of its length"
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
    bound=target_bound,
    measure=target_measure,
    cases=prop_11.target_cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    extremes=lambda: [_large_sample()],
    negative_control=_narrow(target_bound),
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
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=_narrow(bound),
    corrected=TARGET,
    proof="7",
)
