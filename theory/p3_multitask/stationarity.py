"""The optimality conditions of a solution.

Not in the paper, whose steps (section 4.2) have no stopping rule: where alpha is not unique (theta
= 0, inactive kernels) J is not smooth, and its right derivative at 0 is beta tr K - min q over the
optimal alpha. So theta is optimal if some optimal alpha obeys q_t^m <= beta tr K_t^m, with equality
where theta_t^m > 0; the one that the SVM solver returns need not; proofs.md, section 8. Checked:
one kernel, C = 1, a difference quotient of J at 0. Verdict: holds.
"""

import numpy as np

from ..prelude import P3, Claim, Mutant, NegativeControl, Status
from ..reference.multitask import svm_value


def cases(draw):
    n = draw.integer(3, 5)
    y = np.r_[1.0, -1.0, draw.signs(n - 2)]
    f = draw.array((n, draw.integer(1, 2)))
    K = f @ f.T
    beta = draw.log_real(1e-2, 1.0)
    case = {"K": K / max(np.trace(K), 1e-3), "y": y, "beta": beta}
    return case | {"alpha": _vertices(y)[-1 if draw.choice((False, True)) else 0]}


def _vertices(y):
    """The extreme points of the optimal alpha at theta = 0, C = 1: the smaller class at 1.

    They lie where the larger class has as many ones as the smaller has members.
    """
    from itertools import combinations

    larger = 1.0 if (y > 0).sum() >= (y < 0).sum() else -1.0
    rows, found = np.flatnonzero(y == larger), []
    for chosen in combinations(rows, len(y) - len(rows)):
        alpha = (y != larger).astype(float)
        alpha[list(chosen)] = 1.0
        found.append(alpha)
    return np.array(found)


def _form(case, alpha):
    coef = alpha * case["y"]
    return float(coef @ case["K"] @ coef / 2)


def least_form(case):
    """Minimum of q over the optimal alpha: a convex quadratic over a convex hull."""
    corners = _vertices(case["y"]) * case["y"]
    gram = corners @ case["K"] @ corners.T
    return nearest_in_hull(gram) / 2


def nearest_in_hull(gram):
    """min w'Gw over the simplex, by trying every face; at most 10 corners."""
    from itertools import combinations

    size, best = len(gram), float(np.diag(gram).min())
    for count in range(2, size + 1):
        for chosen in combinations(range(size), count):
            G = gram[np.ix_(chosen, chosen)]
            system = np.block([[G, np.ones((count, 1))], [np.ones((1, count)), np.zeros((1, 1))]])
            w = np.linalg.lstsq(system, np.r_[np.zeros(count), 1.0], rcond=1e-12)[0][:count]
            if (w >= -1e-12).all() and abs(w.sum() - 1) < 1e-9:
                best = min(best, float(w @ G @ w))
    return max(best, 0.0)


def slope(case, step=1e-6):
    """(J(h) - J(0))/h for J(theta) = SVM(theta K) + beta tr K theta and a small h, C = 1."""
    zero = 2.0 * min((case["y"] > 0).sum(), (case["y"] < 0).sum())
    return (svm_value(step * case["K"], case["y"], 1.0) - zero) / step + case["beta"] * np.trace(
        case["K"]
    )


def _limit(case):
    return float(case["beta"] * np.trace(case["K"]))


def example():
    """Three samples: y = (1, 1, -1), K = pp', p = (1, -1, 0), beta = 0.1.

    There alpha = (0, 1, 1) has q = 0.5 > 0.2."""
    p = np.array([1.0, -1.0, 0.0])
    case = {"K": np.outer(p, p), "y": np.array([1.0, 1.0, -1.0]), "beta": 0.1}
    return case | {"alpha": np.array([0.0, 1.0, 1.0])}


def bound(case):
    return _limit(case) - least_form(case)


def measure(case):
    return slope(case)


def _any_solution(case):
    """The conditions with any optimal alpha, for example the one in the case."""
    return _limit(case) - _form(case, case["alpha"])


def _corner(case):
    """The best of the extreme points only."""
    return _limit(case) - min(_form(case, alpha) for alpha in _vertices(case["y"]))


CLAIM = Claim(
    name="p3-stationarity",
    source=f"{P3}, section 4.2, new",
    status=Status.NEW,
    statement=r"J'(0; 1) = \beta\,\mathrm{tr}K - \min_{\alpha\ \mathrm{optimal}} q(\alpha)",
    hypotheses="One kernel, C = 1.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: _limit(case) + np.abs(case["K"]).max() * len(case["y"]) ** 2,
    rtol=1e-4,
    extremes=lambda: [example()],
    mutants=(Mutant("any optimal alpha", _any_solution),),
    negative_control=NegativeControl(
        example, bound=_corner, note="extreme points of the optimal alpha only"
    ),
    proof="8",
)
