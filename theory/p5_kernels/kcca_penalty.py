"""What the regularisation of the KCCA estimate penalises.

Statement (slides, Q2): the estimate with (G + kappa I)^2 is that of sup cov(f, g)/((var f + kappa
|f|^2)(var g + kappa |g|^2))^(1/2), with the same kappa. Checked: both on a sample. Verdict: holds
after a fix; (1/N)(G + kappa I)^2 = (1/N) G^2 + (2 kappa/N) G + (kappa^2/N) I penalises the norm by
2 kappa/N, and the coefficients by kappa^2/N on top. So the estimate lies between v w and 1 times
that of the penalty 2 kappa/N, where v, w are the smallest of the numbers (1 + kappa^2/(s^2 + 2
kappa s))^(-1/2) over the eigenvalues s > 0; proofs.md, section 12.
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
    return {"G": kcca.drawn(draw), "kappa": draw.log_real(1e-3, 10.0)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return kcca.penalised(case["G"], case["kappa"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return kcca.correlation(case["G"], case["kappa"])


# -- counterexample and correction -----------------------------------------------------


def counterexample():
    """A view of two points, twice: s = 1, N = 2, so s/(s + kappa) squared is the estimate."""
    return {"G": np.array([center(np.eye(2))] * 2), "kappa": 0.1}


def corrected_bound(case):
    """The estimate itself, and that of the penalty."""
    value = kcca.penalised(case["G"], 2 * case["kappa"] / len(case["G"][0]))
    return np.array([value, measure(case)])


def corrected_measure(case, power=1.0):
    """The estimate, and what it is at least."""
    kappa, value = case["kappa"], kcca.penalised(case["G"], 2 * case["kappa"] / len(case["G"][0]))
    for K in case["G"]:
        s = np.linalg.eigvalsh(K)
        s = s[s > 1e-9 * s[-1]]
        value *= ((1 + kappa**2 / (s**2 + 2 * kappa * s)) ** -0.5).min() ** power
    return np.array([measure(case), value])


# -- negative control ------------------------------------------------------------------


def _one_kappa(case):
    """The penalty kappa/N."""
    value = kcca.penalised(case["G"], case["kappa"] / len(case["G"][0]))
    return np.array([measure(case), value * corrected_measure(case)[1] / corrected_bound(case)[0]])


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p5-kcca-penalty-corrected",
    source=f"{P5}, KCCA, Q2, corrected",
    statement=(
        r"\tfrac1N(G+\kappa I)^2 = \tfrac1N G^2 + \tfrac{2\kappa}{N}G + \tfrac{\kappa^2}{N}I"
        r"\ \Rightarrow\ v w\,\rho(2\kappa/N) \le \hat\rho \le \rho(2\kappa/N)"
    ),
    hypotheses="kappa > 0.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        counterexample, measure=_one_kappa, note="kappa/N in place of 2 kappa/N"
    ),
    proof="12",
)

CLAIM = replace(
    CORRECTED,
    name="p5-kcca-penalty",
    source=f"{P5}, KCCA, Q2",
    statement=r"\hat\rho = \sup_{f,g} \mathrm{corr}(f(X), g(Y); \kappa)",
    kind="identity",
    bound=bound,
    measure=measure,
    status="holds after fix",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample,
        bound=lambda case: kcca.penalised(case["G"], case["kappa"] / 2),
        note="the penalty kappa/N",
    ),
    proof="",
)
