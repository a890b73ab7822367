"""Concentration of a mean over pairs of independent points.

Statement (lemma 4.3 of the 2020 paper, (4.5)): Prob{(U - E xi)/((E xi)^theta + eps^theta)^(1/2) >=
eps^(1-theta/2)} <= exp(-(m-1) eps^(2-theta)/(4 c1 + (4/3) T eps^(1-theta))). Checked: the exact
probability for points that are 0 or 1. Verdict: true, proof wrong. The constants are right, the
first step of the proof is not (`p4-lemma-4-3-step`); averaging exponentials repairs it; proofs.md,
section 17.

`p4-lemma-4-3-step`. The first step in the proof of the concentration of the mean over pairs.
Statement ((4.6) of the 2020 paper): the probability that an average of the U_pi over permutations
is at least t is at most the average of the probabilities that U_pi is. Checked: exactly, for points
that are 0 or 1. Verdict: false; 0.75 against 0.50 for three fair coins, xi = 1[x != x'], t = 0.6.
Correct with exponentials: E exp(h U) <= E exp(h U_pi), by convexity; proofs.md, section 17.
"""

from itertools import product
from math import comb

import numpy as np

from ..bounds.hyper_rates import pair_mean_tail
from ..prelude import P4, Claim, HypothesisNotMet, NegativeControl, Status, replace


def cases(draw):
    xi = tuple(draw.real(-1.0, 1.0) for _ in range(3))
    case = {"m": draw.integer(2, 40), "chance": draw.real(0.01, 0.99), "xi": xi}
    # Of mean 0 or more, as in the lemma.
    if moments(case)[0] < 0:
        case["xi"] = tuple(-value for value in xi)
    return case | {"theta": draw.real(0.0, 1.0), "eps": draw.log_real(1e-3, 2.0)}


def moments(case):
    """E xi, E xi^2 and T = max |xi - E xi|."""
    c = case["chance"]
    weights, xi = np.array([(1 - c) ** 2, 2 * c * (1 - c), c**2]), np.array(case["xi"])
    mean = weights @ xi
    return float(mean), float(weights @ xi**2), float(np.abs(xi - mean).max())


def bound(case, factor=1.0):
    mean, square, spread = moments(case)
    if not mean > 1e-9:
        raise HypothesisNotMet("E xi^2 <= c1 (E xi)^theta needs E xi > 0 here")
    c1 = square / mean ** case["theta"]
    return pair_mean_tail(case["m"], factor * case["eps"], c1, spread, case["theta"])


def measure(case):
    mean, *_ = moments(case)
    theta, eps = case["theta"], case["eps"]
    values, weights = mean_over_pairs(case)
    limit = eps ** (1 - theta / 2) * np.sqrt(mean**theta + eps**theta)
    return float(weights[values - mean >= limit - 1e-12].sum())


def ledger_case():
    """x is 1 with probability 0.3, xi = x x', m = 10, eps = 0.2, theta = 1."""
    return {"m": 10, "chance": 0.3, "xi": (0.0, 0.0, 1.0), "theta": 1.0, "eps": 0.2}


def _control_case():
    """One pair of fair coins, probability 1/2; the bound is exp(-1/29)."""
    return {"m": 2, "chance": 0.5, "xi": (1.0, 0.0, 1.0), "theta": 0.0, "eps": 0.5**0.5 / 2}


def _sharper(case):
    return bound(case, factor=4.2)


CLAIM = Claim(
    name="p4-lemma-4-3",
    source=f"{P4}, Lemma 4.3",
    statement=(
        r"P\Big\{\frac{U-\mathrm{E}\xi}{\sqrt{(\mathrm{E}\xi)^\theta+\epsilon^\theta}} \ge"
        r" \epsilon^{1-\theta/2}\Big\} \le \exp\Big\{-\frac{(m-1)\epsilon^{2-\theta}}"
        r"{4c_1+\frac43T\epsilon^{1-\theta}}\Big\}"
    ),
    hypotheses="E xi >= 0, E xi^2 <= c1 (E xi)^theta, |xi - E xi| <= T; independent points.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    status=Status.PROOF_WRONG,
    remark=(
        "The inequality is true; averages over permutations must be taken inside the moment "
        "generating function, not over the probabilities."
    ),
    trivial=lambda case: 1.0,
    negative_control=NegativeControl(_control_case, bound=_sharper, note="4.2 eps for eps"),
    proof="17",
)


# -- p4-lemma-4-3-step -----------------------------------------------------------------


def step_cases(draw):
    zero, mixed, one = (draw.real(-1.0, 1.0) for _ in range(3))
    case = {"m": draw.integer(2, 7), "chance": draw.real(0.05, 0.95)}
    return case | {"xi": (zero, mixed, one), "t": draw.real(-1, 1), "h": draw.real(0.1, 20.0)}


def mean_over_pairs(case):
    """Values of the mean of xi over pairs i != j and their probabilities, by the number of ones."""
    m, chance = case["m"], case["chance"]
    zero, mixed, one = case["xi"]
    k = np.arange(m + 1)
    total = (m - k) * (m - k - 1) * zero + 2 * k * (m - k) * mixed + k * (k - 1) * one
    weights = [comb(m, i) * chance**i * (1 - chance) ** (m - i) for i in k]
    return total / (m * (m - 1)), np.array(weights)


def mean_of_disjoint(case):
    """Values of the mean of xi over m // 2 disjoint pairs and their probabilities."""
    c = case["chance"]
    chances = ((1 - c) ** 2, 2 * c * (1 - c), c**2)
    found = [
        (np.mean([case["xi"][i] for i in pick]), np.prod([chances[i] for i in pick]))
        for pick in product(range(3), repeat=case["m"] // 2)
    ]
    values, weights = np.array(found).T
    return values, weights


def _tail(values, weights, t):
    return float(weights[values >= t - 1e-12].sum())


def step_bound(case):
    return _tail(*mean_of_disjoint(case), case["t"])


def step_measure(case):
    return _tail(*mean_over_pairs(case), case["t"])


def step_counterexample():
    """0.75 against 0.50."""
    return {"m": 3, "chance": 0.5, "xi": (0.0, 1.0, 0.0), "t": 0.6, "h": 1.0}


def _exponential(found, h):
    values, weights = found
    return float(weights @ np.exp(h * values))


def step_corrected_bound(case):
    return _exponential(mean_of_disjoint(case), case["h"])


def step_corrected_measure(case):
    return _exponential(mean_over_pairs(case), case["h"])


def _step_control_case():
    """Two points: one pair, both sides equal."""
    return step_counterexample() | {"m": 2}


def _smaller(case):
    return 0.99 * step_corrected_bound(case)


STEP_CORRECTED = Claim(
    name="p4-lemma-4-3-step-corrected",
    source=f"{P4}, section 4.2, (4.6), corrected",
    statement=r"\mathrm{E}e^{hU} \le \frac1{m!}\sum_\pi \mathrm{E}e^{hU_\pi} = \mathrm{E}e^{hU_1}",
    hypotheses="Independent points, xi symmetric, h real.",
    kind="upper",
    bound=step_corrected_bound,
    measure=step_corrected_measure,
    cases=step_cases,
    negative_control=NegativeControl(_step_control_case, bound=_smaller, note="1 % less"),
    proof="17",
)

STEP = replace(
    STEP_CORRECTED,
    name="p4-lemma-4-3-step",
    source=f"{P4}, section 4.2, (4.6)",
    statement=(
        r"P\{\tfrac1{m!}\textstyle\sum_\pi U_\pi \ge t\} \le \tfrac1{m!}\sum_\pi P\{U_\pi \ge t\}"
    ),
    bound=step_bound,
    measure=step_measure,
    status=Status.FALSE,
    remark=(
        "The probability that a mean is large is not at most the mean of the probabilities; a "
        "fair coin gives 0.75 > 0.5."
    ),
    counterexample=step_counterexample,
    corrected=STEP_CORRECTED,
    negative_control=NegativeControl(
        step_counterexample, bound=lambda case: 1.4 * step_bound(case), note="40 % more"
    ),
    proof="",
)
