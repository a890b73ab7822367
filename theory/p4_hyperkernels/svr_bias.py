"""Where the bias of support vector regression goes.

Statement ((2.3) and (2.7) of the 2020 paper): the minimiser of (2.7) is the learned kernel k* =
sum beta k. Checked: the value of (2.7) at k* alone against its optimal value. Verdict: holds after
a fix: the learned kernel is k* + b. A negative b can destroy definiteness, a constant target -1
has beta = 0, and as sum beta = 0, coefficients that are all >= 0 only occur as beta = 0; (2.9) has
another b for each cluster; proofs.md, section 6.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P4
from ..reference import hyper
from .eq_2_8 import solution
from .problems import random_case

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = random_case(draw, most=3)
    return case | {"C": draw.log_real(0.01, 2.0), "eps": draw.real(0.01, 0.3)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """The optimal value, from the dual, and the sum of the coefficients."""
    return np.array([solution(case)[-1], 0.0])


# -- measure: what is true -------------------------------------------------------------


def measure(case, share=0.0):
    K, y, beta, b, _ = solution(case)
    value = hyper.svr_objective(K, y, beta, share * b, case["C"], case["eps"])
    return np.array([value, beta.sum()])


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """A target near -1: the bias carries most of it."""
    target = np.array([[-1.0, -0.8], [-0.8, -1.0]])
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    case = {"X": np.array([[0.0], [1.0]]), "kernel": kernel, "target": target}
    return case | {"C": 0.5, "eps": 0.01}


def corrected_measure(case):
    return measure(case, share=1.0)


# -- negative control ------------------------------------------------------------------


def _nearly_all(case):
    return measure(case, share=0.85)


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p4-svr-bias-corrected",
    source=f"{P4}, (2.3) and (2.7), corrected",
    statement=r"k + b \text{ with } k = \sum\beta_{ij}\underline{k},\ \sum\beta_{ij} = 0",
    hypotheses="C > 0, eps >= 0.",
    kind="identity",
    bound=bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: case["C"] * (1.0 + np.abs(case["target"]).sum()),
    rtol=1e-6,
    negative_control=NegativeControl(counterexample, measure=_nearly_all, note="85 % of the bias"),
    proof="6",
)

CLAIM = replace(
    CORRECTED,
    name="p4-svr-bias",
    source=f"{P4}, (2.3) and (2.7)",
    statement=r"k^* = \sum\beta_{ij}\underline{k}((x_i,x_j),\cdot) \text{ solves } (2.7)",
    measure=measure,
    status="holds after fix",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, measure=lambda case: measure(case, 0.5), note="half the bias"
    ),
    proof="",
)
