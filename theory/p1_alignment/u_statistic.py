"""The unbiased estimate of the alignment numerator and its concentration.

Not in the paper, which leaves a bias of order 1/m. U = m f/(m-3) - sum_i K_c,ii
K'_c,ii/((m-2)(m-3)) + Tr K_c Tr K'_c/(m(m-1)(m-2)(m-3)) has expectation E[K_c K'_c] exactly, and |U
- E[K_c K'_c]| <= c R^2 R'^2 (log(2/delta)/2m)^(1/2) with c = 6.40 at m = 100, 5.48 at 1000;
proofs.md, section 8. Checked: the frequency of violations over samples from a finite support.
Verdict: holds. Sharper by Bernstein's inequality with the variance of the terms of U (Theorem D),
and with an estimate of it from the same sample (Theorem D'); proofs.md, section 18.

`p1-u-hoeffding`. The concentration of the unbiased estimate by Hoeffding's inequality. Not in the
paper. U is a mean over quadruples of a kernel h of range [-4/3, 8/3] R^2 R'^2, half of that if K >=
0, so |U - E[K_c K'_c]| <= w (log(2/delta)/(2 floor(m/4)))^(1/2) with w = 4 R^2R'^2, or 2 R^2R'^2;
proofs.md, section 18. For K >= 0, and for small m, this is shorter than the bound by exchange of
one point (`p1-u-statistic`), otherwise longer. Checked: the frequency of violations over samples
from a finite support. Verdict: holds.
"""

import numpy as np

from ..bounds.u_statistics import (
    bernstein_deviation,
    empirical_bernstein_deviation,
    hoeffding_deviation,
    kernel_range,
    quadruple_kernel,
    u_statistic_deviation,
)
from ..prelude import P1, Claim, FiniteDistribution, NegativeControl, Status, numerators, replace
from .lemma_18 import unit_features
from .prop_11 import TRIALS, _control_case, two_valued
from .prop_11 import cases as numerator_cases


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


def bound(case):
    return u_statistic_deviation(case["m"], case["delta"])


def measure(case):
    law, K, L = case["law"], case["K"], case["L"]
    counts = law.counts(case["m"], TRIALS, case["seed"])
    return np.abs(u_statistics(counts, K, L) - law.moments(K, L).theta)


def kernel_moments(law, K, L):
    """Mean, variance, smallest and largest value of h, by enumeration of four atoms."""
    n = len(K)
    index = np.stack(np.meshgrid(*[np.arange(n)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    h = quadruple_kernel(*(A[index[:, :, None], index[:, None, :]] for A in (K, L)))
    p = law.weights[index].prod(1)
    mean = p @ h
    return mean, p @ (h - mean) ** 2, h.min(), h.max()


def bernstein_bound(case):
    theta, variance, _, _ = kernel_moments(case["law"], case["K"], case["L"])
    span = kernel_range()
    far = max(span.high - theta, theta - span.low)
    return bernstein_deviation(case["m"], np.log(2 / case["delta"]), variance, far)


def data_cases(draw):
    """Draw small cases, because samples are drawn point by point."""
    case = numerator_cases(draw)
    return case | {"m": min(max(case["m"], 8), 1000)}


def sample_statistics(case):
    """U and the variance of h within one partition into quadruples, for each sample."""
    law, K, L, m = (case[name] for name in ("law", "K", "L", "m"))
    rng = np.random.default_rng(case["seed"])
    points = rng.choice(len(K), size=(TRIALS, m), p=law.weights)
    index = points[:, : m // 4 * 4].reshape(TRIALS, m // 4, 4)
    h = quadruple_kernel(*(A[index[..., :, None], index[..., None, :]] for A in (K, L)))
    counts = np.stack([(points == atom).sum(1) for atom in range(len(K))], axis=1)
    return u_statistics(counts, K, L), h.var(axis=1, ddof=1)


def data_bound(case):
    span = kernel_range()
    variance = sample_statistics(case)[1]
    return empirical_bernstein_deviation(case["m"], case["delta"], variance, span.high - span.low)


def data_measure(case):
    theta = case["law"].moments(case["K"], case["L"]).theta
    return np.abs(sample_statistics(case)[0] - theta)


def _part_of(part, value, m):
    """That share of a bound, on a sample so large that terms of order 1/m are negligible."""
    return NegativeControl(
        lambda: _control_case() | {"m": m},
        bound=lambda case: part * value(case),
        note=f"{part} of it",
    )


DATA = Claim(
    name="p1-u-statistic-data",
    source=f"{P1}, after Proposition 11, new (Theorem D')",
    statement=(
        r"|U - \mathrm{E}[K_cK'_c]| \le \sqrt{2\hat V l/k}"
        r" + 4R^2R'^2 l\Big(\sqrt{\tfrac{2}{k\lfloor k/2\rfloor}} + \tfrac{1}{3k}\Big),"
        r"\ l = \log(3/\delta)"
    ),
    hypotheses="m >= 8 independent points; K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=data_bound,
    measure=data_measure,
    cases=data_cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    extremes=lambda: [two_valued((0.0, 0.2, 0.8, 0.0), 400)],
    negative_control=_part_of(0.15, data_bound, 1000),
    proof="18",
)

BERNSTEIN = replace(
    DATA,
    name="p1-u-statistic-bernstein",
    source=f"{P1}, after Proposition 11, new (Theorem D)",
    statement=(
        r"|U - \mathrm{E}[K_cK'_c]| \le \sqrt{2\sigma^2 l/k} + \tfrac{Ml}{3k},\ \sigma^2 ="
        r" \mathrm{Var}\, h,\ k = \lfloor m/4 \rfloor,\ l = \log(2/\delta)"
    ),
    hypotheses="m >= 4 independent points; |h - E h| <= M, K(x, x) <= R^2, K'(x, x) <= R'^2.",
    bound=bernstein_bound,
    measure=measure,
    cases=cases,
    corrected=DATA,
    extremes=lambda: [two_valued((0.0, 0.2, 0.8, 0.0), 10**4)],
    negative_control=_part_of(0.3, bernstein_bound, 10**5),
)

CLAIM = replace(
    BERNSTEIN,
    name="p1-u-statistic",
    source=f"{P1}, after Proposition 11, new",
    status=Status.NEW,
    statement=r"|U - \mathrm{E}[K_cK'_c]| \le c_m R^2R'^2 \sqrt{\log(2/\delta)/(2m)}",
    hypotheses="m >= 4 independent points; K(x, x) <= R^2, K'(x, x) <= R'^2.",
    bound=bound,
    corrected=BERNSTEIN,
    negative_control=_part_of(0.2, bound, 100),
    proof="8",
)


# -- p1-u-hoeffding --------------------------------------------------------------------


def hoeffding_cases(draw):
    case = cases(draw) | {"nonnegative": draw.choice((False, True))}
    if case["nonnegative"]:
        F = np.abs(unit_features(draw, len(case["K"])))
        case["K"] = F @ F.T
    return case


def hoeffding_bound(case):
    return hoeffding_deviation(case["m"], case["delta"], nonnegative=case["nonnegative"])


PART = 0.15


def _hoeffding_control_case():
    """Two points, the rarer of weight 1/5, far from each other."""
    law, z = FiniteDistribution(np.array([0.2, 0.8])), np.array([1.0, -1.0])
    case = {"law": law, "K": np.eye(2), "L": np.outer(z, z), "nonnegative": True}
    return case | {"m": 100, "delta": 0.05, "seed": 1}


HOEFFDING = Claim(
    name="p1-u-hoeffding",
    source=f"{P1}, after Proposition 11, new",
    status=Status.NEW,
    statement=(
        r"|U - \mathrm{E}[K_cK'_c]| \le w\sqrt{\tfrac{\log(2/\delta)}{2\lfloor m/4\rfloor}},"
        r"\ w = 4R^2R'^2 \text{, or } 2R^2R'^2 \text{ for } K \ge 0"
    ),
    hypotheses="m >= 4 independent points; K(x, x) <= R^2, K'(x, x) <= R'^2.",
    kind="upper",
    bound=hoeffding_bound,
    measure=measure,
    cases=hoeffding_cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"m^(-1/2)": lambda case: case["m"] ** -0.5},
    negative_control=NegativeControl(
        _hoeffding_control_case,
        bound=lambda case: PART * hoeffding_bound(case),
        note=f"{PART} of it",
    ),
    proof="18",
)
