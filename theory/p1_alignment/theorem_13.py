"""A large alignment means that a classifier with few errors exists.

Statement (theorem 13 of the 2012 paper): if E[y] = 0 and E[y^2] = 1, then Pr[y h*(x) < 0] <= 1 -
rho/Gamma. Checked: both sides on finite supports with standardized labels. Verdict: unstated
hypothesis; false for standardized labels that are not +-1, because the proof bounds |y h*| by
Gamma, which needs |y| <= 1; true for y = +-1 (`p1-theorem-13-binary`). Correct: 1 - rho/(Gamma max
|y|), the essential supremum; proofs.md, section 9.

`p1-theorem-13-binary`. A large alignment means that a classifier with few errors exists: labels
+-1. Statement (theorem 13 of the 2012 paper with its definitions for labels that are not centered):
for y = +-1, balanced or not, Pr[y h*(x) < 0] <= 1 - rho/Gamma with h* and gamma divided by
E[K_Yc^2]^(1/2) = Var(y). Checked: both sides on finite supports. Verdict: holds.
"""

import numpy as np

from ..bounds import predictors as promised
from ..prelude import (
    P1,
    Claim,
    FiniteDistribution,
    HypothesisNotMet,
    Mutant,
    NegativeControl,
    Status,
    replace,
)
from ..reference import predictors


def standardized(weights, y):
    """The distribution with labels shifted and scaled to mean 0 and variance 1."""
    y = np.asarray(y, float) - weights @ y
    size = np.sqrt(weights @ y**2)
    if size < 1e-6:
        raise HypothesisNotMet("the labels must vary")
    return FiniteDistribution(weights, y / size)


def cases(draw):
    n = draw.integer(2, 6)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    y = draw.choice((draw.array, draw.signs))(n)
    y[0] += 2.5 if np.ptp(y) < 1e-3 else 0.0
    return {"law": standardized(draw.weights(n), y), "K": draw.kernel(n, form)}


def alignment_of(case):
    """Centered alignment of the kernel with the labels; HypothesisNotMet for a constant kernel."""
    law, K = case["law"], case["K"]
    if not law.moments(K, K).theta > 1e-12 * np.diagonal(K).max() ** 2:
        raise HypothesisNotMet("E[K_c^2] must be positive")
    return max(law.alignment(K, law.target()), 0.0)


def bound(case):
    gamma = predictors.gamma_values(case["law"], case["K"]).max()
    return promised.classification_guarantee(alignment_of(case), gamma)


def measure(case):
    alignment_of(case)
    h = predictors.h_star(case["law"], case["K"])
    # Values that are zero up to rounding are not errors.
    h = np.where(np.abs(h) < 1e-10 * np.abs(h).max(), 0.0, h)
    return predictors.classification_risk(case["law"], h)


def counterexample():
    """R = 4/5 against 1 - rho/Gamma = 0.7790; the corrected bound is 0.9263."""
    u = np.array([1.0, 0.01, -1.08])
    law = FiniteDistribution(np.array([0.1, 0.8, 0.1]), np.array([3.0, -1 / 3, -1 / 3]))
    return {"law": law, "K": np.outer(u, u)}


def corrected_bound(case):
    gamma = predictors.gamma_values(case["law"], case["K"]).max()
    top = np.abs(case["law"].labels).max()
    return promised.classification_guarantee(alignment_of(case), gamma, top)


def extremes():
    """Balanced labels +-1 with which the bound is nearly attained, see `silent`."""
    return [silent(0.01), silent(0.95)]


def _stronger(case):
    return 1 - 1.05 * (1 - corrected_bound(case))


_CONTROL = NegativeControl(
    counterexample, bound=lambda case: 0.8 * corrected_bound(case), note="0.8 of the bound"
)


CORRECTED = Claim(
    name="p1-theorem-13-corrected",
    source=f"{P1}, Theorem 13, corrected",
    statement=r"\Pr[y h^*(x) < 0] \le 1 - \frac{\rho}{\Gamma\, \mathrm{ess\,sup}|y|}",
    hypotheses="E[y] = 0, E[y^2] = 1, y bounded, 0 < E[K_c^2] finite.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    trivial=lambda case: 1.0,
    extremes=extremes,
    sharp=True,
    mutants=(Mutant("1.05 times the alignment", _stronger),),
    negative_control=_CONTROL,
    proof="9",
)

CLAIM = replace(
    CORRECTED,
    name="p1-theorem-13",
    source=f"{P1}, Theorem 13",
    statement=r"\Pr[y h^*(x) < 0] \le 1 - \rho/\Gamma",
    hypotheses="E[y] = 0, E[y^2] = 1, 0 < E[K_c^2] finite.",
    bound=bound,
    status=Status.HYPOTHESIS,
    remark=(
        "The proof needs |y| <= 1, which standardized labels only have when the classes "
        "are balanced; otherwise divide by Gamma max |y|."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
    sharp=False,
    mutants=(),
)


# -- p1-theorem-13-binary --------------------------------------------------------------


def binary_cases(draw):
    n = draw.integer(2, 6)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    y = draw.signs(n)
    y[:2] = 1.0, -1.0
    return {"law": FiniteDistribution(draw.weights(n), y), "K": draw.kernel(n, form)}


def silent(share, size=1e-4):
    """The share with the right sign of the kernel; on the rest the kernel is nearly zero.

    The sign is wrong on the rest, so the risk is 1 - share; the bound is 1 - share^(3/2).
    """
    u = np.array([1.0, -1.0, size, -size])
    weights = np.array([share, share, 1 - share, 1 - share]) / 2
    law = FiniteDistribution(weights, np.array([1.0, -1.0, -1.0, 1.0]))
    return {"law": law, "K": np.outer(u, u)}


def stronger(bound, factor):
    """The bound 1 - a, with a multiple of a."""
    return lambda case: 1 - factor * (1 - bound(case))


def binary_bound(case):
    gamma = predictors.gamma_values(case["law"], case["K"], general=True).max()
    return promised.classification_guarantee(alignment_of(case), gamma)


def binary_measure(case):
    alignment_of(case)
    h = predictors.h_star(case["law"], case["K"], general=True)
    h = np.where(np.abs(h) < 1e-10 * np.abs(h).max(), 0.0, h)
    return predictors.classification_risk(case["law"], h)


BINARY = Claim(
    name="p1-theorem-13-binary",
    source=f"{P1}, Theorem 13 with the definitions for labels that are not centered",
    statement=r"y = \pm1:\ \Pr[y h^*(x) < 0] \le 1 - \rho/\Gamma",
    hypotheses="Labels +-1, both classes present, 0 < E[K_c^2] finite.",
    kind="upper",
    bound=binary_bound,
    measure=binary_measure,
    cases=binary_cases,
    scale=lambda case: 1.0,
    trivial=lambda case: 1.0,
    extremes=lambda: [silent(0.01), silent(0.95)],
    sharp=True,
    mutants=(Mutant("1.05 times the alignment", stronger(binary_bound, 1.05)),),
    negative_control=NegativeControl(
        lambda: silent(0.2), bound=lambda case: 0.8 * binary_bound(case), note="0.8 of it"
    ),
)
