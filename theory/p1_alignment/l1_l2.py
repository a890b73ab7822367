"""The L1 norm of weights from their L2 constraint.

Statement (end of section 4.3 of the 2012 paper, where M_q = {mu >= 0, ||mu||_q^q = Lambda_q}): L1 =
||mu||_1 <= sqrt(p) L2. Checked: both sides with L2 = ||mu||_2^2 as defined. Verdict: misprint;
false for L2 < 1/p-sized weights (p = 1, mu = 1/2: 1/2 > 1/4). Correct: sqrt(p L2); proofs.md,
section 16.
"""

from fractions import Fraction

import numpy as np

from ..prelude import P1, Claim, NegativeControl, Status, replace


def cases(draw):
    return {"mu": draw.log_real(1e-2, 1e2) * draw.weights(draw.integer(1, 5))}


def bound(case):
    return len(case["mu"]) ** 0.5 * float((case["mu"] ** 2).sum())


def measure(case):
    return float(case["mu"].sum())


def counterexample():
    return {"mu": np.array([Fraction(1, 2)])}


def corrected_bound(case):
    return float(len(case["mu"]) * (case["mu"] ** 2).sum()) ** 0.5


CORRECTED = Claim(
    name="p1-l1-l2-corrected",
    source=f"{P1}, section 4.3, last paragraph, corrected",
    statement=r"\|\mu\|_1 \le \sqrt{p\,\Lambda_2},\ \Lambda_2 = \|\mu\|_2^2",
    hypotheses="mu >= 0.",
    kind="upper",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        lambda: {"mu": np.ones(4)}, bound=lambda case: 0.5 * corrected_bound(case), note="half"
    ),
    proof="16",
)

CLAIM = replace(
    CORRECTED,
    name="p1-l1-l2",
    source=f"{P1}, section 4.3, last paragraph",
    statement=r"\|\mu\|_1 \le \sqrt p\,\Lambda_2,\ \Lambda_2 = \|\mu\|_2^2",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "Lambda_2 was defined as the square of the norm, so a square root is missing; with "
        "Lambda_2 < 1 the printed radius is too small."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
