"""What learning the neighbourhood matrices adds.

Statement (sections 1 and 4 of the paper): Khat gives the model flexibility beyond the combinations
of the base kernels, indefinite matrices included. Checked: whether the best Khat at given theta
lies outside their span, 0 or 1. Verdict: false in the consistent model; Khat_t = K_t - (beta/eta)
P_t(I) lies in span{K_t^m}, and eliminating it leaves beta sum_t tr K_t - beta^2 d'A^+d/(2 eta): the
model is multiple kernel learning with a trace (L1) penalty, and eta does not influence theta;
proofs.md, section 4.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, replace
from ..reference.multitask import alignment_part, best_targets, inverse, projector
from .model import at
from .tasks import learned, random_model, stacked, terms_of


def cases(draw):
    return random_model(draw)


def _best(case):
    terms, theta = terms_of(case), stacked(case)
    return terms, theta, best_targets(terms, theta, case["eta"], case["beta"])


def _outside(case):
    terms, theta, v = _best(case)
    size = np.linalg.norm(v) + np.linalg.norm(terms.V @ theta) + 1e-300
    return float(np.linalg.norm(v - projector(terms.V) @ v) > 1e-6 * size)


def bound(case):
    return 1.0


def measure(case):
    return _outside(case)


def counterexample():
    """K = [[2, 1], [1, 2]], theta = 1, eta = 8, beta = 1: Khat = .95 K."""
    kernels = [np.array([[[2.0, 1.0], [1.0, 2.0]]])]
    case = {"kernels": kernels, "targets": [np.zeros((2, 2))], "eta": 8.0, "beta": 1.0}
    return case | {"mu": np.ones(1), "lam": np.zeros((1, 1))}


def corrected_bound(case):
    """Not outside, and the least value over Khat."""
    terms = terms_of(case)
    trace = sum(np.trace(K) for K in learned(case))
    rest = terms.d @ inverse(terms.A) @ terms.d
    return np.array([0.0, case["beta"] * trace - case["beta"] ** 2 / (2 * case["eta"]) * rest])


def corrected_measure(case):
    terms, theta, v = _best(case)
    value = alignment_part(at(terms, v), theta, case["eta"], case["beta"])
    return np.array([_outside(case), value])


def _scale(case):
    terms, theta, v = _best(case)
    size = np.sum((terms.V @ theta) ** 2) + v @ v + abs(terms.d @ theta)
    return np.array([1.0, (case["eta"] + case["beta"]) * size + 1e-300])


def _half_of_the_trace(case):
    return corrected_bound(case) - np.array([0.0, 0.5 * case["beta"] * np.trace(learned(case)[0])])


CORRECTED = Claim(
    name="p3-elimination-corrected",
    source=f"{P3}, sections 1 and 4, corrected",
    statement=(
        r"\min_{\hat K} \tfrac\eta2\sum_t\|K_t-\hat K_t\|_F^2 + \tfrac\beta2\Omega ="
        r" \beta\sum_t\mathrm{tr}K_t - \tfrac{\beta^2}{2\eta}d^\top A^+d"
    ),
    hypotheses="eta > 2 beta.",
    kind="identity",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        counterexample, bound=_half_of_the_trace, note="half the trace"
    ),
    proof="4",
)

CLAIM = replace(
    CORRECTED,
    name="p3-elimination",
    source=f"{P3}, sections 1 and 4",
    statement=r"\hat K_t \notin \mathrm{span}\{K_t^m\}",
    bound=bound,
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    scale=None,
    proof="",
)
