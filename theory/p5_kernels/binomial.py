"""The series of the binomial kernel.

Statement (slides, binomial kernel): (1 - t)^-alpha = sum_n binom(-alpha, n) (-1)^n t^n with
binom(b, n) = sum_{i=1}^n (b - i + 1)/i, and all coefficients are positive. Checked: 300 terms of
the series. Verdict: misprint; binom(b, n) is the product of these fractions; proofs.md, section 10.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace


def cases(draw):
    return {"alpha": draw.real(0.1, 4.0), "t": draw.real(-0.8, 0.8)}


def coefficients(case, accumulate, count=300):
    """binom(-alpha, n) (-1)^n for n = 0, 1, ..."""
    n = np.arange(1, count)
    fractions = (-case["alpha"] - n + 1) / n
    return np.append(1.0, accumulate(fractions)) * (-1.0) ** np.arange(count)


def series(case, values):
    """The power series with these coefficients at the point t of the case."""
    return np.sum(values * case["t"] ** np.arange(len(values)))


def bound(case):
    """The series with the sums; the first coefficient is 1 in either case."""
    return series(case, coefficients(case, np.cumsum))


def measure(case):
    return (1 - case["t"]) ** -case["alpha"]


def counterexample():
    return {"alpha": 1.7, "t": 0.6}


def corrected_bound(case):
    """The series with the products; and the smallest of the first coefficients, if negative."""
    values = coefficients(case, np.cumprod)
    return np.array([series(case, values), min(0.0, values[:20].min())])


def corrected_measure(case):
    """The kernel, and 0 for no negative coefficient."""
    return np.array([measure(case), 0.0])


def _shifted(case):
    """binom(-alpha, n) of an alpha that is 1% too large."""
    return corrected_bound(case | {"alpha": 1.01 * case["alpha"]})


CORRECTED = Claim(
    name="p5-binomial-corrected",
    source=f"{P5}, binomial kernel, corrected",
    statement=(
        r"(1-t)^{-\alpha} = \sum_n \tbinom{-\alpha}{n}(-1)^n t^n,"
        r"\ \tbinom bn = \prod_{i=1}^n \tfrac{b-i+1}{i},\ \tbinom{-\alpha}{n}(-1)^n > 0"
    ),
    hypotheses="alpha > 0, |t| < 1.",
    kind="identity",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: (1 - abs(case["t"])) ** -case["alpha"],
    negative_control=NegativeControl(counterexample, bound=_shifted, note="alpha 1 % too large"),
    proof="10",
)

CLAIM = replace(
    CORRECTED,
    name="p5-binomial",
    source=f"{P5}, binomial kernel",
    statement=(
        r"(1-t)^{-\alpha} = \sum_n \tbinom{-\alpha}{n}(-1)^n t^n,"
        r"\ \tbinom bn = \sum_{i=1}^n \tfrac{b-i+1}{i}"
    ),
    bound=bound,
    measure=measure,
    status=Status.MISPRINT,
    remark="A sum is printed for a product in the binomial coefficient.",
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
