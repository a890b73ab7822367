"""The predictor of a sample recovers the sample alignment.

Statement (after theorem 14 of the 2012 paper): with h_S(x) = (1/m) sum_i y_i K_c(x, x_i) /
(||K_c||_F/m ||yy'||_F/m), the mean of y h_S over the sample is the sample alignment. Checked: both
sides; K_c is read as the kernel centered over the distribution. Verdict: unstated hypothesis; false
as printed; true when kernel and labels are centered on the sample (`predictors.h_sample`);
proofs.md, section 11.
"""

import numpy as np

from ..prelude import (
    P1,
    Claim,
    FiniteDistribution,
    HypothesisNotMet,
    NegativeControl,
    Status,
    center,
    replace,
)
from ..reference import predictors
from ..reference.matrices import alignment


def cases(draw):
    n = draw.integer(2, 5)
    y = draw.array(n)
    y[:2] = 1.0, -1.0
    index = np.r_[0, 1, [draw.integer(0, n - 1) for _ in range(draw.integer(0, 5))]].astype(int)
    law = FiniteDistribution(draw.weights(n), y)
    return {"law": law, "K": draw.kernel(n, "generic"), "index": index}


def _sample(case):
    """Kernel, centered over the distribution, and labels on the sample."""
    law, i = case["law"], case["index"]
    K = law.center(case["K"])[np.ix_(i, i)]
    varies = np.linalg.norm(center(K)) > 1e-6 * np.abs(case["K"]).max()
    if not varies or np.ptp(law.labels[i]) == 0:
        raise HypothesisNotMet("the kernel and the labels must vary on the sample")
    return K, law.labels[i]


def bound(case):
    K, y = _sample(case)
    m = len(y)
    h = K @ y / m / (np.linalg.norm(K) / m * (y @ y) / m)
    return y @ h / m


def measure(case):
    K, y = _sample(case)
    return alignment(K, np.outer(y, y))


def counterexample():
    """Two points of a distribution of three: rho_S = 1, the printed mean is smaller."""
    law = FiniteDistribution(np.array([0.25, 0.25, 0.5]), np.array([1.0, -1.0, 0.0]))
    return {"law": law, "K": np.eye(3), "index": np.array([0, 2])}


def corrected_bound(case):
    K, y = _sample(case)
    return (y - y.mean()) @ predictors.h_sample(K, y) / len(y)


def _uncentered_labels(case):
    K, y = _sample(case)
    return y @ predictors.h_sample(K, y + 1) / len(y) * 2


CORRECTED = Claim(
    name="p1-h-s-corrected",
    source=f"{P1}, section 4.2, after Theorem 14, corrected",
    statement=r"\tfrac1m \sum_i (y_i - \bar y) h_S(x_i) = \hat\rho(K, yy^\top)",
    hypotheses="Kernel and labels centered on the sample, where both vary.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(counterexample, bound=_uncentered_labels, note="twice it"),
    proof="11",
)

CLAIM = replace(
    CORRECTED,
    name="p1-h-s",
    source=f"{P1}, section 4.2, after Theorem 14",
    statement=r"\hat{\mathrm{E}}[y h_S(x)] = \hat\rho(K, K_Y)",
    hypotheses="K_c centered over the distribution.",
    bound=bound,
    status=Status.HYPOTHESIS,
    remark=(
        "The kernel and the labels have to be centered on the sample, but the text centers over "
        "the distribution; if both are centered on the sample, the statement is exact."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
