"""Stability of kernel ridge regression from a bound of the labels.

Not printed: theorem 2 of the 2009 paper has a bound M of the residuals; for |y| <= Y it is M = Y (1
+ (kappa/lam0)^(1/2)/2), so |h'(x) - h(x)| <= 2 kappa M/(lambda_min + lam0 m) needs nothing of the
learned functions; proofs.md, section 4. Checked: on the cases of `p2-theorem-2`. Verdict: holds,
and sharp (m = 1, kappa/lam0 -> 0).
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds import stability

from ..claim import Claim, NegativeControl
from ..papers import P2
from .theorem_2 import _fits, _scale, cases, flipped, measure

# -- cases: those of theorem 2 ---------------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    F, m = case["F"], len(case["y"])
    labels = max(np.abs(case["y"]).max(), abs(case["y_new"]))
    kappa = (F * F).sum(1).max()
    residual = stability.residual_bound(labels, kappa, case["lam0"])
    new = _fits(case)[2]
    smallest = max(np.linalg.eigvalsh(F[new].T @ F[new])[0], 0.0)
    return stability.krr_stability(m, kappa, case["lam0"], residual, smallest)


# -- measure: that of theorem 2 --------------------------------------------------------

# -- negative control ------------------------------------------------------------------


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p2-theorem-2-labels",
    source=f"{P2}, Theorem 2, for bounded labels",
    statement=(
        r"|\Delta_S h(x)| \le \frac{2\kappa Y(1+\tfrac12\sqrt{\kappa/\lambda_0})}"
        r"{\lambda_{\min} + \lambda_0 m}"
    ),
    hypotheses="K(x, x) <= kappa, |y| <= Y, lam0 > 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    sharp=True,
    extremes=lambda: [flipped(20)],
    factors={
        "m^(-1/2)": lambda case: len(case["y"]) ** -0.5,
        "lam0^(-1/2)": lambda case: case["lam0"] ** -0.5,
    },
    negative_control=NegativeControl(
        lambda: flipped(1), bound=lambda case: 0.95 * bound(case), note="1.9 for 2"
    ),
    proof="4",
)
