"""The second moment of the forms.

Statement ((29) of the paper): E[u'A^-1 u] <= d'A^-1 d + 2 tr VA^-1V'. Checked: by enumeration,
with A^+. Verdict: holds; sharpened to an identity, d'A^+d + 2 [tr P - sum over t and i of P's
diagonal at (t, ii)], tr P = rank V; proofs.md, section 7.
"""

import numpy as np

from ..bounds import neighborhood
from ..prelude import P3, Claim, NegativeControl, replace
from ..reference.multitask import inverse, projector
from .tasks import random_tasks, terms_of
from .theorem_1 import identity_case


def cases(draw):
    return random_tasks(draw)


def bound(case):
    terms = terms_of(case)
    return float(terms.d @ inverse(terms.A) @ terms.d + 2 * np.trace(projector(terms.V)))


def measure(case):
    inner = inverse(terms_of(case).A)
    u = np.concatenate(list(neighborhood.all_forms(case["kernels"]))).transpose(0, 2, 1)
    stacked = np.concatenate([u.sum(2), u.reshape(len(u), -1)], axis=1)
    return float(np.einsum("si,ij,sj->s", stacked, inner, stacked).mean())


def sharp_bound(case):
    tasks = neighborhood.tasks_of(case["kernels"], case["targets"])
    found = neighborhood.projections(tasks)
    return found.trace_square + 2 * (found.rank - found.diagonal)


def _control_case():
    ones = np.ones((3, 3)) - np.eye(3)
    return identity_case(kernels=[(np.eye(3) + 0.9 * ones)[None]], targets=[np.zeros((3, 3))])


def _without_the_diagonal(case):
    tasks = neighborhood.tasks_of(case["kernels"], case["targets"])
    found = neighborhood.projections(tasks)
    return found.trace_square + 2 * found.rank - found.diagonal


SHARP = Claim(
    name="p3-eq-29-sharpened",
    source=f"{P3}, (29), sharpened",
    statement=(
        r"\mathrm{E}[u^\top A^+u] = d^\top A^+d + 2[\mathrm{rank}V - \sum_{t,i}P_{(t,ii),(t,ii)}]"
    ),
    hypotheses="None.",
    kind="identity",
    bound=sharp_bound,
    measure=measure,
    cases=cases,
    rtol=1e-8,
    negative_control=NegativeControl(
        _control_case, bound=_without_the_diagonal, note="half of the diagonal"
    ),
    proof="7",
)

CLAIM = replace(
    SHARP,
    name="p3-eq-29",
    source=f"{P3}, (29)",
    statement=r"\mathrm{E}[u^\top A^+u] \le d^\top A^+d + 2\,\mathrm{tr}(VA^+V^\top)",
    kind="upper",
    bound=bound,
    corrected=SHARP,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.7 * bound(case), note="0.7 of it"
    ),
    proof="",
)
