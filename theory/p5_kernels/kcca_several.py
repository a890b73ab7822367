"""Measures of dependence of more than two variables from the KCCA problem.

Statement (slides, Q3, for M variables): the problem with the blocks G_i G_j and (G_i + kappa I)^2
and its eigenvalue gamma generalise the one of two variables, whose eigenvalues are 1 +- lambda;
which gamma is the measure is not said. Checked: that the largest less 1 is 1 less the smallest, as
for M = 2. Verdict: false for M > 2; these are two measures, max in [1, M] and min in [0, 1]. With
a = max - 1 and b = 1 - min: a <= (M - 1) b and b <= (M - 1) a, so that a/(M - 1) is in [0, 1] and
both vanish together; proofs.md, section 13.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P5
from ..reference import kcca
from ..reference.matrices import center

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    views = draw.integer(2, 4)
    return {"G": kcca.drawn(draw, views, most=5), "kappa": draw.log_real(1e-2, 10.0)}


def ends(case):
    """(max - 1, 1 - min)."""
    A, B = kcca.pencil(case["G"], case["kappa"])
    values = kcca.eigenvalues(A + B, B)
    return values[-1] - 1, 1 - values[0]


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return ends(case)[1]


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return ends(case)[0]


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """A view of two points three times: the eigenvalues are near 3, and 0 twice."""
    return {"G": np.array([center(np.eye(2))] * 3), "kappa": 0.01}


def corrected_bound(case):
    a, b = ends(case)
    views = len(case["G"])
    return np.array([(views - 1) * b, (views - 1) * a, views - 1, 1.0])


def corrected_measure(case):
    a, b = ends(case)
    return np.array([a, b, a, b])


# -- negative control ------------------------------------------------------------------


def _slightly_less(case):
    return np.append(0.95 * corrected_bound(case)[:2], corrected_bound(case)[2:])


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p5-kcca-several-corrected",
    source=f"{P5}, KCCA, Q3, corrected",
    statement=(
        r"\gamma_{\max}-1 \le (M-1)(1-\gamma_{\min}),\ 1-\gamma_{\min} \le"
        r" (M-1)(\gamma_{\max}-1),\ 1 \le \gamma_{\max} \le M,\ 0 \le \gamma_{\min} \le 1"
    ),
    hypotheses="kappa > 0.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: (1.0 + np.abs(case["G"]).max() / case["kappa"]) ** 2,
    rtol=1e-10,
    negative_control=NegativeControl(
        counterexample, bound=_slightly_less, note="0.95 of the first two bounds"
    ),
    proof="13",
    extremes=lambda: [counterexample()],
    sharp=True,
)

CLAIM = replace(
    CORRECTED,
    name="p5-kcca-several",
    source=f"{P5}, KCCA, Q3",
    statement=r"\gamma_{\max} - 1 = 1 - \gamma_{\min}",
    kind="identity",
    bound=bound,
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        lambda: counterexample() | {"G": np.array([center(np.eye(2))] * 2)},
        bound=lambda case: 0.95 * bound(case),
        note="0.95 of it, for two views",
    ),
    proof="",
    extremes=None,
    sharp=False,
)
