"""The radius in the proof of theorem 1.

Statement (before (22) of the paper): the class of the proof has sum_t alpha_t'K_t alpha_t <= R^2,
and (7) bounds its complexity. Checked: by enumeration. Verdict: true after a fix; the class (1)
has sum_t ||w_t||^2 <= R, and R^(1/2) in (23) is right for that; proofs.md, section 6.
"""

from __future__ import annotations

from dataclasses import replace

from alignlearn.bounds import neighbourhood

from ..claim import Claim, NegativeControl
from ..papers import P3
from .tasks import class_of, random_class
from .theorem_1 import identity_case

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return random_class(draw)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return neighbourhood.neighbourhood_bounds(*class_of(case)).printed


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return corrected_measure(case | {"radius": case["radius"] ** 2})


def corrected_measure(case):
    return neighbourhood.neighbourhood_complexity(*class_of(case)).value


# -- counterexample --------------------------------------------------------------------


def counterexample():
    """R = 4: 2.828 against 1.732; with sum_t ||w_t||^2 <= R the complexity is 1.414."""
    return identity_case()


# -- negative control ------------------------------------------------------------------


def _smaller_power(case):
    return corrected_measure(case | {"radius": case["radius"] ** 1.5})


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p3-psi-alpha-corrected",
    source=f"{P3}, before (22), corrected",
    statement=r"\textstyle\sum_t \alpha_t^\top K_t\alpha_t \le R",
    hypotheses="No bias, a class that is not empty.",
    kind="upper",
    bound=bound,
    measure=corrected_measure,
    cases=cases,
    rtol=1e-8,
    negative_control=NegativeControl(counterexample, measure=_smaller_power, note="R^(3/2)"),
    proof="6",
)

CLAIM = replace(
    CORRECTED,
    name="p3-psi-alpha",
    source=f"{P3}, before (22)",
    statement=r"\textstyle\sum_t \alpha_t^\top K_t\alpha_t \le R^2",
    measure=measure,
    status="holds after fix",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
