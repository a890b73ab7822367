"""When the class of theorem 1 is empty.

Not in the paper, which does not discuss whether the class (1) has members: it has if and only if
min over theta >= 0 of ||V theta - v||^2 <= rho. The condition b'A^-1 b + 4(rho - c) >= 0, under
which the root in (26) and (7) exists, is necessary and not sufficient, because it ignores theta >=
0; proofs.md, section 7. Checked: the two sides, each 0 or 1. Verdict: holds. The library's bounds
raise an error otherwise, where (7) returns a number.
"""

import numpy as np

from ..bounds import neighborhood
from ..prelude import P3, Claim, Mutant, NegativeControl, Status
from ..reference.matrices import alignf_minimizer
from .tasks import random_tasks


def cases(draw):
    """rho is kept away from the two thresholds, where rounding decides."""
    case = random_tasks(draw)
    least = [least_distance(case), _projection(case).distance]
    size = sum(np.sum(target**2) for target in case["targets"])
    factor = draw.choice((0.3, 0.9, 1.1, 3.0))
    return case | {"rho": factor * draw.choice(least) + draw.choice((0.0, 0.1)) * size}


def _projection(case):
    return neighborhood.projections(neighborhood.tasks_of(case["kernels"], case["targets"]))


def least_distance(case):
    """The minimum of sum_t ||K_t - Khat_t||^2 over theta >= 0, every support tried."""
    total = 0.0
    for K, target in zip(case["kernels"], case["targets"]):
        gram, right = np.einsum("kij,lij->kl", K, K), np.einsum("kij,ij->k", K, target)
        theta = alignf_minimizer(right, gram)
        total += np.sum((np.tensordot(theta, K, axes=1) - target) ** 2)
    return float(total)


def _near(value, rho, case):
    size = sum(np.sum(target**2) for target in case["targets"])
    return np.nan if abs(value - rho) <= 1e-9 * size else float(value <= rho)


def without_signs(case):
    """The sign of b'A^+b + 4(rho - c), which ignores theta >= 0."""
    return _near(_projection(case).distance, case["rho"], case)


def bound(case):
    tasks = neighborhood.tasks_of(case["kernels"], case["targets"])
    return _near(neighborhood.distance_to_cone(tasks), case["rho"], case)


def measure(case):
    return _near(least_distance(case), case["rho"], case)


def near_target():
    """A target matrix far from K_theta for all theta >= 0: n = 2, K = I, Khat = -I, rho = 1.

    There b'A^+b + 4(rho - c) = 4."""
    return {"kernels": [np.eye(2)[None]], "targets": [-np.eye(2)], "rho": 1.0}


def far_target():
    """n = 2, K = I, Khat off the diagonal, rho = 3/2, R = 1: empty, and (7) gives 0.353553."""
    target = np.array([[0.0, 1.0], [1.0, 0.0]])
    return {"kernels": [np.eye(2)[None]], "targets": [target], "rho": 1.5, "radius": 1.0}


def _twice(case):
    return bound(case | {"rho": 2.5 * case["rho"]})


CLAIM = Claim(
    name="p3-empty-class",
    source=f"{P3}, (26), new",
    status=Status.NEW,
    statement=(r"\Psi_\theta \ne \emptyset \iff \min_{\theta\ge0}\|V\theta-\hat v\|^2 \le \rho"),
    hypotheses="None.",
    kind="equivalence",
    bound=bound,
    measure=measure,
    cases=cases,
    extremes=lambda: [near_target()],
    mutants=(Mutant("without theta >= 0", without_signs),),
    negative_control=NegativeControl(near_target, bound=_twice, note="rho times 2.5"),
    proof="7",
)
