"""The single-stage problem with ridge regression, and the removal of one of its parameters.

Statement ((8), (9) and the substitution between them in the 2012 paper): with mu' = mu/lam, lam
times the objective y'(K_mu + lam)^-1 y - g mu'a + mu'(g''M + g'I)mu is y'(K_mu' + I)^-1 y - lam^2
g mu''a + mu''(lam^3 g''M + lam^3 g'I)mu'. Checked: the two values at a random mu. A minimiser
exists when g'I + g''M is positive definite. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from .claim import Claim, NegativeControl
from .learners import aligned_objective
from .matrices import alignf_terms
from .sources import P1

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(m) for _ in range(p)]),
        "y": draw.array(m),
        "lam": draw.log_real(1e-3, 1e3),
        "gamma": (draw.real(0, 2), draw.real(0, 2), draw.real(0, 2)),
        "mu": np.abs(draw.array(p)),
    }


def _objective(case, mu, lam, gamma):
    a, M = alignf_terms(case["kernels"], case["y"])
    Q = gamma[1] * np.eye(len(a)) + gamma[2] * M
    return aligned_objective(mu, case["kernels"], case["y"], lam, gamma[0] * a, Q)[0]


def _scale(case):
    """The sum of the absolute values of the three terms: rounding is relative to it."""
    g, g1, g2 = case["gamma"]
    a, M = alignf_terms(case["kernels"], case["y"])
    mu, y = case["mu"], case["y"]
    return y @ y + case["lam"] * (g * mu @ np.abs(a) + mu @ (g1 * mu + g2 * np.abs(M) @ mu))


# -- bound: what the statement says ----------------------------------------------------


def bound(case, powers=(2, 3, 3)):
    lam = case["lam"]
    gamma = [lam**k * g for k, g in zip(powers, case["gamma"])]
    return _objective(case, case["mu"] / lam, 1.0, gamma)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    lam = case["lam"]
    return lam * _objective(case, case["mu"], lam, case["gamma"])


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {
        "kernels": np.array([np.diag([1.0, 2.0])]),
        "y": np.array([1.0, -1.0]),
        "lam": 2.0,
        "gamma": (1.0, 1.0, 1.0),
        "mu": np.array([1.0]),
    }


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-eq-9",
    source=f"{P1}, (8) and (9)",
    statement=(
        r"\mu' = \mu/\lambda:\ (\gamma, \gamma', \gamma'', \lambda) \to"
        r" (\lambda^2\gamma, \lambda^3\gamma', \lambda^3\gamma'', 1)"
    ),
    hypotheses="lam > 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: bound(case, (1, 2, 2)), note="powers one too small"
    ),
)
