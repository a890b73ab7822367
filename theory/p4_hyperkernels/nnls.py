"""Non-negative coefficients and negative kernels.

Statement (table 2 of the 2020 paper): non-negative least squares in the hyper-RKHS cannot fit a
kernel with negative values. Checked: for a target without positive entries all coefficients are 0,
and the learned kernel is never negative. Verdict: holds, as the Gaussian and the Wishart
hyper-kernel are positive: the gradient at 0 is -2 K W y >= 0.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl
from ..reference import hyper
from .problems import random_case
from .symmetric_reduction import nonnegative, reduced


def cases(draw):
    return random_case(draw, most=3)


def _fit(case, sign=-1.0):
    """Coefficients for sign * |target|, and the smallest value of k* for the target itself."""
    K, y, w = reduced(case)
    negative, _ = nonnegative(K, sign * np.abs(y), w, case["lam"])
    gamma, _ = nonnegative(K, y, w, case["lam"])
    i, j, _ = hyper.unordered_pairs(len(case["X"]))
    values = case["kernel"](*hyper.ordered_pairs(case["Z"]), case["X"][i], case["X"][j]) @ gamma
    return negative, max(0.0, -float(values.min()))


def bound(case):
    return 0.0


def measure(case):
    negative, below = _fit(case)
    return np.array([negative.max(), below])


def _control_case():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    X = np.array([[0.0], [1.0]])
    target = np.array([[1.0, 0.5], [0.5, 1.0]])
    return {"X": X, "kernel": kernel, "target": target, "lam": 0.1, "Z": X}


def _one_positive(case):
    """The zero target with one entry 0.01."""
    K, y, w = reduced(case)
    y = 0.01 * (np.arange(len(y)) == 0)
    return nonnegative(K, y, w, case["lam"])[0].max()


CLAIM = Claim(
    name="p4-nnls",
    source=f"{P4}, Table 2",
    statement=(
        r"K_{ij} \le 0\ \forall i,j \Rightarrow \beta = 0;"
        r"\quad \beta \ge 0 \Rightarrow k^* \ge 0"
    ),
    hypotheses="A hyper-kernel with positive values; lam > 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case, measure=_one_positive, note="one entry .01 above 0"
    ),
)
