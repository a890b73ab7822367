"""The alignment from unbiased statistics, with their variances.

Not in the paper, whose theorem 12 has a bias of order 1/m and no variance: rho_U = U_xy/(U_x
U_y)^(1/2), clipped to [0, 1], is within e_b/(a a')^(1/2) s + rho (s - 1) of rho with probability 1
- delta, where e are the deviations of Theorem D at level log(6/delta) and s = ((1 - e_a/a)(1 -
e_a'/a'))^(-1/2); proofs.md, section 18. Checked: the frequency of violations over samples from a
finite support. Verdict: holds.
"""

import numpy as np

from ..bounds.u_statistics import alignment_deviation_unbiased
from ..prelude import P1, Claim, NegativeControl, Status
from .prop_11 import TRIALS, two_valued
from .prop_11 import cases as numerator_cases
from .theorem_12 import _control_case
from .u_statistic import kernel_moments, u_statistics


def cases(draw):
    case = numerator_cases(draw)
    return case | {"m": max(case["m"], 100)}


def _pairs(case):
    K, L = case["K"], case["L"]
    return (K, L), (K, K), (L, L)


def bound(case):
    law = case["law"]
    a, a_prime = (law.moments(*pair).theta for pair in _pairs(case)[1:])
    if not min(a, a_prime) > 1e-12:
        return 1.0
    rho = min(max(law.alignment(case["K"], case["L"]), 0.0), 1.0)
    variances = [max(kernel_moments(law, *pair)[1], 0.0) for pair in _pairs(case)]
    return alignment_deviation_unbiased(case["m"], case["delta"], a, a_prime, rho, variances)


def measure(case):
    law = case["law"]
    counts = law.counts(case["m"], TRIALS, case["seed"])
    b, a, a_prime = (u_statistics(counts, *pair) for pair in _pairs(case))
    defined = (a > 0) & (a_prime > 0)
    found = np.where(defined, b / np.sqrt(np.where(defined, a * a_prime, 1.0)), 0.0)
    rho = law.alignment(case["K"], case["L"])
    return np.abs(np.clip(found, 0, 1) - (0.0 if np.isnan(rho) else rho))


def _control():
    return _control_case() | {"m": 10**5}


CLAIM = Claim(
    name="p1-u-alignment",
    source=f"{P1}, after Theorem 12, new (Theorem D)",
    status=Status.NEW,
    statement=(
        r"|\rho-\rho_U| \le \tfrac{e_b}{\sqrt{aa'}}\,s + \rho\,(s-1),\ "
        r"s = \big((1-\tfrac{e_a}{a})(1-\tfrac{e_{a'}}{a'})\big)^{-1/2}"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, K'(x, x) <= R'^2; e_a < a, e_a' < a'.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    extremes=lambda: [two_valued((0.1, 0.1, 0.8, 0.0), 100)],
    negative_control=NegativeControl(
        _control, bound=lambda case: 0.1 * bound(case), note="a tenth"
    ),
    proof="18",
)
