"""When the problem for the neighbourhood matrices is convex.

Statement (after (16) of the paper): the problem in Khat is convex for eta >= 4 beta. Checked: the
two conditions, each 0 or 1, "convex" from the eigenvalues of the second derivative (eta - 2 beta)
I + 2 beta P of the consistent objective. Verdict: false as a condition, since eta >= 2 beta is
sufficient, and necessary unless the kernels span all matrices (P = I); it is strict for
uniqueness. Then the problem is even jointly convex in theta and Khat. At eta = 2 beta the part of
Khat outside the span is arbitrary, below it the objective is unbounded; proofs.md, section 3.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, replace
from ..reference.multitask import projector
from .tasks import random_tasks, terms_of


def cases(draw):
    """Ratios that are not 2 or 4, where rounding decides."""
    ratio = draw.choice((0.5, 1.0, 1.5, 1.9, 2.1, 3.0, 3.9, 4.1, 8.0))
    beta = draw.log_real(1e-2, 1e2)
    return random_tasks(draw) | {"beta": beta, "eta": ratio * beta}


def bound(case):
    return float(case["eta"] >= 4 * case["beta"])


def smallest_eigenvalue(case):
    P = projector(terms_of(case).V)
    hessian = (case["eta"] - 2 * case["beta"]) * np.eye(len(P)) + 2 * case["beta"] * P
    return float(np.linalg.eigvalsh(hessian)[0])


def measure(case):
    return float(smallest_eigenvalue(case) >= 0)


def counterexample(eta=3.0):
    """beta = 1: the smallest eigenvalue is +1 at eta = 3, and -1/2 at eta = 3/2."""
    kernels = [np.array([[[2.0, 1.0], [1.0, 2.0]]])]
    return {"kernels": kernels, "targets": [np.zeros((2, 2))], "eta": eta, "beta": 1.0}


def corrected_bound(case):
    return float(case["eta"] >= 2 * case["beta"])


def _half(case):
    return float(case["eta"] >= case["beta"])


CORRECTED = Claim(
    name="p3-convexity-corrected",
    source=f"{P3}, after (16), corrected",
    statement=r"\nabla^2_{\hat v} \succeq 0 \iff \eta \ge 2\beta",
    hypotheses="The kernels do not span all matrices (n >= 2).",
    kind="equivalence",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(lambda: counterexample(1.5), bound=_half, note="eta >= beta"),
    proof="3",
)

CLAIM = replace(
    CORRECTED,
    name="p3-convexity",
    source=f"{P3}, after (16)",
    statement=r"\nabla^2_{\hat v} \succeq 0 \iff \eta \ge 4\beta",
    bound=bound,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
