"""A confidence interval for the alignment with a bounded real target.

Not in the paper. rho = |c|^2/(A V) with c the covariance of the features and the target, A^2 =
E[K_c^2] and V the variance of the target; exchange of one sample moves the covariance operator of a
scalar target by D D'(m-1)/m^2 at most, where two vector features need more; proofs.md, section 21.
Checked: how often rho lies outside, against delta, on finite distributions. Verdict: holds.
"""

import numpy as np

from alignlearn.bounds.class_intervals import FeatureRange, target_interval_from

from ..prelude import (
    P1,
    Claim,
    FiniteDistribution,
    NegativeControl,
    Status,
    gaussian_kernel,
    numerators,
    once,
)
from ..reference.class_laws import class_laws
from ..reference.coverage import position, reach
from .class_interval import TRIALS, alignment
from .lemma_18 import unit_features


def cases(draw):
    n = draw.integer(2, 6)
    labels = np.clip(draw.array(n), -1.0, 1.0)
    labels[:2] = 1.0, -1.0
    non_negative = bool(draw.integer(0, 1))
    if non_negative:
        K = gaussian_kernel(draw.array((n, 2)), draw.log_real(0.1, 100.0))
    else:
        F = unit_features(draw, n)
        K = F @ F.T
    return {
        "law": FiniteDistribution(draw.weights(n), labels),
        "K": K,
        "features": FeatureRange(1.0, non_negative),
        "m": draw.choice((10, 50, 200, 1000, 10**5)),
        "delta": draw.choice((0.05, 0.1, 0.3)),
        "seed": draw.integer(0, 2**32 - 1),
    }


@once
def intervals(case):
    """Lower and upper end and rho_S, (TRIALS, 3)."""
    law, K, m = case["law"], case["K"], case["m"]
    counts = law.counts(m, TRIALS, case["seed"])
    L = law.target()
    c, a, v = (
        np.sqrt(np.maximum(numerators(counts, *pair), 0)) for pair in ((K, L), (K, K), (L, L))
    )
    rows = zip(c, np.minimum(a, 1.0), np.minimum(v, 1.0))
    fixed = case["features"], 4.0
    ends = [target_interval_from(m, case["delta"], *row, *fixed)[:2] for row in rows]
    return np.column_stack([ends, c**2 / np.maximum(a * v, 1e-12)])


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*intervals(case).T[:2])


def measure(case):
    return position(*intervals(case).T, alignment(case))


def _control_case():
    chosen = class_laws()[-1]
    case = {"law": chosen.law, "K": chosen.K, "features": FeatureRange(1.0, True)}
    return case | {"m": 5000, "delta": 0.05, "seed": 1}


CLAIM = Claim(
    name="p1-target-interval",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"\rho = \tfrac{|c|^2}{AV},\ |c|^2 \in \Big[\tfrac{m^3(|\hat c|-t)_+^2-(m-1)^2\kappa"
        r"-(m-1)R^2D'^2/4}{(m-1)(m^2-2m+2)},\ \big(\tfrac{m(|\hat c|+t)}{m-1}\big)^2\Big],"
        r"\ t = DD'\tfrac{m-1}{m}\sqrt{\tfrac{\log(1/\delta)}{2m}}"
    ),
    hypotheses="Independent points; K(x, x) <= R^2; the target in an interval of length D'.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.06 * bound(case), note="0.06 of its length"
    ),
    proof="21",
)
