"""Rates and constants of regression in a hyper-RKHS.

P4 is Liu, Shi, Huang, Yang and Suykens (2020); m is the number of points, so that there are m^2
pairs; the ridge is ``lambda = m^-alpha`` in the normalization of their (3.1). ``r`` in (0, 1] is
the exponent of the regularization error, D(lambda) <= C_0 lambda^r, ``s > 0`` that of the
covering numbers (3.8). Functions "as printed" are P4's; proofs of the others are in the
``proofs.md`` of its folder. An exponent e means that an error falls as m^-e.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet, check_positive, check_size, of_numbers


class OptimalRate(NamedTuple):
    """The best exponent of the ridge and the resulting exponent of the error."""

    alpha: float
    exponent: float


def _check_rs(r, s):
    if not 0 < r <= 1:
        raise HypothesisNotMet(f"r={r!r}: the regularization error needs 0 < r <= 1.")
    check_positive("s", s, "the covering numbers need a finite s > 0.")


def _check_theta(theta):
    if not 0 <= theta <= 1:
        raise HypothesisNotMet(f"theta={theta!r}: it lies in [0, 1], see `noise_exponent`.")


# -- noise -----------------------------------------------------------------------------


@of_numbers()
def noise_exponent(p, q) -> float:
    """theta = min(2/q, p/(p + 1)), (3.9), for a median of p-average type q.

    Raises
    ------
    ValueError
        If p is not in (0, inf] or q not in (1, inf).
    """
    _check_pq(p, q)
    return min(2 / q, 1.0 if np.isinf(p) else p / (p + 1))


@of_numbers()
def norm_exponent(p, q) -> float:
    """p* = p q/(p + 1), the exponent of the norm in theorem 1; q for p = inf.

    Raises
    ------
    ValueError
        As `noise_exponent`.
    """
    _check_pq(p, q)
    return q if np.isinf(p) else p * q / (p + 1)


def _check_pq(p, q):
    if not p > 0:
        raise HypothesisNotMet(f"p={p!r}: accepted: 0 < p <= inf.")
    if not 1 < q < np.inf:
        raise HypothesisNotMet(f"q={q!r}: accepted: 1 < q < inf.")


@of_numbers()
def gaussian_moment_scale(variance, regression_bound) -> float:
    """M = max(sqrt(2) B_0, M*), for E|y|^i <= 4 i! M^i with normal noise of variance <= B_0.

    Raises
    ------
    ValueError
        If the variance is negative or M* < 1.
    """
    if not (variance >= 0 and regression_bound >= 1):
        raise HypothesisNotMet("the variance must be >= 0 and the bound of k_rho M* >= 1.")
    return max(math.sqrt(2) * variance, regression_bound)


@of_numbers()
def covering_exponent(dimension, smoothness) -> float:
    """s = 4d/tau of (3.8) for points in R^d and a hyper-kernel in C^tau; printed: 2m^2/tau.

    Raises
    ------
    ValueError
        If one of them is not positive.
    """
    check_positive("dimension", dimension, "points have a positive dimension.")
    check_positive("smoothness", smoothness, "the hyper-kernel needs tau > 0 derivatives.")
    return 4 * dimension / smoothness


# -- theorem 1 -------------------------------------------------------------------------


@of_numbers("alpha")
def svr_exponent_printed(alpha, r, s, theta):
    """The power index of theorem 1 as printed, (3.10); correct, and conservative for r < 1.

    Parameters
    ----------
    alpha : float or array
    r, s, theta : float

    Raises
    ------
    ValueError
        If r, s or theta is out of range.
    """
    _check_rs(r, s)
    _check_theta(theta)
    capacity = 1 / (2 + s - theta) - alpha * s / (1 + s)
    return np.minimum(np.minimum(alpha * r, (1 + alpha * r - alpha) / (2 - theta)), capacity)


@of_numbers("alpha")
def svr_exponent(alpha, r, s, theta):
    """The power index of theorem 1 with the exponents that follow from its proof.

    min(alpha r, 1/(2 - theta) - alpha (1 - r)/2, 1/(2 + s - theta) - alpha s/(2(1 + s))); the last
    uses ||k|| <= (M_delta/lambda)^(1/2) where the paper has M_delta/lambda.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    _check_theta(theta)
    capacity = 1 / (2 + s - theta) - alpha * s / (2 * (1 + s))
    noise = 1 / (2 - theta) - alpha * (1 - r) / 2
    return np.minimum(np.minimum(alpha * r, noise), capacity)


@of_numbers()
def svr_optimum_printed(r, s, theta) -> OptimalRate:
    """Largest exponent of `svr_exponent_printed` over alpha.

    alpha* = min(1/(1 + r(1 - theta)), (1 + s)/((2 + s - theta)(r(1 + s) + s))), exponent r alpha*.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    _check_theta(theta)
    by_noise = 1 / (1 + r * (1 - theta))
    by_capacity = (1 + s) / ((2 + s - theta) * (r * (1 + s) + s))
    alpha = min(by_noise, by_capacity)
    return OptimalRate(alpha, r * alpha)


@of_numbers()
def svr_optimum(r, s, theta) -> OptimalRate:
    """Largest exponent of `svr_exponent` over 0 < alpha <= 1.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    _check_theta(theta)
    by_noise = 2 / ((2 - theta) * (1 + r))
    by_capacity = 2 * (1 + s) / ((2 + s - theta) * (2 * r * (1 + s) + s))
    alpha = min(1.0, by_noise, by_capacity)
    return OptimalRate(alpha, r * alpha)


# -- theorem 2 -------------------------------------------------------------------------


@of_numbers("alpha")
def ridge_exponent_printed(alpha, r, s):
    """The power index of theorem 2, (3.11); printed for the norm, correct for its square.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    return np.minimum(alpha * r, 1 / (2 + s) - alpha * s / (1 + s))


@of_numbers()
def ridge_optimum_printed(r, s) -> OptimalRate:
    """Largest exponent of `ridge_exponent_printed` over 0 < alpha <= 1.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    alpha = min(1.0, (1 + s) / ((2 + s) * (r * (1 + s) + s)))
    return OptimalRate(alpha, r * alpha)


@of_numbers("alpha")
def ridge_exponent(alpha, r, s):
    """Proved exponent of the squared error of ridge regression: min(alpha r, 1 - alpha t).

    t = min(s/2, 1) bounds the effective dimension, N(lambda) <= C lambda^-t (with a logarithm at
    s = 2). Never below `ridge_exponent_printed` for admissible alpha.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    return np.minimum(alpha * r, 1 - alpha * min(s / 2, 1.0))


@of_numbers()
def ridge_optimum(r, s) -> OptimalRate:
    """Largest exponent of `ridge_exponent` over 0 < alpha <= 1.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(r, s)
    alpha = min(1.0, 1 / (r + min(s / 2, 1.0)))
    return OptimalRate(alpha, r * alpha)


@of_numbers()
def alpha_limit(s, theta=0.0) -> float:
    """Upper limit of alpha for positive printed power indices: (1 + s)/(s(2 + s - theta)).

    Theorem 2 has theta = 0.

    Raises
    ------
    ValueError
        As `svr_exponent_printed`.
    """
    _check_rs(1.0, s)
    _check_theta(theta)
    return (1 + s) / (s * (2 + s - theta))


# -- concentration ---------------------------------------------------------------------


@of_numbers()
def pair_mean_tail(m, eps, c1, spread, theta) -> float:
    """Lemma 4.3: exp(-(m - 1) eps^(2-theta)/(4 c1 + (4/3) T eps^(1-theta))).

    Bounds the probability that U - E xi >= eps^(1-theta/2) ((E xi)^theta + eps^theta)^(1/2), U the
    mean of a symmetric xi over the pairs i != j.

    Parameters
    ----------
    m : int
        Independent points, at least 2.
    eps : float
    c1 : float
        E xi^2 <= c1 (E xi)^theta.
    spread : float
        T >= |xi - E xi|.
    theta : float in [0, 1]

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    m = check_size(m)
    check_positive("eps", eps, "the deviation must be positive.")
    _check_theta(theta)
    if not (c1 >= 0 and spread >= 0 and c1 + spread > 0):
        raise HypothesisNotMet("c1 and T must be >= 0, one of them positive.")
    return math.exp(-(m - 1) * eps ** (2 - theta) / (4 * c1 + 4 / 3 * spread * eps ** (1 - theta)))


@of_numbers()
def covering_radius(m, delta, s, theta, *, bound, capacity, noise, radius) -> float:
    """An upper bound of the eps* of proposition 4.6, corrected.

    32 B' (C_theta + 1) (log(4/delta) m^(-1/(2-theta)) + max(1, C_s) m^(-1/(2+s-theta))
    R^(s/(1+s))), with B' = M* + B.

    Parameters
    ----------
    m : int
        At least 2.
    delta : float in (0, 1)
    s, theta : float
    bound : float
        M* + B, at least 2.
    capacity, noise : float
        C_s of (3.8) and C_theta of lemma 4.4, which is at least 1.
    radius : float
        R >= 1.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    m = check_size(m)
    _check_rs(1.0, s)
    _check_theta(theta)
    check_positive("capacity", capacity, "the covering numbers need C_s > 0.")
    if not (bound >= 2 and noise >= 1 and radius >= 1 and 0 < delta < 1):
        raise HypothesisNotMet("need M* + B >= 2, C_theta >= 1, R >= 1 and 0 < delta < 1.")
    first = math.log(4 / delta) * m ** (-1 / (2 - theta))
    second = max(1.0, capacity) * m ** (-1 / (2 + s - theta)) * radius ** (s / (1 + s))
    return 32 * bound * (noise + 1) * (first + second)


# -- what hyper-kernels cannot learn ----------------------------------------------------


@of_numbers("variances")
def mean_gaussian(rate, variances) -> float:
    """``E exp(-rate |s - t|^2)`` for independent normal points of these variances by column.

    Raises
    ------
    ValueError
        If an argument is negative.
    """
    variances = np.atleast_1d(variances)
    if not (rate >= 0 and np.all(variances >= 0)):
        raise HypothesisNotMet("the rate and the variances must be >= 0.")
    return float(np.exp(-0.5 * np.log1p(4.0 * rate * variances).sum()))


@of_numbers("widths", "variances")
def width_error(gamma, widths, variances) -> float:
    """Minimum relative RMSE on ``exp(-gamma |s - t|^2)`` of Gaussian hyper-kernels of these widths.

    The bound holds for all functions of the midpoint and any number of pairs, on new pairs of
    independent normal points; 1 is the error of predicting the mean of the target. A hyper-kernel
    of width v1 represents only the Gaussian with ``gamma = 1 / (2 v1)``; for a ladder of widths the
    value is the residual of a least squares fit.

    Parameters
    ----------
    gamma : float > 0
    widths : float or array > 0
        v1 of each hyper-kernel in the sum.
    variances : float or array of shape (d,), >= 0, not all 0
        Variances of the columns.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    check_positive("gamma", gamma, "the target must decay.")
    widths, variances = np.atleast_1d(widths), np.atleast_1d(variances)
    if not (np.all(widths > 0) and np.all(variances >= 0) and variances.any()):
        raise HypothesisNotMet("widths must be positive and variances >= 0, not all 0.")
    rates = 0.5 / widths
    own = np.array([[mean_gaussian(a + b, variances) for b in rates] for a in rates])
    cross = np.array([mean_gaussian(gamma + a, variances) for a in rates])
    # Nearly parallel Gaussians: eigenvalues below rounding are omitted; including them would only
    # lower the bound by the part that they explain.
    fitted = cross @ np.linalg.lstsq(own, cross, rcond=1e-13)[0]
    square, mean = mean_gaussian(2 * gamma, variances), mean_gaussian(gamma, variances)
    return math.sqrt(max(square - fitted, 0.0) / (square - mean**2))


# -- the constant of the Gaussian hyper-kernel -----------------------------------------


@of_numbers()
def gaussian_log10_constant(dimension, sigma2, sigma_h2) -> float:
    """log10 of (2 pi sigma^2)^-d (2 pi (sigma^2 + sigma_h^2))^(-d/2), the printed normalizer.

    Raises
    ------
    ValueError
        If an argument is not positive.
    """
    for name, value in (("dimension", dimension), ("sigma2", sigma2), ("sigma_h2", sigma_h2)):
        check_positive(name, value, "it must be positive.")
    two_pi = 2 * math.pi
    return -dimension * (math.log10(two_pi * sigma2) + math.log10(two_pi * (sigma2 + sigma_h2)) / 2)


# -- pairs -----------------------------------------------------------------------------


@of_numbers()
def pair_complexity(m, second_moment, radius=1.0) -> float:
    """Bound of the expected largest deviation of a mean over pairs, over a ball of a hyper-RKHS.

    Parameters
    ----------
    m : int >= 2
    second_moment : float >= 0
        E k(p, p) of the hyper-kernel at a pair of independent points.
    radius : float >= 0
        Radius of the ball.

    Raises
    ------
    HypothesisNotMet
        For fewer than two points or a negative number.
    """
    if not (second_moment >= 0 and radius >= 0):
        raise HypothesisNotMet("the second moment and the radius must not be negative.")
    return radius * math.sqrt(second_moment / (check_size(m, 2) // 2))
