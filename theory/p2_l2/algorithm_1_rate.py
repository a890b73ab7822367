"""The local rate of the interpolated iteration, and the eta with the best guarantee.

Not in the paper, which leaves eta open: at the fixed point the iteration with eta contracts by
max(eta, 2 - 3 eta) or better, which is least, 1/2, at eta = 1/2; proofs.md, section 5. Checked: the
largest modulus of an eigenvalue of its derivative, from a difference quotient. Verdict: holds. No
eta guarantees less than 1/2: a direction in which no kernel acts contracts by eta, and two diagonal
kernels by almost 2 - 3 eta for large L (`worst_rate`).
"""

from __future__ import annotations

import numpy as np

from ..claim import Claim, NegativeControl
from ..papers import P2
from .algorithm_1 import cases as problem_cases
from .algorithm_1 import counterexample
from .algorithm_1_spectrum import _derivative

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    return problem_cases(draw) | {"eta": draw.real(0, 0.95)}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return max(case["eta"], 2 - 3 * case["eta"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    w = np.linalg.eigvals(_derivative(case)).real
    return np.abs(case["eta"] + (1 - case["eta"]) * w).max()


def worst_rate(eta):
    """The larger rate of the two families that attain the two terms of the bound."""
    return max(map(measure, extremes(eta)))


def extremes(eta):
    """Two equal kernels, L large, and a direction on which the only kernel vanishes."""
    large = counterexample(eta, radius=1e6) | {"y": np.ones(2)}
    return [large, counterexample(eta) | {"kernels": np.array([np.diag([1.0, 0.0])])}]


# -- negative control ------------------------------------------------------------------

# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p2-algorithm-1-rate",
    source=f"{P2}, Algorithm 1, new",
    statement=(
        r"\limsup \tfrac{|\alpha_{i+1}-\alpha^\star|}{|\alpha_i-\alpha^\star|} \le"
        r" \max(\eta, 2-3\eta) \text{ near } \alpha^\star, \text{ least at } \eta = \tfrac12"
    ),
    hypotheses="lam > 0, mu0 >= 0, v not zero at the fixed point; in the norm of K + lam.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-3,
    sharp=True,
    extremes=lambda: extremes(0.6),
    negative_control=NegativeControl(
        lambda: extremes(0.4)[0],
        bound=lambda case: 0.99 * bound(case),
        note="0.99 of a sharp bound",
    ),
    proof="5",
)
