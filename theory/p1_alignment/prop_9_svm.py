"""The quadratic program of alignf is a hard-margin support vector machine.

Statement (remark after proposition 9 of the 2012 paper). Made precise: drop the kernels with a_k
= 0 (v_k = 0 may be taken there); then min over v >= 0 of v'Mv - 2 v'a is minus the smallest
||w||^2 with <K_kc, w> >= a_k for all k, a machine without offset, with one class and kernel
M_kl/(a_k a_l). Checked: the two optimal values; the program is solved by the library's
`nonnegative_qp`, the machine in its own variables, by trying every set of active constraints.
Verdict: holds.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..papers import P1
from ..reference.library import alignf_minimiser
from ..reference.matrices import alignf_terms, center

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m, p = draw.integer(2, 6), draw.integer(1, 4)
    form = draw.choice(("generic", "rank-one", "low-rank"))
    kernels = np.array([draw.kernel(m, form) for _ in range(p)])
    return {"kernels": kernels, "y": draw.array(m)}


def _terms(case):
    """Kernels centred, of unit norm, those with a_k = 0 dropped; a with maximum 1."""
    kernels, y = np.array([center(K) for K in case["kernels"]]), case["y"] - case["y"].mean()
    size = np.sqrt((kernels**2).sum((1, 2)))
    a = np.array([y @ K @ y for K in kernels])
    keep = (size > 1e-6) & (a > 1e-3 * size * max(y @ y, 1e-6))
    if not keep.any():
        raise HypothesisNotMet("some a_k must be positive")
    kernels = kernels[keep] / size[keep, None, None]
    a = a[keep] / size[keep]
    return kernels, y / np.sqrt(a.max()), a / a.max()


# -- bound: the quadratic program ------------------------------------------------------


def bound(case):
    kernels, y, _ = _terms(case)
    a, M = alignf_terms(kernels, y)
    v = alignf_minimiser(a, M)
    return 2 * v @ a - v @ M @ v


# -- measure: the machine --------------------------------------------------------------


def measure(case):
    """The shortest w with <K_kc, w> = a_k on some set of kernels and >= a_k on all others."""
    kernels, _, a = _terms(case)
    G = kernels.reshape(len(a), -1)
    lengths = []
    for size in range(1, len(a) + 1):
        for active in combinations(range(len(a)), size):
            s = list(active)
            w = np.linalg.lstsq(G[s], a[s], rcond=1e-9)[0]
            if (G @ w >= a - 1e-8).all():
                lengths.append(w @ w)
    return min(lengths)


# -- negative control ------------------------------------------------------------------


def _control_case():
    u, w = np.array([1.0, 0.0, -1.0]), np.array([1.0, -1.0, 0.0])
    return {"kernels": np.array([np.outer(u, u), np.outer(w, w)]), "y": 2 * u + w}


def _half(case):
    return bound(case) / 2


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-prop-9-svm",
    source=f"{P1}, remark after Proposition 9",
    statement=(
        r"-\min_{v\ge0}(v^\top M v - 2 v^\top a) = \min\{\|w\|^2 :"
        r" \langle K_{kc}, w\rangle \ge a_k\}"
    ),
    hypotheses="Kernels with a_k = 0 are dropped; no offset, one class.",
    kind="equivalence",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    negative_control=NegativeControl(_control_case, bound=_half, note="the factor 1/2 kept once"),
)
