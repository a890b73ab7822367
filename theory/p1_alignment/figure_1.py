"""Two classes at two points: only the uncentered alignment depends on their share.

Statement (figure 1 of the 2012 paper): with a fraction alpha of the points at (-1, 0) labeled -1,
the others at (1, 0) labeled 1, and K = <x, x'> + 1, the uncentered alignment is A = (alpha^2 +
(1-alpha)^2)^(1/2) and the centered one is 1, for all alpha in [0, 1]. Checked: A^2, rho, and
whether rho is defined. Verdict: unstated hypothesis; at alpha = 0 and 1 the centered kernel
vanishes and rho is 0/0; proofs.md, section 16.
"""

from fractions import Fraction

import numpy as np

from ..prelude import P1, Claim, HypothesisNotMet, NegativeControl, Status, replace
from ..reference.problems import two_points


def cases(draw):
    return {"alpha": draw.real(0.0, 1.0)}


def bound(case):
    alpha = float(case["alpha"])
    return np.array([alpha**2 + (1 - alpha) ** 2, 1.0, 1.0])


def measure(case):
    law, K = two_points(case["alpha"])
    L = law.target()
    squared = law.pair_mean(K * L) ** 2 / (law.pair_mean(K * K) * law.pair_mean(L * L))
    defined = law.moments(K, K).theta > 0
    return np.array([float(squared), law.alignment(K, L) if defined else 1.0, float(defined)])


def counterexample():
    return {"alpha": Fraction(0)}


def _inside(draw):
    return {"alpha": draw.real(1e-3, 1 - 1e-3)}


def corrected_bound(case):
    if not 0 < case["alpha"] < 1:
        raise HypothesisNotMet("alpha must lie strictly between 0 and 1")
    return bound(case)


def _control_case():
    return {"alpha": Fraction(1, 10)}


def _centered_like_uncentered(case):
    value = bound(case)
    value[1] = np.sqrt(value[0])
    return value


_CONTROL = NegativeControl(
    _control_case, bound=_centered_like_uncentered, note="the uncentered formula for both"
)

CORRECTED = Claim(
    name="p1-figure-1-corrected",
    source=f"{P1}, Figure 1",
    statement=r"A = (\alpha^2 + (1-\alpha)^2)^{1/2},\ \rho = 1 \text{ for } 0 < \alpha < 1",
    hypotheses="0 < alpha < 1; at 0 and 1 rho is 0/0.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=_inside,
    negative_control=_CONTROL,
    proof="16",
)

CLAIM = replace(
    CORRECTED,
    name="p1-figure-1",
    statement=r"A = (\alpha^2 + (1-\alpha)^2)^{1/2},\ \rho = 1 \text{ for all } \alpha \in [0, 1]",
    hypotheses="alpha in [0, 1].",
    bound=bound,
    cases=cases,
    status=Status.HYPOTHESIS,
    remark=(
        "At alpha = 0 and 1 one class is empty, so K_c is 0 and definition 2 gives no alignment; "
        "check that both classes occur before you compute it."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
