"""From stability to risk: R(h) <= R_S(h) + ... with probability 1 - delta over the sample.

R is the expected squared loss, R_S its mean over the m training points, both in the units of y^2.
The route is that of Bousquet and Elisseeff (2002, JMLR 2) for algorithms whose loss changes by at
most b when one point is exchanged. Notation, P1 and P2 are those of `stability`.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet, check_delta, check_size, of_numbers
from alignlearn.bounds.fitted import exchange_bound

from .stability import lkrr_stability, residual_bound


@of_numbers()
def two_stage_bound(empirical_risk, m, delta, label_bound, kappa, lam0, change) -> float:
    """The correct form of P1's theorem 17.

    `exchange_bound` with L = M1^2/4, M1 = 2 M (1 + (kappa/lam0)^(1/2)/2) and b = M1 sup |Delta h|.

    Parameters
    ----------
    label_bound : float
        M >= |y|.
    kappa : float
        L1 R^2 >= K_mu(x, x).
    change : float
        Bound on |h'(x) - h(x)| over all x and all pairs of samples, for example
        `stability.two_stage_stability_by_weights`.

    Raises
    ------
    ValueError
        As `exchange_bound`, or if lam0 is not positive.
    """
    slope = 2 * residual_bound(label_bound, kappa, lam0)
    return exchange_bound(empirical_risk, m, delta, slope * change, slope**2 / 4)


@of_numbers("empirical_risk")
def two_stage_bound_printed(
    empirical_risk, m, delta, label_bound, kappa, lam0, weight_term=0.0
) -> float:
    """P1's theorem 17 as printed, which is false.

    R_S + 2 M1 M2/m + (1 + 16 M2/M1) M1 M2/4 (log(1/delta)/2m)^(1/2).

    M1 = 2 [1 + (kappa/lam0)^(1/2)] M, M2 = 2 kappa/lam0 [1 + weight_term/(2 lam0)] M.

    Parameters
    ----------
    weight_term : float
        ||Delta mu||_s ||K_c||_{2,t}.

    Raises
    ------
    ValueError
        If m < 1 or delta is not in (0, 1).
    """
    m, delta = check_size(m, 1), check_delta(delta)
    one, two = _printed_constants(label_bound, kappa, lam0, weight_term)
    spread = np.sqrt(np.log(1 / delta) / (2 * m))
    return empirical_risk + 2 * one * two / m + (1 + 16 * two / one) * one * two / 4 * spread


@of_numbers("empirical_risk")
def two_stage_bound_loss_repaired(
    empirical_risk, m, delta, label_bound, kappa, lam0, weight_term=0.0
):
    """Theorem 17 of P1 with one error corrected according to its proof: M1^2/4 for M1 M2/4.

    Parameters and errors are those of `two_stage_bound_printed`. M2 is not corrected.
    """
    m, delta = check_size(m, 1), check_delta(delta)
    one, two = _printed_constants(label_bound, kappa, lam0, weight_term)
    spread = np.sqrt(np.log(1 / delta) / (2 * m))
    return empirical_risk + 2 * one * two / m + (1 + 16 * two / one) * one**2 / 4 * spread


@of_numbers("empirical_risk")
def lkrr_bound_printed(empirical_risk, m, delta, residual, stability) -> float:
    """P2's theorem 3 as printed: R_S + 2 b + (4 m b + M) (log(1/delta)/2m)^(1/2). False for M > 1.

    Parameters
    ----------
    residual : float
        M >= |h(x) - y|.
    stability : float
        b.

    Raises
    ------
    ValueError
        If m < 1 or delta is not in (0, 1).
    """
    m, delta = check_size(m, 1), check_delta(delta)
    spread = np.sqrt(np.log(1 / delta) / (2 * m))
    return empirical_risk + 2 * stability + (4 * m * stability + residual) * spread


@of_numbers()
def lkrr_bound(empirical_risk, m, delta, residual, lam0, kappa_d) -> float:
    """The correct form of P2's theorem 3.

    `exchange_bound` with L = M^2, b = 2 M |Delta h| = 4 M^2 kappa_d/(lam0 m).

    Parameters
    ----------
    residual : float
        M >= |h(x) - y| for all x, y and samples.
    kappa_d : float
        `stability.lkrr_capacity(...).stability`.

    Raises
    ------
    ValueError
        As `exchange_bound`, or if lam0 is not positive.
    """
    b = 2 * residual * lkrr_stability(m, lam0, residual, kappa_d)
    return exchange_bound(empirical_risk, m, delta, b, residual**2)


def _printed_constants(label_bound, kappa, lam0, weight_term):
    if not (lam0 > 0 and label_bound > 0 and kappa >= 0):
        raise HypothesisNotMet("lam0 > 0, M > 0 and K(x, x) <= kappa with kappa >= 0 are needed.")
    one = 2 * (1 + np.sqrt(kappa / lam0)) * label_bound
    return one, 2 * kappa / lam0 * (1 + weight_term / (2 * lam0)) * label_bound
