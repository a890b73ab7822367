"""No bound of ||V_2|| by M/(lam0 m) has the shape of proposition 2.

Not in the paper. On the data of `p2-prop-1-shape`, whose residuals are at most M = 1, ||V_2|| = L
c^(1/2) g^2 M/(lam0 m) exactly, g = 1 + c L/lam0: with p = 2, m = 1, L and kappa = c L fixed it has
no bound as lam0 -> 0, so no function of kappa, p, m and L can take the place of 4 L, not even where
the missing kappa^(1/2) is put back; proofs.md, section 7. Checked: the quotient, with the
solutions of `LKRR`, and (g + 1/g)/2 for the other reading of alpha. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P2
from .prop_1_shape import cases, family
from .prop_2 import residuals
from .terms import terms, vector_size

# -- cases: those of `p2-prop-1-shape` -------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    g = 1 + case["ratio"]
    return np.array([g * g, (g + 1 / g) / 2])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    t = terms(case)
    unit = case["radius"] * np.sqrt(case["kernels"].max()) * residuals(case) / case["lam0"]
    return np.array([vector_size(case, t, t.v_mid - t.v, old) / unit for old in (False, True)])


# -- negative control ------------------------------------------------------------------


def _smaller_ratio(case):
    return bound(case | {"ratio": 0.99 * case["ratio"]})


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p2-prop-2-shape",
    source=f"{P2}, Proposition 2, new",
    statement=(
        r"\sup \|V_2\|\lambda_0 m/M = \infty \text{ for fixed } \kappa, p, m, \Lambda:\ "
        r"\|V_2\| = \Lambda\sqrt{c}\,g^2 \tfrac{M}{\lambda_0 m},\ g = 1 + c\Lambda/\lambda_0"
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
