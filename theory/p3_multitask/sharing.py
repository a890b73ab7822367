"""Whether the shared weights couple the tasks.

Not in the paper, which introduces theta_t = mu + lambda_t so that the tasks partly share their
kernel (section 2) and does not state what mu changes: only theta_t and the costs d_t'theta_t enter
model (10), so that it decouples into T single-task problems and mu is redundant (the class (1)
shares its budgets rho and R, the model does not). The least value over (mu, Lambda) is the sum of
those of the tasks, for any convex loss; checked with the squared one, whose value is smooth in
theta; proofs.md, section 5. Verdict: holds. `p3-coupling-ridge` and `p3-coupling-group` couple the
tasks.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, Status, combine
from ..reference.multitask import ridge_value
from .tasks import random_tasks, random_weights


def cases(draw):
    case = random_tasks(draw, most_kernels=2)
    T, n = len(case["kernels"]), len(case["kernels"][0][0])
    labels = [draw.signs(n) for _ in range(T)]
    size = float(np.mean([np.trace(K[0]) for K in case["kernels"]])) + 1e-3
    more = {"labels": labels, "beta": draw.log_real(0.02, 0.5) / size, "lam0": draw.real(0.5, 2)}
    return case | random_weights(draw, case) | more


def objective(case, mu, lam):
    """sum_t min_w |w|^2/2 + |y - f|^2/(2 lam0) + beta tr K_t, and its gradients (M,), (M, T)."""
    value, slopes = 0.0, []
    for t, (K, y) in enumerate(zip(case["kernels"], case["labels"])):
        theta = mu + lam[:, t]
        loss, alpha = ridge_value(combine(theta, K), y, case["lam0"])
        d = np.trace(K, axis1=1, axis2=2)
        value += loss + case["beta"] * d @ theta
        slopes.append(case["beta"] * d - np.einsum("i,kij,j->k", alpha, K, alpha) / 2)
    slopes = np.array(slopes).T
    return value, slopes.sum(1), slopes


def least(case, shared=True):
    """The minimum over mu (if shared) and Lambda."""
    from scipy.optimize import minimize

    M, T = len(case["kernels"][0]), len(case["kernels"])
    parts = M if shared else 0

    def function(x):
        mu = x[:M] if shared else np.zeros(M)
        value, over_mu, over_lam = objective(case, mu, x[parts:].reshape(M, T))
        return value, np.concatenate([over_mu[:parts], over_lam.ravel()])

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 2000}
    start, limits = np.full(parts + M * T, 0.1), [(0, None)] * (parts + M * T)
    found = minimize(function, start, jac=True, bounds=limits, options=options, method="L-BFGS-B")
    return float(found.fun)


def _one_task(case, t):
    return case | {"kernels": [case["kernels"][t]], "labels": [case["labels"][t]]}


def example():
    kernels = [np.array([np.eye(2), np.ones((2, 2))])] * 2
    labels = [np.array([1.0, -1.0]), np.array([1.0, 1.0])]
    case = {"kernels": kernels, "labels": labels, "mu": np.ones(2), "lam": np.eye(2)}
    return case | {"beta": 0.1, "lam0": 1.0}


def bound(case):
    return sum(least(_one_task(case, t), shared=False) for t in range(len(case["kernels"])))


def measure(case):
    return least(case)


def _one_kernel_for_all(case):
    """The same weights in all tasks, as if they were shared."""
    from scipy.optimize import minimize

    M, T = len(case["kernels"][0]), len(case["kernels"])

    def function(mu):
        value, slope, _ = objective(case, mu, np.zeros((M, T)))
        return value, slope

    found = minimize(function, np.full(M, 0.1), jac=True, bounds=[(0, None)] * M)
    return float(found.fun)


CLAIM = Claim(
    name="p3-sharing",
    source=f"{P3}, section 2 and (10), new",
    status=Status.NEW,
    statement=(
        r"\min_{\mu,\Lambda\ge0} \sum_t J_t(\mu+\lambda_t) = \sum_t\min_{\theta_t\ge0}"
        r" J_t(\theta_t)"
    ),
    hypotheses="None.",
    kind="equivalence",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    negative_control=NegativeControl(
        example, bound=_one_kernel_for_all, note="one kernel for all tasks"
    ),
    proof="5",
)
