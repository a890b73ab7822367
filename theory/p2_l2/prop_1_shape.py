"""No bound of ||V_1|| by ||Delta_K alpha|| has the shape of proposition 1.

Not in the paper. For two kernels that see one point each, mu0 = 0 and the point exchanged for the
other, ||V_1|| = L c^(1/2) g (1 + g) ||Delta_K alpha|| exactly, with g = 1 + c L/lam0 and c the
diagonal of both. There p = 2, m = 1, L and kappa = c L are fixed while g has no bound as lam0 -> 0:
no function of kappa, p, m and L can take the place of 4 L (kappa p m)^(1/2); proofs.md, section 7.
Checked: the quotient, with the solutions of `LKRR`, and (1 + g)/2 for the other reading of alpha.
Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P2
from .terms import disjoint_case, terms, vector_size

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return family(draw.log_real(1e-2, 1e2), draw.log_real(1e-3, 1e3), draw.log_real(0.1, 10))


def family(scale, ratio, radius):
    """lam0 from ratio = c L/lam0."""
    lam0 = scale * radius / ratio
    return disjoint_case(scale, lam0, radius) | {"mu0": np.zeros(2), "ratio": ratio}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    g = 1 + case["ratio"]
    return np.array([g * (1 + g), (1 + g) / 2])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    t = terms(case)
    unit = case["radius"] * np.sqrt(case["kernels"].max())
    unit *= np.linalg.norm(t.alpha_new - t.alpha_mid)
    return np.array([vector_size(case, t, t.v_new - t.v_mid, old) / unit for old in (False, True)])


# -- negative control ------------------------------------------------------------------


def _smaller_ratio(case):
    return bound(case | {"ratio": 0.99 * case["ratio"]})


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p2-prop-1-shape",
    source=f"{P2}, Proposition 1, new",
    statement=(
        r"\sup \|V_1\|/\|\Delta_K\alpha\| = \infty \text{ for fixed } \kappa, p, m, \Lambda:\ "
        r"\|V_1\| = \Lambda\sqrt{c}\,g(1+g)\|\Delta_K\alpha\|,\ g = 1 + c\Lambda/\lambda_0"
    ),
    hypotheses="Two diagonal kernels, one point that is exchanged, mu0 = 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    rtol=1e-6,
    negative_control=NegativeControl(
        lambda: family(1.0, 10.0, 1.0), bound=_smaller_ratio, note="g - 1 less by a hundredth"
    ),
    proof="7",
)
