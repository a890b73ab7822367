"""A confidence interval for the alignment with labels of two classes, in closed form.

Not in the paper. rho = s(1-s) d^2/A with s the share of a class, d the distance of the means of the
classes in feature space and A^2 = E[K_c^2]; each of the three is bounded from the sample
(`class_intervals.class_interval_from`); proofs.md, section 19. Checked: how often rho lies outside,
against delta, on finite laws with rare atoms, near-constant kernels and unbalanced labels among
them; a sample of one class has no interval and is not counted. Verdict: holds.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.class_intervals import FeatureRange, class_interval_from

from ..claim import Claim, NegativeControl, once
from ..papers import P1
from ..reference.class_laws import class_laws
from ..reference.coverage import position, reach
from ..reference.problems import FiniteDistribution, gaussian_kernel, numerators

# -- cases -----------------------------------------------------------------------------

TRIALS = 300
FEATURES = FeatureRange(1.0, non_negative=True)


def draw_law(draw):
    """A law of two classes and a kernel of unit diagonal without negative values."""
    if draw.integer(0, 2) == 0:
        chosen = draw.choice(class_laws())
        return {"law": chosen.law, "K": chosen.K}
    n = draw.integer(2, 6)
    K = gaussian_kernel(draw.array((n, 2)), draw.log_real(0.1, 100.0))
    labels = draw.signs(n)
    labels[:2] = 1.0, -1.0
    return {"law": FiniteDistribution(draw.weights(n), labels), "K": K}


def cases(draw):
    return draw_law(draw) | {
        "m": draw.choice((10, 50, 200, 1000, 10**5)),
        "delta": draw.choice((0.05, 0.1, 0.3)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def statistics(case):
    """(m_+, m_-, d_S, A_S) of each sample, (TRIALS,) each."""
    law, K, m = case["law"], case["K"], case["m"]
    counts = law.counts(m, TRIALS, case["seed"])
    positive = law.labels > 0
    plus = counts[:, positive].sum(1)
    both = np.where((plus > 0) & (plus < m), plus, 1)
    signs = counts * np.where(positive, 1 / both[:, None], -1 / (m - both)[:, None])
    distance = np.sqrt(np.maximum(((signs @ K) * signs).sum(1), 0.0))
    return plus, m - plus, distance, np.sqrt(np.maximum(numerators(counts, K, K), 0.0))


@once
def intervals(case):
    """Lower and upper end and rho_S (TRIALS, 3), nan where a class has no sample."""
    found = np.full((TRIALS, 3), np.nan)
    for row, (plus, minus, distance, norm) in zip(found, zip(*statistics(case))):
        if plus and minus:
            values = int(plus), int(minus), case["delta"], float(distance), float(norm)
            share = plus / (plus + minus)
            estimate = share * (1 - share) * distance**2 / max(norm, 1e-12)
            row[:] = *class_interval_from(*values, FEATURES)[:2], estimate
    return found


def alignment(case):
    """rho of the law; nan where the kernel does not vary."""
    law, K = case["law"], case["K"]
    return max(law.alignment(K, law.target()), 0.0) if law.moments(K, K).theta > 1e-13 else np.nan


# -- bound: what the statement says ----------------------------------------------------


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that says anything."""
    return reach(*intervals(case).T[:2])


# -- measure: what is true -------------------------------------------------------------


def measure(case):
    return position(*intervals(case).T, alignment(case))


# -- negative control ------------------------------------------------------------------


def control_case(m=1000):
    """Two normal laws at distance 2 on the line."""
    chosen = class_laws()[-1]
    return {"law": chosen.law, "K": chosen.K, "m": m, "delta": 0.05, "seed": 1}


# -- claim -----------------------------------------------------------------------------

CLAIM = Claim(
    name="p1-class-interval",
    source=f"{P1}, after Theorem 12, new",
    statement=(
        r"\rho = \tfrac{s(1-s)d^2}{A} \in \Big[\tfrac{\min s(1-s)\,[(\hat d-t_1)_+^2"
        r"-\frac{R^2}{m_+}-\frac{R^2}{m_-}]_+}{\bar A},"
        r" \tfrac{\max s(1-s)\,(\hat d+t_2)^2}{\underline A}\Big]"
    ),
    hypotheses="Independent points of two classes; 0 <= K(x, x'), K(x, x) <= R^2.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        control_case, bound=lambda case: 0.1 * bound(case), note="0.1 of its length"
    ),
    proof="19",
)
