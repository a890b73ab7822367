"""Quantities that increase along Algorithm 1 with the safeguard, and may decrease without it.

Not in the paper: with the safeguard the objective P rises at every step, from any point; proofs.md,
section 6. Checked: its change in one step of the library at eta = 1/2. Verdict: holds. Without the
safeguard P may fall, the duality gap d'Md rise and the quotient (alpha'y)^2/(lam |alpha|^2 + mu0'v
+ L |v|) fall, all in one step from a point without the first kernel (`changes` at `falling`), so
that none of the three shows that the plain iteration converges.
"""

import numpy as np

from ..prelude import P2, Claim, Mutant, NegativeControl, Status, combine, krr
from ..reference.learners import lkrr_weights, quadratic_forms
from ..reference.library import lkrr_iteration
from .algorithm_1 import cases as problem_cases
from .algorithm_1 import counterexample as two_coordinates


def cases(draw):
    case = problem_cases(draw)
    return case | {"alpha": draw.log_real(1e-2, 1e2) * (draw.array(len(case["y"])) + 0.1)}


def values(case, alpha):
    """Return P, the duality gap and the quotient."""
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    v = quadratic_forms(kernels, alpha)
    size = lam * alpha @ alpha + v.sum() + radius * np.linalg.norm(v)
    objective = 2 * alpha @ y - size
    return np.array([objective, _solution(case, alpha) @ y - objective, (alpha @ y) ** 2 / size])


def _solution(case, alpha):
    kernels = case["kernels"]
    weights = lkrr_weights(kernels, alpha, np.ones(len(kernels)), case["radius"])
    return krr(combine(weights, kernels), case["y"], case["lam"])


def changes(case):
    """Changes of the three in one plain step, signed so that each would have to be positive."""
    alpha = case["alpha"]
    change = values(case, (alpha + _solution(case, alpha)) / 2) - values(case, alpha)
    return change * np.array([1, -1, 1])


def _size(case):
    """The size of the three, which rounding errors are relative to."""
    objective, _, quotient = values(case, case["alpha"])
    linear = abs(case["alpha"] @ case["y"])
    return abs(objective) + 2 * linear + quotient + abs(_solution(case, case["alpha"]) @ case["y"])


def falling(radius=100.0):
    """The first coordinate starts at 0, where its weight is 1 and its step much too long."""
    case = two_coordinates(eta=0.5, radius=radius)
    return case | {"alpha": np.array([0.0, case["y"][1] / (2 + radius)])}


def bound(case):
    return 0.0


def measure(case):
    return objective_change(case)


def objective_change(case, safeguard=True):
    """Change of the objective in one step of the library."""
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    alpha, mu0 = case["alpha"], np.ones(len(kernels))
    new = lkrr_iteration(kernels, y, lam, mu0, radius, 0.5, 2, 1e-300, safeguard, alpha)
    return values(case, new)[0] - values(case, alpha)[0]


def _without(case):
    return objective_change(case, safeguard=False)


CLAIM = Claim(
    name="p2-algorithm-1-lyapunov",
    source=f"{P2}, Algorithm 1, new",
    status=Status.NEW,
    statement=r"P(\alpha_{i+1}) \ge P(\alpha_i) \text{ with the safeguard}",
    hypotheses="lam > 0, mu0 >= 0, alpha_i any point.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_size,
    extremes=lambda: [falling()],
    mutants=(Mutant("no safeguard", measure=_without),),
    negative_control=NegativeControl(falling, measure=_without, note="no safeguard"),
    proof="6",
)
