"""The spectrum that makes the interpolated iteration converge near its fixed point.

Not in the paper: at the fixed point the derivative of f(alpha) = (K(alpha) + lam)^-1 y has real
eigenvalues in (-2, 0], so that those of the iteration lie in (3 eta - 2, eta]: strictly inside
the unit disc for every L if eta > 1/3, of modulus at most 1/2 at eta = 1/2; proofs.md, section
5. Checked: minus the smallest eigenvalue is at most 2, and the largest at most 0; the derivative
is a central difference quotient at the solution of `LKRR`, which does not use the formula of the
proof. Verdict: holds; 1/3 is the smallest such eta (two diagonal kernels, L large).

`p2-algorithm-1-rate`. The local rate of the interpolated iteration, and the eta with the best
guarantee. Not in the paper, which leaves eta open: at the fixed point the iteration with eta
contracts by max(eta, 2 - 3 eta) or better, which is least, 1/2, at eta = 1/2; proofs.md, section 5.
Checked: the largest modulus of an eigenvalue of its derivative, from a difference quotient.
Verdict: holds. No eta guarantees less than 1/2: a direction in which no kernel acts contracts by
eta, and two diagonal kernels by almost 2 - 3 eta for large L (`worst_rate`).
"""

import numpy as np

from ..prelude import P2, Claim, HypothesisNotMet, NegativeControl, Status, combine, krr
from ..reference.learners import lkrr_weights, quadratic_forms
from ..reference.library import lkrr
from .algorithm_1 import cases, counterexample


def _derivative(case):
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    mu0 = np.ones(len(kernels))
    alpha, _ = lkrr(kernels, y, lam, mu0, radius)
    v = quadratic_forms(kernels, alpha)
    if not v.max() > 1e-6 * (alpha @ alpha) * np.abs(kernels).max():
        raise HypothesisNotMet("v must not be zero")

    def step(alpha):
        return krr(combine(lkrr_weights(kernels, alpha, mu0, radius), kernels), y, lam)

    size = 1e-5 * np.linalg.norm(alpha)
    if (np.sqrt(v) < 300 * size * np.sqrt(np.trace(kernels, axis1=1, axis2=2))).all():
        raise HypothesisNotMet("the difference quotient must stay away from v = 0")
    shifts = size * np.eye(len(y))
    return np.array([(step(alpha + e) - step(alpha - e)) / (2 * size) for e in shifts]).T


def bound(case):
    """2 and 0, for minus the smallest eigenvalue and for the largest."""
    return np.array([2.0, 0.0])


def measure(case):
    w = np.linalg.eigvals(_derivative(case)).real
    return np.array([-w.min(), w.max()])


CLAIM = Claim(
    name="p2-algorithm-1-spectrum",
    source=f"{P2}, Algorithm 1, new",
    status=Status.NEW,
    statement=r"\mathrm{spec}\,Df(\alpha^\star) \subset (-2, 0]",
    hypotheses="lam > 0, mu0 >= 0, v not zero at the fixed point.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-3,
    extremes=lambda: [counterexample(radius=1e4)],
    sharp=True,
    negative_control=NegativeControl(
        lambda: counterexample(radius=1e4),
        bound=lambda case: 0.95 * bound(case),
        note="spectrum in (-1.9, 0]",
    ),
    proof="5",
)


# -- p2-algorithm-1-rate ---------------------------------------------------------------


def rate_cases(draw):
    return cases(draw) | {"eta": draw.real(0, 0.95)}


def rate_bound(case):
    return max(case["eta"], 2 - 3 * case["eta"])


def rate_measure(case):
    w = np.linalg.eigvals(_derivative(case)).real
    return np.abs(case["eta"] + (1 - case["eta"]) * w).max()


def worst_rate(eta):
    """The larger rate of the two families that attain the two terms of the bound."""
    return max(map(rate_measure, rate_extremes(eta)))


def rate_extremes(eta):
    """Two equal kernels, L large, and a direction on which the only kernel vanishes."""
    large = counterexample(eta, radius=1e6) | {"y": np.ones(2)}
    return [large, counterexample(eta) | {"kernels": np.array([np.diag([1.0, 0.0])])}]


RATE = Claim(
    name="p2-algorithm-1-rate",
    source=f"{P2}, Algorithm 1, new",
    status=Status.NEW,
    statement=(
        r"\limsup \tfrac{|\alpha_{i+1}-\alpha^\star|}{|\alpha_i-\alpha^\star|} \le"
        r" \max(\eta, 2-3\eta) \text{ near } \alpha^\star, \text{ least at } \eta = \tfrac12"
    ),
    hypotheses="lam > 0, mu0 >= 0, v not zero at the fixed point; in the norm of K + lam.",
    kind="upper",
    bound=rate_bound,
    measure=rate_measure,
    cases=rate_cases,
    scale=lambda case: 1.0,
    rtol=1e-3,
    sharp=True,
    extremes=lambda: rate_extremes(0.6),
    negative_control=NegativeControl(
        lambda: rate_extremes(0.4)[0],
        bound=lambda case: 0.99 * rate_bound(case),
        note="0.99 of a sharp bound",
    ),
    proof="5",
)
