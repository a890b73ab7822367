"""Figure on the price of learned weights: bounds, and losses of alignf and align, against m."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from alignlearn.bounds.sample_price import quadratic_weights

from ..bounds import price
from ..bounds.concentration import alignment_deviation
from ..bounds.u_statistics import quadruple_kernel
from ..reference.problems import FiniteDistribution, GaussianMixture, gaussian_kernel, numerators
from . import style
from .drawing import Curve

DELTA = 0.05
BANDWIDTHS = 2.0 ** np.arange(-4.5, 4.6, 1.0) / np.sqrt(2.0)
EPS = np.geomspace(1e-6, 10.0, 15)
_QUADRUPLES = 20_000


class Ladder(NamedTuple):
    """Ten Gaussians and the labels +-1 of two normal distributions on the line at distance 2."""

    distribution: FiniteDistribution
    kernels: np.ndarray
    M: np.ndarray
    a: np.ndarray
    length2: float
    best: np.ndarray
    rho2: float
    moments: tuple


@cache
def ladder() -> Ladder:
    """Compute the population by quadrature; second moments from 20,000 random quadruples."""
    line = GaussianMixture(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    distribution, points = line.quadrature(48)
    kernels = np.array([gaussian_kernel(points, b) for b in BANDWIDTHS])
    target = np.outer(distribution.labels, distribution.labels)
    p = len(kernels)
    M = np.array([[distribution.moments(K, L).theta for L in kernels] for K in kernels])
    a = np.array([distribution.moments(K, target).theta for K in kernels])
    best = quadratic_weights(M, a)
    rows = np.random.default_rng(0).choice(len(points), (_QUADRUPLES, 4), p=distribution.weights)
    grid = rows[:, :, None], rows[:, None, :]
    blocks = [K[grid] for K in (*kernels, target)]
    h = np.empty((_QUADRUPLES, p + 1, p + 1))
    for k in range(p + 1):
        for j in range(k + 1):
            h[:, k, j] = h[:, j, k] = quadruple_kernel(blocks[k], blocks[j])
    shares = np.full(_QUADRUPLES, 1.0 / _QUADRUPLES)
    moments = tuple(price.price_moments(h, shares, best, eps) for eps in EPS)
    length2 = distribution.moments(target, target).theta
    rho2 = float(best @ a) ** 2 / float(best @ M @ best) / length2
    return Ladder(distribution, kernels, M, a, length2, best, rho2, moments)


def fast(m, delta, rho2, distance):
    """The oracle inequality for the ladder, at its best eps."""
    found = ladder()
    s = distance * np.sqrt(found.length2)
    given = (
        price.learned_price_deviation(m, delta, one, s, found.length2) for one in found.moments
    )
    return min(given)


def slow(m, delta, rho2, distance):
    """Theorem 12, form (ii), applied as if the weights were fixed: 2 rho* (2 |rho - rho_S|)."""
    found = ladder()
    share = found.best / found.best.sum()
    a = float(share @ found.M @ share)
    return 4 * np.sqrt(rho2) * alignment_deviation(m, delta, a, min(found.length2, 1.0))


def setting():
    """rho*^2, and |v - v*|_D/V for weights no larger than the best ones."""
    rho2 = ladder().rho2
    return {"rho2": rho2, "distance": 2 * np.sqrt(rho2)}


def losses(m, trials, seed=0):
    """rho*^2 - rho^2 of the weights that the library learns by alignf and by align, (trials, 2)."""
    found = ladder()
    counts = found.distribution.counts(int(m), trials, seed)
    pairs = [*found.kernels, np.outer(found.distribution.labels, found.distribution.labels)]
    p = len(found.kernels)
    N = np.empty((trials, p, p + 1))
    for k in range(p):
        for j in range(k, p + 1):
            N[:, k, j] = numerators(counts, pairs[k], pairs[j])
            if j < p:
                N[:, j, k] = N[:, k, j]
    align = _squared(found.a)
    learned = [quadratic_weights(n[:, :-1], n[:, -1]) for n in N]
    return np.array(
        [(found.rho2 - _squared(v), align - _squared(n[:, -1])) for v, n in zip(learned, N)]
    )


def _squared(v):
    found = ladder()
    size = float(v @ found.M @ v)
    return max(float(v @ found.a), 0.0) ** 2 / size / found.length2 if size > 0 else 0.0


CURVE = Curve(
    "p1-learned-price-rate",
    r"$\rho(v^*)^2-\rho(\hat v)_+^2$",
    {
        "oracle inequality": fast,
        "from theorem 12, form (ii)": slow,
    },
    lambda rho2, distance: rho2,
    "no weights lose more than the largest squared alignment",
    setting,
    "ten Gaussians, bandwidths 2^-5 to 2^4, and the labels +-1 of two normal distributions on "
    "the line at distance 2: rho2 is the largest squared alignment, distance is |v - v*|_D/V, by "
    "default for learned weights that are no larger than the best ones",
    least=4,
)


def learned_price(quick=False):
    """Draw the oracle inequality against theorem 12, and m times the losses of alignf and align."""
    sizes = style.log_grid(50, 400 if quick else 3000, 6)
    trials = 5 if quick else 60
    lost = np.array([losses(m, trials) for m in sizes])
    figure, (left, right) = style.new_figure(2, height=5.2)
    m = style.log_grid(50, 1e7, 40)
    level = CURVE.level()
    for look, (name, values) in zip((style.CORRECTED, style.PRINTED), CURVE.values(m).items()):
        left.plot(m, values, label=name, **look)
    quantile = np.quantile(lost[..., 0], 0.95, axis=1)
    left.plot(
        sizes, np.maximum(quantile, 1e-12), label="alignf, observed 95% quantile", **style.OBSERVED
    )
    title = "(a) Loss of squared alignment by learned weights"
    loss = r"loss $\rho(v^*)^2-\rho(\hat v)_+^2$"
    style.finish(left, y=loss, title=title, legend="below")
    style.shade_vacuous(left, level, "shaded: vacuous")
    for k, (look, name) in enumerate(((style.OBSERVED, "alignf"), (style.SECOND, "align"))):
        size = np.abs(lost[..., k]).mean(axis=1)
        right.plot(sizes, sizes * size, label=name, **look)
    title = "(b) Mean loss times $m$: bounded for alignf,\nof order $m^{1/2}$ for align"
    style.finish(right, y=r"$m$ times mean loss $\mathrm{E}|\rho^2-\rho(\hat v)^2|$", title=title)
    return figure
