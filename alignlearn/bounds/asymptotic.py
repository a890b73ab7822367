"""An approximate confidence interval for the alignment, for comparison with the exact ones.

rho_U = U_xy/(U_x U_y)^(1/2), the ratio of unbiased statistics (unbiased HSIC), is normal around rho
as m grows (delta method); its variance is that of the jackknife. There is no guarantee for a given
m; docs/guide/alignment-intervals.md has the coverage in simulations.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from .checks import check_delta, check_size
from .intervals import Interval


def asymptotic_interval(K, L, delta=0.05) -> Interval:
    """Interval for the population alignment whose coverage tends to 1 - delta as m grows.

    rho_U +- z s with s^2 = ((m-1)/m) sum_i (rho_-i - mean)^2, rho_-i without sample i, and z the
    normal quantile of 1 - delta/2; cut to [0, 1].

    Parameters
    ----------
    K, L : float arrays (m, m), m >= 5
        Symmetric; ``np.outer(y, y)`` for a target.
    delta : float in (0, 1)

    Returns
    -------
    Interval
        [0, 1] if a variance is not positive, on the sample or on the sample without one point.

    Raises
    ------
    ValueError
        If m < 5 or delta is not in (0, 1).
    """
    delta, m = check_delta(delta), int(check_size(len(K), 5))
    K, L = _off_diagonal(K), _off_diagonal(L)
    (cross, without), (first, firsts), (second, seconds) = (
        _statistics(*pair) for pair in ((K, L), (K, K), (L, L))
    )
    if min(first, second, firsts.min(), seconds.min()) <= 0:
        return Interval(0.0, 1.0, True)
    middle = cross / np.sqrt(first * second)
    each = without / np.sqrt(firsts * seconds)
    error = np.sqrt((m - 1) / m * np.sum((each - each.mean()) ** 2))
    half = NormalDist().inv_cdf(1 - delta / 2) * error
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in (middle - half, middle + half))
    return Interval(low, high, bool(low <= 0 and high >= 1))


def _off_diagonal(K):
    """A copy with 0 on the diagonal, in units of its largest entry."""
    K = np.array(K, dtype=float)
    np.fill_diagonal(K, 0.0)
    return K / (np.abs(K).max() or 1.0)


def _statistics(K, L):
    """Unbiased HSIC of all samples, and (m,) without each one, of matrices with a diagonal of 0.

    [sum K_ij L_ij + sum K sum L/((m-1)(m-2)) - 2 sum_i r_i t_i/(m-2)]/(m(m-3)), r and t the sums of
    the rows.
    """
    m, r, t = len(K), K.sum(1), L.sum(1)
    products = np.einsum("ij,ij->i", K, L)
    whole = products.sum(), r.sum(), t.sum(), r @ t
    less = products.sum() - 2 * products, r.sum() - 2 * r, t.sum() - 2 * t
    # Without sample i, every other row sum is smaller by its entry in column i.
    rows = r @ t - r * t - K @ t - L @ r + products
    return _ratio(m, *whole), _ratio(m - 1, *less, rows)


def _ratio(m, products, first, second, rows):
    return (products + first * second / ((m - 1) * (m - 2)) - 2 * rows / (m - 2)) / (m * (m - 3))
