"""A ridge on the shared and the own weights, which couples the tasks.

Statement (not in the paper, which leaves it out): with eps (|mu|^2 + |Lambda|^2) added to model
(10), the best split of given theta_t = mu + lambda_t has mu^m = min(sum_t theta_t^m/(T + 1), min_t
theta_t^m). Checked: against the minimum over a fine search for each kernel. Verdict: holds;
proofs.md, section 10. The quadratic problem (13) then has A + (2 eps/eta) I, which is positive
definite.

`p3-coupling-group`. A discount on the shared weights, which couples the tasks. Statement (not in
the paper, which leaves it out): with the cost gamma dbar'mu + sum_t d_t'lambda_t, dbar the mean of
the d_t and gamma in [1, T], the best split of given theta_t costs sum_t d_t'theta_t - (T - gamma)
dbar'min_t theta_t, a convex function of theta. Checked: against a linear program. Verdict: holds,
for any traces; gamma = T is the printed model, which does not couple; proofs.md, section 10.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, Status


def cases(draw):
    theta = np.maximum(draw.array((draw.integer(1, 4), draw.integer(1, 5))), 0.0)
    return {"theta": draw.log_real(1e-2, 1e2) * theta}


def penalty(mu, theta):
    """|mu|^2 + sum_t |theta_t - mu|^2 for each kernel; theta (M, T)."""
    return mu**2 + ((theta - mu[:, None]) ** 2).sum(1)


def bound(case):
    theta = case["theta"]
    return penalty(np.minimum(theta.sum(1) / (theta.shape[1] + 1), theta.min(1)), theta)


def measure(case):
    """The minimum of the convex penalty over 0 <= mu <= min_t theta_t, by ternary search."""
    theta = case["theta"]
    low, high = np.zeros(len(theta)), theta.min(1)
    for _ in range(200):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        better = penalty(left, theta) <= penalty(right, theta)
        low, high = np.where(better, low, left), np.where(better, right, high)
    return penalty((low + high) / 2, theta)


def _control_case():
    return {"theta": np.array([[1.0, 2.0]])}


def _mean(case):
    """The split with mu = min_t theta_t, without the ridge on mu."""
    return penalty(case["theta"].min(1) / 2, case["theta"])


CLAIM = Claim(
    name="p3-coupling-ridge",
    source=f"{P3}, section 2, a coupling that it needs, new",
    status=Status.NEW,
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


# -- p3-coupling-group -----------------------------------------------------------------


def group_cases(draw):
    M, T = draw.integer(1, 3), draw.integer(1, 4)
    return {
        "theta": np.maximum(draw.array((M, T)), 0.0),
        "d": np.abs(draw.array((M, T))) + 0.01,
        "gamma": draw.real(1.0, T),
    }


def group_bound(case, discount=1.0):
    theta, d, T = case["theta"], case["d"], case["theta"].shape[1]
    saved = (T - case["gamma"]) * d.mean(1) @ theta.min(1)
    return float((d * theta).sum() - discount * saved)


def group_measure(case):
    """min of gamma dbar'mu + sum_t d_t'lambda_t over mu, lambda >= 0, mu + lambda_t = theta_t."""
    from scipy.optimize import linprog

    theta, d = case["theta"], case["d"]
    M, T = theta.shape
    cost = np.concatenate([case["gamma"] * d.mean(1), d.ravel()])
    equal = np.hstack([np.repeat(np.eye(M), T, axis=0), np.eye(M * T)])
    return float(linprog(cost, A_eq=equal, b_eq=theta.ravel(), method="highs").fun)


def _group_control_case():
    return {"theta": np.array([[1.0, 2.0]]), "d": np.ones((1, 2)), "gamma": 1.0}


GROUP = Claim(
    name="p3-coupling-group",
    source=f"{P3}, section 2, a coupling that it needs, new",
    status=Status.NEW,
    statement=(
        r"\min_{\mu+\lambda_t=\theta_t} \gamma\bar d^\top\mu + \sum_t d_t^\top\lambda_t ="
        r" \sum_t d_t^\top\theta_t - (T-\gamma)\,\bar d^\top\min_t\theta_t"
    ),
    hypotheses="theta_t >= 0, 1 <= gamma <= T.",
    kind="identity",
    bound=group_bound,
    measure=group_measure,
    cases=group_cases,
    scale=lambda case: (case["d"] * case["theta"]).sum() + 1e-300,
    rtol=1e-7,
    negative_control=NegativeControl(
        _group_control_case, bound=lambda case: group_bound(case, 0.5), note="half the discount"
    ),
    proof="10",
)
