"""How far the predictor of a sample is from that of its distribution, with all constants.

h*(x) = <w, phi(x) - E phi>, w = c/(A V), and h_S the same with the means of the sample
(`predictors.h_star` with ``general=True`` and `predictors.h_sample`); c is the covariance of y and
phi, A = E[K_c^2]^(1/2), V = Var(y). Notation and units are those of `concentration`; predictors
have the units of 1/y. Proofs: ``p1_alignment/proofs.md``, section 11.
"""

from __future__ import annotations

import numpy as np

from .checks import (
    HypothesisNotMet,
    check_delta,
    check_positive,
    check_radii,
    check_size,
    check_variances,
    of_numbers,
)
from .concentration import covariance_deviation


@of_numbers()
def predictor_deviation(
    m, delta, a, label_variance, rho=1.0, radius2=1.0, label_bound=1.0
) -> float:
    """sup_x |h_S(x) - h*(x)| is at most this with probability 1 - delta.

    So the signs of h_S and h* differ at most where |h*| is at most this.

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
    """|R(h_S)^(1/2) - R(h*)^(1/2)|, R(h) = E(y - h)^2, is at most this.

    With probability 1 - delta: ((A + tau^2)^(1/2) D + s tau)/M, shorter than `predictor_deviation`,
    whose parameters, notation and errors these are.
    """
    change, norm, tau, A = _parts(m, delta, a, label_variance, rho, radius2, label_bound)
    return (np.sqrt(A + tau**2) * change + norm * tau) / label_bound


def _parts(m, delta, a, label_variance, rho, radius2, label_bound):
    """D, s, tau and A."""
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
