"""The alignment that alignf reaches is the M-norm of its solution.

Statement (proposition 10 of the 2012 paper): if v != 0 minimizes v'Mv - 2 v'a over v >= 0 and mu
= v / ||v||, then rho_0(mu) = mu'a / (mu'M mu)^(1/2) = ||v||_M. Checked: both sides, at a solution
found by trying every support. The last step of the printed proof has "= rho"; it means rho_0,
and rho = ||v||_M / ||y_c||^2 (see `p1-rho-0`), which is the second number compared. Verdict:
holds.

Machine-checked in Coq (prop_10.v) for any a and any square M of finite size: if v minimizes v'Mv -
2 v'a over v >= 0 and v'Mv > 0, then v'Mv = v'a, and rho_0(v/||v||) = (v'Mv)^(1/2). The second
number, which needs kernels and labels, is not part of it.
"""

import numpy as np

from ..prelude import P1, Claim, HypothesisNotMet, NegativeControl, alignf_terms, combine
from ..reference.matrices import alignf_minimizer, alignment


def cases(draw):
    m, p = draw.integer(2, 6), draw.integer(1, 4)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated", "tiny", "huge"))
    return {"kernels": np.array([draw.kernel(m, form) for _ in range(p)]), "y": draw.array(m)}


def _solution(case):
    a, M = alignf_terms(case["kernels"], case["y"])
    v = alignf_minimizer(a, M)
    size = np.sqrt(max(v @ M @ v, 0.0))
    yc = case["y"] - case["y"].mean()
    total = max(abs(K).max() for K in case["kernels"])
    if not (size > 1e-8 * (yc @ yc) and yc @ yc > 1e-12 and np.diag(M).max() > 1e-12 * total**2):
        raise HypothesisNotMet("the alignf solution v must not vanish, and y must vary")
    return a, M, v, yc @ yc


def bound(case):
    _, M, v, label_norm = _solution(case)
    size = np.sqrt(v @ M @ v)
    return np.array([size / label_norm, size / label_norm])


def measure(case):
    a, M, v, label_norm = _solution(case)
    mu = v / np.linalg.norm(v)
    y = case["y"]
    rho_0 = mu @ a / np.sqrt(mu @ M @ mu)
    return np.array([rho_0 / label_norm, alignment(combine(mu, case["kernels"]), np.outer(y, y))])


def _euclidean(case):
    _, _, v, label_norm = _solution(case)
    return np.full(2, np.linalg.norm(v) / label_norm)


def _control_case():
    return {"kernels": np.array([np.diag([1.0, 2.0, 0.0])]), "y": np.array([1.0, -1.0, 2.0])}


CLAIM = Claim(
    name="p1-prop-10",
    source=f"{P1}, Proposition 10",
    statement=r"\hat\rho_0(v/\|v\|) = \|v\|_M, \quad v = \arg\min_{v\ge 0} v^\top M v - 2 v^\top a",
    hypotheses="v is not zero (equivalently a is not zero).",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-7,
    negative_control=NegativeControl(
        _control_case, bound=_euclidean, note="Euclidean norm instead of the M-norm"
    ),
)
