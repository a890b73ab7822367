"""The effect of learning the neighborhood matrices.

Not in the paper, which claims more flexibility through Khat (sections 1 and 4) without a definite
statement: in the consistent model the best Khat_t = K_t - (beta/eta) P_t(I) lies in span{K_t^m},
and eliminating it leaves beta sum_t tr K_t - beta^2 d'A^+d/(2 eta). So the model is multiple kernel
learning with a trace (L1) penalty, and eta does not influence theta; proofs.md, section 4. Checked:
whether the best Khat at given theta lies outside the span, 0 or 1, and the minimum over Khat.
Verdict: holds.
"""

import numpy as np

from ..prelude import P3, Claim, Mutant, NegativeControl, Status
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


def example():
    """K = [[2, 1], [1, 2]], theta = 1, eta = 8, beta = 1: Khat = 0.95 K."""
    kernels = [np.array([[[2.0, 1.0], [1.0, 2.0]]])]
    case = {"kernels": kernels, "targets": [np.zeros((2, 2))], "eta": 8.0, "beta": 1.0}
    return case | {"mu": np.ones(1), "lam": np.zeros((1, 1))}


def bound(case):
    """0 (not outside), and the minimum over Khat."""
    terms = terms_of(case)
    trace = sum(np.trace(K) for K in learned(case))
    rest = terms.d @ inverse(terms.A) @ terms.d
    return np.array([0.0, case["beta"] * trace - case["beta"] ** 2 / (2 * case["eta"]) * rest])


def measure(case):
    terms, theta, v = _best(case)
    value = alignment_part(at(terms, v), theta, case["eta"], case["beta"])
    return np.array([_outside(case), value])


def _scale(case):
    terms, theta, v = _best(case)
    size = np.sum((terms.V @ theta) ** 2) + v @ v + abs(terms.d @ theta)
    return np.array([1.0, (case["eta"] + case["beta"]) * size + 1e-300])


def _beyond_the_span(case):
    return bound(case) + np.array([1.0, 0.0])


def _half_of_the_trace(case):
    return bound(case) - np.array([0.0, 0.5 * case["beta"] * np.trace(learned(case)[0])])


CLAIM = Claim(
    name="p3-elimination",
    source=f"{P3}, sections 1 and 4, new",
    status=Status.NEW,
    statement=(
        r"\min_{\hat K} \tfrac\eta2\sum_t\|K_t-\hat K_t\|_F^2 + \tfrac\beta2\Omega ="
        r" \beta\sum_t\mathrm{tr}K_t - \tfrac{\beta^2}{2\eta}d^\top A^+d"
    ),
    hypotheses="eta > 2 beta.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    mutants=(Mutant("a best Khat outside the span", _beyond_the_span),),
    negative_control=NegativeControl(example, bound=_half_of_the_trace, note="half the trace"),
    proof="4",
)
