"""Confidence intervals for the alignment of a combination whose weights came from the same samples.

Not in the paper, whose bounds are for one kernel. d^2 = sum_k mu_k d_k^2 and E[K_muc^2] = sum_kl
mu_k mu_l E[K_kc K_lc] are linear in what does not depend on the weights, so p events for the former
and p, or p(p+1)/2, for the latter hold for all mu >= 0 at once; proofs.md, section 22. Checked: how
often rho of the combination of largest alignment on the sample lies outside, against delta, for the
closed form and for betting. Verdict: holds.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from alignlearn.bounds.class_betting import learned_betting_interval
from alignlearn.bounds.class_intervals import class_statistics, learned_class_interval

from ..claim import Claim, NegativeControl, once
from ..papers import P1
from ..reference.class_laws import class_laws
from ..reference.coverage import position, reach
from ..reference.problems import FiniteDistribution, gaussian_kernel
from .class_betting import aligned
from .class_interval import FEATURES

# -- cases -----------------------------------------------------------------------------

TRIALS = 40
GRID = np.array(list(product((0.0, 1.0), repeat=3))[1:])  # weights of three kernels


def cases(draw):
    n = draw.integer(3, 8)
    points, labels = draw.array((n, 2)), draw.signs(n)
    labels[:2] = 1.0, -1.0
    return {
        "law": FiniteDistribution(draw.weights(n), labels),
        "kernels": [gaussian_kernel(points, h) for h in (0.2, 1.0, 5.0)],
        "betting": bool(draw.integer(0, 1)),
        "m": draw.choice((12, 50, 200)),
        "delta": draw.choice((0.2, 0.5)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def _samples(case):
    """(rows, y) of independent samples of both classes."""
    rng = np.random.default_rng(case["seed"])
    for _ in range(TRIALS):
        rows = case["law"].sample(case["m"], rng)
        y = case["law"].labels[rows]
        if y.min() < y.max():
            yield rows, y


def _learned(grams, y):
    """The row of GRID of largest alignment with y."""
    found = [aligned(np.tensordot(mu, grams, 1), y) for mu in GRID]
    return GRID[int(np.argmax(found))]


def _interval(case, grams, mu, y):
    used = np.flatnonzero(mu)
    chosen, features = [grams[k] for k in used], [FEATURES] * len(used)
    if case["betting"]:
        return learned_betting_interval(chosen, mu[used], features, y, case["delta"], len(mu))
    found = [class_statistics(K, y) for K in chosen]
    plus, minus = found[0][:2]
    numbers = [row[2] for row in found], [row[3] for row in found], mu[used], features
    return learned_class_interval(plus, minus, case["delta"], *numbers, len(mu))


@once
def intervals(case):
    """(low, high, rho_S, rho) of each sample."""
    law, rows_of = case["law"], []
    for rows, y in _samples(case):
        grams = np.array([K[np.ix_(rows, rows)] for K in case["kernels"]])
        mu = _learned(grams, y)
        rho = law.alignment(np.tensordot(mu, np.array(case["kernels"]), 1), law.target())
        estimate = aligned(np.tensordot(mu, grams, 1), y)
        rows_of.append((*_interval(case, grams, mu, y)[:2], estimate, max(rho, 0.0)))
    return np.array(rows_of if rows_of else [(np.nan,) * 4])


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that says anything."""
    return reach(*intervals(case).T[:2])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return position(*intervals(case).T)


# -- negative control ------------------------------------------------------------------


def _control_case():
    chosen = class_laws()[-1]
    kernels = [chosen.K, chosen.K**4, chosen.K**0.25]
    rest = {"betting": True, "m": 200, "delta": 0.2, "seed": 1}
    return {"law": chosen.law, "kernels": kernels} | rest


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-class-learned",
    source=f"{P1}, after Theorem 12, new",
    statement=(
        r"\Pr\Big[\exists \mu \ge 0:\ \rho_\mu \notin \Big[\tfrac{\min s(1-s) \sum_k \mu_k"
        r"\underline{d_k^2}}{\bar A_\mu}, \tfrac{\max s(1-s) \sum_k \mu_k \overline{d_k^2}}"
        r"{\underline A_\mu}\Big]\Big] \le \delta"
    ),
    hypotheses="Independent points of two classes; p kernels fixed before, 0 <= K_k <= R_k^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.8,
    trivial=lambda case: np.inf,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.07 * bound(case), note="0.07 of its length"
    ),
    proof="22",
)
