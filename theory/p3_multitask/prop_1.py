"""The best neighborhood matrices in closed form.

Statement (proposition 1, (15) and (16) of the paper): v = Sigma^-1 a with Sigma = (eta - 4 beta) I
+ (beta/2) P and a = (eta V theta - beta V A^-1 d)/2 minimizes (15). Checked: v against the
stationary point of (15), found from its gradient with all matrices formed, as coefficients of Khat.
Verdict: misprint; the proof takes b = V'v where (5) has b = 2V'v (at beta = 0 it gives K/2
for K). With b = 2V'v, (15) as printed has Sigma = (eta - 4 beta) I + 2 beta P, a = eta V theta -
beta V A^+ d. With the consistent -2c the answer is Khat_t = K_t - (beta/eta) P_t(I), one (M, M)
system per task; proofs.md, section 3. At eta = 5 beta, proposition 1 and the second answer
coincide.
"""

import numpy as np

from ..bounds.neighborhood import pseudo_inverse, tasks_of
from ..prelude import P3, Claim, NegativeControl, Status, combine, replace
from ..reference.multitask import best_targets, inverse, projector
from .elimination import example as counterexample
from .tasks import learned, random_model, stacked, terms_of


def cases(draw):
    return random_model(draw, least_ratio=4.5)


def _solution(case, own, along, share):
    """((eta - own beta) I + along beta P)^-1 share (eta V theta - beta V A^+ d)."""
    terms, eta, beta = terms_of(case), case["eta"], case["beta"]
    sigma = (eta - own * beta) * np.eye(len(terms.v)) + along * beta * projector(terms.V)
    pull = terms.V @ (inverse(terms.A) @ terms.d)
    right = share * (eta * terms.V @ stacked(case) - beta * pull)
    return np.linalg.solve(sigma, right)


def bound(case):
    return _solution(case, 4.0, 0.5, 0.5)


def measure(case):
    return best_targets(terms_of(case), stacked(case), case["eta"], case["beta"], 4.0)


def _scale(case):
    return np.abs(measure(case)).max() + np.abs(np.concatenate(learned(case))).max() + 1e-300


def corrected_bound(case):
    return _solution(case, 4.0, 2.0, 1.0)


def closed_form(case):
    """K_t - (beta/eta) P_t(I) from (M, M) matrices, stacked."""
    found = []
    for K, task in zip(learned(case), tasks_of(case["kernels"], case["targets"])):
        coefficients = pseudo_inverse(task.gram)[0] @ task.traces
        index = len(found)
        target = K - case["beta"] / case["eta"] * combine(coefficients, case["kernels"][index])
        found.append(target.T.ravel())
    return np.concatenate(found)


def consistent_measure(case):
    return best_targets(terms_of(case), stacked(case), case["eta"], case["beta"], 2.0)


def _three(case):
    return _solution(case, 3.0, 2.0, 1.0)


def _twice(case):
    """(2 beta/eta) P_t(I), from b = V'v in one place only."""
    return 2 * closed_form(case) - closed_form(case | {"beta": 0.0})


CONSISTENT = Claim(
    name="p3-prop-1-consistent",
    source=f"{P3}, Proposition 1 for Omega with -2c",
    statement=r"\hat K_t = K_t - \tfrac\beta\eta P_t(I),\ P_t(I) = \sum_m (G_t^+d_t)^m K_t^m",
    hypotheses="eta > 2 beta.",
    kind="identity",
    bound=closed_form,
    measure=consistent_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-6,
    negative_control=NegativeControl(counterexample, bound=_twice, note="2 beta/eta"),
    proof="3",
)

CORRECTED = replace(
    CONSISTENT,
    name="p3-prop-1-corrected",
    source=f"{P3}, Proposition 1, corrected",
    statement=(r"\Sigma = (\eta-4\beta)I + 2\beta P,\ a = \eta V\theta - \beta VA^+d"),
    hypotheses="eta > 4 beta.",
    bound=corrected_bound,
    measure=measure,
    corrected=CONSISTENT,
    negative_control=NegativeControl(counterexample, bound=_three, note="eta - 3 beta"),
)

CLAIM = replace(
    CORRECTED,
    name="p3-prop-1",
    source=f"{P3}, Proposition 1",
    statement=(
        r"\hat v = \Sigma^{-1}a,\ \Sigma = (\eta-4\beta)I + \tfrac\beta2P,\ a ="
        r" \tfrac12(\eta V\theta - \beta VA^{-1}d)"
    ),
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The proof uses b = V'v where (5) has b = 2V'v, and it contains the -4c of Omega; at beta "
        "= 0 the printed solution is K/2 instead of K."
    ),
    follows="p3-omega",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
