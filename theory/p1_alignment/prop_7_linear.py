"""Proposition 7 at q = 1: all the weight on one kernel.

Statement (after proposition 7 of the 2012 paper): for q = 1, that is under sum mu_k <= Lambda, mu'a
is largest with all the weight on the largest a_k; mu >= 0 need not be required. Checked: no
feasible mu does better than Lambda max a_k. Verdict: false; (1 + t, -t) is feasible for Lambda = 1
and a = (2, 1), and its value 2 + t has no bound. Correct: sum |mu_k| <= Lambda, or mu >= 0;
proofs.md, section 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P1

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    p = draw.integer(1, 5)
    return {
        "a": np.abs(draw.array(p)) + 0.01,
        "budget": draw.log_real(1e-2, 1e2),
        "mu": draw.array(p),
    }


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return case["budget"] * case["a"].max()


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    """The competitor's value, shrunk into the printed constraint where that is needed."""
    return _value(case, case["mu"].sum())


def _value(case, used):
    return float(case["mu"] @ case["a"] * min(1.0, case["budget"] / max(used, 1e-300)))


# -- counterexample and correction -----------------------------------------------------


def counterexample(t=10.0):
    """(1 + t, -t): the constraint reads 1 <= 1 and the objective is 2 + t."""
    return {"a": np.array([2.0, 1.0]), "budget": 1.0, "mu": np.array([1 + t, -t])}


def corrected_measure(case):
    return _value(case, np.abs(case["mu"]).sum())


# -- negative control ------------------------------------------------------------------


def _one_kernel():
    return {"a": np.array([2.0, 1.0]), "budget": 1.0, "mu": np.array([1.0, 0.0])}


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p1-prop-7-linear-corrected",
    source=f"{P1}, after Proposition 7, corrected",
    statement=r"\max_{\sum|\mu_k|\le\Lambda} \mu^\top a = \Lambda \max_k a_k",
    hypotheses="a >= 0, of centred products.",
    kind="upper",
    bound=bound,
    measure=corrected_measure,
    cases=cases,
    sharp=True,
    negative_control=NegativeControl(
        _one_kernel, bound=lambda case: 0.99 * bound(case), note="0.99 of an attained bound"
    ),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p1-prop-7-linear",
    source=f"{P1}, after Proposition 7, q = 1",
    statement=r"\max_{\sum\mu_k\le\Lambda} \mu^\top a = \Lambda \max_k a_k",
    hypotheses="The sign of mu is not constrained.",
    measure=measure,
    sharp=False,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
