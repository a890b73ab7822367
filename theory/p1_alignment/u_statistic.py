"""The unbiased estimate of the alignment numerator and its concentration.

Not in the paper, which leaves a bias of order 1/m. U = m f/(m-3) - sum_i K_c,ii
K'_c,ii/((m-2)(m-3)) + Tr K_c Tr K'_c/(m(m-1)(m-2)(m-3)) has expectation E[K_c K'_c] exactly, and
|U - E[K_c K'_c]| <= c R^2 R'^2 (log(2/delta)/2m)^(1/2) with c = 6.40 at m = 100, 5.48 at 1000;
proofs.md, section 8. Checked: the frequency of violations over samples from a finite support.
Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from ..bounds.intervals import u_statistic_deviation
from ..claim import Claim, NegativeControl
from ..papers import P1
from ..reference.problems import numerators
from .prop_11 import TRIALS, _control_case
from .prop_11 import cases as numerator_cases

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    case = numerator_cases(draw)
    return case | {"m": max(case["m"], 4)}


def u_statistics(counts, K, L):
    """U of many samples given as counts of the atoms (trials, n)."""
    m = counts.sum(1).astype(float)
    W = counts / m[:, None]
    k, d = ((np.diagonal(A) - 2 * W @ A + ((W @ A) * W).sum(1)[:, None]) for A in (K, L))
    both, tk, td = (counts * k * d).sum(1), (counts * k).sum(1), (counts * d).sum(1)
    f = numerators(counts, K, L)
    pair = (m - 2) * (m - 3)
    return m * f / (m - 3) - both / pair + tk * td / (m * (m - 1) * pair)


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    return u_statistic_deviation(case["m"], case["delta"])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    law, K, L = case["law"], case["K"], case["L"]
    counts = law.counts(case["m"], TRIALS, case["seed"])
    return np.abs(u_statistics(counts, K, L) - law.moments(K, L).theta)


# -- negative control ------------------------------------------------------------------


def _twentieth(case):
    return 0.05 * bound(case)


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-u-statistic",
    source=f"{P1}, after Proposition 11, new",
    statement=r"|U - \mathrm{E}[K_cK'_c]| \le c_m R^2R'^2 \sqrt{\log(2/\delta)/(2m)}",
    hypotheses="m >= 4 independent points; K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    negative_control=NegativeControl(_control_case, bound=_twentieth, note="a twentieth"),
    proof="8",
)
