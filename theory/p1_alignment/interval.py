"""A confidence interval for the alignment computed from the sample alone.

Not in the paper: theorem 12 needs E[K_c^2] and E[K'_c^2], which are unknown. The interval of
`intervals.alignment_interval_from` needs the three statistics of the sample, R and R'; proofs.md,
section 7. Checked: how often rho lies outside, against delta, on finite supports; where a kernel
does not vary on the sample there is no interval and the sample is not counted. Verdict: holds.

`p1-interval-numerator`. The confidence interval of the alignment derived from its numerator and the
two variances. Not in the paper: McDiarmid's inequality for f, E_S K_c^2 and E_S K'_c^2 with the
constants of lemma 18, and their biases, gives an interval from the sample alone; `p1-interval`,
derived from the covariances, is shorter where it is informative. Sharpened: 128/27 for 5.379 where
K' is the target kernel of real labels; proofs.md, sections 7 and 17. Checked: how often rho lies
outside, against delta, on finite supports. Verdict: holds.
"""

import numpy as np

from alignlearn.bounds.intervals import alignment_interval_from

from ..bounds.intervals import alignment_interval_by_numerator
from ..prelude import P1, Claim, NegativeControl, Status, once, replace
from ..reference.coverage import position, reach
from . import prop_11
from .prop_11 import TRIALS
from .theorem_12 import _control_case, arguments, cases, extremes, sample_alignment, statistics


@once
def intervals(case):
    """Lower and upper end and rho_S (TRIALS, 3), nan where undefined."""
    (m, delta, _, _), radii = arguments(case)
    found = np.full((TRIALS, 3), np.nan)
    for row, sample, (f, a, c) in zip(found, sample_alignment(case), zip(*statistics(case))):
        if not np.isnan(sample):
            row[:] = *alignment_interval_from(m, delta, f, a, c, **radii)[:2], sample
    return found


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*intervals(case).T[:2])


def measure(case):
    return position(*intervals(case).T, case["law"].alignment(case["K"], case["L"]))


# Three uses of McDiarmid's inequality, and an interval that is not centered.
CONTROL = 0.1


CLAIM = Claim(
    name="p1-interval",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
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


# -- p1-interval-numerator -------------------------------------------------------------


def numerator_intervals(case, scalar_target=False):
    """Lower and upper end and rho_S (TRIALS, 3), nan where undefined."""
    (m, delta, _, _), radii = arguments(case)
    found = np.full((prop_11.TRIALS, 3), np.nan)
    for row, sample, (f, a, c) in zip(found, sample_alignment(case), zip(*statistics(case))):
        if not np.isnan(sample):
            values = m, delta, f, a, c
            ends = alignment_interval_by_numerator(*values, **radii, scalar_target=scalar_target)
            row[:] = ends.low, ends.high, sample
    return found


_general = once(numerator_intervals)
_target = once(lambda case: numerator_intervals(case, scalar_target=True))


def numerator_bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*_general(case).T[:2])


def target_bound(case):
    return reach(*_target(case).T[:2])


def numerator_measure(case):
    return position(*_general(case).T, case["law"].alignment(case["K"], case["L"]))


def target_measure(case):
    return position(*_target(case).T, case["law"].alignment(case["K"], case["L"]))


# Three McDiarmid inequalities and a union bound: the interval is ten times too long.
PART = 0.1


def _large_sample():
    return _control_case() | {"m": 10**6}


def _narrow(reached):
    return NegativeControl(
        _large_sample, bound=lambda case: PART * reached(case), note=f"{PART} of its length"
    )


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
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    extremes=lambda: [_large_sample()],
    negative_control=_narrow(target_bound),
    proof="17",
)

NUMERATOR = replace(
    TARGET,
    name="p1-interval-numerator",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"\rho \in \Big[\tfrac{(f - d)_+}{\sqrt{(\hat a+e)(\hat a'+e')}},"
        r" \min\big(1, \tfrac{f + d}{\sqrt{(\hat a-e)(\hat a'-e')}}\big)\Big],\ s ="
        r" \sqrt{\tfrac{\log(6/\delta)}{2m}},\ d = R^2R'^2\big[\tfrac{2m^2-3m+2}{m^3} +"
        r" \tfrac{25\sqrt{15}}{18}s\big],\ e = R^4\big[\tfrac{2m^2-3m+2}{m^3} + \tfrac{27}{8}s\big]"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, K'(x, x) <= R'^2; both vary on the sample.",
    bound=numerator_bound,
    measure=numerator_measure,
    cases=cases,
    negative_control=_narrow(numerator_bound),
    corrected=TARGET,
    proof="7",
)
