"""The regulariser of the neighbourhood matrices.

Statement ((9) of the paper): the part of (7) that depends on Khat is Omega = d'A^-1 b + b'A^-1 b/2
- 4c. Checked: the bracket of (7) at Khat minus that at Khat = 0. Verdict: false, by a
sign-changing amount: -4c should be -2c. Correct: Omega = d'A^+b + b'A^+b/2 - 2c = 2 [d'A^+V'v -
||(I - P)v||^2]; proofs.md, section 3. The error makes model (10) unbounded (`p3-model`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import neighbourhood

from ..claim import Claim, NegativeControl
from ..papers import P3
from ..reference.multitask import inverse, regulariser
from .tasks import random_tasks, terms_of

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return random_tasks(draw)


def _scale(case):
    terms = terms_of(case)
    inner = inverse(terms.A)
    return abs(terms.d @ inner @ terms.b) + 4 * terms.c + 1e-300


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return regulariser(terms_of(case), 4.0)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    """What (7) has in place of rho and of the terms without Khat cancels."""
    terms = terms_of(case)
    inner = inverse(terms.A)
    return float(terms.d @ inner @ terms.b + (terms.b @ inner @ terms.b - 4 * terms.c) / 2)


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """K = Khat = I, n = 2: (7) has 4, Omega as printed is 0."""
    return {"kernels": [np.eye(2)[None]], "targets": [np.eye(2)]}


def corrected_bound(case):
    """By the matrices of the paper, and from what is projected on the span of the kernels."""
    found = neighbourhood.projections(neighbourhood.tasks_of(case["kernels"], case["targets"]))
    return np.array([regulariser(terms_of(case)), 2 * (found.trace_target - found.distance)])


# -- negative control ------------------------------------------------------------------


def _three(case):
    return np.full(2, regulariser(terms_of(case), 3.0))


# -- claim -----------------------------------------------------------------------------

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
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
