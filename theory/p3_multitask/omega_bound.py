"""Whether the regulariser bounds the complexity.

Statement (section 4.1 of the paper): the complexity of the class (1) can be bounded by the quantity
Omega of (9). Checked: the complexity by enumeration. Verdict: false; Omega is 0 for Khat = 0 and
may be negative. Correct: at fixed kernels, rho and R the bound (7) is an increasing function of
Omega (with -2c): (1/n) (R/2T)^(1/2) (Omega + [d'A^+d + 2 tr P]/2 + 2 rho)^(1/2); proofs.md, section
6.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import neighbourhood

from ..claim import Claim, NegativeControl
from ..papers import P3
from ..reference.multitask import inverse, projector, regulariser
from .tasks import class_of, random_class, terms_of
from .theorem_1 import identity_case

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return random_class(draw)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return regulariser(terms_of(case), 4.0)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return neighbourhood.neighbourhood_complexity(*class_of(case)).value


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """Khat = 0: Omega is 0 and the complexity 1.414."""
    return identity_case()


def corrected_bound(case):
    terms, T = terms_of(case), len(case["kernels"])
    rest = terms.d @ inverse(terms.A) @ terms.d + 2 * np.trace(projector(terms.V))
    inside = regulariser(terms) + rest / 2 + 2 * case["rho"]
    n = np.mean([len(K[0]) for K in case["kernels"]])
    return float(np.sqrt(case["radius"] / (2 * T) * max(inside, 0.0)) / n)


# -- negative control ------------------------------------------------------------------


def _without_the_rest(case):
    return 0.8 * corrected_bound(case)


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p3-omega-bound-corrected",
    source=f"{P3}, section 4.1, corrected",
    statement=(
        r"\hat{\mathfrak R} \le \frac1n\sqrt{\tfrac{R}{2T}}\big(\Omega + \tfrac12[d^\top A^+d +"
        r" 2\,\mathrm{tr}P] + 2\rho\big)^{1/2}"
    ),
    hypotheses="No bias, a class that is not empty.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    rtol=1e-8,
    negative_control=NegativeControl(counterexample, bound=_without_the_rest, note="0.8 of it"),
    proof="6",
)

CLAIM = replace(
    CORRECTED,
    name="p3-omega-bound",
    source=f"{P3}, section 4.1",
    statement=r"\hat{\mathfrak R} \le \Omega",
    bound=bound,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
