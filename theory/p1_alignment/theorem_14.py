"""A large alignment means that a good regression function exists.

Statement (theorem 14 of the 2012 paper): if E[y] = 0 and E[y^2] = 1, then E(y - h*)^2 <= 2 (1 -
rho). Checked: both sides on finite supports. Verdict: holds, with a factor 2 to spare. Sharpened: E
h*^2 <= rho, hence E(y - h*)^2 = 1 - 2 rho + E h*^2 <= 1 - rho, attained by kernels of rank one; the
best multiple of h* has risk 1 - rho^2/E h*^2 exactly; proofs.md, section 10.

`p1-theorem-14-footnote`. The regression guarantee for labels that are not centered. Statement
(section 4.2 of the 2012 paper): with the definitions for labels that are not centered, h* divided
also by E[K_Yc^2]^(1/2), theorem 14 keeps its form, E(y - h*)^2 <= 2 (1 - rho). Checked: both sides
for labels +-1. Verdict: false; y = +-1 with P(1) = 3/4 and K = K_Y has rho = 1 and risk 1/3.
Correct: standardize y first, predict y = E[y] + sd(y) h*; then the risk is at most Var(y) (1 -
rho); proofs.md, section 10.
"""

import numpy as np

from ..bounds import predictors as promised
from ..prelude import (
    P1,
    Claim,
    FiniteDistribution,
    HypothesisNotMet,
    NegativeControl,
    Status,
    replace,
)
from ..reference import predictors
from .theorem_13 import alignment_of, cases, standardized
from .theorem_13 import binary_cases as footnote_cases


def bound(case):
    return promised.regression_guarantee_printed(alignment_of(case))


def measure(case):
    alignment_of(case)
    return predictors.regression_risk(case["law"], predictors.h_star(case["law"], case["K"]))


def sharp_bound(case):
    return promised.regression_guarantee(alignment_of(case))


def scaled_bound(case):
    law, rho = case["law"], alignment_of(case)
    energy = law.mean(predictors.h_star(law, case["K"]) ** 2)
    if energy < 1e-12:
        raise HypothesisNotMet("h* must not vanish")
    return promised.scaled_regression_risk(rho, energy)


def scaled_measure(case):
    """Least squares on the single feature h*."""
    law = case["law"]
    h = predictors.h_star(law, case["K"])
    return predictors.regression_risk(law, h * law.mean(law.labels * h) / law.mean(h**2))


def _control_case():
    u = np.array([1.0, 2.0, -3.0])
    y = np.array([1.0, 0.0, -1.0]) * np.sqrt(1.5)
    return {"law": FiniteDistribution(np.full(3, 1 / 3), y), "K": np.outer(u, u)}


SCALED = Claim(
    name="p1-theorem-14-scaled",
    source=f"{P1}, Theorem 14, best multiple of h*",
    statement=r"\min_c \mathrm{E}(y - c h^*)^2 = 1 - \rho^2/\mathrm{E}h^{*2}",
    hypotheses="E[y] = 0, E[y^2] = 1, 0 < E[K_c^2] finite, h* not zero.",
    kind="identity",
    bound=scaled_bound,
    measure=scaled_measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 1 - alignment_of(case) ** 2, note="1 - rho^2"
    ),
    proof="10",
)

SHARP = replace(
    SCALED,
    name="p1-theorem-14-sharpened",
    source=f"{P1}, Theorem 14, sharpened",
    statement=r"\mathrm{E}(y - h^*(x))^2 = 1 - 2\rho + \mathrm{E}h^{*2} \le 1 - \rho",
    hypotheses="E[y] = 0, E[y^2] = 1, 0 < E[K_c^2] finite.",
    kind="upper",
    bound=sharp_bound,
    measure=measure,
    trivial=lambda case: 1.0,
    sharp=True,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.9 * sharp_bound(case), note="0.9 of a sharp bound"
    ),
    corrected=SCALED,
)

CLAIM = replace(
    SHARP,
    name="p1-theorem-14",
    source=f"{P1}, Theorem 14",
    statement=r"\mathrm{E}(y - h^*(x))^2 \le 2(1 - \rho)",
    bound=bound,
    corrected=SHARP,
    sharp=False,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.45 * bound(case), note="constant 0.9 instead of 2"
    ),
    proof="",
)


# -- p1-theorem-14-footnote ------------------------------------------------------------


def footnote_bound(case):
    return promised.regression_guarantee_printed(alignment_of(case))


def footnote_measure(case):
    alignment_of(case)
    law = case["law"]
    return float(predictors.regression_risk(law, predictors.h_star(law, case["K"], general=True)))


def footnote_counterexample():
    y = np.array([1.0, -1.0])
    return {"law": FiniteDistribution(np.array([0.75, 0.25]), y), "K": np.outer(y, y)}


def _variance(law):
    return law.mean(law.labels**2) - law.mean(law.labels) ** 2


def footnote_corrected_bound(case):
    return _variance(case["law"]) * promised.regression_guarantee(alignment_of(case))


def footnote_corrected_measure(case):
    alignment_of(case)
    law = case["law"]
    h = predictors.h_star(standardized(law.weights, law.labels), case["K"])
    return predictors.regression_risk(law, law.mean(law.labels) + np.sqrt(_variance(law)) * h)


def _noisy():
    """A kernel that is independent of the label, whose whole variance remains."""
    y, z = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, -1.0, 0.0, 0.0])
    return {"law": FiniteDistribution(np.full(4, 0.25), y), "K": np.outer(z, z)}


def _not_shifted(case):
    law = case["law"]
    h = predictors.h_star(standardized(law.weights, law.labels), case["K"])
    return predictors.regression_risk(law, np.sqrt(_variance(law)) * h)


FOOTNOTE_CORRECTED = Claim(
    name="p1-theorem-14-footnote-corrected",
    source=f"{P1}, Theorem 14 for labels that are not centered, corrected",
    statement=(
        r"\mathrm{E}(y - \bar y - \sigma h^*)^2 \le \sigma^2(1-\rho),"
        r"\ \sigma^2 = \mathrm{Var}(y)"
    ),
    hypotheses="Var(y) > 0, 0 < E[K_c^2] finite; h* of the standardized labels.",
    kind="upper",
    bound=footnote_corrected_bound,
    measure=footnote_corrected_measure,
    cases=footnote_cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(_noisy, measure=_not_shifted, note="E[y] is not added"),
    proof="10",
)

FOOTNOTE = replace(
    FOOTNOTE_CORRECTED,
    name="p1-theorem-14-footnote",
    source=f"{P1}, Theorem 14 with the definitions for labels that are not centered",
    statement=r"\mathrm{E}(y - h^*(x))^2 \le 2(1 - \rho)",
    bound=footnote_bound,
    measure=footnote_measure,
    status=Status.FALSE,
    remark=(
        "Dividing h* by another constant does not correct for uncentered labels; standardize the "
        "labels first and shift the predictor back."
    ),
    counterexample=footnote_counterexample,
    corrected=FOOTNOTE_CORRECTED,
    negative_control=NegativeControl(
        footnote_counterexample, measure=_not_shifted, note="E[y] is not added"
    ),
    proof="",
)
