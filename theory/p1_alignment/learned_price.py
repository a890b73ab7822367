"""The price (loss of alignment) of learned weights is O(1/m): an oracle inequality for alignf.

Not in the paper, whose theorem 12 gives m^(-1/2) for the alignment of learned weights. With v the
weights of alignf from a sample, v* those of the population, and h = (M v - a) - (M^ v - a^): V^2
(rho(v*)^2 - rho(v)_+^2) <= q(v) - q(v*) <= h'(M + eps D)^-1 h + eps |v - v*|_D^2 for every eps >= 0
and D >= 0; proofs.md, section 27. Checked: both quantities, for statistics of samples and their
population. Verdict: holds; the second inequality is an equality where eps = 0 and no weight of v
and v* is 0. Machine-checked in Coq (learned_price.v) for matrices of any finite size: both
inequalities, and that a minimum has the first-order condition which the second one needs.

`p1-learned-price-rate`. The same with probability 1 - delta and numbers of the population on the
right: (x + z s)^2 + eps s^2 with s = |v - v*|_D, and x, z deviations of the order m^(-1/2) (x^2/(1
- 2 eta) for (x + z s)^2 once eta < 1/2). Not in the paper; proofs.md, section 27. Checked: the
frequency of violations over samples from a finite support, with unbiased statistics. Verdict:
holds.

`p1-learned-price-align`. The price of the weights of align, v_k = a_k, is of the order m^(-1/2).
Not in the paper. They are not a minimum, so an error of order m^(-1/2) in a changes the alignment
by the same order: for orthogonal C_1, C_2 of lengths 1 and 2 and a = (1, 1) the derivative of rho^2
along (1, -1) is 24/25 of V^-2, and with a^ = a - t (1, -1) the loss is at least 0.8 t for 0 < t <=
1/4; proofs.md, section 27. Checked: the loss against 0.8 t. Verdict: holds.
"""

import numpy as np

from alignlearn.bounds.sample_price import quadratic_weights

from ..bounds import price
from ..bounds.u_statistics import quadruple_kernel
from ..prelude import P1, Claim, FiniteDistribution, Mutant, NegativeControl, Status, once
from .prop_11 import TRIALS
from .u_statistic import u_statistics


def cases(draw):
    """Population numbers of operators that are vectors, and perturbed numbers for the sample."""
    p, n = draw.integer(1, 4), draw.integer(4, 7)
    C = np.abs(draw.array((p, n))) + 0.05 * np.eye(p, n)
    T = C.sum(0) + draw.array(n)
    shift = draw.log_real(1e-3, 1.0)
    C_sample, T_sample = C + shift * draw.array((p, n)), T + shift * draw.array(n)
    return {
        "C": C,
        "T": T,
        "C_sample": C_sample,
        "T_sample": T_sample,
        "eps": draw.choice((0, 0.1)),
    }


def _numbers(case):
    C, T, B, S = case["C"], case["T"], case["C_sample"], case["T_sample"]
    scale = T @ T
    return C @ C.T / scale, C @ T / scale, B @ B.T / scale, B @ S / scale


def _weights(case):
    M, a, M_sample, a_sample = _numbers(case)
    return quadratic_weights(M_sample, a_sample), quadratic_weights(M, a)


def bound(case):
    return price.learned_price(*_numbers(case), *_weights(case), 1.0, case["eps"]) * np.ones(2)


def measure(case):
    M, a, *_ = _numbers(case)
    v, best = _weights(case)
    return np.array([_squared(best, M, a) - _squared(v, M, a), _q(v, M, a) - _q(best, M, a)])


def _q(v, M, a):
    return v @ M @ v - 2 * v @ a


def _squared(v, M, a):
    """rho(v)_+^2 for V = 1."""
    size = v @ M @ v
    return max(v @ a, 0.0) ** 2 / size if size > 0 else 0.0


def interior(eps=0.0):
    """No weight is 0, in the sample and the population: q(v) - q(v*) is the bound at eps = 0."""
    C = np.array([[1.0, 0.2, 0.0], [0.1, 1.0, 0.0]])
    T = np.array([1.0, 1.0, 0.5])
    off = np.array([[0.05, 0.0, 0.0], [0.0, -0.08, 0.0]])
    return {"C": C, "T": T, "C_sample": C + off, "T_sample": T, "eps": eps}


def nearly_one(eps=0.1):
    """Two nearly equal operators: the error of the weights is large, and so is the ridge."""
    C = np.array([[1.0, 0.0, 0.0], [1.0, 1e-2, 0.0]])
    T = np.array([1.0, 5e-3, 0.0])
    return {"C": C, "T": T, "C_sample": C, "T_sample": T + np.eye(3)[1] * 4e-3, "eps": eps}


def _at_best(case):
    """h evaluated at v* in place of v."""
    best = _weights(case)[1]
    return price.learned_price(*_numbers(case), best, best, 1.0, case["eps"]) * np.ones(2)


def _part(first, second):
    def changed(case):
        v, best = _weights(case)
        numbers, eps = _numbers(case), case["eps"]
        whole = price.learned_price(*numbers, v, best, 1.0, eps)
        ridge = eps * np.diagonal(numbers[0]) @ (v - best) ** 2
        return (first * (whole - ridge) + second * ridge) * np.ones(2)

    return changed


CLAIM = Claim(
    name="p1-learned-price",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"V^2(\rho(v^*)^2-\rho(\hat v)_+^2) \le q(\hat v)-q(v^*) \le"
        r" h^\top(M+\epsilon D)^{-1}h + \epsilon\|\hat v-v^*\|_D^2,\ h = (M\hat v-a) -"
        r" (\hat M\hat v-\hat a)"
    ),
    hypotheses="v, v* minimize q_S and q over v >= 0; D >= 0 diagonal, eps >= 0.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0 + np.abs(_weights(case)[0]).max() ** 2,
    rtol=1e-8,
    extremes=lambda: [interior(), nearly_one()],
    sharp=True,
    mutants=(
        Mutant("h at v*", _at_best),
        Mutant("0.9 of the first term", _part(0.9, 1.0)),
        Mutant("no price of eps", _part(1.0, 0.0)),
    ),
    negative_control=NegativeControl(interior, bound=_part(0.95, 1.0), note="0.95 of the bound"),
    proof="27",
)


# -- p1-learned-price-rate -------------------------------------------------------------

_ROUNDING = 1e-14  # of a squared alignment, which is at most 1


def rate_cases(draw):
    n, p = draw.integer(2, 4), draw.integer(1, 3)
    points = draw.array((n, 2))
    gammas = [draw.log_real(0.1, 10.0) for _ in range(p)]
    squares = ((points[:, None] - points) ** 2).sum(-1)
    y = draw.signs(n)
    y[:2] = 1.0, -1.0
    return {
        "law": FiniteDistribution(draw.weights(n), y),
        "kernels": np.array([np.exp(-g * squares) for g in gammas]),
        "eps": draw.choice((0.01, 0.1, 1.0)),
        "m": draw.choice((100, 1000, 10**4, 10**6)),
        "delta": draw.choice((0.05, 0.3)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def _all(case):
    """The matrices of the kernels and of the target."""
    y = case["law"].labels
    return [*case["kernels"], np.outer(y, y)]


@once
def _population(case):
    """The kernel of the statistic on all quadruples, their probabilities, and v*."""
    law, kernels = case["law"], _all(case)
    n, p = len(law.weights), len(kernels)
    index = np.stack(np.meshgrid(*[np.arange(n)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    grid = index[:, :, None], index[:, None, :]
    h = np.empty((len(index), p, p))
    for k in range(p):
        for j in range(k + 1):
            h[:, k, j] = h[:, j, k] = quadruple_kernel(kernels[k][grid], kernels[j][grid])
    shares = law.weights[index].prod(1)
    mean = np.einsum("n,nkl->kl", shares, h)
    return h, shares, mean, quadratic_weights(mean[:-1, :-1], mean[:-1, -1])


@once
def _learned(case):
    """Weights from each sample, (TRIALS, p); nan where the unbiased matrix is indefinite."""
    kernels, p = _all(case), len(case["kernels"])
    counts = case["law"].counts(case["m"], TRIALS, case["seed"])
    U = np.empty((TRIALS, p + 1, p + 1))
    for k in range(p + 1):
        for j in range(k + 1):
            U[:, k, j] = U[:, j, k] = u_statistics(counts, kernels[k], kernels[j])
    found = np.full((TRIALS, p), np.nan)
    for row, u in zip(found, U):
        M = u[:-1, :-1]
        values = np.linalg.eigvalsh(M)
        if values[0] > 1e-9 * values[-1] > 0:
            row[:] = quadratic_weights(M, u[:-1, -1])
    return found


def _usable(mean):
    M = mean[:-1, :-1]
    return np.linalg.eigvalsh(M)[0] > -1e-12 and np.diagonal(M).min() > 1e-9


def rate_bound(case, **changes):
    h, shares, mean, best = _population(case)
    if not _usable(mean):
        return np.full(TRIALS, 1.0)
    moments = price.price_moments(h, shares, best, case["eps"])
    moments = moments._replace(**{k: c * getattr(moments, k) for k, c in changes.items()})
    D, length2 = np.diagonal(mean[:-1, :-1]), mean[-1, -1]
    distance = np.sqrt(np.square(_learned(case) - best) @ D)
    return np.array(
        [
            price.learned_price_deviation(case["m"], case["delta"], moments, s, length2)
            if np.isfinite(s)
            else np.nan
            for s in distance
        ]
    )


def rate_measure(case):
    _, _, mean, best = _population(case)
    if not _usable(mean):
        return np.zeros(TRIALS)
    M, a, length2 = mean[:-1, :-1], mean[:-1, -1], mean[-1, -1]
    most = _squared(best, M, a)
    lost = [
        np.nan if np.isnan(v).any() else most - _squared(v, M, a) for v in _learned(case)
    ] / length2
    return np.where(np.abs(lost) < _ROUNDING, 0.0, lost)


def two_features(m=10**4, eps=1e-3):
    """Two features +-1 and a target that depends on both, so that both weights matter."""
    F = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    law = FiniteDistribution(np.array([0.3, 0.25, 0.25, 0.2]), np.array([1.0, 1.0, 0.2, -1.0]))
    kernels = np.array([np.outer(f, f) for f in F.T])
    case = {"law": law, "kernels": kernels, "eps": eps, "m": m, "delta": 0.05}
    return case | {"seed": 5}


def exact():
    """One kernel on two points, proportional to the target's: nothing is lost but by rounding."""
    distribution = FiniteDistribution(np.array([0.57, 0.43]), np.array([1.0, -1.0]))
    kernels = np.array([[[1.0, 0.2], [0.2, 1.0]]])
    return {"law": distribution, "kernels": kernels, "eps": 1.0, "m": 100, "delta": 0.05, "seed": 0}


# The mean over quadruples ignores most pairs, which costs a factor 4, and log(6/delta) costs
# another one.
PART = 0.015


RATE = Claim(
    name="p1-learned-price-rate",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=(
        r"\rho(v^*)^2-\rho(\hat v)_+^2 \le \tfrac1{V^2}\big((x+zs)^2+\epsilon s^2\big),\ s ="
        r" \|\hat v-v^*\|_D,\ x = \sqrt{\tfrac{2\sigma^2L}{k}}+\tfrac{2bL}{3k},\ k ="
        r" \lfloor m/4\rfloor,\ L = \log\tfrac6\delta"
    ),
    hypotheses="Independent points; unbiased statistics with a positive definite matrix.",
    kind="upper",
    bound=rate_bound,
    measure=rate_measure,
    cases=rate_cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    factors={"1/m": lambda case: 1.0 / case["m"]},
    extremes=lambda: [two_features(), two_features(10**6, 0.1), exact()],
    negative_control=NegativeControl(
        two_features, bound=lambda case: PART * rate_bound(case), note=f"{PART} of it"
    ),
    proof="27",
)


# -- p1-learned-price-align ------------------------------------------------------------


def align_cases(draw):
    return {"t": draw.real(1e-3, 0.25)}


def align_bound(case):
    return 0.8 * case["t"]


def align_measure(case):
    """rho(a)^2 - rho(a^)^2 for V = 1, M = diag(1, 4), a = (1, 1), a^ = a - t (1, -1), times V^2."""
    M, a = np.diag([1.0, 4.0]), np.ones(2)
    return _squared(a, M, a) - _squared(a - case["t"] * np.array([1.0, -1.0]), M, a)


ALIGN = Claim(
    name="p1-learned-price-align",
    source=f"{P1}, after Theorem 12, new",
    status=Status.NEW,
    statement=r"v_k = \hat a_k:\quad V^2(\rho(a)^2-\rho(\hat a)^2) \ge \tfrac45\|\hat a-a\|_\infty",
    hypotheses="C_1, C_2 orthogonal of lengths 1 and 2, a = (1, 1), errors (-t, t), 0 < t <= 1/4.",
    kind="lower",
    bound=align_bound,
    measure=align_measure,
    cases=align_cases,
    extremes=lambda: [{"t": 0.25}],
    negative_control=NegativeControl(
        lambda: {"t": 0.01}, bound=lambda case: 1.2 * case["t"], note="1.2 t"
    ),
    proof="27",
)
