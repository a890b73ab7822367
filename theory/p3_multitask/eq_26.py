"""The supremum over the weights in closed form.

Statement ((26) of the paper): for fixed signs the maximum of theta'u over the constraint (3) is
(u'A^-1 b + (u'A^-1 u)^(1/2) (b'A^-1 b + 4(rho - c))^(1/2))/2. Checked: against the maximum over
theta >= 0, by trying every support. Verdict: holds as an upper bound, with A^+; it is attained
where the unconstrained maximizer is not negative. It needs b'A^+b + 4(rho - c) = 4(rho - ||(I -
P)v||^2) >= 0.
"""

import numpy as np

from ..bounds import neighborhood
from ..prelude import P3, Claim, NegativeControl
from ..reference.multitask import forms, inverse, largest_form
from .tasks import random_class, terms_of
from .theorem_1 import identity_case


def cases(draw):
    case = random_class(draw, most_tasks=2)
    return case | {"signs": draw.signs(sum(len(K[0]) for K in case["kernels"]))}


def bound(case):
    """The closed form with the matrices of the paper, and the library's bound with theta >= 0."""
    terms, u = terms_of(case), forms(case["kernels"], case["signs"])
    inner, stacked = inverse(terms.A), np.concatenate([u.sum(1), u.ravel()])
    room = terms.b @ inner @ terms.b + 4 * (case["rho"] - terms.c)
    slope = max(stacked @ inner @ stacked, 0.0)
    return (stacked @ inner @ terms.b + np.sqrt(slope * max(room, 0.0))) / 2


def measure(case):
    """The maximum found by trying every support, and the one found by the library."""
    u = forms(case["kernels"], case["signs"])
    tasks = neighborhood.tasks_of(case["kernels"], case["targets"])
    found = neighborhood.largest_forms(tasks, u.T[None], case["rho"])[0]
    return np.array([largest_form(terms_of(case), u, case["rho"]), found])


def _scale(case):
    terms = terms_of(case)
    u = forms(case["kernels"], case["signs"])
    stacked = np.concatenate([u.sum(1), u.ravel()])
    slope = max(stacked @ inverse(terms.A) @ stacked, 0.0)
    return np.sqrt(slope * (terms.c + case["rho"])) + 1e-300


def _control_case():
    return identity_case(signs=np.ones(2))


CLAIM = Claim(
    name="p3-eq-26",
    source=f"{P3}, (26)",
    statement=(
        r"\max_\theta \theta^\top u \le \tfrac12\big(u^\top A^+b +"
        r" \sqrt{u^\top A^+u}\sqrt{b^\top A^+b + 4(\rho-c)}\big)"
    ),
    hypotheses="A class that is not empty.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    sharp=True,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.9 * bound(case), note="0.9 of it"
    ),
)
