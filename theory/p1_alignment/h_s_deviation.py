"""The distance of the predictors of a sample and of its distribution, with all constants.

Not in the paper, which has O(1/sqrt(m)) for the risks: with probability 1 - delta, sup |h_S - h*|
<= (2 D + s tau)/M (`predictor_deviation`); proofs.md, section 11. What follows for the risks is in
`p1-h-s-rate` (squared loss) and `p1-h-s-margin` (0/1 loss). Checked: the frequency of violations
over samples from a finite support, h_S centered on the sample. Verdict: holds.

`p1-h-s-margin`. The signs of the predictors of a sample and of its distribution. Not in the paper,
whose rate for the 0/1 loss is false (`p1-h-s-rate`): with probability 1 - delta, |R(h*) - R(h_S)|
<= Pr[|h*(x)| <= e], e = `predictors.predictor_deviation`; under the margin condition |h*| > e
almost surely the risks are equal; proofs.md, section 11. Checked: the frequency of violations over
samples from a finite support. Verdict: holds.
"""

import numpy as np

from ..bounds.predictors import predictor_deviation
from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, Status
from ..reference import predictors

TRIALS = 400


def cases(draw):
    """Draw labels and features that vary: the first two atoms differ in both."""
    n = draw.integer(2, 5)
    F, y = draw.array((n, 2)), draw.real(0.1, 10) * draw.array(n)
    F[:2, 0], y[:2] = (2.0, -2.0), (3.0, -3.0)
    return {
        "law": FiniteDistribution(draw.weights(n), y),
        "K": draw.log_real(1e-2, 1e2) * F @ F.T,
        "m": draw.choice((10**4, 10**6, 10**8)),
        "delta": draw.choice((0.05, 0.1, 0.3)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def sample_predictors(case):
    """h_S on the atoms for each sample (TRIALS, n), nan where kernel or labels do not vary."""
    law = case["law"]
    # Centered by the distribution first, which only changes rounding.
    K = law.center(case["K"])
    W = law.counts(case["m"], TRIALS, case["seed"]) / case["m"]
    rows = W @ K
    grand = (rows * W).sum(1)
    Kc = K - rows[:, :, None] - rows[:, None, :] + grand[:, None, None]
    yc = law.labels - (W @ law.labels)[:, None]
    size = np.sqrt(np.einsum("ti,tij,tj->t", W, Kc * Kc, W)) * (W * yc**2).sum(1)
    floor = 1e-9 * np.diagonal(case["K"]).max() * np.abs(law.labels).max() ** 2
    size = np.where(size > floor, size, np.nan)
    return np.einsum("tij,tj->ti", Kc, W * yc) / size[:, None]


def population(case):
    """h* on the atoms."""
    return predictors.h_star(case["law"], case["K"], general=True)


def arguments(case):
    """The arguments of `predictor_deviation`."""
    law, K = case["law"], case["K"]
    variance = law.mean(law.labels**2) - law.mean(law.labels) ** 2
    rho = min(max(law.alignment(K, law.target()), 0.0), 1.0)
    radii = {"radius2": np.diagonal(K).max(), "label_bound": np.abs(law.labels).max()}
    return (case["m"], case["delta"], law.moments(K, K).theta, variance, rho), radii


def bound(case):
    values, radii = arguments(case)
    return predictor_deviation(*values, **radii)


def measure(case):
    return np.abs(sample_predictors(case) - population(case)).max(1)


# Four McDiarmid inequalities are combined: deviations reach a fifteenth of the bound.
PART = 0.05


def _control_case():
    """A rare point whose features and label are far from the mean."""
    law = FiniteDistribution(np.array([0.1, 0.9]), np.array([1.0, -1.0]))
    K = np.outer([1.0, -1.0], [1.0, -1.0])
    return {"law": law, "K": K, "m": 10**6, "delta": 0.05, "seed": 1}


CLAIM = Claim(
    name="p1-h-s-deviation",
    source=f"{P1}, after Theorem 14, new",
    status=Status.NEW,
    statement=(
        r"\sup_x |h_S - h^*| \le \tfrac{2D+s\tau}{M},\ s = \sqrt{\tfrac{\rho}{AV}},"
        r"\ D = \tfrac{\tau(1+s(A+V-\tau))}{(A-\tau)(V-\tau)},"
        r"\ \tau = \tfrac{2}{\sqrt{3m}}+4\sqrt{\tfrac{\log(4/\delta)}{2m}}"
    ),
    hypotheses="Independent points; K(x, x) <= R^2, |y| <= M; tau below A and V; centered h_S.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        _control_case, bound=lambda case: PART * bound(case), note=f"{PART} of it"
    ),
    proof="11",
)


# -- p1-h-s-margin ---------------------------------------------------------------------


def margin_bound(case):
    values, radii = arguments(case)
    near = np.abs(population(case)) <= predictor_deviation(*values, **radii)
    return case["law"].mean(near.astype(float))


def margin_measure(case):
    law, h_sample = case["law"], sample_predictors(case)
    h = population(case)
    # h* is exactly zero where the labels are noise.
    h = np.where(np.abs(h) < 1e-12 * np.abs(h).max(), 0.0, h)
    gap = ((law.labels * h_sample < 0).astype(float) - (law.labels * h < 0)) @ law.weights
    return np.where(np.isnan(h_sample).any(1), np.nan, np.abs(gap))


def _noisy_point():
    """At the third point h* = 0 and the label is a fair coin: any sign is wrong half the time."""
    law = FiniteDistribution(np.full(4, 0.25), np.array([1.0, -1.0, 1.0, -1.0]))
    K = np.eye(3)[np.ix_([0, 1, 2, 2], [0, 1, 2, 2])]
    return {"law": law, "K": K, "m": 10**6, "delta": 0.05, "seed": 1}


MARGIN = Claim(
    name="p1-h-s-margin",
    source=f"{P1}, after Theorem 14, new",
    status=Status.NEW,
    statement=r"|R(h^*) - R(h_S)| \le \Pr[|h^*(x)| \le e] \text{ for the 0/1 loss}",
    hypotheses="Those of `p1-h-s-deviation`, whose bound is e.",
    kind="upper",
    bound=margin_bound,
    measure=margin_measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _noisy_point,
        bound=lambda case: 0.49 * margin_bound(case),
        note="0.49 of a bound reached by half",
    ),
    proof="11",
)
