"""The regularizer of the neighborhood matrices.

Statement ((9) of the paper): the part of (7) that depends on Khat is Omega = d'A^-1 b + b'A^-1 b/2
- 4c. Checked: the bracket of (7) at Khat minus that at Khat = 0. Verdict: misprint, by a
sign-changing amount: -4c should be -2c. Correct: Omega = d'A^+b + b'A^+b/2 - 2c = 2 [d'A^+V'v -
||(I - P)v||^2]; proofs.md, section 3. The error makes model (10) unbounded (`p3-model`).

`p3-omega-bound`. Whether the regularizer bounds the complexity. Statement (section 4.1 of the
paper): the complexity of the class (1) can be bounded by the quantity Omega of (9). Checked: the
complexity by enumeration. Verdict: misprint; Omega is 0 for Khat = 0 and may be negative. Correct:
at fixed kernels, rho and R the bound (7) is an increasing function of Omega (with -2c): (1/n)
(R/2T)^(1/2) (Omega + [d'A^+d + 2 tr P]/2 + 2 rho)^(1/2); proofs.md, section 6.
"""

import numpy as np

from ..bounds import neighborhood
from ..prelude import P3, Claim, NegativeControl, Status, replace
from ..reference.multitask import inverse, projector, regularizer
from .tasks import class_of, random_class, random_tasks, terms_of
from .theorem_1 import identity_case


def cases(draw):
    return random_tasks(draw)


def _scale(case):
    terms = terms_of(case)
    inner = inverse(terms.A)
    return abs(terms.d @ inner @ terms.b) + 4 * terms.c + 1e-300


def bound(case):
    return regularizer(terms_of(case), 4.0)


def measure(case):
    """The bracket with rho, and the terms that do not depend on Khat, canceled."""
    terms = terms_of(case)
    inner = inverse(terms.A)
    return float(terms.d @ inner @ terms.b + (terms.b @ inner @ terms.b - 4 * terms.c) / 2)


def counterexample():
    """K = Khat = I, n = 2: (7) has 4, Omega as printed is 0."""
    return {"kernels": [np.eye(2)[None]], "targets": [np.eye(2)]}


def corrected_bound(case):
    """By the matrices of the paper, and by the projections on the span of the kernels."""
    found = neighborhood.projections(neighborhood.tasks_of(case["kernels"], case["targets"]))
    return np.array([regularizer(terms_of(case)), 2 * (found.trace_target - found.distance)])


def _three(case):
    return np.full(2, regularizer(terms_of(case), 3.0))


CORRECTED = Claim(
    name="p3-omega-corrected",
    source=f"{P3}, (9), corrected",
    statement=(
        r"\Omega = d^\top A^+b + \tfrac12 b^\top A^+b - 2c = 2[d^\top A^+V^\top\hat v -"
        r" \|(I-P)\hat v\|^2]"
    ),
    hypotheses="None.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(counterexample, bound=_three, note="-3c"),
    proof="3",
)

CLAIM = replace(
    CORRECTED,
    name="p3-omega",
    source=f"{P3}, (9)",
    statement=r"\Omega = d^\top A^{-1}b + \tfrac12 b^\top A^{-1}b - 4c",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "4(rho - c)/2 gives -2c, not -4c; everything derived from (9) contains the wrong factor."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)


# -- p3-omega-bound --------------------------------------------------------------------


def complexity_cases(draw):
    return random_class(draw)


def complexity_bound(case):
    return regularizer(terms_of(case), 4.0)


def complexity_measure(case):
    return neighborhood.neighborhood_complexity(*class_of(case)).value


def complexity_counterexample():
    """Khat = 0: Omega is 0 and the complexity 1.414."""
    return identity_case()


def complexity_corrected_bound(case):
    terms, T = terms_of(case), len(case["kernels"])
    rest = terms.d @ inverse(terms.A) @ terms.d + 2 * np.trace(projector(terms.V))
    inside = regularizer(terms) + rest / 2 + 2 * case["rho"]
    n = np.mean([len(K[0]) for K in case["kernels"]])
    return float(np.sqrt(case["radius"] / (2 * T) * max(inside, 0.0)) / n)


def _without_the_rest(case):
    return 0.8 * complexity_corrected_bound(case)


COMPLEXITY_CORRECTED = Claim(
    name="p3-omega-bound-corrected",
    source=f"{P3}, section 4.1, corrected",
    statement=(
        r"\hat{\mathfrak R} \le \frac1n\sqrt{\tfrac{R}{2T}}\big(\Omega + \tfrac12[d^\top A^+d +"
        r" 2\,\mathrm{tr}P] + 2\rho\big)^{1/2}"
    ),
    hypotheses="No bias, a class that is not empty.",
    kind="upper",
    bound=complexity_corrected_bound,
    measure=complexity_measure,
    cases=complexity_cases,
    rtol=1e-8,
    negative_control=NegativeControl(
        complexity_counterexample, bound=_without_the_rest, note="0.8 of it"
    ),
    proof="6",
)

COMPLEXITY = replace(
    COMPLEXITY_CORRECTED,
    name="p3-omega-bound",
    source=f"{P3}, section 4.1",
    statement=r"\hat{\mathfrak R} \le \Omega",
    bound=complexity_bound,
    status=Status.MISPRINT,
    remark=(
        "With -4c in place of -2c, and without the terms that do not depend on Khat, Omega alone "
        "is not a bound; it can be 0 or negative."
    ),
    follows="p3-omega",
    counterexample=complexity_counterexample,
    corrected=COMPLEXITY_CORRECTED,
    negative_control=NegativeControl(complexity_counterexample, note="the counterexample itself"),
    proof="",
)
