"""Stability of kernel ridge regression with weights learned first.

Statement (theorem 16 of the 2012 paper): |h'(x) - h(x)| <= 2 L1 R^2 M/(lam0 m) [1 + ||Delta mu||_s
||K_c||_{2,t}/(2 lam0)] for two samples that differ in one point, |y| <= M, 1/s + 1/t = 1 (printed
with r). Checked: the printed bound at its smallest over s = 1, 2, infinity, at every point.
Verdict: false for three independent reasons: (a) M must bound residuals, not labels; (b) the term
alpha'(k_mu' - k_mu)(x) is missing, and alignf itself violates the bound; (c) K_c should be K,
because constant kernels have K_c = 0. Correct: `stability.two_stage_stability`; proofs.md, section
12. h and h' are predictions of the library's `KernelRidge`.
"""

import numpy as np

from ..bounds import stability
from ..prelude import P1, Claim, Mutant, NegativeControl, Status, center, combine, replace
from ..reference.exchange import (
    LARGEST_RIDGE,
    constants,
    flipped_label,
    random_pair,
    rows_of,
    two_stage_change,
)


def cases(draw):
    case = random_pair(draw)
    if draw.choice((False, True)):
        case["mu_new"] = case["mu"]
    return case


def change_term(case, centered=True):
    """||Delta mu||_s ||K||_{2,t}, the smallest over s = 1, 2, infinity."""
    old, _ = rows_of(case)
    blocks = [K[np.ix_(old, old)] for K in case["kernels"]]
    norms = np.array([np.linalg.norm(center(K) if centered else K, 2) for K in blocks])
    step = case["mu_new"] - case["mu"]
    pairs = ((1, np.inf), (2, 2), (np.inf, 1))
    return min(np.linalg.norm(step, s) * np.linalg.norm(norms, t) for s, t in pairs)


def bound(case):
    radius2, label_bound, l1 = constants(case)
    m, lam0 = len(case["y"]), case["lam0"]
    return stability.two_stage_stability_printed(
        m, radius2, lam0, label_bound, l1, change_term(case)
    )


def measure(case):
    return two_stage_change(case)


def counterexample():
    """(b) alignf: 0.1818 = 2/11 against 0.0844 = 19/225 (13/150 with K in place of K_c)."""
    return flipped_label(3, 10.0)


def residual_counterexample(m=1000):
    """(a) One kernel, Delta mu = 0: 0.2882 against 0.2 at m = 1000; first violated at m = 97."""
    x = np.r_[np.full(m, 0.1), 1.0, 1.0]
    one = np.ones(1)
    kernels = np.outer(x, x)[None]
    return {
        "kernels": kernels,
        "y": np.ones(m),
        "y_new": -1.0,
        "lam0": 0.01,
        "mu": one,
        "mu_new": one,
    }


def constant_counterexample():
    """(c) Kernels 1 and 0, weights from the first to the second: 1/11 against 1/50."""
    kernels = np.array([np.ones((12, 12)), np.zeros((12, 12))])
    weights = {"mu": np.array([1.0, 0.0]), "mu_new": np.array([0.0, 1.0])}
    return {"kernels": kernels, "y": np.ones(10), "y_new": 1.0, "lam0": 10.0} | weights


def heavy_ridge(m=200, lam0=LARGEST_RIDGE):
    """The first and third terms are attained as the ridge grows: h = k(x)'y/(lam0 m)."""
    return flipped_label(m, lam0)


def same_sections(m=200):
    """At the last point K_mu and K_mu' agree; only the second term bounds the change of h there."""
    x = np.r_[np.ones(m + 1), 0.5]
    z = np.r_[np.full(m + 1, 0.5), 1.0]
    case = {"kernels": np.array([np.outer(x, x), np.outer(z, z)]), "y": np.ones(m), "y_new": 1.0}
    weights = {"mu": np.array([1.0, 0.0]), "mu_new": np.array([0.0, 1.0])}
    return case | weights | {"lam0": 0.25}


def corrected_bound(case, second=1.0, third=1.0):
    """The bound; the mutants use multiples of its last two terms."""
    radius2, label_bound, l1 = constants(case)
    old, _ = rows_of(case)
    change = combine(case["mu_new"] - case["mu"], case["kernels"])
    kernel_change = second * np.linalg.norm(change[np.ix_(old, old)], 2)
    sections = third * np.linalg.norm(change[:, old], axis=1)
    m, lam0 = len(case["y"]), case["lam0"]
    return stability.two_stage_stability(m, radius2, lam0, label_bound, l1, kernel_change, sections)


def _scale(case):
    """An upper bound of |h|, from its size for small and for large ridges."""
    radius2, label_bound, l1 = constants(case)
    return label_bound * min(1.0, l1 * radius2 / case["lam0"]) + 1e-300


CORRECTED = Claim(
    name="p1-theorem-16-corrected",
    source=f"{P1}, Theorem 16, corrected",
    statement=(
        r"|\Delta h(x)| \le \tfrac{2\kappa M_r}{\lambda_0 m} + \min\big(\tfrac{\kappa}{\lambda_0},"
        r"\tfrac12\sqrt{\tfrac{\kappa}{\lambda_0}}\big)\tfrac{M\|\Delta K_\mu\|_2}{\lambda_0 m}"
        r" + \tfrac{M\|\Delta k_\mu(x)\|_2}{\lambda_0\sqrt m}"
    ),
    hypotheses="|y| <= M, K_k(x, x) <= R^2, ||mu||_1, ||mu'||_1 <= L1, kappa = L1 R^2, lam0 > 0.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    extremes=lambda: [heavy_ridge(), same_sections()],
    sharp=True,
    mutants=(
        Mutant("second term dropped", lambda case: corrected_bound(case, second=0.0)),
        Mutant("0.1 of the second term", lambda case: corrected_bound(case, second=0.1)),
        Mutant("0.9 of the third term", lambda case: corrected_bound(case, third=0.9)),
    ),
    factors={
        "m^(-1/2)": lambda case: len(case["y"]) ** -0.5,
        "lam0^(-1/2)": lambda case: case["lam0"] ** -0.5,
    },
    negative_control=NegativeControl(
        heavy_ridge, bound=lambda case: corrected_bound(case, third=0.9), note="0.9 of a term"
    ),
    proof="12",
)

CLAIM = replace(
    CORRECTED,
    name="p1-theorem-16",
    source=f"{P1}, Theorem 16",
    statement=(
        r"|\Delta h(x)| \le \frac{2\Lambda_1R^2M}{\lambda_0 m}\Big[1 +"
        r" \frac{\|\Delta\mu\|_s\|K_c\|_{2,t}}{2\lambda_0}\Big]"
    ),
    hypotheses="|y| <= M, K_k(x, x) <= R^2, ||mu||_1 = L1.",
    bound=bound,
    status=Status.FALSE,
    remark=(
        "The proof omits the change of K_mu(x, .), M must bound residuals instead of labels, and "
        "K_c must be K, since constant kernels have K_c = 0. The weights of alignf violate the "
        "bound."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    sharp=False,
    mutants=(),
    factors={},
    proof="",
)
