"""Kernels without alignment get no weight from alignf.

Not in the paper, which divides by a_k in the remark after proposition 9: where a_k = 0, v_k = 0 may
be taken, and must be unless K_kc = 0, because all entries of M are non-negative; proofs.md,
section 16. Checked: the optimal value of the library's solver with and without such kernels, and
the largest v_k M_kk^(1/2) among them. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P1
from ..reference.library import alignf_minimiser
from ..reference.matrices import alignf_terms

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    """Labels that differ at two points only; a kernel that does not tell them apart has a_k = 0."""
    m, p = draw.integer(3, 6), draw.integer(2, 4)
    y = np.zeros(m)
    y[:2] = 1.0, -1.0
    blind = 1 + draw.integer(0, p - 2)
    kernels = []
    for k in range(p):
        f = draw.features(m, draw.choice(("generic", "rank-one", "low-rank")))
        if k < blind:
            f[1] = f[0]
        kernels.append(f @ f.T)
    return {"kernels": np.array(kernels), "y": y, "blind": blind}


def _terms(case):
    """a and M with every centred kernel scaled to norm 1, the largest a_k to 1; exact zeros."""
    a, M = alignf_terms(case["kernels"], case["y"])
    d = np.sqrt(np.diag(M))
    if not (d > 1e-6 * np.abs(case["kernels"]).max((1, 2))).all() or not (a > 1e-6 * d).any():
        raise HypothesisNotMet("no centred kernel is zero, and some a_k is positive")
    a = np.where(np.arange(len(a)) < case["blind"], case.get("left", 0.0), a / d)
    return a / a.max(), M / np.outer(d, d)


def _value(a, M):
    v = alignf_minimiser(a, M)
    return 2 * v @ a - v @ M @ v, v


# -- bound: the program without these kernels ------------------------------------------


def bound(case):
    a, M = _terms(case)
    seen = np.arange(len(a)) >= case["blind"]
    return np.array([_value(a[seen], M[np.ix_(seen, seen)])[0], 0.0])


# -- measure: the program with all kernels ---------------------------------------------


def measure(case):
    value, v = _value(*_terms(case))
    return np.array([value, v[: case["blind"]].max()])


# -- negative control ------------------------------------------------------------------


def _almost_blind():
    """Kernels whose features do not overlap, so that none takes the place of another."""
    f = np.eye(4)[:, :2] * np.array([1.0, 2.0])
    kernels = np.array([np.outer(g, g) for g in ([0.0, 0.0, 1.0, -1.0], f[:, 0] - f[:, 1])])
    return {"kernels": kernels, "y": np.array([1.0, -1.0, 0.0, 0.0]), "blind": 1, "left": 3e-6}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-prop-9-zero",
    source=f"{P1}, remark after Proposition 9, new",
    statement=(
        r"a_k = 0 \Rightarrow v_k = 0 \text{ at a minimum of } v^\top M v - 2 v^\top a"
        r" \text{ over } v \ge 0"
    ),
    hypotheses="M_kl = <K_kc, K_lc> of positive definite kernels; unique if K_kc is not zero.",
    kind="equivalence",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-6,
    negative_control=NegativeControl(_almost_blind, note="a_k = 3e-6 instead of 0"),
    proof="16",
)
