"""The rank of the matrix A of the constraint.

Statement (after (4) of the paper): A is positive definite if the base kernels are linearly
independent. Checked: the rank of A against M + MT. Verdict: false always, since the column of mu^m
is the sum of those of lambda_t^m. Correct: A = V'V is positive semi-definite of rank sum_t rank G_t
<= MT, and b, d, u lie in its range, so that A^+ may stand for the inverse; proofs.md, section 2.
"""

import numpy as np

from ..bounds.neighborhood import projections, tasks_of
from ..prelude import P3, Claim, NegativeControl, Status, replace
from .tasks import random_tasks, terms_of


def cases(draw):
    return random_tasks(draw)


def bound(case):
    return len(terms_of(case).d)


def measure(case):
    A = terms_of(case).A
    size = np.sqrt(np.diag(A))
    values = np.linalg.eigvalsh(A / np.outer(size, size)) if size.all() else np.linalg.eigvalsh(A)
    return int((values > 1e-10 * values[-1]).sum())


def counterexample():
    """T = M = 2, K^1 = I, K^2 = 11': rank 4, not 6."""
    kernels = [np.array([np.eye(2), np.ones((2, 2))])] * 2
    return {"kernels": kernels, "targets": [np.eye(2)] * 2}


def corrected_bound(case):
    return projections(tasks_of(case["kernels"], case["targets"])).rank


def _one_more(case):
    return corrected_bound(case) + 1


CORRECTED = Claim(
    name="p3-matrix-a-corrected",
    source=f"{P3}, section 3, after (4), corrected",
    statement=r"\mathrm{rank}\,A = \sum_t \mathrm{rank}\,G_t \le MT < M+MT",
    hypotheses="None.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(counterexample, bound=_one_more, note="one more"),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p3-matrix-a",
    source=f"{P3}, section 3, after (4)",
    statement=r"\mathrm{rank}\,A = M+MT",
    hypotheses="Linearly independent kernels in every task.",
    bound=bound,
    status=Status.FALSE,
    remark=(
        "A is never positive definite: its rank is at most MT and it has M + MT rows; every "
        "inverse of A has to be read as a pseudo-inverse."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
