"""A discount on the shared weights, which makes the tasks share.

Statement (not in the paper, which leaves it out): with the cost gamma dbar'mu + sum_t
d_t'lambda_t, dbar the mean of the d_t and gamma in [1, T], the best split of given theta_t costs
sum_t d_t'theta_t - (T - gamma) dbar'min_t theta_t, a convex function of theta. Checked: against a
linear program. Verdict: holds, for any traces; gamma = T is the printed model, which does not
couple; proofs.md, section 10.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P3

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    M, T = draw.integer(1, 3), draw.integer(1, 4)
    return {
        "theta": np.maximum(draw.array((M, T)), 0.0),
        "d": np.abs(draw.array((M, T))) + 0.01,
        "gamma": draw.real(1.0, T),
    }


# -- bound: what the statement says ----------------------------------------------------


def bound(case, discount=1.0):
    theta, d, T = case["theta"], case["d"], case["theta"].shape[1]
    saved = (T - case["gamma"]) * d.mean(1) @ theta.min(1)
    return float((d * theta).sum() - discount * saved)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    """min of gamma dbar'mu + sum_t d_t'lambda_t over mu, lambda >= 0, mu + lambda_t = theta_t."""
    from scipy.optimize import linprog

    theta, d = case["theta"], case["d"]
    M, T = theta.shape
    cost = np.concatenate([case["gamma"] * d.mean(1), d.ravel()])
    equal = np.hstack([np.repeat(np.eye(M), T, axis=0), np.eye(M * T)])
    return float(linprog(cost, A_eq=equal, b_eq=theta.ravel(), method="highs").fun)


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {"theta": np.array([[1.0, 2.0]]), "d": np.ones((1, 2)), "gamma": 1.0}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p3-coupling-group",
    source=f"{P3}, section 2, a coupling that it needs",
    statement=(
        r"\min_{\mu+\lambda_t=\theta_t} \gamma\bar d^\top\mu + \sum_t d_t^\top\lambda_t ="
        r" \sum_t d_t^\top\theta_t - (T-\gamma)\,\bar d^\top\min_t\theta_t"
    ),
    hypotheses="theta_t >= 0, 1 <= gamma <= T.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: (case["d"] * case["theta"]).sum() + 1e-300,
    rtol=1e-7,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: bound(case, 0.5), note="half the discount"
    ),
    proof="10",
)
