"""Confidence bounds by betting: products of 1 + lambda_i (U_i - v) along random orders of a sample.

For U_i in [0, 1] with E[U_i | past] <= v and 0 <= lambda_i <= 1/v chosen from the past, the product
is a non-negative supermartingale that starts from 1. Its mean over orders and partitions that are
drawn independently of the data also has expectation at most 1, so by Markov's inequality it exceeds
1/delta with probability at most delta (Waudby-Smith and Ramdas, 2024). Here lambda_i = min(lambda,
c/v) with lambda the best bet for the mean and variance of the earlier samples. The product then
decreases in v, so that the rejected values v are those below the bound. Proofs:
``p1_alignment/proofs.md``, the section on betting.
"""

from __future__ import annotations

import numpy as np

_MOST = 0.95  # share of the largest bet: a factor is at least 1 - _MOST


def betting_lower(U, log_inverse, prior=(1.0, 0.5, 0.25)):
    """Lower bound of theta, with probability 1 - exp(-log_inverse), where E[U_i | past] <= theta.

    Parameters
    ----------
    U : float array (n, k)
        A row for each order of the sample, entries in [0, 1].
    log_inverse : float > 0
        log(1/delta).
    prior : (count, mean, variance)
        A prior guess of the mean and the variance of U, weighted like ``count`` samples. It affects
        the tightness of the bound, not its validity.

    Returns
    -------
    float in [0, 1]
    """
    U = np.clip(np.asarray(U, dtype=float), 0.0, 1.0)
    if U.size == 0:
        return 0.0
    bets = _bets(U, log_inverse, prior)

    def log_wealth(v):
        gains = np.log1p(np.minimum(bets, _MOST / v) * (U - v)).sum(1)
        top = gains.max()
        return top + np.log(np.mean(np.exp(gains - top))) - log_inverse

    return _falling_root(log_wealth)


def betting_upper(U, log_inverse, prior=(1.0, 0.5, 0.25)):
    """Upper bound of theta, with probability 1 - exp(-log_inverse), where E[U_i | past] >= theta.

    Parameters are those of `betting_lower`.
    """
    count, mean, variance = prior
    return 1.0 - betting_lower(1.0 - np.asarray(U), log_inverse, (count, 1.0 - mean, variance))


def _bets(U, log_inverse, prior):
    """(2 log(1/delta) / (k variance))^(1/2) with the variance of the earlier samples."""
    count, mean, variance = prior
    number = np.arange(U.shape[1]) + count
    before = np.cumsum(U, axis=1) - U
    means = (mean * count + before) / number
    squares = (U - means) ** 2
    spread = (variance * count + np.cumsum(squares, axis=1) - squares) / number
    return np.sqrt(2 * log_inverse / (U.shape[1] * np.maximum(spread, 1e-12)))


def _falling_root(function):
    """The zero of a decreasing function of v in (0, 1], too small by at most 1e-9."""
    low, high = 1e-12, 1.0
    if function(low) < 0:
        return 0.0
    if function(high) >= 0:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if function(middle) >= 0:
            low = middle
        else:
            high = middle
        if high - low < 1e-9:
            break
    return low
