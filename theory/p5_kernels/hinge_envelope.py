"""The hinge loss and the zero-one loss.

Statement (slides, soft objective): h(u) = max(1 - u, 0) is the convex envelope of z(u) = 1 for u <
0, else 0. Checked: an envelope, the largest convex minorant, is at most z. Verdict: false; h(-0.5)
= 1.5 > 1. The hinge loss is a convex majorant of z. The envelope on the line is 0, and on [-L, R]
it is max(-u/L, 0); proofs.md, section 6.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace


def cases(draw):
    left = draw.log_real(0.1, 1e3)
    return {"u": draw.real(-1.0, 1.0) * left, "left": left, "right": draw.log_real(0.1, 10.0)}


def hinge(u):
    """Hinge loss at the margin u."""
    return max(1.0 - u, 0.0)


def zero_one(u):
    """0/1 loss at the margin u."""
    return float(u < 0)


def bound(case):
    return zero_one(case["u"])


def measure(case):
    return hinge(case["u"])


def counterexample():
    return {"u": -0.5, "left": 1.0, "right": 1.0}


def corrected_bound(case):
    """The hinge loss, and the envelope on [-left, right]."""
    return np.array([hinge(case["u"]), max(-case["u"] / case["left"], 0.0)])


def corrected_measure(case):
    """z, and the minimum over chords of z at u: the largest value of a convex minorant."""
    u, left, right = case["u"], case["left"], case["right"]
    if not -left <= u <= right:
        return np.array([zero_one(u), np.nan])
    low, high = np.linspace(-left, u, 51)[:, None], np.append(np.linspace(u, right, 51), max(u, 0))
    width = np.where(high > low, high - low, 1.0)
    ends = (low < 0) * (high - u) + (high < 0) * (u - low)
    chord = np.where(high > low, ends / width, zero_one(u))
    return np.array([zero_one(u), chord.min()])


def _control_case():
    return {"u": -1e-3, "left": 1.0, "right": 1.0}


def _shifted(case):
    return np.array([max(0.95 - case["u"], 0.0), 1.0])


CORRECTED = Claim(
    name="p5-hinge-envelope-corrected",
    source=f"{P5}, note on the soft objective, corrected",
    statement=r"z \le h,\ h \text{ convex}; \quad \mathrm{env}_{[-L,R]} z(u) = \max(-u/L, 0)",
    hypotheses="None; u in [-L, R] for the envelope.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case, bound=_shifted, note="max(.95 - u, 0) in place of max(1 - u, 0)"
    ),
    proof="6",
)

CLAIM = replace(
    CORRECTED,
    name="p5-hinge-envelope",
    source=f"{P5}, note on the soft objective",
    statement=r"h = \text{the convex envelope of } z, \text{ so } h \le z",
    hypotheses="None.",
    bound=bound,
    measure=measure,
    status=Status.FALSE,
    remark=(
        "The hinge loss is a convex upper bound; the envelope, the largest convex "
        "function below the 0/1 loss, is 0 on the whole line."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        lambda: _control_case() | {"u": 0.95}, note="the hinge loss beside 1, where z = 0"
    ),
    proof="",
)
