"""Algorithm 1 as gradient ascent, and how long its steps may be.

Not in the paper: with M(alpha) = K(alpha) + lam the iteration is alpha + ((1 - eta)/2) M^-1 DP for
the concave P of `theorem_1`, and for any two points with d = beta - alpha, N = (M(alpha) +
M(beta))/2: d'Nd <= d'(M(beta) beta - M(alpha) alpha) < 3 d'Nd. Nearby points give M <= -Hess P/2 <
3 M. So Algorithm 1 has no 2-cycle for eta >= 1/3, on any data; proofs.md, section 6. Checked: both
inequalities, relative to d'Nd, at points near and far. Verdict: holds; both constants are attained
in the limit.

Machine-checked in Coq (algorithm_1_hessian.v): the inequality of two points that both rest on, 0 <=
(n - m)'(Z - X) <= 2 (n + m)'u, for vectors of any finite length, and that 2 cannot be lowered.
"""

import numpy as np

from ..prelude import P2, Claim, Mutant, NegativeControl, Status, combine
from ..reference.learners import lkrr_weights
from .algorithm_1 import cases as problem_cases


def cases(draw):
    case = problem_cases(draw)
    m = len(case["y"])
    first = draw.array(m) + 1e-3
    return case | {"alpha": first, "beta": first + draw.log_real(1e-3, 1e2) * draw.array(m) + 1e-3}


def bound(case):
    """3 and -1, for the ratio and its negative."""
    return np.array([3.0, -1.0])


def measure(case):
    first, second = (_matrix(case, case[name]) for name in ("alpha", "beta"))
    d = case["beta"] - case["alpha"]
    ratio = 2 * d @ (second @ case["beta"] - first @ case["alpha"]) / (d @ (first + second) @ d)
    return np.array([ratio, -ratio])


def _matrix(case, alpha):
    kernels = case["kernels"]
    weights = lkrr_weights(kernels, alpha, np.ones(len(kernels)), case["radius"])
    return combine(weights, kernels) + case["lam"] * np.eye(len(alpha))


def _rounding(case):
    """Rounding of M alpha, relative to d'Nd."""
    d = case["beta"] - case["alpha"]
    first, second = (_matrix(case, case[name]) for name in ("alpha", "beta"))
    size = np.linalg.norm(first) * np.linalg.norm(case["alpha"])
    size += np.linalg.norm(second) * np.linalg.norm(case["beta"])
    return 3 + size * np.linalg.norm(d) / (d @ (first + second) @ d)


def _control_case(radius=1e4):
    """Two kernels on separate coordinates; the difference is across alpha."""
    kernels = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    alpha, d = np.ones(2), 1e-3 * np.array([1.0, -1.0])
    case = {"kernels": kernels, "y": np.ones(2), "lam": 1.0, "radius": radius, "eta": 0.5}
    return case | {"alpha": alpha - d, "beta": alpha + d}


CLAIM = Claim(
    name="p2-algorithm-1-hessian",
    source=f"{P2}, Algorithm 1, new",
    status=Status.NEW,
    statement=(
        r"d'Nd \le d'(M(\beta)\beta - M(\alpha)\alpha) < 3\,d'Nd,\ "
        r"M \preceq -\tfrac12 \nabla^2 P \prec 3M;\ \text{no 2-cycle for } \eta \ge \tfrac13"
    ),
    hypotheses="lam > 0, mu0 >= 0; M = K(alpha) + lam, N = (M(alpha) + M(beta))/2, d != 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_rounding,
    extremes=lambda: [_control_case()],
    sharp=True,
    mutants=(Mutant("at least 1.05 d'Nd", lambda case: np.array([3.0, -1.05])),),
    negative_control=NegativeControl(
        _control_case, bound=lambda case: np.array([2.99, -1.0]), note="2.99 for 3"
    ),
    proof="6",
)
