"""Further curves: intervals for two classes and targets, by betting, own samples, complexities.

A form without a formula in m is simulated on a named distribution: the mean over samples at some m,
interpolated linearly in the logarithms, and extrapolated as m^(-1/2) or as a constant.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds import class_intervals, rademacher

from ..bounds import hyper_rates, neighborhood
from .drawing import Curve

FEATURES = class_intervals.FeatureRange(1.0, non_negative=True)
# Mean length of an interval, or mean bound, over 4 to 60 samples of the mixture at delta = 0.05.
SIZES = (25, 50, 100, 200, 400, 800, 1600)
BETTING = (1.0, 0.996, 0.903, 0.545, 0.346, 0.233, 0.152)
RATIO = (1.0, 1.0, 0.935, 0.638, 0.343, 0.222)
OWN_SAMPLE = (0.924, 0.746, 0.610, 0.478, 0.385, 0.356, 0.309)
_SIMULATED = (
    "simulated at delta = 0.05 for the Gaussian kernel of bandwidth 1 and two normal "
    "distributions in the plane at distance 2, also for another delta"
)


# Mean of three samples with ten binary columns, and from which numbers of samples on.
PRICE_SIZES = (8000, 10_000, 12_000, 16_000, 20_000, 30_000, 50_000, 100_000, 300_000)
PRICE = (1.0, 0.536, 0.327, 0.143, 0.085, 0.0387, 0.0194, 0.0069, 0.0019)


def simulated(values, fall=0.5, sizes=SIZES):
    """A form that interpolates the means at `sizes` and is extrapolated as m^-fall."""
    at = np.log(sizes[: len(values)])
    logs = np.log(values)

    def form(m, delta, **_):
        x = np.log(m)
        return float(np.exp(np.interp(x, at, logs) - fall * max(x - at[-1], 0.0)))

    return form


def class_length(m, delta, a, a_prime, rho):
    """Length of the closed-form interval for two equal classes, the sample being the population."""
    half, distance = m // 2, 2.0 * (rho * np.sqrt(a * a_prime)) ** 0.5
    found = class_intervals.class_interval_from(
        half, m - half, delta, distance, np.sqrt(a), FEATURES
    )
    return found.high - found.low


def learned_length(m, delta, a, a_prime, rho, p):
    """Length of that interval for weights learned on the sample, with one of p kernels in use."""
    half, distance = m // 2, 2.0 * (rho * np.sqrt(a * a_prime)) ** 0.5
    found = class_intervals.learned_class_interval(
        half, m - half, delta, [distance], [np.sqrt(a)], [1.0], [FEATURES], int(p)
    )
    return found.high - found.low


def target_length(m, delta, a, a_prime, rho):
    """Length of the interval for a real target in [-1, 1], the sample being the population."""
    covariance = (rho * np.sqrt(a * a_prime)) ** 0.5
    found = class_intervals.target_interval_from(
        m, delta, covariance, np.sqrt(a), np.sqrt(a_prime), FEATURES, 4.0
    )
    return found.high - found.low


def _complexity(name):
    """One of the bounds of `rademacher`, for p equal kernels with K(x, x) = 1."""

    def form(m, delta, p, q, square, top):
        p, largest = int(p), max(1.0, m * top)
        sizes = (p * [value] for value in (float(m), m + m * (m - 1.0) * square, largest, 1.0))
        found = rademacher.KernelSizes(*map(np.array, sizes), m)
        return rademacher.class_bounds(found, 1.0, q)[name]

    return form


def _local(form):
    """A bound of `rademacher` for eigenvalues m j^-decay/zeta(decay), up to the 4000th."""

    def bound(m, delta, decay):
        shares = np.arange(1.0, 4001.0) ** -decay
        return form(m * shares / (shares.sum() + 4000.0 ** (1 - decay) / (decay - 1)), m)

    return bound


def _task(m, kernels, square, cosine):
    """The `Task` of p equal kernels with K(x, x) = 1; their mean is the target matrix."""
    p = int(kernels)
    shares = np.full((p, p), cosine * square) + (1 - cosine) * square * np.eye(p)
    gram = m + m * (m - 1.0) * shares
    mean = np.full(p, 1 / p)
    products = gram @ mean
    traces = np.full(p, float(m))
    return neighborhood.Task(
        gram, traces, products, float(mean @ products), np.full((p, p), float(m)), int(m)
    )


def _multitask(name):
    """One of `NeighborhoodBounds` for equal tasks."""

    def form(m, delta, tasks, radius, kernels, square, cosine, room):
        task = _task(m, kernels, square, cosine)
        found = int(tasks) * [task]
        rho = room * tasks * task.square
        return getattr(neighborhood.bounds_of_tasks(found, radius, rho), name)

    return form


def _multitask_level(tasks, radius, kernels, square, cosine, room):
    """Largest mean of |f| in the class, for kernels without diagonal beyond their mean."""
    task = _task(10**9, kernels, square, cosine)
    found = neighborhood.projections([task])
    # The largest sum over the tasks of K_t(x, x), from d'theta over the ellipsoid of all tasks.
    size = found.trace_target + np.sqrt(found.trace_square * room * task.square)
    return float(np.sqrt(radius * tasks * size / task.size) / tasks)


def _ridge_printed(m, delta, r, s):
    return float(m) ** -hyper_rates.ridge_optimum_printed(r, s).exponent


def _ridge(m, delta, r, s):
    """Square root of the proved bound, which is for the squared error."""
    return float(m) ** (-hyper_rates.ridge_optimum(r, s).exponent / 2)


def _one(**_):
    return 1.0


def _tail(m, delta, epsilon, c1, spread, theta):
    return hyper_rates.pair_mean_tail(m, epsilon, c1, spread, theta)


def interval_lengths(setting, meaning):
    """Return the curves; ``setting`` holds a, a_prime and rho, which ``meaning`` explains."""
    length = r"length of the confidence interval for $\rho$"
    words = "an alignment lies in [0, 1]"
    how = {"informative": 0.5}

    def with_kernels():
        return setting() | {"p": 10}

    return (
        Curve("p1-class-interval", length, {"closed form": class_length}, _one, words, setting,
              meaning, **how),
        Curve("p1-class-betting", length, {"betting": simulated(BETTING)}, _one, words,
              meaning=_SIMULATED, **how),
        Curve("p1-class-learned", length, {"closed form": learned_length}, _one, words,
              with_kernels, meaning + "; one of p kernels is in use", **how),
        Curve("p1-target-interval", length, {"closed form": target_length}, _one, words, setting,
              meaning, **how),
        Curve("p1-ratio-interval", length, {"betting on the ratio": simulated(RATIO)}, _one, words,
              meaning=_SIMULATED, **how),
    )  # fmt: skip


COMPLEXITIES_AND_RATES = (
    Curve("p1-own-sample", "bound on the error rate",
          {"own sample": simulated(OWN_SAMPLE, 0.0)}, lambda: 0.5,
          "guessing the class errs with probability 1/2", meaning=_SIMULATED),
    Curve("p1-sample-price", r"$\rho(v^*)^2-\rho(\hat v)_+^2$",
          {"from the sample": simulated(PRICE, 1.0, PRICE_SIZES)}, _one,
          "a squared alignment lies in [0, 1]", least=16,
          meaning="simulated at delta = 0.05, also for another delta, for ten binary columns "
          "with a kernel each, of which three matter, and the weights of alignf"),
    Curve("p1-class-complexity", "Rademacher complexity of combinations of p kernels",
          {"moments": _complexity("ours"), "Cortes et al. (2010)": _complexity("cortes-2010"),
           "Lanckriet et al. (2004)": _complexity("lanckriet-2004")}, _one,
          "|f(x)| <= 1 for |w| <= 1 and weights of sum 1",
          {"p": 10, "q": 1.0, "square": 0.25, "top": 0.5},
          "p kernels with K(x, x) = 1 and the mean square given by square, whose largest "
          "eigenvalue is top m; weights in the unit ball of the q-norm, |w| <= 1"),
    Curve("p1-local-complexity", "Rademacher complexity, or fixed point of the local one",
          {"whole unit ball": lambda m, d, decay: m**-0.5,
           "fixed point of the local one": _local(rademacher.local_radius)}, _one,
          "|f(x)| <= 1 for |w| <= 1 and K(x, x) = 1", {"decay": 2.0},
          "one kernel with K(x, x) = 1 and eigenvalues that fall as j^-decay, |w| <= 1"),
    Curve("p3-theorem-1", "Rademacher complexity of all tasks",
          {"printed": _multitask("printed"), "corrected": _multitask("arithmetic"),
           "sharpened": _multitask("variance")}, _multitask_level,
          "the mean of |f| over the samples is no larger for any f of the class",
          {"tasks": 5, "radius": 5.0, "kernels": 3, "square": 0.25, "cosine": 0.5,
           "room": 0.1},
          "m samples in each task, with sum |w_t|^2 <= radius and kernels with K(x, x) = 1, "
          "mean square and cosine as given, whose mean is the given matrix; rho is "
          "room times its squared norm, summed over the tasks"),
    Curve("p4-pair-complexity", "mean deviation over all pairs, uniform over a ball",
          {"from disjoint pairs": lambda m, d, second_moment, radius:
           hyper_rates.pair_complexity(m, second_moment, radius)},
          lambda second_moment, radius: radius * second_moment**0.5,
          "E|k(x, x')| is no larger for any k of the ball",
          {"second_moment": 1.0, "radius": 1.0},
          "E k(p, p) of the hyper-kernel at a pair of points is second_moment, the norm of k "
          "at most radius"),
    Curve("p4-lemma-4-3", r"$\Pr[U - \mathrm{E}\xi \geq \ldots]$", {"printed": _tail}, _one,
          "it is a probability", {"epsilon": 0.1, "c1": 1.0, "spread": 1.0, "theta": 1.0},
          "E xi^2 <= c1 (E xi)^theta, |xi - E xi| <= spread"),
    Curve("p4-theorem-2", r"error in $L_2$, in units of its constant",
          {"printed": _ridge_printed, "corrected": _ridge},
          lambda r, s: 1.0, "the constant is taken as 1, and so is the error of k = 0",
          {"r": 1.0, "s": 0.5}, "r of the source condition, s of the covering numbers"),
)  # fmt: skip
