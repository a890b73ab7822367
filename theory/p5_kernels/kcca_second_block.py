"""The KCCA problem with ones on the diagonal.

Statement (slides, Q3): adding the right-hand side to both sides gives a problem with the
eigenvalues 1 +- lambda; the right-hand side is printed with (G_X + kappa I)^2 in both blocks.
Checked: the eigenvalues against 1 +- those of the problem before. Verdict: holds after a fix; the
second block is (G_Y + kappa I)^2; proofs.md, section 13.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P5
from ..reference import kcca
from ..reference.matrices import center

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return {"G": kcca.drawn(draw), "kappa": draw.log_real(1e-2, 10.0)}


def shifted_eigenvalues(case, blocks):
    """Of (A + B) z = gamma B' z, B' with the blocks of these views."""
    A, B = kcca.pencil(case["G"], case["kappa"])
    _, right = kcca.pencil(case["G"][list(blocks)], case["kappa"])
    return kcca.eigenvalues(A + B, right)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return shifted_eigenvalues(case, (0, 0))


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return 1 + kcca.eigenvalues(*kcca.pencil(case["G"], case["kappa"]))


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """The second view has twice the scale."""
    K = center(np.eye(2))
    return {"G": np.array([K, 2 * K]), "kappa": 0.5}


def corrected_bound(case):
    return shifted_eigenvalues(case, (0, 1))


def _scale(case):
    return (1.0 + np.abs(case["G"]).max() / case["kappa"]) ** 2


# -- negative control ------------------------------------------------------------------


def _control_case():
    K = center(np.eye(2))
    return {"G": np.array([K, 1.05 * K]), "kappa": 0.5}


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p5-kcca-second-block-corrected",
    source=f"{P5}, KCCA, Q3, corrected",
    statement=(r"(A+B)z = (1+\lambda)Bz,\ B = \mathrm{diag}((G_X+\kappa I)^2, (G_Y+\kappa I)^2)"),
    hypotheses="kappa > 0.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-9,
    negative_control=NegativeControl(
        _control_case, bound=bound, note="the block of G_X for a G_Y 5 % larger"
    ),
    proof="13",
)

CLAIM = replace(
    CORRECTED,
    name="p5-kcca-second-block",
    source=f"{P5}, KCCA, Q3",
    statement=(r"(A+B)z = (1+\lambda)\,\mathrm{diag}((G_X+\kappa I)^2, (G_X+\kappa I)^2) z"),
    bound=bound,
    status="holds after fix",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
