"""The price of any weights, their loss of alignment, from a sample alone.

Not in the paper. The first part of the sample determines a metric W and weights v_1, the second
part M_2 and a_2; x and eta are deviations of its gradient at v_1 and of M_2 in that metric, from
empirical second moments. With X = x + eta |v - v_1|_W + |r|_W^-1 and c the smallest eigenvalue of
W^(-1/2) (M_2 + eps D) W^(-1/2) less eta, V^2 (rho*^2 - rho(v)_+^2) <= X^2/c + eps (|v|_D + V
l^(-1/2))^2 for every v >= 0; proofs.md, section 27. Checked: the frequency of violations over
samples from a finite support, for the weights of alignf of the whole sample and for equal ones.
Verdict: holds.
"""

import numpy as np

from alignlearn.bounds import sample_price
from alignlearn.bounds.checks import HypothesisNotMet
from alignlearn.bounds.sample_price import quadratic_weights

from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, Status, once
from . import learned_price

TRIALS = 40


def cases(draw):
    """Draw features that are subsets of up to three +-1 columns, and a kernel for each."""
    p = draw.integer(1, 3)
    F = np.array(np.meshgrid(*[[-1.0, 1.0]] * p)).reshape(p, -1)
    labels = np.where(draw.array(p) @ F + draw.array(F.shape[1]) > 0, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    return {
        "law": FiniteDistribution(draw.weights(F.shape[1]), labels),
        "kernels": np.array([(1.0 + np.outer(f, f)) / 2 for f in F]),
        "eps": draw.choice((0, 0.01, 0.1)),
        "m": draw.choice((2000, 10**4, 2 * 10**4)),
        "delta": draw.choice((0.05, 0.3)),
        "equal": draw.choice((False, False, True)),
        "seed": draw.integer(0, 2**32 - 1),
    }


@once
def _samples(case):
    """Upper bounds and weights, of alignf on all samples or equal, (TRIALS,) and (TRIALS, p)."""
    law = case["law"]
    grams = np.array([*case["kernels"], np.outer(law.labels, law.labels)])
    p, m = len(grams) - 1, case["m"]
    widths = np.append(np.ones(p), 2.0)
    rng = np.random.default_rng(case["seed"])
    bounds, weights = np.ones(TRIALS), np.full((TRIALS, p), np.nan)
    for t in range(TRIALS):
        rows = rng.choice(len(law.weights), (m // 4, 4), p=law.weights)
        sums = sample_price.pair_sums(lambda i, j: grams[:, i, j], rows)
        H = np.einsum("njk,njl->kl", sums, sums) / (4 * len(sums))
        weights[t] = quadratic_weights(H[:-1, :-1], H[:-1, -1])
        if case["equal"]:
            weights[t] = H[:-1, -1].sum() / H[:-1, :-1].sum() if H[:-1, -1].sum() > 0 else 0.0
        parts, n = (case["delta"], case["eps"]), len(rows) // 5
        try:
            found = sample_price.price_from_sums(sums[:n], sums[n:], weights[t], widths, *parts)
        except HypothesisNotMet:
            continue
        bounds[t] = found.value
    return bounds, weights


def bound(case):
    return _samples(case)[0]


@once
def _population(case):
    """Return M, a and V^2."""
    law = case["law"]
    target = np.outer(law.labels, law.labels)
    M = [[law.moments(K, L).theta for L in case["kernels"]] for K in case["kernels"]]
    a = [law.moments(K, target).theta for K in case["kernels"]]
    return np.array(M), np.array(a), law.moments(target, target).theta


def measure(case):
    M, a, length2 = _population(case)
    if length2 < 1e-9:
        return np.zeros(TRIALS)
    best = learned_price._squared(quadratic_weights(M, a), M, a)
    return np.array([(best - learned_price._squared(v, M, a)) / length2 for v in _samples(case)[1]])


def two_features(m=10**4, eps=0, equal=False):
    """Two features +-1 and a target that is partly one and partly the other."""
    F = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    law = FiniteDistribution(np.array([0.3, 0.25, 0.25, 0.2]), np.array([1.0, 1.0, 0.2, -1.0]))
    kernels = np.array([(1.0 + np.outer(f, f)) / 2 for f in F.T])
    case = {"law": law, "kernels": kernels, "eps": eps, "m": m, "delta": 0.05}
    return case | {"equal": equal, "seed": 5}


def noise_in_half():
    """Equal weights of a feature equal to the label and of a noise feature: 1/2 is lost."""
    F = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0])).reshape(2, -1)
    law = FiniteDistribution(np.full(4, 1 / 4), F[0])
    kernels = np.array([(1.0 + np.outer(f, f)) / 2 for f in F])
    return two_features(2 * 10**4, equal=True) | {"law": law, "kernels": kernels}


CLAIM = Claim(
    name="p1-sample-price",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"V^2(\rho(v^*)^2-\rho(v)_+^2) \le \tfrac{X^2}{c} + \epsilon(\|v\|_D + V l^{-1/2})^2,\ X ="
        r" x + \eta\|v-v_1\|_W + \|r\|_{W^{-1}}"
    ),
    hypotheses="Independent points; kernels with values in intervals of known lengths.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    extremes=lambda: [two_features(), two_features(2000, 0.1), noise_in_half()],
    negative_control=NegativeControl(
        noise_in_half, bound=lambda case: 0.5 * bound(case), note="half of it"
    ),
    proof="27",
)
