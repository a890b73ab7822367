"""The single-stage problem is convex in the weights.

Statement (after (9) of the 2012 paper): mu -> y'(K_mu + I)^-1 y is convex, hence (9) is. Checked:
the value at a point between two weight vectors against the chord. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, Mutant, NegativeControl
from ..papers import P1
from ..reference.matrices import combine, krr

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(m) for _ in range(p)]),
        "y": draw.array(m),
        "ends": np.abs(draw.array((2, p))),
        "share": draw.real(0.0, 1.0),
    }


def _value(case, mu):
    return case["y"] @ krr(combine(mu, case["kernels"]), case["y"], 1.0)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    (mu, nu), s = case["ends"], case["share"]
    return s * _value(case, mu) + (1 - s) * _value(case, nu)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    (mu, nu), s = case["ends"], case["share"]
    return _value(case, s * mu + (1 - s) * nu)


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {
        "kernels": np.ones((1, 1, 1)),
        "y": np.ones(1),
        "ends": np.array([[1.0], [1.0]]),
        "share": 0.5,
    }


def _linear_form(case):
    """y'(K_mu + I) y is linear in mu, its square root is concave."""
    (mu, nu), s = case["ends"], case["share"]
    K = combine(s * mu + (1 - s) * nu, case["kernels"])
    return np.sqrt(case["y"] @ (K + np.eye(len(K))) @ case["y"])


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-eq-9-convex",
    source=f"{P1}, after (9)",
    statement=r"\mu \mapsto y^\top (K_\mu + I)^{-1} y \text{ is convex on } \mu \ge 0",
    hypotheses="K_k positive semi-definite.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: case["y"] @ case["y"],
    rtol=1e-8,
    mutants=(Mutant("a concave function of mu", measure=_linear_form),),
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.95 * bound(case), note="0.95, where both ends agree"
    ),
)
