"""Separable spaces from continuous kernels.

Statement (properties of H_k on the slides): if k is continuous, H_k is separable. Checked on what
follows from it: of any uncountable family of sections k(., x) two are closer than 1, since a
separable space has no uncountable set of points at distances of 1 and more; on n points of [0, 1]
the smallest distance of two sections. Verdict: unstated hypothesis, on a separable domain: k(x, x')
= 1 if x = x', else 0 is continuous where all sets are open, and all distances are 2^(1/2). With the
usual metric, the distances of sections decrease at the rate of those of points; proofs.md, section
3.
"""

import numpy as np

from ..prelude import P5, Claim, HypothesisNotMet, NegativeControl, Status, replace


def cases(draw, metrics=("usual",)):
    gamma = draw.log_real(0.1, 4.0)
    # Enough points for two of them to be closer than 1/(2 gamma)^(1/2).
    n = 3 + int(np.sqrt(2 * gamma)) + draw.integer(0, 8)
    points = np.linspace(0, 1, n) + (0.5 / n) * np.tanh(draw.array(n))
    return {"points": np.clip(points, 0, 1), "gamma": gamma, "metric": draw.choice(metrics)}


def bound(case):
    return 1.0


def measure(case):
    """The smallest distance of two sections, of the Gaussian or of the indicator kernel."""
    x = case["points"]
    K = np.exp(-case["gamma"] * (x[:, None] - x) ** 2)
    if case["metric"] == "discrete":
        K = (x[:, None] == x).astype(float)
    squares = np.diag(K)[:, None] + np.diag(K) - 2 * K
    return float(np.sqrt(np.maximum(squares[np.triu_indices(len(x), 1)], 0.0).min()))


def counterexample():
    """Any number of points: in the discrete metric every function on [0, 1] is continuous."""
    return {"points": np.linspace(0, 1, 50), "gamma": 1.0, "metric": "discrete"}


def corrected_bound(case):
    """|k(., x) - k(., x')| <= (2 gamma)^(1/2) |x - x'|, and n points of [0, 1]."""
    if case["metric"] == "discrete":
        raise HypothesisNotMet("the domain must be separable")
    return np.sqrt(2 * case["gamma"]) / (len(case["points"]) - 1)


def _control_case():
    return counterexample() | {"metric": "usual"}


CORRECTED = Claim(
    name="p5-separable-corrected",
    source=f"{P5}, properties of H_k, corrected",
    statement=r"k \text{ continuous},\ \mathcal X \text{ separable} \Rightarrow \mathcal H_k"
    r" \text{ separable}",
    hypotheses="The domain is separable; checked for the Gaussian kernel on [0, 1].",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.99 * corrected_bound(case), note="0.99 of it"
    ),
    proof="3",
    extremes=lambda: [_control_case()],
    sharp=True,
)

CLAIM = replace(
    CORRECTED,
    name="p5-separable",
    source=f"{P5}, properties of H_k",
    statement=r"k \text{ continuous} \Rightarrow \mathcal H_k \text{ separable}",
    hypotheses="An uncountable domain.",
    bound=bound,
    cases=lambda draw: cases(draw, ("usual", "discrete")),
    status=Status.HYPOTHESIS,
    remark=(
        "The domain has to be separable; on an uncountable discrete domain the delta kernel is "
        "continuous and its space is not separable."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        lambda: _control_case() | {"points": np.array([0.0, 1.0])},
        note="two points far apart are no uncountable family",
    ),
    proof="",
    extremes=None,
    sharp=False,
)
