"""The gap between the risks of the predictors of a sample and of its distribution.

Statement (after theorem 14 of the 2012 paper): |R(h*) - R(h_S)| <= O(1/sqrt(m)) with high
probability, for classification and regression. Checked: the gap for the 0/1 loss on given laws,
against C/sqrt(m) with C = 20. Verdict: false for the 0/1 loss; where h* = 0 and the labels are
noise, any sign of h_S errs half of the time. Law: three points with P = (1/4, 1/4, 1/2), K = I,
labels 1, -1 and a fair coin; the gap tends to 1/4. Correct: for the squared loss and h_S centred
on the sample; with a margin the 0/1 loss has the rate too. The rate is proved in proofs.md,
section 11, the constant 20 is not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..bounds import predictors
from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.problems import FiniteDistribution

# -- cases -----------------------------------------------------------------------------


def _case(m, seed, noise):
    """Atoms: 1, -1, and the third point with either label; `noise` is P(y = 1) there."""
    p = np.array([0.25, 0.25, 0.5 * noise, 0.5 * (1 - noise)])
    K = np.eye(3)[np.ix_([0, 1, 2, 2], [0, 1, 2, 2])]
    law = FiniteDistribution(p, np.array([1.0, -1.0, 1.0, -1.0]))
    return {"law": law, "K": K, "m": m, "seed": seed, "C": 20.0}


def cases(draw):
    m = draw.choice((101, 10**4, 10**6, 10**8))
    return _case(m, draw.integer(0, 2**32 - 1), draw.real(0.1, 0.9))


def _predictors(case, own_means=False):
    """h* and h_S on the atoms; h_S with the distribution's means as printed, or with its own."""
    law, K, m = case["law"], case["K"], case["m"]
    y = law.labels
    w = law.counts(m, 1, case["seed"])[0] / m
    sample = FiniteDistribution(w, y)
    Kc = (sample if own_means else law).center(K)
    yc = y - w @ y if own_means else y
    h_sample = Kc @ (w * yc) / np.sqrt(w @ (Kc * Kc) @ w) / (w @ yc**2)
    h = predictors.h_star(law, K, general=True)
    # h* is exactly zero on the third point when the coin is fair.
    return np.where(np.abs(h) < 1e-12, 0.0, h), h_sample


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return case["C"] / np.sqrt(case["m"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    h, sample = _predictors(case)
    law = case["law"]
    risks = predictors.classification_risk(law, h), predictors.classification_risk(law, sample)
    return float(abs(risks[0] - risks[1]))


# -- counterexample and correction -----------------------------------------------------


def counterexample(m=10001):
    return _case(m, 0, 0.5)


def regression_measure(case):
    h, sample = _predictors(case, own_means=True)
    law = case["law"]
    risks = predictors.regression_risk(law, h), predictors.regression_risk(law, sample)
    return float(abs(risks[0] - risks[1]))


# -- negative control ------------------------------------------------------------------


def _smaller(case):
    return bound(case) / 20


# -- claim -----------------------------------------------------------------------------

CORRECTED = Claim(
    name="p1-h-s-rate-corrected",
    source=f"{P1}, after Theorem 14, corrected",
    statement=r"|R(h^*) - R(h_S)| \le O(1/\sqrt m) \text{ for the squared loss}",
    hypotheses="Squared loss, kernel and labels centred on the sample; C is not proved.",
    kind="upper",
    bound=bound,
    measure=regression_measure,
    cases=cases,
    negative_control=NegativeControl(
        lambda: _case(101, 215, 0.7), bound=_smaller, note="a twentieth"
    ),
    proof="11",
)

CLAIM = replace(
    CORRECTED,
    name="p1-h-s-rate",
    source=f"{P1}, after Theorem 14",
    statement=r"|R(h^*) - R(h_S)| \le O(1/\sqrt m)\ \text{in classification and regression}",
    hypotheses="None printed.",
    measure=measure,
    status="false",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
