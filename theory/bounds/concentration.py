"""Bounds of the distance between the centered alignment of a sample and of the distribution.

Notation, hypotheses and units are those of `alignlearn.bounds.intervals`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from alignlearn.bounds.checks import (
    HypothesisNotMet,
    check_delta,
    check_radii,
    check_size,
    check_variances,
    of_numbers,
)
from alignlearn.bounds.intervals import bias_bound, covariance_deviation
from alignlearn.validation import check_flag

PRINTED_CONSTANT = 24.0
# 25 sqrt(15) / 18: the largest change of m f, divided by R^2 R'^2, when one point is exchanged
# (p1_alignment/proofs.md, section 5).
SHARP_CONSTANT = 25 * np.sqrt(15) / 18
# The same if one feature map is a scalar, as for a target kernel; this constant is the smallest
# possible one (section 17).
SCALAR_CONSTANT = 128 / 27


def check_alignment(name: str, value):
    """Return an alignment, or an array of them, clipped to [0, 1] up to rounding errors."""
    values = np.asarray(value, dtype=float)
    if not np.all((values >= -1e-9) & (values <= 1 + 1e-9)):
        raise HypothesisNotMet(
            f"{name}={value!r:.60}: the alignment of positive semi-definite kernels lies in [0, 1]."
        )
    return np.clip(values, 0.0, 1.0)[()]


# -- bias and perturbation of the numerator --------------------------------------------


@of_numbers(exact=True)
def expected_numerator(m, theta, kappa, t, t_prime):
    """E_S[f] exactly.

    Parameters
    ----------
    m : int >= 1
    theta, kappa, t, t_prime : float or Fraction
        `problems.Moments`: E[K_c K'_c], E[K_c(x,x) K'_c(x,x)], E[K_c(x,x)], E[K'_c(x,x)].

    Returns
    -------
    ((m-1)(m^2-2m+2) theta + (m-1)^2 kappa + (m-1) t t') / m^3, of the type of the moments.
    """
    check_size(m, 1)
    return (
        (m - 1) * (m * m - 2 * m + 2) * theta + (m - 1) ** 2 * kappa + (m - 1) * t * t_prime
    ) / m**3


@of_numbers("scalar_target")
def exchange_constant(scalar_target: bool = False) -> float:
    """m |f(S) - f(S')| / (R^2 R'^2) is at most this: 128/27 for a target kernel, else 5.379.

    Raises
    ------
    TypeError
        If ``scalar_target`` is neither true nor false.
    """
    return SCALAR_CONSTANT if check_flag("scalar_target", scalar_target) else SHARP_CONSTANT


@of_numbers("same_kernel", "scalar_target")
def perturbation_bound(
    m,
    radius2=1.0,
    radius2_prime=1.0,
    same_kernel: bool = False,
    scalar_target: bool = False,
) -> float:
    """Largest |f(S) - f(S')| over samples that differ in one point.

    5.379 R^2 R'^2 / m in general; 128/27 = 4.741 for 5.379 if K' = yy' with a scalar y; 27
    (m-1)^2/(2m-1)^3 R^4 if K' = K. P1's lemma 18 has 24/m. 4.741/m (1 - 3/(2m)) is attained with
    features +-1 and 3 | m; that 128/27 is right for two vector features is a conjecture.

    Parameters
    ----------
    m : int >= 2
    radius2, radius2_prime : float
    same_kernel : bool
        K' = K.
    scalar_target : bool
        K' is the target kernel yy' of real labels.

    Raises
    ------
    ValueError
        If m < 2 or a radius is not positive.
    """
    m = check_size(m)
    r, s = check_radii(radius2, radius2_prime)
    if check_flag("same_kernel", same_kernel):
        return 27 * (m - 1) ** 2 / (2 * m - 1) ** 3 * r * s
    return exchange_constant(scalar_target) * r * s / m


@of_numbers("scalar_target")
def numerator_deviation(
    m, delta, radius2=1.0, radius2_prime=1.0, scalar_target: bool = False
) -> float:
    """|f - b| is at most this with probability 1 - delta.

    [(2m^2-3m+2)/m^3 + c (log(2/delta)/2m)^(1/2)] R^2 R'^2, bias plus McDiarmid, with c = 5.379,
    or 128/27 with ``scalar_target`` (K' = yy' with real labels y).

    Raises
    ------
    ValueError
        If m < 2, delta is not in (0, 1), or a radius is not positive.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    spread = np.sqrt(np.log(2 / delta) / (2 * m))
    return bias_bound(m, r, s) + exchange_constant(scalar_target) * r * s * spread


@of_numbers()
def numerator_deviation_printed(m, delta, radius2=1.0, radius2_prime=1.0) -> float:
    """P1's proposition 11 as printed: [18/m + 24 (log(2/delta)/2m)^(1/2)] R^2 R'^2.

    Raises
    ------
    ValueError
        As `numerator_deviation`.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    return r * s * (18 / m + PRINTED_CONSTANT * np.sqrt(np.log(2 / delta) / (2 * m)))


# -- the alignment, population quantities known ----------------------------------------


@of_numbers()
def alignment_deviation_printed(m, delta, a, a_prime, radius2=1.0, radius2_prime=1.0) -> float:
    """P1's theorem 12 as printed: 18 beta [3/m + 8 (log(6/delta)/2m)^(1/2)].

    beta = R^2 R'^2 / min(a, a'). The statement is true (it follows from `alignment_deviation`),
    its proof is not, and beta is not invariant to scaling one kernel.

    Raises
    ------
    ValueError
        If m < 2, delta is not in (0, 1), a variance is zero or a kernel exceeds its radius.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    beta = r * s / min(a, a_prime)
    return 18 * beta * (3 / m + 8 * np.sqrt(np.log(6 / delta) / (2 * m)))


@of_numbers()
def alignment_deviation_by_printed_proof(
    m, delta, a, a_prime, radius2=1.0, radius2_prime=1.0
) -> float:
    """The result of P1's proof of theorem 12 if each variance is bounded by its own radius.

    18 beta [3/m + 4 (log(6/delta)/2m)^(1/2)] with beta = max(R^4/a, R'^4/a').

    Raises
    ------
    ValueError
        As `alignment_deviation_printed`.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    beta = max(r * r / a, s * s / a_prime)
    return 18 * beta * (3 / m + 4 * np.sqrt(np.log(6 / delta) / (2 * m)))


@of_numbers()
def alignment_deviation(m, delta, a, a_prime, radius2=1.0, radius2_prime=1.0) -> float:
    """|rho - rho_S| is at most 6 B tau with probability 1 - delta.

    B = R^2 R'^2 / (a a')^(1/2) and tau = `covariance_deviation` at delta / 3. Implies theorem 12
    as printed.

    Raises
    ------
    ValueError
        As `alignment_deviation_printed`.
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    return 6 * r * s / np.sqrt(a * a_prime) * covariance_deviation(m, delta / 3)


@of_numbers("rho", "rho_sample")
def alignment_deviation_refined(
    m, delta, a, a_prime, rho=1.0, rho_sample=1.0, radius2=1.0, radius2_prime=1.0
):
    """|rho - rho_S| is at most this with probability 1 - delta, given both alignments.

    tau [2 rho^(1/2)/(AA')^(1/2) + rho_S (1/A + 1/A')] + tau^2 (1 + rho_S)/(AA') with A =
    a^(1/2)/R^2, A' = a'^(1/2)/R'^2, tau = `covariance_deviation` at delta / 3.

    Parameters
    ----------
    rho, rho_sample : float or array in [0, 1]
        The population and the sample alignment; 1 is always valid.

    Raises
    ------
    ValueError
        As `alignment_deviation_printed`, for rho outside [0, 1], and where the sample alignment is
        undefined (zero variance on the sample).
    """
    m, delta = check_size(m), check_delta(delta)
    r, s = check_radii(radius2, radius2_prime)
    a, a_prime = check_variances(a, a_prime, r, s)
    rho = check_alignment("rho", rho)
    rho_sample = np.asarray(rho_sample, dtype=float)
    if np.isnan(rho_sample).any():
        raise HypothesisNotMet("rho_sample is undefined: a kernel has zero variance on the sample.")
    tau = covariance_deviation(m, delta / 3)
    A, B = np.sqrt(a) / r, np.sqrt(a_prime) / s
    first = 2 * np.sqrt(rho) / np.sqrt(A * B) + rho_sample * (1 / A + 1 / B)
    return tau * first + tau**2 * (1 + rho_sample) / (A * B)


# -- the sample size from which a bound is not vacuous ---------------------------------


def smallest_sample_size(bound: Callable[[int], float], below=1.0, start=2, stop=10**12) -> int:
    """Smallest m with bound(m) < below, for a bound that decreases in m.

    Parameters
    ----------
    bound : callable int -> float
    below : float
        The trivial bound, 1 for an alignment.
    start, stop : int
        The range searched.

    Raises
    ------
    ValueError
        If the bound is still not below the level at `stop`.
    """
    if not bound(stop) < below:
        raise ValueError(
            f"the bound is not below {below!r} even at m = {stop}; accepted: a larger "
            "value of below or of stop."
        )
    low, high = start - 1, stop
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) < below else (middle, high)
    return high
