"""The stability of alignf as the sample grows.

Statement (conclusion of the remark after theorem 17 of the 2012 paper, for alignf): |h'(x) -
h(x)| <= C/m with C depending on L1, lam0, R, M only, hence a learning bound of order 1/sqrt(m).
Checked: for kernels with K(x, x) <= 1, labels +-1 and weights of sum 1, against C/m with C = 100
(1 + 1/lam0)^2. Verdict: false; in one family of samples a single flipped label moves alignf from
one kernel to another and |h' - h| = 2/(1 + lam0) for every m >= 3. (With Tr K_k = 1 instead, lam0
fixed, the predictions themselves vanish: `p1-trace-degenerate`.) What can be used: the
data-dependent bound of ||Delta v|| and ||Delta mu|| from the solutions; proofs.md, sections 13
and 15. The weights are those of the library's `nonnegative_qp`, the predictions of `KernelRidge`.
"""

import numpy as np

from alignlearn.bounds import stability

from ..prelude import P1, Claim, HypothesisNotMet, NegativeControl, alignf_terms, replace
from ..reference.exchange import (
    alignf_weights,
    flipped_label,
    labels_of,
    random_pair,
    rows_of,
    two_stage_change,
)
from ..reference.library import alignf_minimiser


def cases(draw):
    """Random kernels with diagonal at most 1, labels +-1, alignf's weights on both samples."""
    case = random_pair(draw)
    kernels = np.array([K / max(np.diagonal(K).max(), 1e-3) for K in case["kernels"]])
    m = len(case["y"])
    case = case | {"kernels": kernels, "y": draw.signs(m), "y_new": float(draw.signs(1)[0])}
    for key, rows, y in zip(("mu", "mu_new"), rows_of(case), labels_of(case)):
        case[key] = alignf_weights(kernels, rows, y)
    return case


def bound(case):
    return 100 * (1 + 1 / case["lam0"]) ** 2 / len(case["y"])


def measure(case):
    return two_stage_change(case).max()


def counterexample():
    """2/(1 + lam0) = 2/11 at m = 1000, against .121."""
    return flipped_label(1000, 10.0)


def _terms(case):
    terms = []
    for rows, y in zip(rows_of(case), labels_of(case)):
        a, M = alignf_terms(case["kernels"][:, rows][:, :, rows], y)
        terms.append((a, M, alignf_minimiser(a, M)))
    (a, M, v), (b, N, w) = terms
    if np.linalg.eigvalsh(M)[0] < 1e-6 * max(np.diag(M).max(), np.diag(N).max(), 1e-9):
        raise HypothesisNotMet("M must be positive definite")
    if min(np.linalg.norm(v), np.linalg.norm(w)) < 1e-6:
        raise HypothesisNotMet("both solutions must be positive")
    return a, M, b, N, v, w


def corrected_bound(case):
    change = stability.alignf_change(*_terms(case))
    return np.array(change)


def corrected_measure(case):
    *_, v, w = _terms(case)
    return np.array(
        [np.linalg.norm(w - v), np.linalg.norm(w / np.linalg.norm(w) - v / np.linalg.norm(v))]
    )


def _without_weights(case):
    return stability.two_stage_stability_printed(len(case["y"]), 1.0, case["lam0"], 1.0, 1.0, 0.0)


CORRECTED = Claim(
    name="p1-alignf-stability-corrected",
    source=f"{P1}, after Theorem 17, usable form",
    statement=(
        r"\|\Delta v\| \le \frac{\|\Delta a - \Delta M v'\|}{\lambda_{\min}(M)},\quad"
        r"\|\Delta\mu\| \le \frac{2\|\Delta v\|}{\|v\| + \|v'\|}"
    ),
    hypotheses="M positive definite, both solutions positive.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    rtol=1e-5,
    negative_control=NegativeControl(
        lambda: flipped_label(6, 10.0),
        bound=lambda case: 0.9 * corrected_bound(case),
        note="0.9 of it",
    ),
    proof="15",
)

CLAIM = replace(
    CORRECTED,
    name="p1-alignf-stability",
    source=f"{P1}, conclusion after Theorem 17",
    statement=r"|\Delta h(x)| \le C(\Lambda_1, \lambda_0, R, M)/m \text{ for alignf}",
    hypotheses="K(x, x) <= 1, labels +-1, C = 100 (1 + 1/lam0)^2.",
    bound=bound,
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=_without_weights, note="as if the weights did not change"
    ),
    proof="13",
)
