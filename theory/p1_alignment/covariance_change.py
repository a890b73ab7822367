"""The change of the empirical cross-covariance when one point is exchanged.

Not in the paper: the statement from which its concentration results follow with better constants.
||C(S) - C(S')||_HS <= 4 R R'(m-1)/m^2, sharp; proofs.md, section 5. Checked: on random features
in the unit balls. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P1
from .lemma_18 import cases

# -- cases: those of lemma 18 ----------------------------------------------------------

# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    m = len(case["F"]) - 1
    return 4 * (m - 1) / m**2


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    F, G = case["F"], case["G"]
    m = len(F) - 1
    old, new = np.arange(m), np.r_[np.arange(m - 1), m]
    C, D = ((F[rows] - F[rows].mean(0)).T @ (G[rows] - G[rows].mean(0)) / m for rows in (old, new))
    return np.linalg.norm(C - D)


# -- negative control ------------------------------------------------------------------


def _control_case():
    """All other points at (-1, -1)... and the last from (1, 1) to (1, -1): attains the bound."""
    x = np.array([-1.0, -1.0, -1.0, 1.0, 1.0])
    z = np.array([0.0, 0.0, 0.0, 1.0, -1.0])
    return {"F": x[:, None], "G": z[:, None]}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-covariance-change",
    source=f"{P1}, behind Lemma 18, new",
    statement=r"\|C(S) - C(S')\|_{HS} \le 4RR'(m-1)/m^2",
    hypotheses="K, K' positive definite symmetric, K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    sharp=True,
    extremes=lambda: [_control_case()],
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.99 * bound(case), note="0.99 of a sharp bound"
    ),
    proof="5",
)
