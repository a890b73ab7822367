"""Algorithm 1 with eta = 0 as a Frank-Wolfe step; with a line search it converges linearly.

Not in the paper. J(mu) = y'(K_mu + lam)^-1 y is convex with DJ = -v, so the best mu of its
linearization over {mu >= 0, |mu - mu0| <= L} is mu0 + L v/|v|, the next mu of the algorithm. With
exact line search J - J* falls by the share s/2 for s <= 1, 1 - 1/(2s) for s >= 1, or more in each
step, s = |v| lam^3/(4 L |y|^2 sum_k ||K_k||^2); proofs.md, section 8. Checked: steps of plain NumPy
against J at the solution of `LKRR`, whose fallback this is. Verdict: holds.
"""

import numpy as np

from ..prelude import P2, Claim, NegativeControl, Status, combine, krr, once
from ..reference.learners import lkrr_weights, quadratic_forms
from ..reference.library import lkrr
from .algorithm_1 import cases as problem_cases
from .algorithm_1 import counterexample

STEPS = 4


def cases(draw):
    """Draw data of algorithm 1, and a feasible start of the first step."""
    case = problem_cases(draw)
    p = len(case["kernels"])
    start = draw.real(0, 1) * np.sqrt(draw.weights(p))
    return case | {"radius": draw.log_real(1e-2, 1e2), "start": start}


def _value(case, mu):
    return float(case["y"] @ krr(combine(mu, case["kernels"]), case["y"], case["lam"]))


@once
def frank_wolfe(case):
    """J - J* before each of the steps and after the last one, and |v| before each."""
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    mu0 = np.ones(len(kernels))
    mu, best = mu0 + radius * case["start"], _value(case, lkrr(kernels, y, lam, mu0, radius)[1])
    values, slopes = [_value(case, mu) - best], []
    for _ in range(STEPS):
        alpha = krr(combine(mu, kernels), y, lam)
        slopes.append(np.linalg.norm(quadratic_forms(kernels, alpha)))
        mu = _line_search(case, mu, lkrr_weights(kernels, alpha, mu0, radius))
        values.append(_value(case, mu) - best)
    return np.array(values), np.array(slopes)


def _line_search(case, mu, end, rounds=40):
    """The minimum of J between two weights, by golden section."""
    low, high, ratio = 0.0, 1.0, (np.sqrt(5) - 1) / 2
    for _ in range(rounds):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        values = [_value(case, mu + t * (end - mu)) for t in (left, right)]
        low, high = (low, right) if values[0] <= values[1] else (left, high)
    ends = [mu + t * (end - mu) for t in (0.0, (low + high) / 2, 1.0)]
    return min(ends, key=lambda found: _value(case, found))


def bound(case, part=1.0):
    values, slopes = frank_wolfe(case)
    sizes = np.linalg.norm(case["kernels"], ord=2, axis=(1, 2))
    curvature = 2 * (case["y"] @ case["y"]) * (sizes @ sizes) / case["lam"] ** 3
    s = slopes / (2 * case["radius"] * max(curvature, 1e-300))
    fall = np.where(s <= 1, s / 2, 1 - 0.5 / np.maximum(s, 1))
    return (1 - fall / part) * values[:-1]


def measure(case):
    return frank_wolfe(case)[0][1:]


def _scale(case):
    return float(case["y"] @ case["y"]) / case["lam"]


def _control_case():
    return counterexample(radius=1e-3) | {"start": np.zeros(2)}


CLAIM = Claim(
    name="p2-frank-wolfe",
    source=f"{P2}, Algorithm 1 at eta = 0, new",
    status=Status.NEW,
    statement=(
        r"J(\mu_{t+1}) - J^\star \le q\,[J(\mu_t) - J^\star],\ q = 1 - \tfrac s2\ (s \le 1),\ "
        r"\tfrac1{2s}\ (s \ge 1),\ s = \tfrac{\lambda^3\|v\|}{4\Lambda|y|^2\sum_k\|K_k\|^2}"
    ),
    hypotheses="lam > 0, mu0 >= 0, L > 0, exact line search toward mu0 + L v/|v|.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: bound(case, 0.95), note="the share divided by 0.95"
    ),
    proof="8",
)
