"""The primal problem of the non-linear SVM and its dual.

Statement (slides, non-linear SVM): the dual with sum alpha_i y_i = 0 has the primal min |f|^2/2 + C
sum xi_i subject to y_i f(x_i) >= 1 - xi_i. Checked: the optimal values. Verdict: misprint; the
equality comes from an intercept. With f + b in the constraint, or without the equality in the dual,
the values agree; proofs.md, section 8.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace
from ..reference.hyper import box_qp
from ..reference.library import support_vectors, support_vectors_without_intercept
from ..reference.multitask import hinge_objective


def cases(draw):
    n = draw.integer(2, 6)
    K = draw.kernel(n, "generic") + 0.1 * np.eye(n)
    y = draw.signs(n)
    y[:2] = 1.0, -1.0
    return {"K": K, "y": y, "C": draw.log_real(0.05, 2.0)}


def dual_value(case, equality):
    """The optimal value of the dual, by an interior point method."""
    K, y, n = case["K"], case["y"], len(case["y"])
    A = y[None] if equality else np.zeros((0, n))
    Q = np.outer(y, y) * K
    alpha, _ = box_qp(Q, -np.ones(n), np.full(n, case["C"]), A)
    return alpha.sum() - alpha @ Q @ alpha / 2


def primal_value(case, intercept):
    """The objective of the primal at the library's solution."""
    K, y, C = case["K"], case["y"], case["C"]
    if intercept:
        return hinge_objective(K, y, support_vectors(K, y, C), C)
    coef = support_vectors_without_intercept(K, y, C) * y
    f = K @ coef
    return coef @ f / 2 + C * np.maximum(0, 1 - y * f).sum()


def bound(case):
    return dual_value(case, True)


def measure(case):
    return primal_value(case, False)


def counterexample():
    """More samples of one class than of the other: the intercept lowers the objective."""
    return {"K": np.eye(3), "y": np.array([1.0, 1.0, -1.0]), "C": 1.0}


def corrected_bound(case):
    return np.array([dual_value(case, True), dual_value(case, False)])


def corrected_measure(case):
    return np.array([primal_value(case, True), primal_value(case, False)])


def _scale(case):
    n = len(case["y"])
    return case["C"] * n * (1.0 + case["C"] * n * np.abs(case["K"]).max())


def _slightly_larger(case):
    """C larger by 5% in the dual alone."""
    return corrected_bound(case | {"C": 1.05 * case["C"]})


def _control_case():
    return counterexample() | {"C": 0.5}


CORRECTED = Claim(
    name="p5-svm-primal-corrected",
    source=f"{P5}, non-linear SVM, corrected",
    statement=(
        r"\min_{f,b}: y_i(f(x_i)+b) \ge 1-\xi_i \leftrightarrow \textstyle\sum\alpha_iy_i = 0;"
        r"\quad \min_f: y_if(x_i) \ge 1-\xi_i \leftrightarrow \text{no equality}"
    ),
    hypotheses="C > 0, both labels occur.",
    kind="equivalence",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    negative_control=NegativeControl(
        _control_case, bound=_slightly_larger, note="C larger by 5 % in the dual"
    ),
    proof="8",
)

CLAIM = replace(
    CORRECTED,
    name="p5-svm-primal",
    source=f"{P5}, non-linear SVM",
    statement=r"\min_f: y_if(x_i) \ge 1-\xi_i \leftrightarrow \textstyle\sum\alpha_iy_i = 0",
    bound=bound,
    measure=measure,
    status=Status.MISPRINT,
    remark=(
        "The intercept is missing in the primal while the dual keeps its equality constraint; add "
        "b, or drop the equality."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: dual_value(case | {"C": 1.05 * case["C"]}, True),
        note="C larger by 5 % in the dual",
    ),
    proof="",
)
