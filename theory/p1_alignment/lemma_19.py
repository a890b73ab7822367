"""The bias of the alignment numerator.

Statement (lemma 19 of the 2012 paper): |E_S f - E[K_c K'_c]| <= 18 R^2 R'^2/m. Checked: the exact
bias, by enumerating all samples of m points from a finite support. Verdict: holds; its proof does
not (see `p1-lemma-19-table`), so the statement as printed is a gap. Sharpened: (2m^2-3m+2)/m^3 <=
2/m in place of 18/m, sharp at x = +-1, K = K' = xx'; proofs.md, section 6.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from alignlearn.bounds.concentration import bias_bound

from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.problems import FiniteDistribution
from .lemma_18 import unit_features

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    n = draw.integer(2, 4)
    law = FiniteDistribution(draw.weights(n))
    F, G = unit_features(draw, n), unit_features(draw, n)
    return {"law": law, "K": F @ F.T, "L": G @ G.T, "m": draw.integer(1, 5)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return 18.0 / case["m"]


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    law, K, L = case["law"], case["K"], case["L"]
    return float(abs(law.expected_numerator(K, L, case["m"]) - law.moments(K, L).theta))


# -- correction ------------------------------------------------------------------------


def sharp_bound(case):
    return bias_bound(case["m"])


# -- negative control ------------------------------------------------------------------


def extremal(m):
    """x = +-1 with equal probability and K = K' = xx': the bias is -(2m^2-3m+2)/m^3."""
    half = Fraction(1, 2)
    K = np.array([[1, -1], [-1, 1]]) * Fraction(1)
    return {"law": FiniteDistribution(np.array([half, half])), "K": K, "L": K, "m": m}


# -- claim -----------------------------------------------------------------------------

SHARP = Claim(
    name="p1-lemma-19-sharpened",
    source=f"{P1}, Lemma 19, sharpened",
    statement=(
        r"|\mathrm{E}_S f - \mathrm{E}[K_cK'_c]| \le \frac{2m^2-3m+2}{m^3} R^2R'^2"
        r" \le \frac{2}{m}R^2R'^2"
    ),
    hypotheses="K, K' positive definite symmetric, K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=sharp_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    sharp=True,
    extremes=lambda: [extremal(m) for m in (2, 3, 5)],
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        lambda: extremal(3), bound=lambda case: 0.95 * sharp_bound(case), note="0.95 of the bound"
    ),
    proof="6",
)

CLAIM = replace(
    SHARP,
    name="p1-lemma-19",
    source=f"{P1}, Lemma 19",
    statement=r"|\mathrm{E}_S f - \mathrm{E}[K_cK'_c]| \le \frac{18 R^2R'^2}{m}",
    bound=bound,
    status="gap",
    corrected=SHARP,
    sharp=False,
    factors={},
    negative_control=NegativeControl(
        lambda: extremal(3), bound=lambda case: 1.0 / case["m"], note="constant 1"
    ),
    proof="",
)
