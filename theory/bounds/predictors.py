"""Guarantees for predictors from a large alignment, and deviations between sample and population.

h*(x) = <w, phi(x) - E phi>, w = c/(A V), and h_S the same with the means of the sample; c is the
covariance of y and phi, A = E[K_c^2]^(1/2), V = Var(y). For labels with mean 0 and variance 1 h* is
that of section 4.2 of P1 (Cortes, Mohri and Rostamizadeh, 2012). Notation and units are those of
`concentration`; risks are those of the population. Proofs: ``p1_alignment/proofs.md``, sections 9
to 11.
"""

from __future__ import annotations

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
from alignlearn.bounds.intervals import covariance_deviation

# -- what the alignment promises -------------------------------------------------------


def classification_guarantee(rho, gamma, label_bound=1.0) -> float:
    """Pr[y h* < 0] <= 1 - rho / (Gamma max |y|).

    Theorem 13 of P1 with the factor max |y| that it needs.

    Parameters
    ----------
    rho : float in [0, 1]
    gamma : float
        Gamma, the maximum of `gamma_values`.
    label_bound : float
        Essential supremum of |y|; 1 for labels +-1.

    Raises
    ------
    ValueError
        If gamma or the label bound is not positive.
    """
    gamma = check_positive("gamma", gamma, "Gamma is positive when the kernel varies.")
    bound = check_positive("label_bound", label_bound, "the labels must be bounded, |y| <= M.")
    return 1 - rho / (gamma * bound)


def regression_guarantee_printed(rho) -> float:
    """E(y - h*)^2 <= 2 (1 - rho) for standardized labels: theorem 14 of P1 as printed."""
    return 2 * (1 - rho)


def regression_guarantee(rho) -> float:
    """E(y - h*)^2 <= 1 - rho for standardized labels: half of theorem 14 of P1, sharp."""
    return 1 - rho


def scaled_regression_risk(rho, energy) -> float:
    """Risk of the best multiple of h*, (rho/E[h*^2]) h*: 1 - rho^2/E[h*^2], at most 1 - rho.

    Standardized labels.

    Raises
    ------
    ValueError
        If the energy E[h*^2] is not positive.
    """
    return 1 - rho**2 / check_positive("energy", energy, "E[h*^2] is positive when rho is.")


def unnormalized_guarantee(rho_u, radius2) -> float:
    """Pr[y g* < 0] <= 1 - rho_u / R^2 for labels +-1 and K_c(x, x) <= R^2: theorem 15 of P1.

    Raises
    ------
    ValueError
        If R^2 is not positive.
    """
    return 1 - rho_u / check_positive("radius2", radius2, "K_c(x, x) <= R^2.")


# -- the predictor of a sample ---------------------------------------------------------


@of_numbers()
def predictor_deviation(
    m, delta, a, label_variance, rho=1.0, radius2=1.0, label_bound=1.0
) -> float:
    """Upper bound of sup_x |h_S(x) - h*(x)| with probability 1 - delta.

    The signs of h_S and h* can differ only where |h*| is at most this bound.

    (2 D + s tau)/M with tau = `covariance_deviation` at delta / 4, A = a^(1/2)/R^2, V = Var(y)/M^2,
    s = (rho/(A V))^(1/2) and D = tau (1 + s (A + V - tau))/((A - tau)(V - tau)).

    Parameters
    ----------
    m : int >= 2
    delta : float in (0, 1)
    a, label_variance : float > 0
        E[K_c^2] and Var(y).
    rho : float in [0, 1]
        The population alignment of K and yy'; 1 is always valid.
    radius2, label_bound : float
        R^2 >= K(x, x) and M >= |y| over the distribution.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range, or m is so small that tau reaches A or V.
    """
    change, norm, tau, _ = _parts(m, delta, a, label_variance, rho, radius2, label_bound)
    return (2 * change + norm * tau) / label_bound


@of_numbers()
def root_risk_deviation(
    m, delta, a, label_variance, rho=1.0, radius2=1.0, label_bound=1.0
) -> float:
    """Upper bound of |R(h_S)^(1/2) - R(h*)^(1/2)| for R(h) = E(y - h)^2.

    With probability 1 - delta it is ((A + tau^2)^(1/2) D + s tau)/M, which is smaller than
    `predictor_deviation`. Parameters, notation and errors are those of `predictor_deviation`.
    """
    change, norm, tau, A = _parts(m, delta, a, label_variance, rho, radius2, label_bound)
    return (np.sqrt(A + tau**2) * change + norm * tau) / label_bound


def _parts(m, delta, a, label_variance, rho, radius2, label_bound):
    """Return D, s, tau and A."""
    m, delta = check_size(m), check_delta(delta)
    bound = check_positive("label_bound", label_bound, "|y| <= M needs a positive finite M.")
    r, s = check_radii(radius2, bound**2)
    a, variance2 = check_variances(a, label_variance**2, r, s)
    if not 0 <= rho <= 1:
        raise HypothesisNotMet(f"rho={rho!r}: an alignment with a target lies in [0, 1].")
    tau = covariance_deviation(m, delta / 4)
    A, V = np.sqrt(a) / r, np.sqrt(variance2) / s
    if not tau < min(A, V):
        raise HypothesisNotMet(
            f"m={m:.0f} is too small: tau = {tau:.3g} must be below E[K_c^2]^(1/2)/R^2 = {A:.3g} "
            f"and Var(y)/M^2 = {V:.3g}."
        )
    norm = np.sqrt(rho / (A * V))
    change = tau * (1 + norm * (A + V - tau)) / ((A - tau) * (V - tau))
    return change, norm, tau, A
