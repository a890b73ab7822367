"""The best ridge in theorems 1 and 2, in closed form.

Statement (not in the 2020 paper, for its (3.10) and (3.11)): alpha* = min(1/(1 + r(1-theta)),
(1+s)/((2+s-theta)(r(1+s)+s))) and Theta* = r alpha* for theorem 1, alpha* = min(1,
(1+s)/((2+s)(r(1+s)+s))) for theorem 2; likewise for the sharper exponents. Checked: against the
largest value over all crossings of the lines in question. Verdict: holds; proofs.md, section 12.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from alignlearn.bounds import hyper_rates as rates

from ..claim import Claim, NegativeControl
from ..papers import P4

# -- cases -----------------------------------------------------------------------------


def cases(draw):
    p, q = draw.choice((np.inf, draw.log_real(0.1, 20.0))), draw.real(1.05, 6.0)
    theta = rates.noise_exponent(p, q)
    return {"r": draw.real(0.01, 1.0), "s": draw.log_real(1e-6, 5.0), "theta": theta}


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """Theta* of theorem 1, printed and sharper, of theorem 2, and of its proved form."""
    r, s, theta = (case[name] for name in ("r", "s", "theta"))
    found = (
        rates.svr_optimum_printed(r, s, theta),
        rates.svr_optimum(r, s, theta),
        rates.ridge_optimum_printed(r, s),
        rates.ridge_optimum(r, s),
    )
    return np.array([best.exponent for best in found])


# -- measure: what is true -------------------------------------------------------------


def largest(lines, top=1.0):
    """Largest value on (0, top] of the smallest of the lines a + b alpha."""
    alphas = [top]
    for (a, b), (c, d) in combinations(lines, 2):
        if b != d:
            alphas.append((c - a) / (b - d))
    inside = np.array([alpha for alpha in alphas if 0 < alpha <= top])
    return float(np.min([a + b * inside for a, b in lines], axis=0).max())


def measure(case):
    r, s, theta = (case[name] for name in ("r", "s", "theta"))
    room, capacity = 1 / (2 - theta), 1 / (2 + s - theta)
    first = [(0, r), (room, (r - 1) * room), (capacity, -s / (1 + s))]
    sharper = [(0, r), (room, (r - 1) / 2), (capacity, -s / (2 * (1 + s)))]
    second = [(0, r), (1 / (2 + s), -s / (1 + s))]
    proved = [(0, r), (1, -min(s / 2, 1))]
    return np.array([largest(lines) for lines in (first, sharper, second, proved)])


# -- negative control ------------------------------------------------------------------


def _control_case():
    return {"r": 0.5, "s": 0.5, "theta": rates.noise_exponent(1.0, 2.0)}


def _first_only(case):
    """alpha_A alone: .4 in place of .3."""
    return bound(case) * 0 + case["r"] / (1 + case["r"] * (1 - case["theta"]))


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p4-optimal-alpha",
    source=f"{P4}, (3.10) and (3.11), optimised",
    statement=(
        r"\alpha^* = \min\{\tfrac1{1+r(1-\theta)},\ \tfrac{1+s}{(2+s-\theta)(r(1+s)+s)}\},\ "
        r"\Theta^* = r\alpha^*"
    ),
    hypotheses="0 < r <= 1, s > 0, 0 <= theta <= 1.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    negative_control=NegativeControl(
        _control_case, bound=_first_only, note="the first of the two limits only"
    ),
    proof="12",
)
