"""The matrix of the hyper-kernel at all pairs of points.

Statement (after (2.5) of the 2020 paper): the m^2 x m^2 hyper-kernel matrix is positive
semi-definite. Checked: its smallest eigenvalue. Verdict: holds, and it is singular for m >= 2: its
rank is at most m(m+1)/2, and for the Gaussian hyper-kernel at most the number of distinct midpoints
(9 of 15 on five points of a grid); proofs.md, section 4.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, replace
from ..reference import hyper
from .problems import random_case, smallest_eigenvalue


def cases(draw):
    return random_case(draw)


def bound(case):
    return 0.0


def measure(case):
    return smallest_eigenvalue(hyper.hyper_matrix(case["X"], case["kernel"]))


def midpoints(X):
    """The number of distinct midpoints of the pairs of the rows of X."""
    S, T = hyper.ordered_pairs(X)
    return len(np.unique(np.round((S + T) / 2, 12), axis=0))


def rank_bound(case):
    m = len(case["X"])
    if case["kernel"].func is hyper.gaussian:
        return float(min(m * (m + 1) // 2, midpoints(case["X"])))
    return m * (m + 1) / 2


def rank(case):
    """Numerical rank of the hyper-kernel matrix."""
    values = np.linalg.eigvalsh(hyper.hyper_matrix(case["X"], case["kernel"]))
    return float((values > 1e-12 * values[-1]).sum())


def grid(m=5):
    """The points 0, ..., m - 1 with a Gaussian hyper-kernel."""
    kernel = partial(hyper.gaussian, sigma2=0.2, sigma_h2=0.1)
    return {"X": np.arange(float(m))[:, None], "kernel": kernel}


def _one_less(case):
    return rank_bound(case) - 1


def _shifted(case):
    """The unsquared distance of midpoints, which is not positive semi-definite in d = 2."""
    S, T = hyper.ordered_pairs(case["X"])
    apart = hyper.squared_distances((S + T) / 2, (S + T) / 2)
    return smallest_eigenvalue(np.exp(-(apart**1.1)))


SHARPENED = Claim(
    name="p4-hyper-matrix-sharpened",
    source=f"{P4}, after (2.5), sharpened",
    statement=r"\mathrm{rank}\,\underline{\mathbf{K}} \le \tfrac{m(m+1)}2",
    hypotheses="Symmetric in both pairs; Gaussian: at most the number of distinct midpoints.",
    kind="upper",
    bound=rank_bound,
    measure=rank,
    cases=cases,
    negative_control=NegativeControl(grid, bound=_one_less, note="one less, five points of a grid"),
    proof="4",
)

CLAIM = replace(
    SHARPENED,
    name="p4-hyper-matrix",
    source=f"{P4}, after (2.5)",
    statement=r"\underline{\mathbf{K}} \succeq 0",
    hypotheses="A positive definite hyper-kernel.",
    kind="lower",
    bound=bound,
    measure=measure,
    scale=lambda case: 1.0,
    corrected=SHARPENED,
    negative_control=NegativeControl(
        grid, measure=_shifted, note="exponent 2.2 in place of 2 for the midpoints"
    ),
    proof="",
)
