"""The block coordinate steps on (12).

Statement (section 4.2 of the paper): the steps in alpha, theta and Khat are block coordinate
descent. Checked: with the corrected steps, the objective J(theta) = sum_t SVM_t(theta_t) + beta
d'theta (the minimum over Khat, up to a constant) after one round is at most that before. Verdict:
gap; alpha maximizes, so the rounds need not decrease the objective. Correct: a round is exactly one
projected gradient step of length 1/eta on J in the metric of A, theta_t <- argmin over theta >= 0
of ||theta
- theta_t||_{G_t}^2 + (2/eta)(beta d_t - q_t)'theta, so that eta only acts as an inverse step size;
proofs.md, section 8.
"""

import numpy as np

from ..bounds.neighborhood import tasks_of
from ..prelude import P3, Claim, NegativeControl, Status, combine, replace
from ..reference.library import support_vectors
from ..reference.matrices import alignf_minimizer, frobenius
from ..reference.multitask import svm_value, unstack
from .prop_1 import closed_form
from .tasks import random_model


def cases(draw):
    case = random_model(draw, most_tasks=2, most_kernels=2)
    n = len(case["kernels"][0][0])
    labels = [np.r_[1.0, -1.0, draw.signs(n - 2)] for _ in case["kernels"]]
    # The weights are lambda_t; mu is redundant.
    weights = {"mu": np.zeros_like(case["mu"]), "lam": case["lam"] + case["mu"][:, None]}
    return case | weights | {"labels": labels, "C": draw.log_real(0.1, 100)}


def duals(case):
    """alpha_t of each task at the weights of the case."""
    pairs = enumerate(zip(case["kernels"], case["labels"]))
    return [support_vectors(combine(case["lam"][:, t], K), y, case["C"]) for t, (K, y) in pairs]


def objective(case):
    """Return J(theta)."""
    value = 0.0
    for t, (K, y) in enumerate(zip(case["kernels"], case["labels"])):
        learned = combine(case["lam"][:, t], K)
        value += svm_value(learned, y, case["C"]) + case["beta"] * np.trace(learned)
    return float(value)


def forms(case, alphas):
    """q_t^m = alpha'Y K_t^m Y alpha/2, (M, T)."""
    rows = []
    for K, y, alpha in zip(case["kernels"], case["labels"], alphas):
        rows.append(np.einsum("i,kij,j->k", alpha * y, K, alpha * y) / 2)
    return np.array(rows).T


def one_round(case, alphas):
    """theta after the Khat-step and the theta-step (13), each solved from the matrices, (M, T)."""
    targets = unstack(closed_form(case), case["kernels"])
    found = []
    for t, (K, target) in enumerate(zip(case["kernels"], targets)):
        gram = np.einsum("kij,lij->kl", K, K)
        b = np.array([2 * frobenius(Km, target) for Km in K])
        right = b + 2 / case["eta"] * forms(case, alphas)[:, t]
        found.append(alignf_minimizer(right / 2, gram))
    return np.array(found).T


def gradient_step(case, alphas, length):
    """The projected gradient step on J in the metric of A, (M, T)."""
    found, q = [], forms(case, alphas)
    for t, task in enumerate(tasks_of(case["kernels"], case["targets"])):
        slope = case["beta"] * task.traces - q[:, t]
        found.append(alignf_minimizer(task.gram @ case["lam"][:, t] - length * slope, task.gram))
    return np.array(found).T


def bound(case):
    return objective(case)


def measure(case):
    return objective(case | {"lam": one_round(case, duals(case))})


def counterexample():
    """K = I, y = (1, -1), C = 10^4, eta = 4 beta = 4000, theta = 0.001: J rises from 1,002.

    There J = 1/theta + 2 beta theta and the step is theta <- theta - (2 beta - 1/theta^2)/(2 eta).
    """
    case = {"kernels": [np.eye(2)[None]], "targets": [np.zeros((2, 2))], "C": 1e4}
    weights = {"mu": np.zeros(1), "lam": np.full((1, 1), 1e-3), "labels": [np.array([1.0, -1.0])]}
    return case | weights | {"beta": 1000.0, "eta": 4000.0}


def corrected_bound(case):
    """The kernels after the step, because weights of duplicated kernels are not unique."""
    return _kernels(case, gradient_step(case, duals(case), 1 / case["eta"]))


def corrected_measure(case):
    return _kernels(case, one_round(case, duals(case)))


def _kernels(case, theta):
    parts = [combine(theta[:, t], K).ravel() for t, K in enumerate(case["kernels"])]
    return np.concatenate(parts)


def _scale(case):
    return (
        np.abs(corrected_measure(case)).max()
        + np.abs(_kernels(case, case["lam"])).max()
        + (case["C"] ** 2 * max(np.abs(K).max() for K in case["kernels"]) / case["eta"] + 1e-300)
    )


def _twice(case):
    return _kernels(case, gradient_step(case, duals(case), 2 / case["eta"]))


CORRECTED = Claim(
    name="p3-algorithm-corrected",
    source=f"{P3}, section 4.2, after (12), corrected",
    statement=(
        r"\theta_t \leftarrow \arg\min_{\theta\ge0} \|\theta-\theta_t\|_{G_t}^2 +"
        r" \tfrac2\eta(\beta d_t - q_t)^\top\theta"
    ),
    hypotheses="The corrected steps; eta > 2 beta.",
    kind="identity",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    negative_control=NegativeControl(counterexample, bound=_twice, note="a step of length 2/eta"),
    proof="8",
)

CLAIM = replace(
    CORRECTED,
    name="p3-algorithm",
    source=f"{P3}, section 4.2, after (12)",
    statement=r"J(\theta^{(k+1)}) \le J(\theta^{(k)})",
    hypotheses="eta >= 4 beta.",
    kind="upper",
    bound=bound,
    measure=measure,
    status=Status.GAP,
    remark=(
        "Called block coordinate descent without a statement on convergence: the step in alpha "
        "maximizes, so a round may increase the objective; a round is a projected gradient step "
        "of length 1/eta."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 2 * bound(case), note="twice the value before"
    ),
    scale=None,
    proof="",
)
