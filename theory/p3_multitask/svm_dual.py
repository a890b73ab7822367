"""The dual of the inner problem.

Statement ((12) of the paper, and its remark on regression): for fixed kernels the least value of
|w|^2/2 + C sum of losses over w and the bias is max alpha'1 - alpha'YKY alpha/2 over 0 <= alpha <=
C, y'alpha = 0; likewise for epsilon-SVR max y'g - epsilon ||g||_1 - g'Kg/2 over |g| <= C, 1'g = 0.
Checked: the dual value at the solution of the library's `smo` against the primal value at the w and
the best bias that follow from it; by weak duality equality proves both optimal. Verdict: holds.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl
from ..reference import library, multitask


def cases(draw):
    n = draw.integer(2, 6)
    return {
        "K": draw.log_real(0.1, 10) * draw.kernel(n, draw.choice(("generic", "low-rank"))),
        "labels": draw.signs(n),
        "values": draw.array(n),
        "C": draw.log_real(0.1, 10),
        "epsilon": draw.choice((0.0, 0.1, 0.5)),
    }


def _solutions(case):
    alpha = library.support_vectors(case["K"], case["labels"], case["C"])
    coef = library.support_vector_regression(case["K"], case["values"], case["C"], case["epsilon"])
    return alpha, coef


def bound(case, half=0.5):
    alpha, coef = _solutions(case)
    signed = alpha * case["labels"]
    return np.array(
        [
            alpha.sum() - half * signed @ case["K"] @ signed,
            case["values"] @ coef
            - case["epsilon"] * np.abs(coef).sum()
            - half * coef @ case["K"] @ coef,
        ]
    )


def measure(case):
    alpha, coef = _solutions(case)
    return np.array(
        [
            multitask.hinge_objective(case["K"], case["labels"], alpha, case["C"]),
            multitask.tube_objective(case["K"], case["values"], coef, case["C"], case["epsilon"]),
        ]
    )


def _scale(case):
    n = len(case["labels"])
    size = case["C"] ** 2 * n * np.abs(case["K"]).max() + case["C"] * n
    return np.full(2, 1e-6 * size) + np.abs(measure(case))


def _control_case():
    labels = np.array([1.0, -1.0])
    return {"K": np.eye(2), "labels": labels, "values": labels, "C": 2.0, "epsilon": 0.1}


CLAIM = Claim(
    name="p3-svm-dual",
    source=f"{P3}, (12)",
    statement=(
        r"\min_{w,b}\tfrac12\|w\|^2 + C\sum_i\xi_i = \max_\alpha \alpha^\top 1 -"
        r" \tfrac12\alpha^\top YKY\alpha"
    ),
    hypotheses="K positive semi-definite.",
    kind="equivalence",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-6,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: bound(case, 1.0), note="without the half"
    ),
)
