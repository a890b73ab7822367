"""The averaged iteration as a solver of the single-stage problem.

Statement (end of section 3.4 of the 2012 paper): (9) can be solved with the iterative algorithm
of the 2009 paper, in 10 to 50 iterations. We read this as alpha <- (alpha + (K_mu(alpha) + I)^-1
y)/2, mu(alpha) the minimiser of the inner problem. Checked: the smallest of the relative steps
that follow 500 of ``AlignedKRR(solver="fixed-point")``. Verdict: false when gamma'' > 0, where
the iteration can enter a 2-cycle. With gamma'' = 0 it converges locally at rate 1/2 or better
(proofs.md, section 16). Correct: use a convex solver on (9); checked by the optimality conditions
(same section) at the weights of `AlignedKRR`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.learners import aligned_iteration, aligned_objective
from ..reference.library import aligned_krr
from ..reference.matrices import alignf_terms

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m, p = draw.integer(1, 4), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(m, "generic") for _ in range(p)]),
        "y": draw.array(m) + 0.1,
        "gamma": (draw.real(0, 1), draw.log_real(0.05, 5), draw.real(0, 0.1)),
    }


def _terms(case):
    g, g1, g2 = case["gamma"]
    a, M = alignf_terms(case["kernels"], case["y"])
    return g * a, g1 * np.eye(len(a)) + g2 * M


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return 1e-6


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return relative_step(case)


def relative_step(case, steps=500, more=100):
    """The shortest of the last of some more steps, in plain NumPy, after those of the library."""
    alpha, _ = _learned(case, solver="fixed-point", max_iter=steps)
    _, lengths = aligned_iteration(case["kernels"], case["y"], *_terms(case), more, alpha)
    return lengths[-10:].min()


def _learned(case, **options):
    kernels, y = case["kernels"], case["y"]
    return aligned_krr(kernels, y, 1.0, case["gamma"], *alignf_terms(kernels, y), **options)


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """A 2-cycle with relative steps .169 and .180; with gamma'' = 0 the same data converge."""
    kernels = np.array([np.diag([0.0, 9.0]), [[1.0, -1.0], [-1.0, 1.0]]])
    return {"kernels": kernels, "y": np.array([1.0, 2.0]), "gamma": (0.0, 0.1, 0.01)}


def solver_residual(case):
    """Violation of the optimality conditions of (9), relative to the terms of the gradient."""
    kernels, y = case["kernels"], case["y"]
    linear, Q = _terms(case)
    _, mu = _learned(case)
    _, gradient = aligned_objective(mu, kernels, y, 1.0, linear, Q)
    violation = np.where(mu > 0, np.abs(gradient), np.maximum(-gradient, 0))
    # Where mu is positive but tiny the product decides.
    violation = np.minimum(violation, np.maximum(mu, -gradient))
    start = aligned_objective(0 * mu, kernels, y, 1.0, linear, Q)[1]
    return violation.max() / max(1.0, np.abs(start).max())


# -- negative control ------------------------------------------------------------------


def _no_averaging(case):
    return relative_step(case, steps=3, more=1)


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p1-eq-9-iteration-corrected",
    source=f"{P1}, section 3.4, corrected",
    statement=r"\text{a convex solver meets the optimality conditions of (9)}",
    hypotheses="gamma' I + gamma'' M positive definite.",
    kind="convergence",
    bound=lambda case: 1e-5,
    measure=solver_residual,
    cases=cases,
    negative_control=NegativeControl(
        counterexample, measure=_no_averaging, note="three steps only"
    ),
    proof="16",
)

CLAIM = replace(
    CORRECTED,
    name="p1-eq-9-iteration",
    source=f"{P1}, section 3.4",
    statement=(
        r"\alpha \leftarrow \tfrac12(\alpha + (K_{\mu(\alpha)} + I)^{-1}y)"
        r"\ \text{converges in 10 to 50 iterations}"
    ),
    bound=bound,
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
