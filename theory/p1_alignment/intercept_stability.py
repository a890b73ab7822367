"""Stability of kernel ridge regression with a free intercept.

Not in the paper, which has no intercept; the estimators have one. When one of m points is
exchanged, |h'(x) - h(x)| <= (M/m) (1 + D^2/lam0) with M = Y (2 + D/(2 lam0^(1/2))), 2 Y the length
of an interval that holds all labels and D the diameter of the points in feature space; proofs.md,
section 24. Checked: at all points, D and Y those of the points and labels at hand. Verdict: holds;
2 Y/m is attained for D^2/lam0 -> 0, and 0.60 of the bound for D^2/lam0 = 2500. The learner is the
library's `KernelRidge`.
"""

import numpy as np

from alignlearn.bounds.fitted import intercept_residual_bound, intercept_stability

from ..prelude import P1, Claim, Mutant, NegativeControl, Status
from ..reference.exchange import LARGEST_RIDGE
from ..reference.library import ridge_with_intercept


def cases(draw):
    """Rows of F: the points of S, of which the last is x_m, then x'_m, then test points.

    ``y`` are the labels of S and of x'_m, ``weight`` how often each point of S occurs.
    """
    n = draw.integer(1, 6)
    F = draw.array((n + 3, draw.integer(1, 3)))
    return {
        "F": np.tanh(3.0 * F) if draw.choice((False, True)) else F,
        "y": np.tanh(3.0 * draw.array(n + 1)),
        "weight": np.r_[[draw.choice((1.0, 1.0, 3.0, 1000.0)) for _ in range(n - 1)], 1.0],
        "lam0": draw.log_real(1e-3, LARGEST_RIDGE),
    }


def light(m=4):
    """A ridge so large that the intercept alone is left: the change is 2 Y/m."""
    F = np.r_[np.ones((m, 1)), -np.ones((2, 1))]
    y = np.r_[np.ones(m), -1.0]
    return {"F": F, "y": y, "weight": np.ones(m), "lam0": LARGEST_RIDGE}


def lever(ratio=50.0, half=1e6):
    """Two close clusters of opposite labels, which make h steep; a distant point is exchanged.

    Its label disagrees with h; ratio is D/lam0^(1/2).
    """
    F = np.array([[0.0], [1 / ratio], [1.0], [0.0], [1.0]])
    y, weight = np.array([1.0, -1.0, 1.0, 1.0]), np.array([half, half, 1.0])
    return {"F": F, "y": y, "weight": weight, "lam0": ratio**-2}


def constants(case):
    """Return m, Y, D and lam0."""
    F, y = case["F"], case["y"]
    distance = np.linalg.norm(F[:, None] - F[None], axis=2).max()
    return case["weight"].sum(), np.ptp(y) / 2, distance, case["lam0"]


def bound(case):
    return intercept_stability(*constants(case))


def measure(case):
    F, y, weight = case["F"], case["y"], case["weight"]
    n, K = len(weight), F @ F.T
    lam = case["lam0"] * weight.sum()
    h, h_new = (
        ridge_with_intercept(K[np.ix_(rows, rows)], y[rows], lam, K[:, rows], weight)
        for rows in (np.arange(n), np.r_[np.arange(n - 1), n])
    )
    return np.abs(h_new - h)


def _part_of_diameter_term(part):
    def smaller(case):
        m, *rest = constants(case)
        first = intercept_residual_bound(*rest) / m
        return first + part * (bound(case) - first)

    return smaller


CLAIM = Claim(
    name="p1-intercept-stability",
    source=f"{P1}, after Theorem 16, new",
    status=Status.NEW,
    statement=(
        r"|\Delta h(x)| \le \frac Mm\Big[1 + \frac{D^2}{\lambda_0}\Big],"
        r"\ M = Y\Big(2+\frac{D}{2\sqrt{\lambda_0}}\Big)"
    ),
    hypotheses="Labels in an interval of length 2Y, points at distances at most D, lam0 > 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: np.abs(case["y"]).max(),
    extremes=lambda: [light(), lever()],
    sharp=True,
    mutants=(
        Mutant("without the term of D", _part_of_diameter_term(0.0)),
        Mutant("half of the term of D", _part_of_diameter_term(0.5)),
    ),
    negative_control=NegativeControl(
        lever, bound=_part_of_diameter_term(0.5), note="half of the term of D"
    ),
    proof="24",
)
