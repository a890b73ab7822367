"""The quadratic problem for the weights.

Statement ((13) and (14) of the paper): at fixed alpha and Khat the terms of (12) in theta are, up
to a factor, theta'A theta - theta'(b + q) with q_t^m = alpha'Y K_t^m Y alpha/2. Checked: the change
of (12) between two theta against eta/2 times that of the quadratic. Verdict: misprint; false unless
eta = 2; correct: b + (2/eta) q; proofs.md, section 8.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, Status, replace
from ..reference.matrices import frobenius
from ..reference.multitask import stack
from .tasks import learned, random_model, random_weights, stacked, terms_of


def cases(draw):
    case = random_model(draw)
    other = random_weights(draw, case)
    n = len(case["kernels"][0][0])
    coef = [draw.array(n) for _ in case["kernels"]]
    return case | {"coef": coef, "other": other}


def products(case):
    """Return q, stacked; ``coef`` holds Y alpha of each task."""
    rows = [np.einsum("i,kij,j->k", a, K, a) / 2 for a, K in zip(case["coef"], case["kernels"])]
    return stack(np.array(rows).T)


def quadratic(case, share):
    """eta/2 [theta'A theta - theta'(b + share q)], the change between the two theta."""
    terms, q = terms_of(case), products(case)
    values = []
    for weights in (case["other"], case):
        theta = stacked(weights)
        values.append(theta @ terms.A @ theta - theta @ (terms.b + share * q))
    return float(case["eta"] / 2 * (values[0] - values[1]))


def bound(case):
    return quadratic(case, 1.0)


def _dual(case):
    """The terms of (12) in theta, matrix by matrix."""
    value = 0.0
    for K, target, coef in zip(learned(case), case["targets"], case["coef"]):
        value += case["eta"] / 2 * frobenius(K - target, K - target) - coef @ K @ coef / 2
    return value


def measure(case):
    return float(_dual(case | case["other"]) - _dual(case))


def _scale(case):
    terms, q, size = terms_of(case), products(case), 1e-300
    for theta in (stacked(case["other"]), stacked(case)):
        size += theta @ np.abs(terms.A) @ theta + theta @ (np.abs(terms.b) + q)
    return (1 + case["eta"]) * (size + terms.c)


def counterexample():
    """K = I, theta from 0 to 1, Y alpha = (1, -1), eta = 8: 7 against 4."""
    weights = {"mu": np.zeros(1), "lam": np.zeros((1, 1))}
    case = {"kernels": [np.eye(2)[None]], "targets": [np.zeros((2, 2))], "eta": 8.0, "beta": 1.0}
    other = {"mu": np.ones(1), "lam": np.zeros((1, 1))}
    return case | weights | {"other": other, "coef": [np.array([1.0, -1.0])]}


def corrected_bound(case):
    return quadratic(case, 2.0 / case["eta"])


def _half(case):
    return quadratic(case, 1.0 / case["eta"])


CORRECTED = Claim(
    name="p3-theta-step-corrected",
    source=f"{P3}, (13), corrected",
    statement=r"\min_{\theta\ge0} \theta^\top A\theta - \theta^\top(b + \tfrac2\eta q)",
    hypotheses="alpha and Khat fixed.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    negative_control=NegativeControl(counterexample, bound=_half, note="1/eta instead of 2/eta"),
    proof="8",
)

CLAIM = replace(
    CORRECTED,
    name="p3-theta-step",
    source=f"{P3}, (13)",
    statement=r"\min_{\theta\ge0} \theta^\top A\theta - \theta^\top(b + q)",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The factor 2/eta before q was lost when the objective was divided by eta/2; the printed "
        "step minimizes another function."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
