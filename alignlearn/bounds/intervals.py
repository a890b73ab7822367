"""Confidence intervals for the alignment and its numerator from the sample alone.

Notation, hypotheses and units are those of `concentration`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .checks import (
    HypothesisNotMet,
    check_delta,
    check_positive,
    check_radii,
    check_size,
    check_variances,
)
from .concentration import bias_bound, covariance_deviation, exchange_constant


class Interval(NamedTuple):
    """A confidence interval.

    Attributes
    ----------
    low, high : float
    vacuous : bool
        True if it says no more than what is always true.
    """

    low: float
    high: float
    vacuous: bool


# -- the alignment from data alone -----------------------------------------------------


def alignment_interval_from(m, delta, numerator, a, a_prime, radius2=1.0, radius2_prime=1.0):
    """Two-sided interval for rho at level 1 - delta from the statistics of the sample alone.

    With tau = `covariance_deviation` at delta / 3 and A = a^(1/2), b = numerator^(1/2):
    low = (b - tau RR')_+^2 / ((A + tau R^2)(A' + tau R'^2)), high = min(1, (b + tau RR')^2 / ((A
    - tau R^2) (A' - tau R'^2))), and 1 where a factor is not positive.

    Parameters
    ----------
    m : int >= 2
    delta : float in (0, 1)
    numerator, a, a_prime : float
        <K_c, K'_c>_F / m^2, ||K_c||_F^2 / m^2, ||K'_c||_F^2 / m^2 on the sample.
    radius2, radius2_prime : float
        Upper bounds of K(x, x), K'(x, x) over the distribution, not only over the sample.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If m < 2, delta is not in (0, 1), a kernel has zero variance on the sample, or exceeds its
        radius.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    tau = covariance_deviation(m, delta / 3)
    A, B, b = np.sqrt(a) / r, np.sqrt(a_prime) / s, np.sqrt(max(numerator, 0.0) / (r * s))
    low = max(b - tau, 0.0) ** 2 / ((A + tau) * (B + tau))
    high = 1.0
    if tau < A and tau < B:
        high = min(1.0, (b + tau) ** 2 / ((A - tau) * (B - tau)))
    return Interval(float(low), float(high), bool(low <= 0 and high >= 1))


def alignment_interval_of_grams(K, L, delta=0.05, radius2=1.0, radius2_prime=1.0) -> Interval:
    """Confidence interval for the population alignment of two kernels from their Gram matrices.

    Parameters
    ----------
    K, L : float arrays (m, m)
        Symmetric; ``np.outer(y, y)`` for a target.
    delta : float in (0, 1)
    radius2, radius2_prime : float
        Upper bounds of the diagonals over the whole distribution: 1 for a Gaussian kernel or
        labels of +-1. The largest entry on a sample is none.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        As `alignment_interval_from`; also where an entry of a diagonal exceeds its radius.
    """
    K, L = np.asarray(K, dtype=float), np.asarray(L, dtype=float)
    r, s = check_diagonal(K, radius2), check_diagonal(L, radius2_prime, "radius2_prime")
    Kc, Lc, m = _center(K), _center(L), len(K)
    values = [(Kc * Lc).sum(), (Kc * Kc).sum(), (Lc * Lc).sum()]
    # What centring a constant kernel leaves behind is rounding, not variance.
    floor = [0.0, (1e-14 * m * np.abs(K).max()) ** 2, (1e-14 * m * np.abs(L).max()) ** 2]
    values = [v if v > f else 0.0 for v, f in zip(values, floor)]
    return alignment_interval_from(m, delta, *(v / m**2 for v in values), r, s)


def alignment_interval_by_numerator(
    m, delta, numerator, a, a_prime, radius2=1.0, radius2_prime=1.0, scalar_target=False
):
    """The wider alternative to `alignment_interval_from`, by the numerator and the variances.

    McDiarmid's inequality on each:
    f +- (bias + c s) R^2 R'^2 and a +- (bias + 27/8 s) R^4 with s = (log(6/delta)/2m)^(1/2) and c =
    5.379, or 128/27 with ``scalar_target`` (K' = yy' with real labels y).
    To intersect the two intervals, compute each at delta / 2.

    Raises
    ------
    ValueError
        As `alignment_interval_from`.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    a, a_prime, b = a / r**2, a_prime / s**2, numerator / (r * s)
    spread = np.sqrt(np.log(6 / delta) / (2 * m))
    db = bias_bound(m) + exchange_constant(scalar_target) * spread
    da = bias_bound(m) + 27 / 8 * spread
    low = max(b - db, 0.0) / np.sqrt((a + da) * (a_prime + da))
    high = 1.0
    if da < min(a, a_prime):
        high = min(1.0, (b + db) / np.sqrt((a - da) * (a_prime - da)))
    return Interval(float(low), float(high), bool(low <= 0 and high >= 1))


def _center(K):
    m = len(K)
    return K - K.sum(0)[None, :] / m - K.sum(1)[:, None] / m + K.sum() / m**2


def check_diagonal(K, radius2, name="radius2") -> float:
    """Return R^2 if it is positive and no diagonal entry exceeds it, else raise."""
    radius2 = check_positive(name, radius2, "K(x, x) <= R^2 needs a positive finite R^2.")
    top = float(np.diagonal(K).max())
    if top > radius2 * (1 + 1e-12):
        raise HypothesisNotMet(
            f"a diagonal entry {top!r} exceeds R^2 = {radius2!r}: give {name}, an upper bound of "
            "K(x, x) over the whole distribution."
        )
    return radius2


# -- the unbiased statistic ------------------------------------------------------------


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
    Kc, Lc = _center(K), _center(L)
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
