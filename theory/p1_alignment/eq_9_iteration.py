"""The averaged iteration as a solver of the single-stage problem.

Statement (end of section 3.4 of the 2012 paper): (9) can be solved with the iterative algorithm of
the 2009 paper, in 10 to 50 iterations. We read this as alpha <- (alpha + (K_mu(alpha) + I)^-1 y)/2,
mu(alpha) the minimizer of the inner problem. Checked: the smallest of ten relative steps, after 590
of them. Verdict: gap; false when gamma'' > 0, where the iteration can enter a 2-cycle. With gamma''
= 0 it converges locally at rate 1/2 or better (proofs.md, section 16). Correct: use a convex solver
on (9); checked by the optimality conditions (same section) at the weights of `AlignedKRR`.

`p1-eq-9-rate`. The averaged iteration for (9) near its fixed point, without the term of M. Not in
the paper: with gamma'' = 0 the derivative of F(alpha) = (K_mu(alpha) + I)^-1 y at the fixed point
has real eigenvalues in (-2, 0], so that alpha <- (alpha + F(alpha))/2 converges locally at rate 1/2
or better; proofs.md, section 16. Checked: minus the smallest eigenvalue is at most 2, and the
largest at most 0; the derivative is a central difference quotient at the solution of `AlignedKRR`.
Verdict: holds. With gamma'' > 0 it does not: `share_of_cycles` counts how many random instances the
iteration cycles on, with and without that term.
"""

import numpy as np

from ..prelude import (
    P1,
    Claim,
    HypothesisNotMet,
    NegativeControl,
    RandomDraw,
    Status,
    alignf_terms,
    combine,
    krr,
    replace,
)
from ..reference.learners import (
    aligned_iteration,
    aligned_objective,
    kernel_quadratic,
    quadratic_forms,
)
from ..reference.library import aligned_krr


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


def bound(case):
    return 1e-6


def measure(case):
    return relative_step(case)


def relative_step(case, steps=600):
    """The shortest of the last steps."""
    _, lengths = aligned_iteration(case["kernels"], case["y"], *_terms(case), steps)
    return lengths[-10:].min()


def _learned(case):
    kernels, y = case["kernels"], case["y"]
    return aligned_krr(kernels, y, 1.0, case["gamma"], *alignf_terms(kernels, y))


def counterexample():
    """A 2-cycle with relative steps 0.169 and 0.180; with gamma'' = 0 the same data converge."""
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


def _no_averaging(case):
    return relative_step(case, steps=4)


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
    source=f"{P1}, section 3.4, after (9)",
    statement=(
        r"\alpha \leftarrow \tfrac12(\alpha + (K_{\mu(\alpha)} + I)^{-1}y)"
        r"\ \text{converges in 10 to 50 iterations}"
    ),
    bound=bound,
    measure=measure,
    status=Status.GAP,
    remark=(
        "An observation from experiments, not a theorem: with gamma'' > 0 the averaged iteration "
        "can cycle, so solve (9) with a convex solver."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)


# -- p1-eq-9-rate ----------------------------------------------------------------------


def rate_cases(draw):
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


def rate_bound(case):
    """2 and 0, for minus the smallest eigenvalue and for the largest."""
    return np.array([2.0, 0.0])


def rate_measure(case):
    w = np.linalg.eigvals(_derivative(case)).real
    return np.array([-w.min(), w.max()])


def hard_instance(draw):
    """Kernels of very different size and gamma'' up to the size of gamma'."""
    m, p = draw.integer(2, 3), draw.integer(2, 3)
    sizes = [draw.log_real(0.1, 100) for _ in range(p)]
    kernels = np.array([s * draw.kernel(m, "rank-one") for s in sizes])
    slope = draw.log_real(0.05, 5)
    return {"kernels": kernels, "y": draw.array(m) + 0.1, "gamma": (0.0, slope, 0.1 * slope)}


def share_of_cycles(instances=60, square=True, random_state=0):
    """Share of hard instances whose steps do not become short; gamma'' = 0 unless ``square``."""
    draw, cycling = RandomDraw(random_state), 0
    for _ in range(instances):
        case = hard_instance(draw)
        case["gamma"] = case["gamma"] if square else (*case["gamma"][:2], 0.0)
        _, lengths = aligned_iteration(case["kernels"], case["y"], *_terms(case), steps=100)
        cycling += lengths[-10:].min() > 1e-3
    return cycling / instances


def _one_steep_kernel():
    """F(alpha) = y/(1 + mu) with mu = alpha^2/(2 gamma'): DF = -2 mu/(1 + mu)."""
    return {"kernels": np.ones((1, 1, 1)), "y": np.ones(1), "gamma": (0.0, 1e-5, 0.0)}


RATE = Claim(
    name="p1-eq-9-rate",
    source=f"{P1}, section 3.4, new",
    status=Status.NEW,
    statement=r"\gamma'' = 0: \mathrm{spec}\,D[(K_{\mu(\alpha)}+I)^{-1}y] \subset (-2, 0]",
    hypotheses="gamma'' = 0, gamma' > 0, at the fixed point.",
    kind="upper",
    bound=rate_bound,
    measure=rate_measure,
    cases=rate_cases,
    scale=lambda case: 1.0,
    rtol=1e-3,
    sharp=True,
    negative_control=NegativeControl(
        _one_steep_kernel, bound=lambda case: 0.95 * rate_bound(case), note="spectrum in (-1.9, 0]"
    ),
    proof="16",
)
