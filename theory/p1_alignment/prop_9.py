"""The non-negative combination with the largest alignment is a quadratic program.

Statement (proposition 9 of the 2012 paper): if v minimizes v'Mv - 2 v'a over v >= 0, then v/||v||
maximizes the alignment over mu >= 0. Checked: with the weights of `AlignF`, that no non-negative
competitor does better, nor the best of all supports, and that the formula is defined. Verdict:
unstated hypothesis: a != 0, for v = 0 exactly when a = 0 (see `p1-prop-8`). M may be singular,
since a lies in its range; proofs.md, section 16.

`p1-prop-9-svm`. The quadratic program of alignf is a hard-margin support vector machine. Statement
(remark after proposition 9 of the 2012 paper). Made precise: drop the kernels with a_k = 0 (v_k = 0
may be taken there); then min over v >= 0 of v'Mv - 2 v'a is minus the smallest ||w||^2 with <K_kc,
w> >= a_k for all k, a machine without offset, with one class and kernel M_kl/(a_k a_l). Checked:
the two optimal values; the program is solved by the library's `nonnegative_qp`, the machine in its
own variables, by trying every set of active constraints. Verdict: holds.

`p1-prop-9-zero`. Kernels without alignment get no weight from alignf. Not in the paper, which
divides by a_k in the remark after proposition 9: where a_k = 0, v_k = 0 may be taken, and must be
unless K_kc = 0, because all entries of M are non-negative; proofs.md, section 16. Checked: the
optimal value of the library's solver with and without such kernels, and the largest v_k M_kk^(1/2)
among them. Verdict: holds.
"""

from itertools import combinations

import numpy as np

from alignlearn.weights import AlignF

from ..prelude import (
    P1,
    Claim,
    HypothesisNotMet,
    NegativeControl,
    Status,
    alignf_terms,
    center,
    replace,
)
from ..reference.library import alignf_minimizer as library_minimizer
from ..reference.library import two_stage_weights
from ..reference.matrices import alignf_minimizer
from .prop_8 import cases, printed_bound, printed_measure, quotient, terms, unaligned


def bound(case):
    a, M = terms(case)
    return quotient(two_stage_weights(AlignF(), a, M), a, M)


def measure(case):
    a, M = terms(case)
    mu = np.abs(case["mu"])
    size = mu @ M @ mu
    if not size > 0:
        raise HypothesisNotMet("the competitor must not be zero")
    return np.array([mu @ a / np.sqrt(size), quotient(alignf_minimizer(a, M), a, M)])


def _control_case():
    u, w = np.array([2.0, 0.0, -1.0, -1.0]), np.array([0.0, 1.0, 0.0, -1.0])
    kernels = np.array([np.outer(u, u), np.outer(u + w, u + w)])
    return {"kernels": kernels, "y": u - w, "mu": np.array([1.0, 0.0])}


def _equal_weights(case):
    a, M = terms(case)
    return quotient(np.ones(len(a)), a, M)


CORRECTED = Claim(
    name="p1-prop-9-corrected",
    source=f"{P1}, Proposition 9, corrected",
    statement=(
        r"\arg\max_{\mu\ge0,\|\mu\|=1} \hat\rho(K_\mu, yy^\top) = v/\|v\|,\quad"
        r" v = \arg\min_{v\ge0} v^\top M v - 2 v^\top a"
    ),
    hypotheses="a not zero; M positive semi-definite, possibly singular.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    proof="16",
    negative_control=NegativeControl(_control_case, bound=_equal_weights, note="equal weights"),
)

CLAIM = replace(
    CORRECTED,
    name="p1-prop-9",
    source=f"{P1}, Proposition 9",
    hypotheses="M positive semi-definite, possibly singular.",
    bound=printed_bound(bound),
    measure=printed_measure(measure),
    quotation="Let v* be the solution of the following QP",
    status=Status.HYPOTHESIS,
    remark="It needs a kernel with a_k != 0; otherwise v = 0, and every mu >= 0 is a solution.",
    counterexample=unaligned,
    corrected=CORRECTED,
    proof="",
    negative_control=NegativeControl(
        _control_case, bound=printed_bound(_equal_weights), note="equal weights"
    ),
)


# -- p1-prop-9-svm ---------------------------------------------------------------------


def svm_cases(draw):
    m, p = draw.integer(2, 6), draw.integer(1, 4)
    form = draw.choice(("generic", "rank-one", "low-rank"))
    kernels = np.array([draw.kernel(m, form) for _ in range(p)])
    return {"kernels": kernels, "y": draw.array(m)}


def _terms(case):
    """Centered kernels of unit norm, those with a_k = 0 dropped, and a with maximum 1."""
    kernels, y = np.array([center(K) for K in case["kernels"]]), case["y"] - case["y"].mean()
    size = np.sqrt((kernels**2).sum((1, 2)))
    a = np.array([y @ K @ y for K in kernels])
    keep = (size > 1e-6) & (a > 1e-3 * size * max(y @ y, 1e-6))
    if not keep.any():
        raise HypothesisNotMet("some a_k must be positive")
    kernels = kernels[keep] / size[keep, None, None]
    a = a[keep] / size[keep]
    return kernels, y / np.sqrt(a.max()), a / a.max()


def svm_bound(case):
    """The value of the quadratic program."""
    kernels, y, _ = _terms(case)
    a, M = alignf_terms(kernels, y)
    v = library_minimizer(a, M)
    return 2 * v @ a - v @ M @ v


def svm_measure(case):
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


def _svm_control_case():
    u, w = np.array([1.0, 0.0, -1.0]), np.array([1.0, -1.0, 0.0])
    return {"kernels": np.array([np.outer(u, u), np.outer(w, w)]), "y": 2 * u + w}


def _half(case):
    return svm_bound(case) / 2


SVM = Claim(
    name="p1-prop-9-svm",
    source=f"{P1}, remark after Proposition 9",
    statement=(
        r"-\min_{v\ge0}(v^\top M v - 2 v^\top a) = \min\{\|w\|^2 :"
        r" \langle K_{kc}, w\rangle \ge a_k\}"
    ),
    hypotheses="Kernels with a_k = 0 are dropped; no offset, one class.",
    kind="equivalence",
    bound=svm_bound,
    measure=svm_measure,
    cases=svm_cases,
    rtol=1e-6,
    negative_control=NegativeControl(
        _svm_control_case, bound=_half, note="the factor 1/2 kept once"
    ),
)


# -- p1-prop-9-zero --------------------------------------------------------------------


def zero_cases(draw):
    """Labels that differ at two points only; a kernel with equal rows at both has a_k = 0."""
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


def _zero_terms(case):
    """a and M with every centered kernel scaled to norm 1, the largest a_k to 1; exact zeros."""
    a, M = alignf_terms(case["kernels"], case["y"])
    d = np.sqrt(np.diag(M))
    if not (d > 1e-6 * np.abs(case["kernels"]).max((1, 2))).all() or not (a > 1e-6 * d).any():
        raise HypothesisNotMet("no centered kernel is zero, and some a_k is positive")
    a = np.where(np.arange(len(a)) < case["blind"], case.get("left", 0.0), a / d)
    return a / a.max(), M / np.outer(d, d)


def _value(a, M):
    v = library_minimizer(a, M)
    return 2 * v @ a - v @ M @ v, v


def zero_bound(case):
    """The program without these kernels."""
    a, M = _zero_terms(case)
    seen = np.arange(len(a)) >= case["blind"]
    return np.array([_value(a[seen], M[np.ix_(seen, seen)])[0], 0.0])


def zero_measure(case):
    """The program with all kernels."""
    value, v = _value(*_zero_terms(case))
    return np.array([value, v[: case["blind"]].max()])


def _almost_blind():
    """Kernels with disjoint features, so that none replaces another."""
    f = np.eye(4)[:, :2] * np.array([1.0, 2.0])
    kernels = np.array([np.outer(g, g) for g in ([0.0, 0.0, 1.0, -1.0], f[:, 0] - f[:, 1])])
    return {"kernels": kernels, "y": np.array([1.0, -1.0, 0.0, 0.0]), "blind": 1, "left": 3e-6}


ZERO = Claim(
    name="p1-prop-9-zero",
    source=f"{P1}, remark after Proposition 9, new",
    status=Status.NEW,
    statement=(
        r"a_k = 0 \Rightarrow v_k = 0 \text{ at a minimum of } v^\top M v - 2 v^\top a"
        r" \text{ over } v \ge 0"
    ),
    hypotheses="M_kl = <K_kc, K_lc> of positive definite kernels; unique if K_kc is not zero.",
    kind="equivalence",
    bound=zero_bound,
    measure=zero_measure,
    cases=zero_cases,
    scale=lambda case: 1.0,
    rtol=1e-6,
    negative_control=NegativeControl(_almost_blind, note="a_k = 3e-6 instead of 0"),
    proof="16",
)
