"""The bound of the mean absolute output.

Statement ((A.5) of the 2020 paper): c M + 4 M (1 + (2c)^(1/2)) log(4/delta)/m^(1/2) <= (3 c M + 4
M) log(4/delta). Checked: both sides. Verdict: misprint; false for m = 2 (10.473 against 9.711 at c
= 1, delta = 0.999), true for m >= 3. Correct for m >= 2: (3c + 5) M log(4/delta); proofs.md,
section 18.
"""

import math

from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    return {
        "m": draw.integer(2, 6),
        "c": draw.log_real(1e-2, 1e2),
        "M": draw.log_real(1.0, 10.0),
        "delta": draw.log_real(1e-3, 0.999),
    }


def bound(case, added=4.0):
    return (3 * case["c"] + added) * case["M"] * math.log(4 / case["delta"])


def measure(case):
    c, L = case["c"], math.log(4 / case["delta"])
    return case["M"] * (c + 4 * (1 + math.sqrt(2 * c)) * L / math.sqrt(case["m"]))


def counterexample():
    """10.473 against 9.711."""
    return {"m": 2, "c": 1.0, "M": 1.0, "delta": 0.999}


def corrected_bound(case):
    return bound(case, added=5.0)


def _between(case):
    return bound(case, added=4.5)


CORRECTED = Claim(
    name="p4-a-5-corrected",
    source=f"{P4}, (A.5), corrected",
    statement=(
        r"cM + 4M(1+\sqrt{2c})\frac{\log\frac4\delta}{\sqrt m} \le (3c+5)M\log\tfrac4\delta"
    ),
    hypotheses="m >= 2, c > 0; with 3c + 4 for m >= 3.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(counterexample, bound=_between, note="4.5 for 5"),
    proof="18",
)

CLAIM = replace(
    CORRECTED,
    name="p4-a-5",
    source=f"{P4}, (A.5)",
    statement=(
        r"cM + 4M(1+\sqrt{2c})\frac{\log\frac4\delta}{\sqrt m} \le (3c+4)M\log\tfrac4\delta"
    ),
    hypotheses="m >= 2, c > 0.",
    bound=bound,
    status=Status.MISPRINT,
    remark="3cM + 4M is too small at m = 2 and c = 1; 3c + 5 suffices.",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 1.05 * bound(case), note="5 % more"
    ),
    proof="",
)
