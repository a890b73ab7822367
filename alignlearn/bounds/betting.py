"""Confidence bounds by betting: products of 1 + lambda_i (U_i - v) along random orders of a sample.

For U_i in [0, 1] with E[U_i | past] <= v and 0 <= lambda_i <= 1/v chosen from the past, the product
is a non-negative supermartingale that starts from 1. Its mean over orders and partitions drawn
without looking at the data has expectation at most 1 as well, so by Markov's inequality it exceeds
1/delta with probability at most delta (Waudby-Smith and Ramdas, 2024). Here lambda_i = min(lambda,
c/v) with lambda the best bet for the mean and variance seen before, which makes the product fall
in v: the values v that are rejected are those below the bound. Proofs: ``p1_alignment/proofs.md``,
the section on betting.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit

_MOST = 0.95  # of the largest bet: a factor is at least 1 - _MOST
_ORDERS = 30  # of the sums in a direction found before, m^2/2 products each
_PARTITIONS = 100  # into fours and pairs, m entries each


def betting_lower(U, log_inverse, prior=(1.0, 0.5, 0.25)):
    """Lower bound of theta, with probability 1 - exp(-log_inverse), where E[U_i | past] <= theta.

    Parameters
    ----------
    U : float array (n, k)
        A row for each order of the sample, entries in [0, 1].
    log_inverse : float > 0
        log(1/delta).
    prior : (count, mean, variance)
        Guess at the mean and the variance of U, and how many samples it is worth. It moves the
        length of the bound and not its validity.

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
    """(2 log(1/delta) / (k variance))^(1/2) with the variance of what came before."""
    count, mean, variance = prior
    number = np.arange(U.shape[1]) + count
    before = np.cumsum(U, axis=1) - U
    means = (mean * count + before) / number
    squares = (U - means) ** 2
    spread = (variance * count + np.cumsum(squares, axis=1) - squares) / number
    return np.sqrt(2 * log_inverse / (U.shape[1] * np.maximum(spread, 1e-12)))


def _falling_root(function):
    """Where a falling function of v in (0, 1] crosses 0, from below by 1e-9 at most."""
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


# -- sums over blocks ------------------------------------------------------------------


@jit
def projections(K, order, coefficients, size, out):
    """Z_i = <w_{i-1}, d_i>, w_{i-1} the direction of d_1 + ... + d_{i-1}; Z_1 = 0.

    Parameters
    ----------
    K : float array (m, m)
    order : int array (n, k size)
        In each row k blocks of `size` samples; d_i is the sum of the features of a block.
    coefficients : float array (n, k size)
        Factors of the features.
    size : int
    out : float array (n, k)
    """
    for r in range(order.shape[0]):
        chosen, factor = order[r], coefficients[r]
        total = 0.0
        for i in range(out.shape[1]):
            first = i * size
            past = own = 0.0
            for a in range(first, first + size):
                row = K[chosen[a]]
                inner = 0.0
                for b in range(first):
                    inner += factor[b] * row[chosen[b]]
                past += factor[a] * inner
                for b in range(first, first + size):
                    own += factor[a] * factor[b] * row[chosen[b]]
            out[r, i] = past / np.sqrt(total) if total > 0.0 else 0.0
            total += 2.0 * past + own


def neighbour_products(K, order, coefficients, size):
    """<d_1, d_2>, <d_3, d_4>, ... of the blocks of `projections`; (n, k // 2)."""
    n, k = order.shape[0], order.shape[1] // size
    shape = n, k // 2, 2, size
    used = k // 2 * 2 * size
    o, c = order[:, :used].reshape(shape), coefficients[:, :used].reshape(shape)
    total = np.zeros(shape[:2])
    for a in range(size):
        for b in range(size):
            total += c[:, :, 0, a] * c[:, :, 1, b] * K[o[:, :, 0, a], o[:, :, 1, b]]
    return total


def norm2_interval(K, blocks, length, lower, upper):
    """(low, high) for |E d|^2, the blocks of equal law given the past, |d| <= length.

    Below by betting on the projections, above on products of neighbours.

    Parameters
    ----------
    K : float array (m, m)
    blocks : (order, coefficients, size)
        As `projections` takes them.
    length : float
    lower, upper : float
        log(1/delta) of either end.
    """
    order, coefficients, size = blocks
    few = order[:_ORDERS], coefficients[:_ORDERS]
    Z = np.zeros((len(few[0]), order.shape[1] // size))
    projections(K, *few, size, Z)
    low = 2 * length * betting_lower((Z / length + 1) / 2, lower) - length
    products = neighbour_products(K, order, coefficients, size)
    U = (products / length**2 + 1) / 2
    high = (2 * betting_upper(U, upper, (2.0, 0.5, 0.1)) - 1) * length**2
    return max(low, 0.0) ** 2, max(min(high, length**2), 0.0)


# -- random orders ---------------------------------------------------------------------


def class_blocks(positive, rng):
    """Blocks of one sample of the smaller class and as many as possible of the other.

    d_i is the feature of the first minus the mean feature of the others, so E d_i is the difference
    of the means of the classes. The order is random and depends on the labels alone.
    """
    small, large = np.flatnonzero(positive), np.flatnonzero(~positive)
    if len(small) > len(large):
        small, large = large, small
    k, r = len(small), len(large) // len(small)
    order = np.empty((_PARTITIONS, k, r + 1), dtype=np.int64)
    for row in order:
        row[:, 0] = rng.permutation(small)
        row[:, 1:] = rng.permutation(large)[: k * r].reshape(k, r)
    factors = np.r_[1.0, np.full(r, -1.0 / r)]
    coefficients = np.tile(factors, (_PARTITIONS, k))
    return order.reshape(_PARTITIONS, -1), coefficients, r + 1


def target_blocks(y, rng):
    """Pairs of samples with d = (phi - phi')(y - y')/2, whose mean is the covariance."""
    order = random_groups(len(y), 2, rng).reshape(_PARTITIONS, -1)
    difference = (y[order[:, ::2]] - y[order[:, 1::2]]) / 2
    coefficients = np.stack([difference, -difference], axis=2)
    return order, coefficients.reshape(order.shape), 2


def random_groups(m, size, rng):
    """Random partitions of 0, ..., m-1 into groups; (partitions, m // size, size)."""
    k = m // size
    ranks = np.argsort(rng.random((_PARTITIONS, m)), axis=1)
    return ranks[:, : k * size].reshape(_PARTITIONS, k, size)


def sums_of_fours(K, groups):
    """K_12 + K_34, K_13 + K_24, K_14 + K_23 of every group of four; (3, partitions, k)."""
    a, b, c, d = np.moveaxis(groups, 2, 0)
    return np.stack([K[a, b] + K[c, d], K[a, c] + K[b, d], K[a, d] + K[b, c]])


def four_point_values(S, T):
    """h = (3/4) cov_3(S, T), whose mean is E[K_c K'_c]; from `sums_of_fours`."""
    return 0.75 * (np.mean(S * T, axis=0) - S.mean(0) * T.mean(0))


def product_interval(h, largest, lower, upper, same=True):
    """(low, high) for E h from values in [0, largest], or in [-largest, largest] if not `same`."""
    if same:
        U, prior = h / largest, (2.0, 0.1, 0.02)
        return largest * betting_lower(U, lower, prior), largest * betting_upper(U, upper, prior)
    U, prior = (h / largest + 1) / 2, (2.0, 0.55, 0.005)
    low, high = betting_lower(U, lower, prior), betting_upper(U, upper, prior)
    return largest * (2 * low - 1), largest * (2 * high - 1)
