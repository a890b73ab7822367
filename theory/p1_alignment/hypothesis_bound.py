"""The size of the function that kernel ridge regression learns.

Statement (proof of theorem 17 of the 2012 paper): |h(x)| <= R M (L1/lam0)^(1/2). Checked: at all
points of random cases, one combined kernel. Verdict: holds, loose by 2. Sharpened: (M/2)(L1
R^2/lam0)^(1/2), attained at x_i = 1/10, y = 1, lam0 = 1/100, where h(1) = 5; proofs.md, section 12.
"""

import numpy as np

from ..bounds import stability
from ..prelude import P1, Claim, NegativeControl, combine, replace
from ..reference.exchange import constants, fit_predict, random_pair, rows_of


def cases(draw):
    """Draw ridges of the size of the kernel, where the bound is close."""
    return random_pair(draw) | {"lam0": draw.log_real(1e-3, 1e3)}


def bound(case):
    return 2 * sharp_bound(case)


def measure(case):
    rows, _ = rows_of(case)
    h = fit_predict(combine(case["mu"], case["kernels"]), rows, case["y"], case["lam0"])
    return np.abs(h)


def sharp_bound(case):
    radius2, _, _ = constants(case)
    label_bound = np.abs(case["y"]).max()
    return stability.hypothesis_bound(label_bound, case["mu"].sum() * radius2, case["lam0"])


def _control_case():
    x = np.array([0.1, 0.1, 0.1, 1.0])
    one = np.ones(1)
    case = {"kernels": np.outer(x, x)[None], "y": np.ones(3), "y_new": 1.0, "lam0": 0.01}
    return case | {"mu": one, "mu_new": one}


SHARP = Claim(
    name="p1-hypothesis-bound-sharpened",
    source=f"{P1}, proof of Theorem 17, sharpened",
    statement=r"|h(x)| \le \tfrac M2\sqrt{\Lambda_1R^2/\lambda_0}",
    hypotheses="|y| <= M, K_k(x, x) <= R^2, ||mu||_1 <= L1, lam0 > 0.",
    kind="upper",
    bound=sharp_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1e-3 + np.abs(case["y"]).max(),
    rtol=1e-8,
    sharp=True,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.99 * sharp_bound(case), note="0.99 of a sharp bound"
    ),
    proof="12",
)

CLAIM = replace(
    SHARP,
    name="p1-hypothesis-bound",
    source=f"{P1}, proof of Theorem 17",
    statement=r"|h(x)| \le RM\sqrt{\Lambda_1/\lambda_0}",
    bound=bound,
    corrected=SHARP,
    sharp=False,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.49 * bound(case), note="less than half"
    ),
    proof="",
)
