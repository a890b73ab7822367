"""Concentration of the alignment numerator.

Statement (proposition 11 of the 2012 paper): |f - E[K_c K'_c]| <= R^2 R'^2 [18/m + 24
(log(2/delta)/2m)^(1/2)] with probability 1 - delta. Checked: the frequency of violations over
independent samples from a finite support, against delta. The remark "R'^2 <= max_i y_i^2" must be a
supremum over the distribution, not the sample. Verdict: holds. Sharpened: bias (2m^2-3m+2)/m^3 and
constant 5.379, or 128/27 for a target kernel; proofs.md, sections 5, 6 and 17.
"""

import numpy as np

from ..bounds.concentration import numerator_deviation, numerator_deviation_printed
from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, numerators, replace
from .lemma_18 import unit_features

TRIALS = 400


def cases(draw):
    n = draw.integer(2, 6)
    F, G = unit_features(draw, n), unit_features(draw, n)
    case = {"law": FiniteDistribution(draw.weights(n)), "K": F @ F.T, "L": G @ G.T}
    return case | {
        "m": draw.choice((2, 10, 100, 1000, 10**5, 10**8)),
        "delta": draw.choice((0.05, 0.1, 0.3)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def target_cases(draw):
    """Draw cases with K' = yy' for real labels y of the atoms."""
    case = cases(draw)
    y = unit_features(draw, len(case["K"]), 1)
    return case | {"L": y @ y.T}


def two_valued(weights, m, delta=0.01):
    """Two features +-1 with these probabilities of (1, 1), (1, -1), (-1, 1) and (-1, -1).

    The extreme cases are the best of all such distributions in steps of 1/10, m = 100 to 10^6 and
    delta from 0.01 to 0.5.
    """
    x, z = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    case = {"law": FiniteDistribution(np.array(weights)), "K": np.outer(x, x), "L": np.outer(z, z)}
    return case | {"m": m, "delta": delta, "seed": 1}


def bound(case):
    return numerator_deviation_printed(case["m"], case["delta"])


def measure(case):
    law, K, L = case["law"], case["K"], case["L"]
    counts = law.counts(case["m"], TRIALS, case["seed"])
    return np.abs(numerators(counts, K, L) - law.moments(K, L).theta)


def sharp_bound(case):
    return numerator_deviation(case["m"], case["delta"])


def target_bound(case):
    return numerator_deviation(case["m"], case["delta"], scalar_target=True)


# McDiarmid's inequality is loose, so samples exceed only a share of the bound well below 1.
CONTROL = 0.2


def _control_case():
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    law = FiniteDistribution(np.array([0.2, 0.8]))
    return {"law": law, "K": K, "L": K, "m": 100, "delta": 0.05, "seed": 1}


TARGET = Claim(
    name="p1-prop-11-target",
    source=f"{P1}, Proposition 11, sharpened for a target kernel",
    statement=(
        r"|f - \mathrm{E}[K_cK'_c]| \le R^2R'^2\Big[\tfrac{2m^2-3m+2}{m^3}"
        r" + \tfrac{128}{27}\sqrt{\tfrac{\log(2/\delta)}{2m}}\Big]"
    ),
    hypotheses="Independent points; K(x, x) <= R^2; K' = yy' with |y| <= R'.",
    kind="upper",
    bound=target_bound,
    measure=measure,
    cases=target_cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    extremes=lambda: [two_valued((0.7, 0.0, 0.0, 0.3), 100), _control_case()],
    negative_control=NegativeControl(
        _control_case, bound=lambda case: CONTROL * target_bound(case), note=f"{CONTROL} of it"
    ),
    proof="17",
)

SHARP = replace(
    TARGET,
    name="p1-prop-11-sharpened",
    source=f"{P1}, Proposition 11, sharpened",
    statement=(
        r"|f - \mathrm{E}[K_cK'_c]| \le R^2R'^2\Big[\tfrac{2m^2-3m+2}{m^3}"
        r" + \tfrac{25\sqrt{15}}{18}\sqrt{\tfrac{\log(2/\delta)}{2m}}\Big]"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, K'(x, x) <= R'^2 over the distribution.",
    bound=sharp_bound,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: CONTROL * sharp_bound(case), note=f"{CONTROL} of it"
    ),
    corrected=TARGET,
    proof="6",
)

CLAIM = replace(
    SHARP,
    name="p1-prop-11",
    source=f"{P1}, Proposition 11",
    statement=(
        r"|f - \mathrm{E}[K_cK'_c]| \le R^2R'^2\Big[\tfrac{18}{m}"
        r" + 24\sqrt{\tfrac{\log(2/\delta)}{2m}}\Big]"
    ),
    bound=bound,
    corrected=SHARP,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.05 * bound(case), note="a twentieth"
    ),
    proof="",
)
