"""The non-negative combination with the largest alignment is a quadratic program.

Statement (proposition 9 of the 2012 paper): if v minimises v'Mv - 2 v'a over v >= 0, then v/||v||
maximises the alignment over mu >= 0. Checked: with the weights of `AlignF`, that no non-negative
competitor does better, nor the best of all supports. Needs a != 0 (v = 0 exactly when a = 0); M
may be singular, since a lies in its range. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from alignlearn.weights import AlignF

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P1
from ..reference.library import two_stage_weights
from ..reference.matrices import alignf_minimiser
from .prop_8 import cases, quotient, terms

# -- cases: those of proposition 8 -----------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    a, M = terms(case)
    return quotient(two_stage_weights(AlignF(), a, M), a, M)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    a, M = terms(case)
    mu = np.abs(case["mu"])
    size = mu @ M @ mu
    if not size > 0:
        raise HypothesisNotMet("the competitor must not be zero")
    return np.array([mu @ a / np.sqrt(size), quotient(alignf_minimiser(a, M), a, M)])


# -- negative control ------------------------------------------------------------------


def _control_case():
    u, w = np.array([2.0, 0.0, -1.0, -1.0]), np.array([0.0, 1.0, 0.0, -1.0])
    kernels = np.array([np.outer(u, u), np.outer(u + w, u + w)])
    return {"kernels": kernels, "y": u - w, "mu": np.array([1.0, 0.0])}


def _equal_weights(case):
    a, M = terms(case)
    return quotient(np.ones(len(a)), a, M)


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-prop-9",
    source=f"{P1}, Proposition 9",
    statement=(
        r"\arg\max_{\mu\ge0,\|\mu\|=1} \hat\rho(K_\mu, yy^\top) = v/\|v\|,\quad"
        r" v = \arg\min_{v\ge0} v^\top M v - 2 v^\top a"
    ),
    hypotheses="a not zero; M positive semi-definite, possibly singular.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    negative_control=NegativeControl(_control_case, bound=_equal_weights, note="equal weights"),
)
