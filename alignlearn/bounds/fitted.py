"""Bounds for what the estimators fit: weights learned on the sample, and a free intercept.

The interval holds for all non-negative weights simultaneously, and therefore for learned ones; the
risk bound holds for weights that were fixed in advance. Both follow from `intervals` and
`exchange_bound` by the following steps.

Interval. K_mu = sum_k mu_k K_k with mu >= 0 has the features (mu_k^(1/2) Phi_k)_k. If every block
obeys ||Delta C_kl|| <= tau R_k R_l, then the norm of the stacked operator changes by at most
(sum_kl mu_k mu_l tau^2 R_k^2 R_l^2)^(1/2) = tau R_mu^2 with R_mu^2 = sum_k mu_k R_k^2; likewise
tau R_mu R' with the target. There are N = p + p(p+1)/2 + 1 operators (kernel with target, kernel
with kernel, target), each within tau at delta/N, and the interval of one kernel at that tau holds
for all mu.

Stability with intercept. h = g + b minimizes lam0 ||g||^2 + (1/m) sum_i (h(x_i) - y_i)^2, labels
in an interval of half-width Y, ||Phi(x) - Phi(x')|| <= D. (i) h does not change relative to y
when all labels are shifted, so |y| <= Y. From g = Phi_c'(K_c + lam0 m)^-1 y_c, ||g|| <= Y/(2
lam0^(1/2)). (ii) b is the mean of y - g, so |h(x) - y| <= 2 Y + D ||g|| <= M := Y (2 + D/(2
lam0^(1/2))). (iii) lam0 m ||Delta g|| <= M D: section 24 of p1_alignment/proofs.md, from the signs
of the residuals at the exchanged points. (iv) Delta h(x) = Delta g(x) - mean_S' Delta g + e/m with
|e| = |(y'_m - g(x'_m)) - (y_m - g(x_m))| <= M, so sup |Delta h| <= D ||Delta g|| + M/m <= (M/m)
[1 + D^2/lam0].
"""

from __future__ import annotations

import numpy as np

from .checks import HypothesisNotMet, check_delta, check_positive, check_size, of_numbers
from .intervals import Interval, alignment_interval_from


@of_numbers()
def learned_alignment_interval(
    m, delta, numerator, a, a_prime, radius2, radius2_prime, n_kernels
) -> Interval:
    """`alignment_interval_from` at level 1 - delta for weights >= 0 learned on the same sample.

    Parameters
    ----------
    m : int >= 2
    delta : float in (0, 1)
    numerator, a, a_prime : float
        <K_c, K'_c>_F / m^2, ||K_c||_F^2 / m^2, ||K'_c||_F^2 / m^2 of the combined kernel.
    radius2 : float
        sum_k mu_k R_k^2 with R_k^2 >= K_k(x, x) over the distribution.
    radius2_prime : float
    n_kernels : int >= 1
        Number of kernels that were combined; 1 gives `alignment_interval_from`.

    Raises
    ------
    ValueError
        As `alignment_interval_from`.
    """
    delta = check_delta(delta)
    p = int(check_size(n_kernels, 1, "n_kernels"))
    events = p + p * (p + 1) // 2 + 1
    share = 3 * delta / events
    return alignment_interval_from(m, share, numerator, a, a_prime, radius2, radius2_prime)


@of_numbers()
def intercept_residual_bound(half_range, diameter, lam0) -> float:
    """|h(x) - y| <= M = Y (2 + D/(2 lam0^(1/2))) for ridge regression with a free intercept.

    Parameters
    ----------
    half_range : float
        Y: half the length of an interval that holds all labels; units of y.
    diameter : float
        D >= ||Phi(x) - Phi(x')||: 2 R in general, 2^(1/2) R for kernels that are not negative.
    lam0 : float
        Ridge in the units of the kernel.

    Raises
    ------
    ValueError
        If lam0 is not positive or another argument is negative.
    """
    check_positive("lam0", lam0, "the ridge lam0 must be positive.")
    if min(half_range, diameter) < 0:
        raise HypothesisNotMet("the half range and the diameter must be >= 0.")
    return half_range * (2 + diameter / (2 * np.sqrt(lam0)))


@of_numbers()
def intercept_stability(m, half_range, diameter, lam0) -> float:
    """sup_x |h'(x) - h(x)| when one of m points is exchanged, one fixed kernel, free intercept.

    (M/m) (1 + D^2/lam0) with M = `intercept_residual_bound`.

    Parameters and errors are those of `intercept_residual_bound`; m >= 1.
    """
    m = check_size(m, 1)
    bound = intercept_residual_bound(half_range, diameter, lam0)
    return bound / m * (1 + diameter**2 / lam0)


@of_numbers()
def intercept_bound(empirical_risk, m, delta, half_range, diameter, lam0) -> float:
    """R <= R_S + b + (2 m b + M^2) (log(1/delta)/2m)^(1/2), one fixed kernel, free intercept.

    `exchange_bound` with b = 2 M `intercept_stability`.

    Parameters and errors are those of `intercept_residual_bound` and `exchange_bound`.
    """
    bound = intercept_residual_bound(half_range, diameter, lam0)
    b = 2 * bound * intercept_stability(m, half_range, diameter, lam0)
    return float(exchange_bound(empirical_risk, m, delta, b, bound**2))


@of_numbers()
def exchange_bound(empirical_risk, m, delta, stability, loss_bound) -> float:
    """R <= R_S + b + (2 m b + L) (log(1/delta)/2m)^(1/2).

    Parameters
    ----------
    empirical_risk : float
        R_S.
    m : int
    delta : float in (0, 1)
    stability : float
        b: the loss at any (x, y) changes by at most b when one training point is exchanged, for
        all samples.
    loss_bound : float
        L: the loss lies in [0, L], for all samples.

    Raises
    ------
    ValueError
        If m < 1, delta is not in (0, 1) or another argument is negative.
    """
    m, delta = check_size(m, 1), check_delta(delta)
    if min(empirical_risk, stability, loss_bound) < 0:
        raise HypothesisNotMet("the risk, the stability and the bound of the loss must be >= 0.")
    spread = np.sqrt(np.log(1 / delta) / (2 * m))
    return empirical_risk + stability + (2 * m * stability + loss_bound) * spread
