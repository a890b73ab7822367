"""The intercept of the soft-margin machine from its support vectors.

Statement (slides, dual): alpha_i > 0 implies y_i (<w, x_i> + b) = 1, which gives b. Checked: y_i
f(x_i) at all alpha_i > 0 for an optimal b. Verdict: unstated hypothesis; false for the soft margin;
a sample with alpha_i = C may lie on the wrong side of its margin. It holds for 0 < alpha_i < C, and
if there is no such sample any b of an interval is optimal, its midpoint for example; proofs.md,
section 7.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace
from ..reference.library import support_vectors


def cases(draw):
    n = draw.integer(2, 6)
    y = draw.signs(n)
    y[:2] = 1.0, -1.0
    return {"X": draw.array((n, 2)), "y": y, "C": draw.log_real(0.05, 5.0)}


def solved(case):
    """<w, x_i>, the dual coefficients, and the interval of the optimal intercepts."""
    K, y, C = case["X"] @ case["X"].T, case["y"], case["C"]
    alpha = support_vectors(K, y, C)
    f = K @ (alpha * y)
    # y (f + b) >= 1 where alpha < C, and <= 1 where alpha > 0: bounds of b from either side.
    below, above = alpha < (1 - 1e-6) * C, alpha > 1e-6 * C
    low = (y - f)[np.where(y > 0, below, above)].max()
    high = (y - f)[np.where(y > 0, above, below)].min()
    return f, alpha, (low, high)


def objective(case, f, alpha, b):
    """Half of |w|^2 and the hinge losses."""
    y = case["y"]
    return (alpha * y) @ f / 2 + case["C"] * np.maximum(0, 1 - y * (f + b)).sum()


def bound(case):
    return 1.0


def measure(case):
    """y_i f(x_i) at alpha_i > 0, with the midpoint of the optimal intercepts."""
    f, alpha, interval = solved(case)
    return (case["y"] * (f + np.mean(interval)))[alpha > 1e-6 * case["C"]]


def counterexample():
    """All alpha_i are C = 1, and b may be anything between -1 and 0.2."""
    return {
        "X": np.array([[0.0], [1.0], [0.4], [0.6]]),
        "y": np.array([-1.0, 1.0, 1.0, -1.0]),
        "C": 1.0,
    }


def corrected_bound(case):
    """The optimal value, from the dual, twice."""
    f, alpha, _ = solved(case)
    return np.full(2, alpha.sum() - (alpha * case["y"]) @ f / 2)


def corrected_measure(case, share=0.5):
    """The objective at a b of the interval, and at one from a sample with 0 < alpha_i < C."""
    f, alpha, (low, high) = solved(case)
    b = (1 - share) * low + share * high
    free = (alpha > 1e-6 * case["C"]) & (alpha < (1 - 1e-6) * case["C"])
    of_sample = (case["y"] - f)[free][0] if free.any() else b
    return np.array([objective(case, f, alpha, b), objective(case, f, alpha, of_sample)])


def _scale(case):
    n = len(case["y"])
    return case["C"] * n * (1.0 + case["C"] * n * np.abs(case["X"] @ case["X"].T).max())


def _beyond(case):
    """An intercept beyond the end of the interval, by a tenth of its length."""
    return corrected_measure(case, 1.1)


CORRECTED = Claim(
    name="p5-intercept-corrected",
    source=f"{P5}, soft classification, dual, corrected",
    statement=(
        r"0 < \alpha_i < C \Rightarrow y_i(\langle w, x_i\rangle + b) = 1; \text{ else }"
        r" b \in [b_-, b_+]"
    ),
    hypotheses="C > 0, both labels occur.",
    kind="identity",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    negative_control=NegativeControl(
        counterexample, measure=_beyond, note="b a tenth of the interval beyond it"
    ),
    proof="7",
)

CLAIM = replace(
    CORRECTED,
    name="p5-intercept",
    source=f"{P5}, soft classification, dual",
    statement=r"\alpha_i > 0 \Rightarrow y_i(\langle w, x_i\rangle + b) = 1",
    bound=bound,
    measure=measure,
    scale=lambda case: 1.0,
    status=Status.HYPOTHESIS,
    remark=(
        "The condition is 0 < alpha_i < C; a sample with alpha_i = C may lie inside the margin "
        "and gives a wrong intercept."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 0.5, note="half the margin"
    ),
    proof="",
)
