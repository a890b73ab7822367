"""The unbiased statistic as an average over quadruples: its kernel, and bounds by its variance.

Notation and units are those of `concentration`; U is `u_statistic` of m >= 4 points, an average
over all quadruples of distinct points of ``h``, and k = floor(m/4) quadruples fit into a sample.
The proofs are in ``p1_alignment/proofs.md``, section 18.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.bounds.checks import (
    HypothesisNotMet,
    check_delta,
    check_positive,
    check_radii,
    check_size,
    check_variances,
    of_numbers,
)
from alignlearn.bounds.intervals import Interval

from .concentration import check_alignment, exchange_constant
from .intervals import center, check_diagonal


class Range(NamedTuple):
    """Smallest and largest value of h."""

    low: float
    high: float


# -- the statistic ---------------------------------------------------------------------


def u_statistic(K, L) -> float:
    """The unbiased estimate of b = E[K_c K'_c], equal to unbiased HSIC.

    m/(m-3) f - sum_i K_c,ii K'_c,ii / ((m-2)(m-3)) + Tr K_c Tr K'_c / (m(m-1)(m-2)(m-3)).

    Parameters
    ----------
    K, L : arrays (m, m), m >= 4

    Raises
    ------
    ValueError
        If m < 4.
    """
    m = len(K)
    check_size(m, 4)
    Kc, Lc = center(K), center(L)
    k, d = np.diagonal(Kc), np.diagonal(Lc)
    cross = (Kc * Lc).sum() / (m * (m - 3))
    return (
        cross
        - (k * d).sum() / ((m - 2) * (m - 3))
        + k.sum() * d.sum() / (m * (m - 1) * (m - 2) * (m - 3))
    )


def u_statistic_constant(m, scalar_target=False) -> float:
    """c with |U(S) - U(S')| <= c R^2 R'^2 / m when one point is exchanged.

    6.40 at m = 100, 5.48 at 1000; 5.74 and 4.84 with ``scalar_target`` (K' = yy' with real labels).
    At most 16, which is smaller for m = 4 and 5.

    Raises
    ------
    ValueError
        If m < 4.
    """
    m = check_size(m, 4)
    diagonal = min(4 * m / 3, 80) * m / ((m - 2) * (m - 3))
    rest = diagonal + m**2 / ((m - 1) * (m - 2) * (m - 3))
    return min(exchange_constant(scalar_target) * m / (m - 3) + rest, 16.0)


def u_statistic_deviation(m, delta, radius2=1.0, radius2_prime=1.0, scalar_target=False) -> float:
    """|U - b| is at most this with probability 1 - delta; no bias term.

    c R^2 R'^2 (log(2/delta)/2m)^(1/2) with c = `u_statistic_constant`.

    Raises
    ------
    ValueError
        If m < 4, delta is not in (0, 1), or a radius is not positive.
    """
    m, delta = check_size(m, 4), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    constant = u_statistic_constant(m, scalar_target)
    return constant * r * s * np.sqrt(np.log(2 / delta) / (2 * m))


def u_statistic_interval(
    K, L, delta=0.05, radius2=1.0, radius2_prime=1.0, scalar_target=False
) -> Interval:
    """Confidence interval for b = E[K_c K'_c] around the unbiased statistic.

    Parameters and errors are those of `alignment_interval_of_grams`, with m >= 4, and
    ``scalar_target``: L is the target kernel yy' of real labels. Vacuous if it contains
    [0, R^2 R'^2].
    """
    K, L = np.asarray(K, dtype=float), np.asarray(L, dtype=float)
    r, s = check_diagonal(K, radius2), check_diagonal(L, radius2_prime, "radius2_prime")
    half, middle = u_statistic_deviation(len(K), delta, r, s, scalar_target), u_statistic(K, L)
    low, high = max(middle - half, 0.0), min(middle + half, r * s)
    return Interval(float(low), float(high), bool(low <= 0 and high >= r * s))


# -- the kernel ------------------------------------------------------------------------


def quadruple_kernel(K, L) -> np.ndarray:
    """h for quadruples of points, whose mean over all quadruples of a sample is U.

    h = (3/4) cov(S, S'), the covariance over the three entries of S = (K12 + K34, K13 + K24,
    K14 + K23) and of S' from L.

    Parameters
    ----------
    K, L : arrays (..., 4, 4)
        Symmetric; only entries off the diagonal are used.

    Returns
    -------
    array (...)
    """
    s, t = _pair_sums(np.asarray(K, dtype=float)), _pair_sums(np.asarray(L, dtype=float))
    return 0.75 * ((s * t).mean(-1) - s.mean(-1) * t.mean(-1))


def _pair_sums(K):
    pairs = (K[..., 0, 1] + K[..., 2, 3], K[..., 0, 2] + K[..., 1, 3], K[..., 0, 3] + K[..., 1, 2])
    return np.stack(pairs, axis=-1)


@of_numbers("nonnegative", "nonnegative_prime", "same_kernel")
def kernel_range(
    radius2=1.0,
    radius2_prime=1.0,
    nonnegative: bool = False,
    nonnegative_prime: bool = False,
    same_kernel: bool = False,
) -> Range:
    """Range of h, in units of K K'; attained.

    [-4/3, 8/3] R^2 R'^2 for any two kernels, [-2/3, 4/3] where one of them is nowhere negative (a
    Gaussian kernel), [-1/3, 2/3] where both are; from 0 on if K' = K.

    Parameters
    ----------
    radius2, radius2_prime : float
    nonnegative, nonnegative_prime : bool
        K >= 0, K' >= 0.
    same_kernel : bool
        K' = K.

    Raises
    ------
    ValueError
        If a radius is not positive.
    """
    r, s = check_radii(radius2, radius2_prime)
    top = 8 / 3 * r * s / (2.0 ** (bool(nonnegative) + bool(nonnegative_prime)))
    return Range(0.0 if same_kernel else -top / 2, top)


@of_numbers("nonnegative", "nonnegative_prime")
def hoeffding_deviation(
    m,
    delta,
    radius2=1.0,
    radius2_prime=1.0,
    nonnegative: bool = False,
    nonnegative_prime: bool = False,
) -> float:
    """|U - theta| is at most this with probability 1 - delta, by Hoeffding's inequality.

    w (log(2/delta)/(2 floor(m/4)))^(1/2), w the length of `kernel_range`: 4 R^2R'^2, half of it
    where one kernel is nowhere negative, a quarter where both are. Shorter than
    `u_statistic_deviation` for small m and for non-negative kernels.

    Parameters
    ----------
    m : int >= 4
    delta : float in (0, 1)
    radius2, radius2_prime : float
    nonnegative, nonnegative_prime : bool
        K >= 0, K' >= 0.

    Raises
    ------
    ValueError
        If m < 4, delta is not in (0, 1), or a radius is not positive.
    """
    m, delta = check_size(m, 4), check_delta(delta)
    span = kernel_range(radius2, radius2_prime, nonnegative, nonnegative_prime)
    return (span.high - span.low) * np.sqrt(np.log(2 / delta) / (2 * np.floor(m / 4)))


# -- with the variance of the kernel ---------------------------------------------------


@of_numbers("variance")
def bernstein_deviation(m, level, variance, above):
    """U - theta exceeds this with probability at most exp(-level) (Theorem D).

    (2 variance level/k)^(1/2) + above level/(3k), k = floor(m/4). For theta - U, put the largest
    value of theta - h for ``above``.

    Parameters
    ----------
    m : int >= 4
    level : float > 0
        log(1/delta) for a one-sided bound, log(2/delta) for a two-sided one.
    variance : float or array >= 0
        Var h, in units of (K K')^2.
    above : float > 0
        Upper bound of h - E h.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    k = np.floor(check_size(m, 4) / 4)
    check_positive("level", level, "the logarithm of 1/delta is positive.")
    check_positive("above", above, "h - E h needs a positive finite upper bound.")
    if not np.all(variance >= 0):
        raise HypothesisNotMet(f"variance={variance!r:.60}; accepted: a number >= 0.")
    return np.sqrt(2 * variance * level / k) + above * level / (3 * k)


class Variances(NamedTuple):
    """Var h for the pairs (K, K'), (K, K) and (K', K')."""

    cross: float
    first: float
    second: float


def alignment_deviation_unbiased(
    m, delta, a, a_prime, rho, variances, radius2=1.0, radius2_prime=1.0, nonnegative=False
) -> float:
    """|rho - rho_U| is at most this with probability 1 - delta.

    rho_U = U_xy/(U_x U_y)^(1/2) cut to [0, 1], and 0 where U_x or U_y is not positive. The bound is
    e_b/(a a')^(1/2) s + rho (s - 1), s = ((1 - e_a/a)(1 - e_a'/a'))^(-1/2), where e are the
    `bernstein_deviation` at level log(6/delta) that holds on both sides, and 1 where e_a >= a or
    e_a' >= a'.

    Parameters
    ----------
    m : int >= 4
    delta : float in (0, 1)
    a, a_prime, rho : float
        E[K_c^2], E[K'_c^2] and the alignment in the population; rho = 1 is always valid.
    variances : Variances
    radius2, radius2_prime : float
    nonnegative : bool
        K >= 0, as for a Gaussian kernel.

    Raises
    ------
    ValueError
        As `concentration.alignment_deviation`, for a negative variance, or rho outside [0, 1].
    """
    delta, rho = check_delta(delta), check_alignment("rho", rho)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    b, level = rho * np.sqrt(a * a_prime), np.log(6 / delta)
    found = []
    for mean, variance, span in zip(
        (b, a, a_prime),
        Variances(*variances),
        (
            kernel_range(r, s, nonnegative),
            kernel_range(r, r, nonnegative, nonnegative, same_kernel=True),
            kernel_range(s, s, same_kernel=True),
        ),
    ):
        far = max(span.high - mean, mean - span.low)
        found.append(bernstein_deviation(m, level, variance, far))
    if not (found[1] < a and found[2] < a_prime):
        return 1.0
    stretch = 1 / np.sqrt((1 - found[1] / a) * (1 - found[2] / a_prime))
    return float(min(found[0] / np.sqrt(a * a_prime) * stretch + rho * (stretch - 1), 1.0))


# -- from the sample alone -------------------------------------------------------------


@of_numbers("variance")
def empirical_bernstein_deviation(m, delta, variance, width):
    """|U - theta| is at most this with probability 1 - delta, with Var h estimated (Theorem D').

    (2 V l/k)^(1/2) + w l [(2/(k j))^(1/2) + 1/(3k)], l = log(3/delta), k = floor(m/4),
    j = floor(k/2).

    Parameters
    ----------
    m : int >= 8
    delta : float in (0, 1)
    variance : float or array >= 0
        V from `quadruple_variance` on the same sample.
    width : float > 0
        Largest minus smallest value of h, of `kernel_range`.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    m, delta = check_size(m, 8), check_delta(delta)
    level, k = np.log(3 / delta), np.floor(m / 4)
    extra = width * np.sqrt(2 / (k * np.floor(k / 2))) * level
    return bernstein_deviation(m, level, variance, width) + extra


def quadruple_variance(K, L, orders=30, random_state=None) -> float:
    """Unbiased estimate of Var h: variances within a partition into quadruples, averaged.

    Parameters
    ----------
    K, L : float arrays (m, m), m >= 8
    orders : int
        Random partitions; their number changes the cost and the spread, not the guarantee.
    random_state : int, Generator or None

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If m < 8.
    """
    K, L = np.asarray(K, dtype=float), np.asarray(L, dtype=float)
    m = int(check_size(len(K), 8))
    rng = np.random.default_rng(random_state)
    found = []
    for _ in range(orders):
        index = rng.permutation(m)[: m // 4 * 4].reshape(-1, 4)
        rows, columns = index[:, :, None], index[:, None, :]
        found.append(quadruple_kernel(K[rows, columns], L[rows, columns]).var(ddof=1))
    return float(np.mean(found))


def empirical_bernstein_interval(
    K, L, delta=0.05, radius2=1.0, radius2_prime=1.0, random_state=0
) -> Interval:
    """Confidence interval for b = E[K_c K'_c] from the sample alone, with its variance.

    Parameters
    ----------
    K, L : float arrays (m, m), m >= 8
        Whether a kernel is nowhere negative is not read from the sample: both may be negative.
    delta : float in (0, 1)
    radius2, radius2_prime : float
        Upper bounds of K(x, x), K'(x, x) over the distribution.
    random_state : int, Generator or None
        Of the partitions of `quadruple_variance`.

    Returns
    -------
    Interval
        Vacuous if it contains [0, R^2 R'^2].

    Raises
    ------
    ValueError
        If m < 8, delta is out of range or a diagonal entry exceeds its radius.
    """
    r, s = check_diagonal(K, radius2), check_diagonal(L, radius2_prime, "radius2_prime")
    span = kernel_range(r, s)
    variance = quadruple_variance(K, L, random_state=random_state)
    half = empirical_bernstein_deviation(len(K), delta, variance, span.high - span.low)
    middle = u_statistic(np.asarray(K, dtype=float), np.asarray(L, dtype=float))
    low, high = max(middle - half, 0.0), min(middle + half, r * s)
    return Interval(float(low), float(high), bool(low <= 0 and high >= r * s))
