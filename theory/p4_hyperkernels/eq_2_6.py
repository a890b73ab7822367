"""The coefficients of ridge regression in the hyper-RKHS.

Statement ((2.6) of the 2020 paper): beta = (K + lam I)^-1 vec(K) solves problem (2.8). Checked:
(2.8) is the dual of the support vector machine, whose constraint sum beta = 0 this beta violates.
Verdict: misprint: (2.5) is meant. There beta is a minimizer, not the only one: the matrix is
singular, and the antisymmetric part of the target is added to beta, divided by lam, without any
effect on k*; proofs.md, section 5. The map d(i, j, m) numbers the pairs row by row.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, replace
from ..reference import hyper
from .problems import random_case, ridge_coefficients, ridge_objective


def cases(draw):
    case = random_case(draw)
    m = len(case["X"])
    skew = draw.array((m, m))
    return case | {"skew": skew - skew.T, "step": draw.array(m * m)}


def bound(case):
    return 0.0


def measure(case):
    """|sum beta|, which is 0 for a feasible point of (2.8)."""
    return abs(float(ridge_coefficients(case).sum()))


def counterexample():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    case = {"X": np.zeros((1, 1)), "kernel": kernel, "target": np.ones((1, 1)), "lam": 1.0}
    return case | {"skew": np.zeros((1, 1)), "step": np.array([0.1])}


def corrected_bound(case):
    """A competitor's objective, the same objective, and zeros."""
    K, y, beta = _problem(case)
    moved = ridge_objective(K, y, beta + case["step"], case["lam"])
    return np.array([moved, ridge_objective(K, y, beta, case["lam"]), 0.0, 0.0])


def corrected_measure(case, share=1.0):
    K, y, beta = _problem(case)
    best = ridge_objective(K, y, share * beta, case["lam"])
    skewed = beta + case["skew"].ravel()
    with_skew = ridge_coefficients(case | {"target": case["target"] + case["skew"]})
    expected = beta + case["skew"].ravel() / case["lam"]
    off = np.abs(with_skew - expected).max() * case["lam"]
    effect = np.abs(K @ (with_skew - beta)).max()
    return np.array([best, ridge_objective(K, y, skewed, case["lam"]), off, effect])


def _problem(case):
    K = hyper.hyper_matrix(case["X"], case["kernel"])
    return K, case["target"].ravel(), ridge_coefficients(case)


def _control_case():
    case = counterexample()
    return case | {"step": np.array([0.01])}


def _shrunk(case):
    return corrected_measure(case, share=0.95)


def _half(case):
    return measure(case) / 2


CORRECTED = Claim(
    name="p4-eq-2-6-corrected",
    source=f"{P4}, (2.6), corrected",
    statement=(
        r"(\underline{\mathbf{K}}+\lambda I)^{-1}\mathrm{vec}(K) \in \arg\min (2.5),"
        r"\ \text{unique up to } \ker\underline{\mathbf{K}}"
    ),
    hypotheses="lam > 0.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: (
        (case["target"] ** 2).sum() + (1 + case["lam"]) * (case["skew"] ** 2).sum() + 1.0
    ),
    negative_control=NegativeControl(_control_case, measure=_shrunk, note="5 % too short"),
    proof="5",
)

CLAIM = replace(
    CORRECTED,
    name="p4-eq-2-6",
    source=f"{P4}, (2.6)",
    statement=r"(\underline{\mathbf{K}}+\lambda I)^{-1}\mathrm{vec}(K) \text{ solves } (2.8)",
    bound=bound,
    measure=measure,
    scale=lambda case: 1.0,
    status=Status.MISPRINT,
    remark="The reference should be to (2.5): (2.6) solves the ridge problem, not (2.8).",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, measure=_half, note="half the sum"),
    proof="",
)
