"""The eigenvalues of the KCCA problem.

Statement (slides, final task and Q3): the largest eigenvalue of A z = lambda B z is the regularised
correlation, and the eigenvalues come in pairs lambda, -lambda. Checked: all eigenvalues of the
dense problem against +- the singular values of R_X R_Y, R = (G + kappa I)^-1 G. Verdict: holds;
0 <= lambda < 1 for the largest.
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P5
from ..reference import kcca

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return {"G": kcca.drawn(draw), "kappa": draw.log_real(1e-2, 10.0)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case, power=1.0):
    """Plus and minus the singular values, ascending."""
    R = [kcca.shrunk(K, case["kappa"]) for K in case["G"]]
    values = np.linalg.svd(R[0] @ R[1], compute_uv=False) ** power
    return np.concatenate([-values, values[::-1]])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return kcca.eigenvalues(*kcca.pencil(case["G"], case["kappa"]))


# -- negative control ------------------------------------------------------------------


def _control_case():
    K = np.array([[0.5, -0.5], [-0.5, 0.5]])
    return {"G": np.array([K, K]), "kappa": 0.1}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p5-kcca-spectrum",
    source=f"{P5}, KCCA, final task",
    statement=r"\{\lambda_1,-\lambda_1,\dots,\lambda_N,-\lambda_N\} = \{\pm\sigma_n(R_XR_Y)\}",
    hypotheses="kappa > 0.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: (1.0 + np.abs(case["G"]).max() / case["kappa"]) ** 2,
    rtol=1e-10,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: bound(case, 0.95), note="to the power .95"
    ),
)
