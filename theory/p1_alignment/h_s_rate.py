"""The gap between the risks of the predictors of a sample and of its distribution.

Statement (after theorem 14 of the 2012 paper): |R(h*) - R(h_S)| <= O(1/sqrt(m)) with high
probability, for classification and regression. Checked: the gap for the 0/1 loss on given
distributions, against C/sqrt(m) with C = 20. Verdict: false for the 0/1 loss; where h* = 0 and the
labels are noise, any sign of h_S is wrong half of the time. Distribution: three points with P =
(1/4, 1/4, 1/2), K = I, labels 1, -1 and a fair coin; the gap tends to 1/4. Correct: for the squared
loss and h_S centered on the sample, |R(h_S)^(1/2) - R(h*)^(1/2)| is at most
`predictors.root_risk_deviation` = O(1/sqrt(m)); proofs.md, section 11. For the 0/1 loss see
`p1-h-s-margin`.
"""

import numpy as np

from ..bounds.predictors import root_risk_deviation
from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, Status, replace
from ..reference import predictors
from . import h_s_deviation


def _case(m, seed, noise):
    """Atoms: 1, -1, and the third point with either label; `noise` is P(y = 1) there."""
    p = np.array([0.25, 0.25, 0.5 * noise, 0.5 * (1 - noise)])
    K = np.eye(3)[np.ix_([0, 1, 2, 2], [0, 1, 2, 2])]
    law = FiniteDistribution(p, np.array([1.0, -1.0, 1.0, -1.0]))
    return {"law": law, "K": K, "m": m, "seed": seed, "C": 20.0, "delta": 0.05}


def cases(draw):
    m = draw.choice((101, 10**4, 10**6, 10**8))
    return _case(m, draw.integer(0, 2**32 - 1), draw.real(0.1, 0.9))


def _predictors(case):
    """h* and h_S on the atoms, h_S with the distribution's means as printed."""
    law, K, m = case["law"], case["K"], case["m"]
    w = law.counts(m, 1, case["seed"])[0] / m
    Kc = law.center(K)
    h_sample = Kc @ (w * law.labels) / np.sqrt(w @ (Kc * Kc) @ w) / (w @ law.labels**2)
    h = predictors.h_star(law, K, general=True)
    # h* is exactly zero on the third point when the coin is fair.
    return np.where(np.abs(h) < 1e-12, 0.0, h), h_sample


def bound(case):
    return case["C"] / np.sqrt(case["m"])


def measure(case):
    h, sample = _predictors(case)
    law = case["law"]
    risks = predictors.classification_risk(law, h), predictors.classification_risk(law, sample)
    return float(abs(risks[0] - risks[1]))


def counterexample(m=10001):
    return _case(m, 0, 0.5)


def regression_bound(case):
    values, radii = h_s_deviation.arguments(case)
    return root_risk_deviation(*values, **radii)


def regression_measure(case):
    """|R(h_S)^(1/2) - R(h*)^(1/2)| for many samples."""
    law, h = case["law"], h_s_deviation.population(case)
    losses = (law.labels - h_s_deviation.sample_predictors(case)) ** 2
    return np.abs(np.sqrt(losses @ law.weights) - np.sqrt(predictors.regression_risk(law, h)))


# The mean over the points changes less than the worst point.
PART = 0.04


CORRECTED = replace(
    h_s_deviation.CLAIM,
    name="p1-h-s-rate-corrected",
    source=f"{P1}, section 4.2, after Theorem 14, corrected",
    statement=(
        r"|R(h_S)^{1/2} - R(h^*)^{1/2}| \le \tfrac{\sqrt{A+\tau^2}D+s\tau}{M} = O(1/\sqrt m)"
        r"\text{ for the squared loss}"
    ),
    bound=regression_bound,
    measure=regression_measure,
    cases=cases,
    negative_control=NegativeControl(
        h_s_deviation._control_case,
        bound=lambda case: PART * regression_bound(case),
        note=f"{PART} of it",
    ),
)

CLAIM = Claim(
    name="p1-h-s-rate",
    source=f"{P1}, section 4.2, after Theorem 14",
    statement=r"|R(h^*) - R(h_S)| \le O(1/\sqrt m)\ \text{in classification and regression}",
    hypotheses="None printed.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    status=Status.FALSE,
    remark=(
        "For classification the two error rates need not converge to each other: where h* is near "
        "0 the sign of h_S is random; assume a margin."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        lambda: counterexample(1001), bound=lambda case: 0.35 * bound(case), note="C = 7"
    ),
)
