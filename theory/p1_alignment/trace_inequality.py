"""The weight term of the stability bound for trace-normalised kernels.

Statement (remark after theorem 17 of the 2012 paper): if Tr K_kc <= 1 and ||mu||_1, ||mu'||_1 <=
L1, then ||Delta mu||_1 max_k ||K_kc||_2 <= 2 L1. Checked: both sides. Verdict: the inequality
holds; what is concluded from it does not (`p1-alignf-stability`, `p1-trace-degenerate`), also
because K_k/Tr K_k(S) depends on the sample.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.matrices import center

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m, p = draw.integer(1, 6), draw.integer(1, 4)
    kernels = []
    for _ in range(p):
        K = draw.kernel(m)
        trace = np.trace(center(K))
        # Centring a constant kernel leaves rounding, which must not be blown up to trace 1.
        kernels.append(K / trace if trace > 1e-9 * np.trace(K) else 0 * K)
    return {"kernels": np.array(kernels), "mu": draw.weights(p), "mu_new": draw.weights(p)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return 2 * max(case["mu"].sum(), case["mu_new"].sum())


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    norms = [np.linalg.norm(center(K), 2) for K in case["kernels"]]
    return np.abs(case["mu_new"] - case["mu"]).sum() * max(norms)


# -- negative control ------------------------------------------------------------------


def _control_case():
    kernels = np.array([[[0.5, -0.5], [-0.5, 0.5]], np.zeros((2, 2))])
    return {"kernels": kernels, "mu": np.array([1.0, 0.0]), "mu_new": np.array([0.0, 1.0])}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-trace-inequality",
    source=f"{P1}, after Theorem 17",
    statement=r"\|\Delta\mu\|_1 \max_k\|K_{kc}\|_2 \le 2\Lambda_1",
    hypotheses="Tr K_kc <= 1, mu, mu' >= 0 with sums at most L1.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    sharp=True,
    extremes=lambda: [_control_case()],
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.95 * bound(case), note="0.95 of a sharp bound"
    ),
)
