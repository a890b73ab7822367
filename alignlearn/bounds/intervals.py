"""Confidence intervals for the alignment and its numerator from the sample alone.

Throughout, K and K' are positive definite symmetric with K(x, x) <= R^2 and K'(x, x) <= R'^2, the
m points are independent, f = <K_c, K'_c>_F / m^2, and population quantities are a = E[K_c^2], a'
= E[K'_c^2], b = E[K_c K'_c], rho = b / (a a')^(1/2). Arguments ``radius2`` and ``radius2_prime``
are R^2 and R'^2 in the units of the kernels; for the target kernel yy', R'^2 is the essential
supremum of y^2. Deviations of f have the units of K K', those of the alignment have none. P1 is
Cortes, Mohri and Rostamizadeh (2012); proofs of what differs from it are in
``p1_alignment/proofs.md``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.validation import check_psd

from .checks import (
    HypothesisNotMet,
    check_delta,
    check_radii,
    check_size,
    check_variances,
    of_numbers,
)


class Interval(NamedTuple):
    """A confidence interval.

    Attributes
    ----------
    low, high : float
    vacuous : bool
        True if the interval contains all possible values.
    """

    low: float
    high: float
    vacuous: bool


@of_numbers()
def bias_bound(m, radius2=1.0, radius2_prime=1.0) -> float:
    """|E_S[f] - b| <= (2m^2-3m+2)/m^3 R^2 R'^2 <= 2 R^2 R'^2 / m; sharp. P1's lemma 19 has 18/m.

    Raises
    ------
    ValueError
        If m < 1 or a radius is not positive.
    """
    m = check_size(m, 1)
    r, s = check_radii(radius2, radius2_prime)
    return (2 * m * m - 3 * m + 2) / m**3 * r * s


@of_numbers()
def covariance_deviation(m, delta) -> float:
    """||C_S - C||_HS / (R R') is at most this with probability 1 - delta.

    C is the cross-covariance, the bound one-sided:
    2/(3m)^(1/2) + 4 (m-1)/m (log(1/delta)/2m)^(1/2).

    Raises
    ------
    ValueError
        If m < 2 or delta is not in (0, 1).
    """
    m, delta = check_size(m), check_delta(delta)
    return 2 / np.sqrt(3 * m) + 4 * (m - 1) / m * np.sqrt(np.log(1 / delta) / (2 * m))


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


def check_entries(K, radius2, advice=""):
    """Raise HypothesisNotMet unless |K_ij| <= R^2 and K is positive semi-definite."""
    diagonal = np.diagonal(K)
    if (top := float(diagonal.max())) > radius2 * (1 + 1e-9):
        raise HypothesisNotMet(f"a diagonal entry {top!r} exceeds R^2 = {radius2!r}{advice}.")
    if (top := float(np.abs(K).max())) > radius2 * (1 + 1e-6):
        raise HypothesisNotMet(
            f"an entry of size {top!r} exceeds R^2 = {radius2!r}, which is impossible for a "
            f"positive semi-definite kernel with K(x, x) <= R^2{advice}."
        )
    try:
        check_psd("K", K, np.float32)
    except ValueError:
        raise HypothesisNotMet("K is not positive semi-definite, as the bound assumes.") from None
