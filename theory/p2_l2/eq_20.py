"""The change of the dual vector due to the change of the kernel.

Statement ((20) of the 2009 paper): Delta_K alpha = -Y^-1 (sum_k V_2k Phi_k)', Y = K' + lam + L
sum_k (K_k/||v'||) alpha alpha'Q_k, Q_k = K_k - (v_k/||v||) sum_i (v_i + v'_i) K_i/(||v|| + ||v'||).
Checked: both sides, relative to Delta_K alpha; alpha is read as alpha~. Verdict: false; the part
V_11 of V_1 is dropped. Correct: alpha~ (alpha~ + alpha')' in place of alpha alpha'; proofs.md,
section 2.
"""

import numpy as np

from ..prelude import P2, Claim, HypothesisNotMet, NegativeControl, Status, replace
from .lemma_1 import linear_map
from .terms import disjoint_case, random_case, terms


def cases(draw):
    return random_case(draw)


def matrix_y(case, t, left, right):
    """Y with left right' in place of alpha alpha'."""
    K, a, b = t.blocks_new, np.linalg.norm(t.v), np.linalg.norm(t.v_new)
    mean = np.tensordot(t.v + t.v_new, K, axes=1) / (a + b)
    Y = np.tensordot(t.mu_new, K, axes=1) + case["lam0"] * len(case["y"]) * np.eye(len(left))
    for k in range(len(K)):
        Q = K[k] - t.v[k] / a * mean
        Y = Y + case["radius"] / b * np.outer(K[k] @ left, right @ Q)
    return Y


def _solve(case, right_of):
    t = terms(case)
    if np.linalg.norm(t.alpha_new - t.alpha_mid) < 1e-6 * np.linalg.norm(t.alpha_new):
        raise HypothesisNotMet("the kernel must change")
    step = case["radius"] * linear_map(t.v, t.v_new, t.v_mid - t.v)
    force = np.einsum("k,kij,j->i", step, t.blocks_new, t.alpha_mid)
    Y = matrix_y(case, t, t.alpha_mid, right_of(t))
    if np.linalg.cond(Y) > 1e8:
        raise HypothesisNotMet("Y must be well conditioned")
    return -np.linalg.solve(Y, force) / np.linalg.norm(t.alpha_new - t.alpha_mid)


def bound(case):
    return _solve(case, lambda t: t.alpha_mid)


def measure(case):
    t = terms(case)
    change = t.alpha_new - t.alpha_mid
    return change / max(np.linalg.norm(change), 1e-300)


def counterexample():
    return disjoint_case(1.0, 0.01, 10.0)


def corrected_bound(case):
    return _solve(case, lambda t: t.alpha_mid + t.alpha_new)


def _only_new(case):
    return _solve(case, lambda t: t.alpha_new)


CORRECTED = Claim(
    name="p2-eq-20-corrected",
    source=f"{P2}, (20), corrected",
    statement=(
        r"\Delta_K\alpha = -Y^{-1}(\textstyle\sum_k V_{2k}\Phi_k)^\top,\ Y = K' + \lambda I +"
        r" \tfrac{\Lambda}{\|v'\|}\sum_k K_k\tilde\alpha(\tilde\alpha+\alpha')^\top Q_k"
    ),
    hypotheses="v, v' not zero, Y invertible.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-4,
    negative_control=NegativeControl(counterexample, bound=_only_new, note="alpha~ left out"),
    proof="2",
)

CLAIM = replace(
    CORRECTED,
    name="p2-eq-20",
    source=f"{P2}, (20)",
    statement=(
        r"\Delta_K\alpha = -Y^{-1}(\textstyle\sum_k V_{2k}\Phi_k)^\top,\ Y = K' + \lambda I +"
        r" \tfrac{\Lambda}{\|v'\|}\sum_k K_k\alpha\alpha^\top Q_k"
    ),
    bound=bound,
    status=Status.FALSE,
    remark=(
        "Half of V_1 is missing, so the term with alpha' is absent from Y; the formula does not "
        "give the change of alpha."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
