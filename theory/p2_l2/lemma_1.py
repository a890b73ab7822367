"""The change of the learned weights in terms of the change of v.

Statement (lemma 1, (12) and (23) of the 2009 paper): Delta mu_k = L [Delta v_k/||v'|| - v_k sum_i
(v_i + v'_i) Delta v_i/(||v|| ||v'|| (||v|| + ||v'||))], and with it the term T = sum_k Delta mu_k
w_k.phi_k of the change of h. Checked: both numbers for non-negative v, v' != 0 and given w_k.phi_k.
Isolating a vector V in T needs features with Phi_i(x).Phi_j(x') = 0 for all x, x' and i != j;
definition 1 requires it at equal points only, which the direct sum always provides, so it excludes
nothing. Verdict: holds.
"""

import numpy as np

from ..prelude import P2, Claim, HypothesisNotMet, NegativeControl


def cases(draw):
    p = draw.integer(1, 5)
    return {
        "v": np.abs(draw.log_real(1e-3, 1e3) * draw.array(p)),
        "v_new": np.abs(draw.array(p)),
        "inner": draw.array(p),
        "radius": draw.log_real(1e-2, 1e2),
    }


def _sizes(case):
    sizes = np.linalg.norm(case["v"]), np.linalg.norm(case["v_new"])
    if min(sizes) < 1e-6:
        raise HypothesisNotMet("v and v' must not be zero")
    return sizes


def linear_map(v, v_new, change):
    """Delta mu/L as a linear function of a change of v."""
    a, b = np.linalg.norm(v), np.linalg.norm(v_new)
    return change / b - v * ((v + v_new) @ change) / (a * b * (a + b))


def bound(case):
    _sizes(case)
    step = case["radius"] * linear_map(case["v"], case["v_new"], case["v_new"] - case["v"])
    return np.append(step, step @ case["inner"])


def measure(case):
    a, b = _sizes(case)
    step = case["radius"] * (case["v_new"] / b - case["v"] / a)
    return np.append(step, step @ case["inner"])


def _scale(case):
    a, b = _sizes(case)
    return case["radius"] * (1 + a / b) * (1 + np.abs(case["inner"]).sum())


def _control_case():
    one, two = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    return {"v": one, "v_new": two, "inner": one, "radius": 1.0}


def _first_term(case):
    step = (case["v_new"] - case["v"]) / _sizes(case)[1]
    return np.append(step, step @ case["inner"])


CLAIM = Claim(
    name="p2-lemma-1",
    source=f"{P2}, Lemma 1, (12) and (23)",
    statement=(
        r"\Delta\mu_k = \Lambda\Big[\frac{\Delta v_k}{\|v'\|} -"
        r" \frac{v_k\sum_i(v_i+v'_i)\Delta v_i}{\|v\|\|v'\|(\|v\|+\|v'\|)}\Big]"
    ),
    hypotheses="v, v' not zero.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    negative_control=NegativeControl(_control_case, bound=_first_term, note="first term only"),
)
