"""A confidence interval for the alignment with labels of two classes, in closed form.

Not in the paper. rho = s(1-s) d^2/A with s the share of a class, d the distance of the means of the
classes in feature space and A^2 = E[K_c^2]; each of the three is bounded from the sample
(`class_intervals.class_interval_from`); proofs.md, section 19. Checked: the frequency of rho
outside the interval, against delta, on finite distributions, including rare atoms, near-constant
kernels and unbalanced labels; a sample of one class has no interval and is not counted. Verdict:
holds.

`p1-class-betting`. A confidence interval for the alignment with labels of two classes, by betting.
Not in the paper. Each of the three quantities of the closed form (`p1-class-interval`) is bounded
by a product that grows fast if the quantity had another value; proofs.md, section 20. Checked: how
often rho lies outside, against delta, on the distributions of the closed form. Verdict: holds.

`p1-class-learned`. Confidence intervals for the alignment of a combination whose weights came from
the same samples. Not in the paper, whose bounds are for one kernel. d^2 = sum_k mu_k d_k^2 and
E[K_muc^2] = sum_kl mu_k mu_l E[K_kc K_lc] are linear in mu with coefficients that do not depend on
it, so p events for the former and p, or p(p+1)/2, for the latter hold for all mu >= 0
simultaneously; proofs.md, section 22. Checked: how often rho of the combination of largest
alignment on the sample lies outside, against delta, for the closed form and for betting. Verdict:
holds.
"""

from itertools import product

import numpy as np

from alignlearn.bounds.class_betting import class_betting_interval, learned_betting_interval
from alignlearn.bounds.class_intervals import (
    FeatureRange,
    class_interval_from,
    class_statistics,
    learned_class_interval,
)

from ..prelude import (
    P1,
    Claim,
    FiniteDistribution,
    NegativeControl,
    Status,
    gaussian_kernel,
    numerators,
    once,
)
from ..reference.class_laws import class_laws
from ..reference.coverage import position, reach

TRIALS = 300
FEATURES = FeatureRange(1.0, non_negative=True)


def draw_law(draw):
    """A distribution of two classes and a kernel of unit diagonal without negative values."""
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
    """rho of the distribution; nan where the kernel does not vary."""
    law, K = case["law"], case["K"]
    return max(law.alignment(K, law.target()), 0.0) if law.moments(K, K).theta > 1e-13 else np.nan


def bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*intervals(case).T[:2])


def measure(case):
    return position(*intervals(case).T, alignment(case))


def control_case(m=1000):
    """Two normal distributions at distance 2 on the line."""
    chosen = class_laws()[-1]
    return {"law": chosen.law, "K": chosen.K, "m": m, "delta": 0.05, "seed": 1}


CLAIM = Claim(
    name="p1-class-interval",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
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


# -- p1-class-betting ------------------------------------------------------------------


BETTING_TRIALS = 40  # each is a sample with its own orders


def betting_cases(draw):
    return draw_law(draw) | {
        "m": draw.choice((10, 30, 80)),
        "delta": draw.choice((0.2, 0.5)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def samples(case, trials=BETTING_TRIALS):
    """(K, y) of independent samples; samples of one class are left out."""
    rng = np.random.default_rng(case["seed"])
    for _ in range(trials):
        rows = case["law"].sample(case["m"], rng)
        y = case["law"].labels[rows]
        if y.min() < y.max():
            yield case["K"][np.ix_(rows, rows)], y


def ends(case, interval, trials=BETTING_TRIALS):
    """Lower and upper end of ``interval(K, y)`` and rho_S, (trials, 3)."""
    found = [(*interval(K, y)[:2], aligned(K, y)) for K, y in samples(case, trials)]
    return np.array(found if found else [(np.nan,) * 3])


@once
def betting_intervals(case):
    """The `ends` of the intervals by betting."""
    return ends(case, lambda K, y: class_betting_interval(K, y, case["delta"], FEATURES))


def aligned(K, y):
    """rho_S of one sample; 0 where the kernel does not vary on it."""
    law, L = FiniteDistribution(np.full(len(y), 1 / len(y)), y), np.outer(y, y)
    return float(np.nan_to_num(law.alignment(K, L)))


def betting_bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*betting_intervals(case).T[:2])


def betting_measure(case):
    return position(*betting_intervals(case).T, alignment(case))


BETTING = Claim(
    name="p1-class-betting",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"\Pr\big[\exists v \ge \theta:\ \tfrac1N\sum_{\sigma}\prod_i (1+\lambda_{\sigma i}(v)"
        r"(U_{\sigma i}-v)) \ge \tfrac1\delta\big] \le \delta"
        r"\text{ for } d, d^2, \mathrm{E}K_c^2"
    ),
    hypotheses="Independent points of two classes; 0 <= K(x, x'), K(x, x) <= R^2.",
    kind="upper",
    bound=betting_bound,
    measure=betting_measure,
    cases=betting_cases,
    confidence=0.95,
    trivial=lambda case: np.inf,
    extremes=lambda: [control_case(200) | {"delta": 0.5}],
    negative_control=NegativeControl(
        lambda: control_case(200),
        bound=lambda c: 0.15 * betting_bound(c),
        note="0.15 of its length",
    ),
    proof="20",
)


# -- p1-class-learned ------------------------------------------------------------------


LEARNED_TRIALS = 40
GRID = np.array(list(product((0.0, 1.0), repeat=3))[1:])  # weights of three kernels


def learned_cases(draw):
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
    """(rows, y) of independent samples that contain both classes."""
    rng = np.random.default_rng(case["seed"])
    for _ in range(LEARNED_TRIALS):
        rows = case["law"].sample(case["m"], rng)
        y = case["law"].labels[rows]
        if y.min() < y.max():
            yield rows, y


def _learned(grams, y):
    """The row of GRID with the largest alignment with y."""
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
def learned_intervals(case):
    """(low, high, rho_S, rho) of each sample."""
    law, rows_of = case["law"], []
    for rows, y in _samples(case):
        grams = np.array([K[np.ix_(rows, rows)] for K in case["kernels"]])
        mu = _learned(grams, y)
        rho = law.alignment(np.tensordot(mu, np.array(case["kernels"]), 1), law.target())
        estimate = aligned(np.tensordot(mu, grams, 1), y)
        rows_of.append((*_interval(case, grams, mu, y)[:2], estimate, max(rho, 0.0)))
    return np.array(rows_of if rows_of else [(np.nan,) * 4])


def learned_bound(case):
    """rho is at most as far from the estimate as the end on its side, where that is informative."""
    return reach(*learned_intervals(case).T[:2])


def learned_measure(case):
    return position(*learned_intervals(case).T)


def _control_case():
    chosen = class_laws()[-1]
    kernels = [chosen.K, chosen.K**4, chosen.K**0.25]
    rest = {"betting": True, "m": 200, "delta": 0.2, "seed": 1}
    return {"law": chosen.law, "kernels": kernels} | rest


LEARNED = Claim(
    name="p1-class-learned",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"\Pr\Big[\exists \mu \ge 0:\ \rho_\mu \notin \Big[\tfrac{\min s(1-s) \sum_k \mu_k"
        r"\underline{d_k^2}}{\bar A_\mu}, \tfrac{\max s(1-s) \sum_k \mu_k \overline{d_k^2}}"
        r"{\underline A_\mu}\Big]\Big] \le \delta"
    ),
    hypotheses="Independent points of two classes; p kernels fixed in advance, 0 <= K_k <= R_k^2.",
    kind="upper",
    bound=learned_bound,
    measure=learned_measure,
    cases=learned_cases,
    confidence=0.8,
    trivial=lambda case: np.inf,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.07 * learned_bound(case), note="0.07 of its length"
    ),
    proof="22",
)
