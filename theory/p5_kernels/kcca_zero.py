"""Kernel canonical correlation without regularisation.

Not a statement of the slides, which go on to kappa > 0, but the reason for it: for centred Gram
matrices whose smallest eigenvalues (but one) are v and w, the regularised correlation is at least
v w/((v + kappa)(w + kappa)), which tends to 1 with kappa, whatever the data; proofs.md, section 9.
Checked: both sides. Verdict: holds, so the estimate with kappa = 0 says nothing about dependence.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P5
from ..reference import kcca
from ..reference.matrices import center

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    G = kcca.drawn(draw)
    return {"G": G, "kappa": draw.log_real(1e-4, 1.0)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    smallest = [np.linalg.eigvalsh(K)[1] for K in case["G"]]
    return float(np.prod([max(v, 0.0) / (max(v, 0.0) + case["kappa"]) for v in smallest]))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return kcca.correlation(case["G"], case["kappa"])


# -- negative control ------------------------------------------------------------------


def _control_case():
    """Both views the identity: all eigenvalues are equal, and the bound is attained."""
    return {"G": np.array([center(np.eye(3))] * 2), "kappa": 0.1}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p5-kcca-zero",
    source=f"{P5}, KCCA, finite-dimensional form, new",
    statement=r"\hat\rho(\kappa) \ge \frac{v}{v+\kappa}\frac{w}{w+\kappa} \to 1",
    hypotheses="Centred Gram matrices of rank N - 1.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 1.01 * bound(case), note="1 % more"
    ),
    proof="9",
    extremes=lambda: [_control_case()],
    sharp=True,
)
