"""The change of alignf's solution with its data, in the norm of the new sample.

Not printed: proposition 21 of the 2012 paper with the samples exchanged, ||Delta v||_M'^2 <= [Delta
a - (Delta M) v]'Delta v; proofs.md, section 15. It is of use where M is singular and M' is not.
Checked: both sides at solutions found by trying every support. Verdict: holds.
"""

from __future__ import annotations

from ..claim import Claim, NegativeControl
from ..papers import P1
from .prop_21 import _control_case, _scale, _solutions, cases

# -- cases: those of proposition 21 ----------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    v, w = _solutions(case)
    return (case["a_new"] - case["a"] - (case["M_new"] - case["M"]) @ v) @ (w - v)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    v, w = _solutions(case)
    return (w - v) @ case["M_new"] @ (w - v)


# -- negative control ------------------------------------------------------------------

# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-prop-21-exchanged",
    source=f"{P1}, Proposition 21, samples exchanged",
    statement=r"\|\Delta v\|_{M'}^2 \le [\Delta a - (\Delta M)v]^\top \Delta v",
    hypotheses="v, v' minimise v'Mv - 2 v'a over v >= 0 for the two samples.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-6,
    sharp=True,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.95 * bound(case), note="0.95 of an attained bound"
    ),
    proof="15",
)
