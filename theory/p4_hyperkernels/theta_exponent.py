"""The second exponent of the power index Theta.

Statement (A.4 of the 2020 paper): lambda^((r-1)/2) m^(-1/(2-theta)) with lambda = m^-alpha falls as
m^-[1/(2-theta) + alpha (r-1)/(2-theta)]. Checked: the logarithm to base m. Verdict: misprint; for
alpha (r - 1)/2. As 2 - theta <= 2 the printed exponent is conservative, so that theorem 1 stays
true; proofs.md, section 13.
"""

import math

from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    case = {"r": draw.real(0.0, 1.0), "theta": draw.real(0.0, 1.0)}
    return case | {"alpha": draw.real(0.0, 1.0), "m": draw.choice((2, 10, 10**6))}


def bound(case):
    return (1 + case["alpha"] * (case["r"] - 1)) / (2 - case["theta"])


def measure(case):
    lam = case["m"] ** -case["alpha"]
    term = lam ** ((case["r"] - 1) / 2) * case["m"] ** (-1 / (2 - case["theta"]))
    return -math.log(term) / math.log(case["m"])


def counterexample():
    """0.4 printed, 0.4667 correct: with r = 0.5, theta = 0.5, alpha = 0.8."""
    return {"r": 0.5, "theta": 0.5, "alpha": 0.8, "m": 10}


def corrected_bound(case, share=1.0):
    return 1 / (2 - case["theta"]) - share * case["alpha"] * (1 - case["r"]) / 2


def _more(case):
    return corrected_bound(case, share=1.05)


CORRECTED = Claim(
    name="p4-theta-exponent-corrected",
    source=f"{P4}, A.4, corrected",
    statement=(
        r"\lambda^{\frac{r-1}2}m^{-\frac1{2-\theta}} ="
        r" m^{-[\frac1{2-\theta}-\frac{\alpha(1-r)}2]}"
    ),
    hypotheses="lambda = m^-alpha.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(counterexample, bound=_more, note="5 % more"),
    proof="13",
)

CLAIM = replace(
    CORRECTED,
    name="p4-theta-exponent",
    source=f"{P4}, A.4",
    statement=(
        r"\lambda^{\frac{r-1}2}m^{-\frac1{2-\theta}} ="
        r" m^{-[\frac1{2-\theta}+\frac{\alpha(r-1)}{2-\theta}]}"
    ),
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The denominator of alpha(r - 1) is printed as 2 - theta instead of 2, which makes theorem "
        "1 slightly weaker than its proof."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 1.1 * bound(case), note="a tenth more"
    ),
    proof="",
)
