"""The averaged iteration for (9) near its fixed point, without the term of M.

Not in the paper: with gamma'' = 0 the derivative of F(alpha) = (K_mu(alpha) + I)^-1 y at the fixed
point has real eigenvalues in (-2, 0], so that alpha <- (alpha + F(alpha))/2 converges locally at
rate 1/2 or better; proofs.md, section 16. Checked: minus the smallest eigenvalue is at most 2, and
the largest at most 0; the derivative is a central difference quotient at the solution of
`AlignedKRR`. Verdict: holds. With gamma'' > 0 it does not: `share_of_cycles` counts how many random
instances the iteration cycles on, with and without that term.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, HypothesisNotMet, NegativeControl
from ..draws import RandomDraw
from ..papers import P1
from ..reference.learners import aligned_iteration, kernel_quadratic, quadratic_forms
from ..reference.matrices import combine, krr
from .eq_9_iteration import _learned, _terms

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m, p = draw.integer(1, 4), draw.integer(1, 3)
    form = draw.choice(("generic", "rank-one", "low-rank"))
    return {
        "kernels": np.array([draw.kernel(m, form) for _ in range(p)]),
        "y": draw.array(m) + 0.1,
        "gamma": (draw.real(0, 1), draw.log_real(0.01, 5), 0.0),
    }


def _derivative(case):
    kernels, y, (linear, Q) = case["kernels"], case["y"], _terms(case)
    alpha, _ = _learned(case)
    if not np.linalg.norm(alpha) > 1e-6 * np.linalg.norm(y):
        raise HypothesisNotMet("alpha must not be lost in rounding")

    def step(alpha):
        mu = kernel_quadratic(linear + quadratic_forms(kernels, alpha), Q)
        return krr(combine(mu, kernels), y, 1.0)

    size = 1e-5 * np.linalg.norm(alpha)
    shifts = size * np.eye(len(y))
    return np.array([(step(alpha + e) - step(alpha - e)) / (2 * size) for e in shifts]).T


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """2 and 0, for minus the smallest eigenvalue and for the largest."""
    return np.array([2.0, 0.0])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    w = np.linalg.eigvals(_derivative(case)).real
    return np.array([-w.min(), w.max()])


# -- how often the iteration cycles ----------------------------------------------------


def hard_instance(draw):
    """Kernels of very different size and gamma'' up to the size of gamma'."""
    m, p = draw.integer(2, 3), draw.integer(2, 3)
    sizes = [draw.log_real(0.1, 100) for _ in range(p)]
    kernels = np.array([s * draw.kernel(m, "rank-one") for s in sizes])
    slope = draw.log_real(0.05, 5)
    return {"kernels": kernels, "y": draw.array(m) + 0.1, "gamma": (0.0, slope, 0.1 * slope)}


def share_of_cycles(instances=60, square=True, random_state=0):
    """Share of hard instances whose steps do not get short; gamma'' = 0 unless ``square``."""
    draw, cycling = RandomDraw(random_state), 0
    for _ in range(instances):
        case = hard_instance(draw)
        case["gamma"] = case["gamma"] if square else (*case["gamma"][:2], 0.0)
        _, lengths = aligned_iteration(case["kernels"], case["y"], *_terms(case), steps=100)
        cycling += lengths[-10:].min() > 1e-3
    return cycling / instances


# -- negative control ------------------------------------------------------------------


def _one_steep_kernel():
    """F(alpha) = y/(1 + mu) with mu = alpha^2/(2 gamma'): DF = -2 mu/(1 + mu)."""
    return {"kernels": np.ones((1, 1, 1)), "y": np.ones(1), "gamma": (0.0, 1e-5, 0.0)}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-eq-9-rate",
    source=f"{P1}, section 3.4, new",
    statement=r"\gamma'' = 0: \mathrm{spec}\,D[(K_{\mu(\alpha)}+I)^{-1}y] \subset (-2, 0]",
    hypotheses="gamma'' = 0, gamma' > 0, at the fixed point.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-3,
    sharp=True,
    negative_control=NegativeControl(
        _one_steep_kernel, bound=lambda case: 0.95 * bound(case), note="spectrum in (-1.9, 0]"
    ),
    proof="16",
)
