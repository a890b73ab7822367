"""A ridge on the shared and the own weights, which makes the tasks share.

Statement (not in the paper, which leaves it out): with eps (|mu|^2 + |Lambda|^2) added to model
(10), the best split of given theta_t = mu + lambda_t has mu^m = min(sum_t theta_t^m/(T + 1), min_t
theta_t^m). Checked: against the minimum over a fine search for each kernel. Verdict: holds;
proofs.md, section 10. The quadratic problem (13) then has A + (2 eps/eta) I, which is positive
definite.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P3

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    theta = np.maximum(draw.array((draw.integer(1, 4), draw.integer(1, 5))), 0.0)
    return {"theta": draw.log_real(1e-2, 1e2) * theta}


def penalty(mu, theta):
    """|mu|^2 + sum_t |theta_t - mu|^2 for each kernel; theta (M, T)."""
    return mu**2 + ((theta - mu[:, None]) ** 2).sum(1)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    theta = case["theta"]
    return penalty(np.minimum(theta.sum(1) / (theta.shape[1] + 1), theta.min(1)), theta)


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    """The least of the convex penalty over 0 <= mu <= min_t theta_t, by ternary search."""
    theta = case["theta"]
    low, high = np.zeros(len(theta)), theta.min(1)
    for _ in range(200):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        better = penalty(left, theta) <= penalty(right, theta)
        low, high = np.where(better, low, left), np.where(better, right, high)
    return penalty((low + high) / 2, theta)


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {"theta": np.array([[1.0, 2.0]])}


def _mean(case):
    """mu the least theta_t, without the ridge on mu."""
    return penalty(case["theta"].min(1) / 2, case["theta"])


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p3-coupling-ridge",
    source=f"{P3}, section 2, a coupling that it needs",
    statement=(
        r"\arg\min_{0\le\mu\le\theta_t} \mu^2 + \sum_t(\theta_t-\mu)^2 ="
        r" \min\big(\tfrac{1}{T+1}\textstyle\sum_t\theta_t, \min_t\theta_t\big)"
    ),
    hypotheses="theta_t >= 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: (case["theta"] ** 2).sum(1) + 1e-300,
    negative_control=NegativeControl(_control_case, bound=_mean, note="half the least theta"),
    proof="10",
)
