"""The 2-cycles of the interpolated iteration.

Not in the 2009 paper: on K_1 = diag(1, 0), K_2 = diag(0, 1) with equal labels and mu0 = 1, the
iteration exchanges (a, b) and (b, a), a = t b, if t (1 - eta) - eta (1 + t^2) = (1 + lam)(1 + eta)
(1 + t^4)^(1/2)/L. For every eta in [0, 1/3) this has a solution t > 1 as soon as L > 2^(1/2) (1 +
lam)(1 + eta)/(1 - 3 eta), and as L grows it tends to a b (1 - eta) = eta (a^2 + b^2), solvable with
a != b exactly for eta < 1/3; proofs.md, section 6. Checked: two steps of the iteration in plain
NumPy, from the point that the equation gives. Verdict: holds.
"""

import numpy as np
from scipy.optimize import brentq

from ..prelude import P2, Claim, HypothesisNotMet, Mutant, NegativeControl, Status, combine, krr
from ..reference.learners import lkrr_weights


def cases(draw):
    eta, lam = draw.real(0.0, 0.32), draw.log_real(0.01, 10.0)
    return {"eta": eta, "lam": lam, "radius": draw.real(1.01, 100.0) * least_radius(eta, lam)}


def least_radius(eta, lam):
    """The smallest L with a cycle; infinite for eta >= 1/3."""
    return np.sqrt(2) * (1 + lam) * (1 + eta) / (1 - 3 * eta) if 3 * eta < 1 else np.inf


def ratio(case):
    """t > 1, the quotient of the two coordinates."""
    eta, radius, lam = case["eta"], case["radius"], case["lam"]
    if not radius > least_radius(eta, lam):
        raise HypothesisNotMet("L is too small, or eta >= 1/3")

    def excess(t):
        slope = (1 + lam) * (1 + eta) / radius
        return t * (1 - eta) - eta * (1 + t**2) - slope * np.sqrt(1 + t**4)

    # At 1 the excess is positive, at the right end (1 - eta)/(slope + eta) t^2 outgrows t.
    return brentq(excess, 1.0, 2 + radius * (1 - eta) / (1 + lam), xtol=1e-15, rtol=1e-14)


def cycle(case):
    """One of the two points of the cycle."""
    eta, t = case["eta"], ratio(case)
    size = 1 + case["lam"] + case["radius"] * t**2 / np.sqrt(1 + t**4)
    b = (1 - eta) / ((1 - eta * t) * size)
    return np.array([t * b, b])


def step(case, alpha, eta=None):
    """One step of the iteration, in plain NumPy."""
    eta = case["eta"] if eta is None else eta
    kernels = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    weights = lkrr_weights(kernels, alpha, np.ones(2), case["radius"])
    return eta * alpha + (1 - eta) * krr(combine(weights, kernels), np.ones(2), case["lam"])


def bound(case):
    """The other point of the cycle, and this one."""
    alpha = cycle(case)
    return np.r_[alpha[::-1], alpha]


def measure(case, eta=None):
    once = step(case, cycle(case), eta)
    return np.r_[once, step(case, once, eta)]


def example():
    return {"eta": 0.2, "lam": 1.0, "radius": 100.0}


CLAIM = Claim(
    name="p2-algorithm-1-cycle",
    source=f"{P2}, Algorithm 1, new",
    status=Status.NEW,
    statement=(
        r"\eta < \tfrac13,\ \Lambda > \tfrac{\sqrt2(1+\lambda)(1+\eta)}{1-3\eta}:\ (a,b)"
        r" \leftrightarrow (b,a),\ \tfrac ab > 1"
    ),
    hypotheses="Two coordinates, a kernel for each, equal labels, mu0 = 1.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.linalg.norm(cycle(case)),
    rtol=1e-8,
    extremes=lambda: [example(), example() | {"eta": 0.0}],
    mutants=(
        Mutant("it stays where it is", bound=lambda case: np.tile(cycle(case), 2)),
        Mutant("eta larger by .01", measure=lambda case: measure(case, case["eta"] + 0.01)),
    ),
    negative_control=NegativeControl(
        example, measure=lambda case: measure(case, case["eta"] + 0.01), note="eta larger by .01"
    ),
    proof="6",
)
