"""From an l_p to an l_q norm.

Statement (before (24) of the paper): ||a||_q <= T^(1/q - 1/p) ||a||_p for a >= 0 and 0 <= q <= p.
Checked: both sides, with q = 1/2, p = 1 as used. Verdict: holds for 0 < q <= p; "0 <=" is a slip,
1/q has no meaning at 0.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P3

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    q = draw.choice((0.5, 0.5, 1.0, 2.0))
    p = q * draw.choice((1.0, 2.0, 2.0, 4.0))
    return {"a": np.abs(draw.array(draw.integer(1, 6))) + 1e-3, "q": q, "p": p}


def _norm(a, q):
    top = a.max()
    return top * ((a / top) ** q).sum() ** (1 / q)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    T = len(case["a"])
    return T ** (1 / case["q"] - 1 / case["p"]) * _norm(case["a"], case["p"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return _norm(case["a"], case["q"])


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {"a": np.ones(3), "q": 0.5, "p": 1.0}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p3-lp-conversion",
    source=f"{P3}, before (24)",
    statement=r"\|a\|_q \le T^{1/q-1/p}\|a\|_p",
    hypotheses="a >= 0, 0 < q <= p.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.5 * bound(case), note="half the bound"
    ),
)
