"""The constant factor between the partially normalized alignment and the alignment.

Statement (before proposition 10 of the 2012 paper): rho_0(mu) = <K_mu,c, yy'>/||K_mu,c|| =
||yy'||_F^2 rho(mu). Checked: both sides. Verdict: misprint; neither the square nor the
missing centering is right. Correct: rho_0 = ||(yy')_c||_F rho = ||y_c||^2 rho, so that rho =
||v||_M/||y_c||^2 at alignf's solution, and the constraint rho >= Omega of section 3.4 reads Omega
||y_c||^2 (mu'M mu)^(1/2) <= mu'a; proofs.md, section 3.
"""

import numpy as np

from ..prelude import P1, Claim, HypothesisNotMet, NegativeControl, Status, center, replace
from ..reference.matrices import alignment


def cases(draw):
    m = draw.integer(2, 6)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    return {"K": draw.kernel(m, form), "y": draw.array(m)}


def _rho(case):
    rho = alignment(case["K"], np.outer(case["y"], case["y"]))
    if np.isnan(rho) or np.ptp(case["y"]) < 1e-3:
        raise HypothesisNotMet("the centered kernel and the centered labels must not be zero")
    if not np.linalg.norm(center(case["K"])) > 1e-6 * np.linalg.norm(case["K"]):
        raise HypothesisNotMet("the centered kernel must not be zero")
    return rho


def bound(case):
    return np.linalg.norm(np.outer(case["y"], case["y"])) ** 2 * _rho(case)


def measure(case):
    Kc = center(case["K"])
    return case["y"] @ Kc @ case["y"] / np.linalg.norm(Kc)


def counterexample():
    """rho_0 = 2 and rho = 1, but ||yy'||_F^2 = 4."""
    return {"K": np.eye(2), "y": np.array([1.0, -1.0])}


def corrected_bound(case):
    yc = case["y"] - case["y"].mean()
    return yc @ yc * _rho(case)


def _control_case():
    """Labels that are not centered: rho_0 = 2 and ||yy'||_F = 4."""
    return {"K": np.eye(2), "y": np.array([2.0, 0.0])}


def _uncentered(case):
    return case["y"] @ case["y"] * _rho(case)


CORRECTED = Claim(
    name="p1-rho-0-corrected",
    source=f"{P1}, section 3.2.2, before Proposition 10, corrected",
    statement=r"\hat\rho_0(\mu) = \|(yy^\top)_c\|_F\,\hat\rho(\mu) = \|y_c\|^2\,\hat\rho(\mu)",
    hypotheses="The centered kernel and the centered labels are not zero.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: case["y"] @ case["y"],
    negative_control=NegativeControl(_control_case, bound=_uncentered, note="y is not centered"),
    proof="3",
)

CLAIM = replace(
    CORRECTED,
    name="p1-rho-0",
    source=f"{P1}, section 3.2.2, before Proposition 10",
    statement=r"\hat\rho_0(\mu) = \|yy^\top\|_F^2\,\hat\rho(\mu)",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The factor is the norm of the centered target, not its square; otherwise an alignment "
        "computed from ||v||_M is wrong by that factor."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
