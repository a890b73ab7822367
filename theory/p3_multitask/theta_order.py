"""The order of the entries of theta in the constraint (3).

Statement (section 2, (3) to (6) of the paper): with theta = [mu; lambda_1; ...; lambda_T], theta'A
theta - theta'b + c = sum_t ||K_t - Khat_t||_F^2. Checked: both sides, A, b and c formed by (4) to
(6). Verdict: misprint; false for T > 1 and M > 1; those matrices are for theta = [mu;
vec(Lambda')], task by task within a kernel (also: lambda_t starts with lambda_1^1 in print, read
lambda_t^1); proofs.md, section 2.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, Status, replace
from ..reference.matrices import frobenius
from .tasks import learned, random_tasks, random_weights, stacked, terms_of


def cases(draw):
    case = random_tasks(draw)
    return case | random_weights(draw, case)


def _constraint(case, theta):
    terms = terms_of(case)
    return float(theta @ terms.A @ theta - theta @ terms.b + terms.c)


def _scale(case):
    terms, theta = terms_of(case), stacked(case)
    return theta @ np.abs(terms.A) @ theta + theta @ np.abs(terms.b) + terms.c + 1e-300


def bound(case):
    return _constraint(case, np.concatenate([case["mu"], case["lam"].T.ravel()]))


def measure(case):
    gaps = [K - target for K, target in zip(learned(case), case["targets"])]
    return float(sum(frobenius(gap, gap) for gap in gaps))


def counterexample():
    """Two tasks with the kernels I and 11', lambda_1 = (1, 2), lambda_2 = (3, 0): 44 against 58."""
    kernels = [np.array([np.eye(2), np.ones((2, 2))])] * 2
    lam = np.array([[1.0, 3.0], [2.0, 0.0]])
    targets = [np.zeros((2, 2)), np.zeros((2, 2))]
    return {"kernels": kernels, "targets": targets, "mu": np.zeros(2), "lam": lam}


def corrected_bound(case):
    return _constraint(case, stacked(case))


def _half_of_b(case):
    """b_t^m = tr K_t^m Khat_t, without the factor 2."""
    return corrected_bound(case) + stacked(case) @ terms_of(case).b / 2


def _control_case():
    return counterexample() | {"targets": [np.eye(2), np.ones((2, 2))]}


CORRECTED = Claim(
    name="p3-theta-order-corrected",
    source=f"{P3}, (3), corrected",
    statement=(
        r"\theta = [\mu; \mathrm{vec}(\Lambda^\top)]:\ \theta^\top A\theta - \theta^\top b + c ="
        r" \sum_t\|K_t-\hat K_t\|_F^2"
    ),
    hypotheses="None.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    negative_control=NegativeControl(_control_case, bound=_half_of_b, note="b halved"),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p3-theta-order",
    source=f"{P3}, (3)",
    statement=(
        r"\theta = [\mu; \lambda_1; \ldots; \lambda_T]:\ \theta^\top A\theta - \theta^\top b + c ="
        r" \sum_t\|K_t-\hat K_t\|_F^2"
    ),
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "A orders the task weights by kernel and theta lists them by task; with the printed order "
        "the quadratic form belongs to other weights."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
