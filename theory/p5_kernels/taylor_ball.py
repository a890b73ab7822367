"""The domain of a Taylor kernel.

Statement (slides, universal Taylor kernels): k(x, y) = f(<x, y>), f(t) = sum a_n t^n for |t| < r
with a_n > 0, is a kernel on |x| <= r^(1/2). Checked: that k(x, x) is finite, for (1 - t)^-alpha and
-log(1 - t)/t (r = 1) and exp (r infinite). Verdict: unstated hypothesis; at |x| = r^(1/2) the
series may diverge, so |x| < r^(1/2), and a compact part of it for universality; proofs.md, section
10.
"""

import numpy as np

from ..prelude import P5, Claim, HypothesisNotMet, NegativeControl, Status, replace

_TERMS = 4000


def cases(draw, most=0.95):
    """A point at a share of the radius."""
    kind = draw.choice(("binomial", "logarithm", "exponential"))
    radius = draw.real(0.0, most) if kind != "exponential" else draw.real(0.0, 4.0)
    return {"kind": kind, "radius": radius, "alpha": draw.real(0.2, 3.0)}


def terms(case):
    """The first a_n t^n at t = radius^2, from their ratios; all a_n are positive."""
    n = np.arange(1, _TERMS)
    ratios = {
        "binomial": (case["alpha"] + n - 1) / n,
        "logarithm": n / (n + 1),
        "exponential": case["alpha"] / n,
    }
    return np.cumprod(np.append(1.0, ratios[case["kind"]] * case["radius"] ** 2))


def bound(case):
    """The sum of the first terms: the remainder is less than a thousandth of it."""
    return 1.001 * np.sum(terms(case))


def measure(case):
    """k(x, x) at |x| = radius."""
    t = case["radius"] ** 2
    with np.errstate(divide="ignore"):
        if case["kind"] == "binomial":
            return float((1 - np.float64(t)) ** -case["alpha"])
        if case["kind"] == "logarithm":
            return float(-np.log1p(-np.float64(t)) / t) if t > 1e-12 else 1.0
    return float(np.exp(case["alpha"] * t))


def counterexample():
    """The binomial kernel at (1, 0)."""
    return {"kind": "binomial", "radius": 1.0, "alpha": 1.0}


def corrected_bound(case):
    if case["kind"] != "exponential" and case["radius"] >= 1:
        raise HypothesisNotMet("|x| must be below the square root of the radius of convergence")
    return bound(case)


def _control_case():
    return {"kind": "binomial", "radius": 0.9, "alpha": 1.0}


CORRECTED = Claim(
    name="p5-taylor-ball-corrected",
    source=f"{P5}, universal Taylor kernels, corrected",
    statement=r"k(x,y) = f(\langle x,y\rangle) \text{ on } \{\|x\|_2 < \sqrt r\}",
    hypotheses="a_n > 0; on a compact subset for universality.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.99 * bound(case), note="0.99 of the sum"
    ),
    proof="10",
)

CLAIM = replace(
    CORRECTED,
    name="p5-taylor-ball",
    source=f"{P5}, universal Taylor kernels",
    statement=r"k(x,y) = f(\langle x,y\rangle) \text{ on } \{\|x\|_2 \le \sqrt r\}",
    hypotheses="a_n > 0.",
    bound=bound,
    cases=lambda draw: cases(draw, 1.0),
    status=Status.HYPOTHESIS,
    remark="The ball has to be open for finite r; on its boundary the series may diverge.",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
