"""The rate of support vector regression in a hyper-RKHS.

Statement (theorem 1 of the 2020 paper, (3.10)): the error in L^{p*} falls as m^(eps - Theta/q),
Theta = min(alpha r, (1 + alpha r - alpha)/(2 - theta), 1/(2+s-theta) - alpha s/(1+s)). Checked:
Theta against the exponents that the repaired proof gives. Verdict: gap; true, as every step of the
proof that is false only costs constants or is conservative. Sharper: 1/(2-theta) - alpha(1-r)/2
and alpha s/(2(1+s)), checked against the slope of the sum of all terms; proofs.md, section 13.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import hyper_rates as rates

from ..claim import Claim, NegativeControl
from ..papers import P4

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    r, s = draw.real(0.01, 1.0), draw.log_real(1e-3, 5.0)
    p, q = draw.choice((np.inf, draw.log_real(0.1, 20.0))), draw.real(1.05, 6.0)
    theta = rates.noise_exponent(p, q)
    alpha = draw.real(0.02, 0.999) * min(1.0, rates.alpha_limit(s, theta))
    return {"alpha": alpha, "r": r, "s": s, "theta": theta}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """The exponent that is proved."""
    return float(rates.svr_exponent(**case))


# -- measure: the exponent that is claimed ---------------------------------------------


def measure(case):
    return float(rates.svr_exponent_printed(**case))


# -- sharpened: the slope of the sum of all terms, constants 1 -------------------------


def slope(case, radius=0.5):
    """-log(sum)/log m at log m = 10^7; the ball has R = lambda^-radius."""
    alpha, r, s, theta = (case[name] for name in ("alpha", "r", "s", "theta"))
    log_m = 1e7
    log_lam = -alpha * log_m
    log_R = -radius * log_lam
    terms = np.array(
        [
            r * log_lam,
            -log_m / (2 - theta),
            (r - 1) / 2 * log_lam - log_m / (2 - theta),
            (r - 1) / 2 * log_lam - log_m,
            s / (1 + s) * log_R - log_m / (2 + s - theta),
            -log_m,
        ]
    )
    return float(-np.logaddexp.reduce(terms) / log_m)


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {"alpha": 0.6, "r": 0.5, "s": 0.5, "theta": 0.5}


def _more(case):
    return 1.01 * measure(case)


def _larger_ball(case):
    return slope(case, radius=0.55)


def _tight():
    """r = 1: both exponents are alpha."""
    return {"alpha": 0.3, "r": 1.0, "s": 0.5, "theta": 1.0}


# -- claim -----------------------------------------------------------------------------

SHARPENED = Claim(
    name="p4-theorem-1-sharpened",
    source=f"{P4}, Theorem 1, sharpened",
    statement=(
        r"\Theta = \min\{\alpha r,\ \tfrac1{2-\theta}-\tfrac{\alpha(1-r)}2,\ "
        r"\tfrac1{2+s-\theta}-\tfrac{\alpha s}{2(1+s)}\}"
    ),
    hypotheses="As theorem 1.",
    kind="identity",
    bound=bound,
    measure=slope,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-6,
    negative_control=NegativeControl(
        lambda: {"alpha": 0.9, "r": 0.9, "s": 0.9, "theta": 0.5},
        measure=_larger_ball,
        note="R = lambda^-.55 for lambda^-.5",
    ),
    proof="13",
)

CLAIM = replace(
    SHARPENED,
    name="p4-theorem-1",
    source=f"{P4}, Theorem 1",
    statement=(
        r"\|\pi(k)-k_\rho\|_{p^*} \le C m^{\epsilon-\Theta/q},\ \Theta = \min\{\alpha r,\ "
        r"\tfrac{1+\alpha r-\alpha}{2-\theta},\ \tfrac1{2+s-\theta}-\tfrac{\alpha s}{1+s}\}"
    ),
    kind="upper",
    measure=measure,
    status="gap",
    corrected=SHARPENED,
    rtol=1e-9,
    negative_control=NegativeControl(_tight, measure=_more, note="1 % more"),
    proof="",
)
