"""Two steps in the bound of the sample error S_2.

Statement (A.2 of the 2020 paper): the mean over all m^2 pairs is at most the mean over i != j plus
1/m times that of the diagonal; and (1/(m-1))^(-1/(2-theta)) <= m^(-1/(2-theta)). Checked: both, for
any values. Verdict: misprint, both. The first fails where the mean over i != j is negative (m = 2,
values -1), but the conclusion is true, as E xi >= 0; the second has an extra minus sign, and
without it the factor 2^(1/(2-theta)) <= 2, which doubles the constants of (4.8); proofs.md, section
16.
"""

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    m = draw.integer(2, 6)
    xi = draw.array((m, m))
    mean = abs(float(draw.array(1)[0]))
    return {"xi": (xi + xi.T) / 2, "mean": mean, "theta": draw.real(0.0, 1.0)}


def _parts(case):
    xi, m = case["xi"], len(case["xi"])
    apart = (xi.sum() - np.trace(xi)) / (m * (m - 1))
    return float(apart), float(np.trace(xi)) / m**2, m, 1 / (2 - case["theta"])


def bound(case):
    apart, diagonal, m, power = _parts(case)
    return np.array([apart + diagonal - case["mean"], m**-power])


def measure(case):
    *_, m, power = _parts(case)
    return np.array([case["xi"].mean() - case["mean"], (1 / (m - 1)) ** -power])


def counterexample():
    """-0.5 against -1, and 1 against 2^(-1/2)."""
    return {"xi": np.array([[0.0, -1.0], [-1.0, 0.0]]), "mean": 0.0, "theta": 0.0}


def corrected_bound(case, factor=2.0):
    """U - E xi or 0 plus the diagonal, and 2 m^(-1/(2-theta)) for the power with its right sign."""
    apart, diagonal, m, power = _parts(case)
    return np.array([max(apart - case["mean"], 0.0) + diagonal, factor * m**-power])


def corrected_measure(case):
    *_, m, power = _parts(case)
    return np.array([case["xi"].mean() - case["mean"], (1 / (m - 1)) ** power])


def _control_case():
    return counterexample() | {"theta": 1.0}


def _less(case):
    return corrected_bound(case, factor=1.98)


CORRECTED = Claim(
    name="p4-prop-4-5-corrected",
    source=f"{P4}, proof of Proposition 4.5, corrected",
    statement=(
        r"\tfrac1{m^2}\sum\xi_{ij}-\mathrm{E}\xi \le (U-\mathrm{E}\xi)_+ +"
        r" \tfrac1{m^2}\sum\xi_{ii},\quad (m-1)^{-\frac1{2-\theta}} \le 2m^{-\frac1{2-\theta}}"
    ),
    hypotheses="E xi >= 0, m >= 2.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: 1.0 + np.abs(case["xi"]).max(),
    negative_control=NegativeControl(_control_case, bound=_less, note="1.98 for 2"),
    proof="16",
)

CLAIM = replace(
    CORRECTED,
    name="p4-prop-4-5",
    source=f"{P4}, proof of Proposition 4.5",
    statement=(
        r"\tfrac1{m^2}\sum\xi_{ij} \le U + \tfrac1{m^2}\sum\xi_{ii},\quad"
        r" (\tfrac1{m-1})^{-\frac1{2-\theta}} \le m^{-\frac1{2-\theta}}"
    ),
    bound=bound,
    measure=measure,
    status=Status.MISPRINT,
    remark=(
        "The sign of an exponent is wrong, and without it a factor 2 is missing; the constant 16 "
        "of (4.8) becomes 32."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: bound(case) / [1.5, 0.8], note="two thirds, 1/.8"
    ),
    proof="",
)
