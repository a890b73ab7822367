"""A confidence interval for the alignment by betting on the ratio itself.

Not in the paper. Pairs of samples have the covariances as means, and a bet on numerator, norm of
the kernel and variance of the labels at once cannot grow at the true alignment; it is made against
the worst nuisance parameters (`ratio_betting.ratio_interval`); proofs.md, section 25. Checked: how
often rho lies outside, against delta, on the distributions of the closed form
(`p1-class-interval`). Verdict: holds.
"""

import numpy as np

from alignlearn.bounds.ratio_betting import ratio_interval

from ..prelude import P1, Claim, NegativeControl, Status, once
from ..reference.coverage import position, reach
from .class_interval import FEATURES, alignment, control_case, draw_law, ends

TRIALS = 14  # each interval needs some eigenproblems


def cases(draw):
    return draw_law(draw) | {
        "m": draw.choice((80, 40, 160)),  # with fewer samples nearly every interval is vacuous
        "delta": draw.choice((0.5, 0.2)),
        "seed": draw.integer(0, 2**32 - 1),
    }


@once
def intervals(case):
    """The `ends` of the interval by betting on the ratio."""
    delta = case["delta"]
    return ends(case, lambda K, y: ratio_interval(K, y, (-1, 1), delta, FEATURES), TRIALS)


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*intervals(case).T[:2])


def measure(case):
    return position(*intervals(case).T, alignment(case))


CLAIM = Claim(
    name="p1-ratio-interval",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"\Pr\big[\tfrac1N\sum_\sigma \min_{\|W\| \le 1} \prod_i (1+\lambda_i (2\langle v_i, c_i"
        r"\rangle - |v_i|^2 V_i - \rho \langle W, C_i\rangle)) \ge \tfrac{2}{\delta}\big]"
        r"\le \tfrac{\delta}{2}"
    ),
    hypotheses="Independent points of two classes; 0 <= K(x, x'), K(x, x) <= R^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    negative_control=NegativeControl(
        lambda: control_case(100) | {"delta": 0.2},
        bound=lambda c: 0.05 * bound(c),
        note="0.05 of its length",
    ),
    proof="25",
)
