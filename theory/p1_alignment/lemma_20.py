"""The change of a normalized vector.

Statement (lemma 20 of the 2012 paper): for mu = v/||v||, mu' = v'/||v'||, Delta mu = Delta
v/||v'|| - (Delta v)'(v + v') v/(||v|| ||v'|| (||v|| + ||v'||)). Checked: both sides, v, v' != 0.
Verdict: holds. Sharpened to what is used: ||Delta mu|| <= 2 ||Delta v||/(||v|| + ||v'||);
proofs.md, section 15.

Machine-checked in Coq (lemma_20.v) for vectors of any finite length with positive norms: the
identity in each entry, the corollary, and that it is attained by vectors without negative entries.
"""

import numpy as np

from ..prelude import P1, Claim, HypothesisNotMet, NegativeControl, replace


def cases(draw):
    p = draw.integer(1, 5)
    return {"v": draw.log_real(1e-3, 1e3) * draw.array(p), "v_new": draw.array(p)}


def _sizes(case):
    sizes = np.linalg.norm(case["v"]), np.linalg.norm(case["v_new"])
    if min(sizes) < 1e-6:
        raise HypothesisNotMet("v and v' must not be zero")
    return sizes


def bound(case):
    v, w = case["v"], case["v_new"]
    a, b = _sizes(case)
    return (w - v) / b - (w - v) @ (v + w) * v / (a * b * (a + b))


def measure(case):
    a, b = _sizes(case)
    return case["v_new"] / b - case["v"] / a


def sharp_bound(case):
    a, b = _sizes(case)
    return 2 * np.linalg.norm(case["v_new"] - case["v"]) / (a + b)


def sharp_measure(case):
    return np.linalg.norm(measure(case))


def _control_case():
    """No entry is negative, as none is in alignf's solutions."""
    return {"v": np.array([1.0, 0.0]), "v_new": np.array([0.0, 1.0])}


def _one_term(case):
    return (case["v_new"] - case["v"]) / (2 * _sizes(case)[1])


SHARP = Claim(
    name="p1-lemma-20-corollary",
    source=f"{P1}, Lemma 20, corollary",
    statement=r"\|\Delta\mu\| \le 2\|\Delta v\|/(\|v\|+\|v'\|)",
    hypotheses="v, v' not zero.",
    kind="upper",
    bound=sharp_bound,
    measure=sharp_measure,
    cases=cases,
    scale=lambda case: 1.0,
    sharp=True,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.99 * sharp_bound(case), note="0.99 of a sharp bound"
    ),
    proof="15",
)

CLAIM = replace(
    SHARP,
    name="p1-lemma-20",
    source=f"{P1}, Lemma 20",
    statement=(
        r"\Delta\mu = \frac{\Delta v}{\|v'\|} - \frac{(\Delta v)^\top(v+v')v}"
        r"{\|v\|\|v'\|(\|v\|+\|v'\|)}"
    ),
    kind="identity",
    bound=bound,
    measure=measure,
    scale=lambda case: 1 + np.linalg.norm(case["v"]) / np.linalg.norm(case["v_new"]),
    corrected=SHARP,
    sharp=False,
    negative_control=NegativeControl(_control_case, bound=_one_term, note="half of one term"),
    proof="",
)
