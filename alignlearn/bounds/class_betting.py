"""Confidence intervals for the alignment by betting: shorter than `class_intervals` at every m.

The events are those of `class_intervals`, and `betting` bounds each of them. The upper end of the
numerator is the smaller of two forms, each with half of the probability of error. Because of the
mean over random orders, the ends depend little on ``random_state``, which must be chosen without
looking at them.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit
from alignlearn.validation import check_seed

from .betting import betting_lower, betting_upper
from .checks import check_delta, check_size
from .class_intervals import (
    SHARES,
    FeatureRange,
    check_combination,
    check_gram_range,
    check_target,
    class_statistics,
    covariance2_upper,
    interval,
    mean_distance2_upper,
    positive_class,
    ratio,
    share_product_interval,
    target_statistics,
)
from .intervals import Interval

_ORDERS = 30  # of the sums in a direction found before, m^2/2 products each
_PARTITIONS = 100  # into fours and pairs, m entries each


def class_betting_interval(K, y, delta=0.05, features=None, random_state=0) -> Interval:
    """Interval for the alignment of one kernel with two classes, by betting.

    Parameters
    ----------
    K : array (m, m)
        Gram matrix of a kernel chosen without these samples.
    y : array (m,)
        Labels of two values.
    delta : float in (0, 1)
    features : FeatureRange
        Default: R = 1, any sign.
    random_state : int, Generator or None

    Returns
    -------
    Interval

    Raises
    ------
    HypothesisNotMet
        If y has not exactly two values, or K shows that `features` is wrong.
    ValueError
        If delta is not in (0, 1).
    """
    features = FeatureRange() if features is None else features
    return learned_betting_interval([K], [1.0], [features], y, delta, 1, random_state)


def learned_betting_interval(
    grams, weights, features, y, delta=0.05, n_kernels=1, random_state=0
) -> Interval:
    """The interval of `class_betting_interval` for all weights >= 0 of p kernels simultaneously.

    rho = s(1-s) sum_k mu_k d_k^2 / (sum_kl mu_k mu_l b_kl)^(1/2) with b_kl = E[K_kc K_lc]: every
    d_k^2 and every b_kl is bounded, p and p(p+1)/2 of them, so the weights may come from the same
    samples.

    Parameters
    ----------
    grams : iterable of arrays (m, m)
        Gram matrices of the kernels in use, read one at a time.
    weights : sequence of float
        Not negative, not all zero.
    features : sequence of FeatureRange
    y : array (m,)
        Labels of two values.
    delta : float in (0, 1)
    random_state : int, Generator or None
    n_kernels : int
        p, including kernels of weight 0.

    Raises
    ------
    HypothesisNotMet
        If y has not exactly two values, or a Gram matrix shows that `features` is wrong.
    ValueError
        If delta is not in (0, 1), or a weight is negative.
    """
    delta, rng = check_delta(delta), check_seed("random_state", random_state)
    p = check_size(n_kernels, 1, "n_kernels")
    weights, positive = check_combination(weights), positive_class(y)
    L1 = np.log(2 * p / (SHARES[0] * delta))
    L2 = np.log(p * (p + 1) / (SHARES[1] * delta))
    blocks = class_blocks(positive, rng)
    groups = random_groups(len(positive), 4, rng)
    distances, sums = np.zeros(2), []
    for K, w, f in zip(grams, weights, features):
        K = np.ascontiguousarray(K, dtype=np.float64)
        check_gram_range(K, f)
        low, high = norm2_interval(K, blocks, np.sqrt(f.diameter2), L1, L1 + np.log(2))
        m_plus, m_minus, distance, _ = class_statistics(K, y)
        closed = mean_distance2_upper(distance, m_plus, m_minus, L1 + np.log(2), f)
        distances += w * np.array([low, min(high, closed)])
        sums.append(sums_of_fours(K, groups))
    norm2 = _norm2_of_sum(sums, weights, features, L2)
    shares = share_product_interval(m_plus, m_minus, SHARES[2] * delta)
    low = shares[0] * distances[0] / np.sqrt(norm2[1])
    return interval(low, ratio(shares[1] * distances[1], np.sqrt(norm2[0])))


def _norm2_of_sum(sums, weights, features, log_inverse):
    """(low, high) of sum_kl mu_k mu_l b_kl."""
    total = np.zeros(2)
    for k, first in enumerate(sums):
        for other in range(k + 1):
            h = four_point_values(first, sums[other])
            largest = np.sqrt(features[k].four_point * features[other].four_point)
            same = other == k
            ends = product_interval(h, largest, log_inverse, log_inverse, same)
            total += (1 if same else 2) * weights[k] * weights[other] * np.maximum(ends, 0.0)
    return total


def target_betting_interval(
    K, y, label_range, delta=0.05, features=None, random_state=0
) -> Interval:
    """Interval for the alignment of one kernel with a real target, by betting.

    Parameters
    ----------
    K : array (m, m)
        Gram matrix of a kernel chosen without these samples.
    y : float array (m,)
    label_range : (low, high)
        Contains all targets of the distribution.
    delta : float in (0, 1)
    features : FeatureRange
        Default: R = 1, any sign.
    random_state : int, Generator or None

    Raises
    ------
    HypothesisNotMet
        If a target lies outside, or K shows that `features` is wrong.
    ValueError
        If delta is not in (0, 1) or the range is empty.
    """
    delta, rng = check_delta(delta), check_seed("random_state", random_state)
    K, y, features, length2 = check_target(K, y, label_range, features)
    L1, L2, L3 = (-np.log(share * delta / 2) for share in SHARES)
    blocks = target_blocks(y, rng)
    most = np.sqrt(features.diameter2 * length2) / 2
    low, high = norm2_interval(K, blocks, most, L1, L1 + np.log(2))
    closed = covariance2_upper(
        target_statistics(K, y)[0], len(y), L1 + np.log(2), features, length2
    )
    groups = random_groups(len(y), 4, rng)
    norm2 = _norm2_of_sum([sums_of_fours(K, groups)], [1.0], [features], L2)
    pairs = random_groups(len(y), 2, rng)
    half_squares = (y[pairs[..., 0]] - y[pairs[..., 1]]) ** 2 / 2
    variance = product_interval(half_squares, length2 / 2, L3, L3)
    bottom = np.sqrt(norm2[0]) * variance[0]
    top = min(high, closed)
    return interval(low / (np.sqrt(norm2[1]) * variance[1]), top / bottom if bottom > 0 else np.inf)


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


def neighbor_products(K, order, coefficients, size):
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
    """(low, high) for |E d|^2; blocks are identically distributed given the past, |d| <= length.

    Below by betting on the projections, above on products of neighbors.

    Parameters
    ----------
    K : float array (m, m)
    blocks : (order, coefficients, size)
        Arguments of `projections`.
    length : float
    lower, upper : float
        log(1/delta) of each end.
    """
    order, coefficients, size = blocks
    few = order[:_ORDERS], coefficients[:_ORDERS]
    Z = np.zeros((len(few[0]), order.shape[1] // size))
    projections(K, *few, size, Z)
    low = 2 * length * betting_lower((Z / length + 1) / 2, lower) - length
    products = neighbor_products(K, order, coefficients, size)
    U = (products / length**2 + 1) / 2
    high = (2 * betting_upper(U, upper, (2.0, 0.5, 0.1)) - 1) * length**2
    return max(low, 0.0) ** 2, max(min(high, length**2), 0.0)


# -- random orders ---------------------------------------------------------------------


def class_blocks(positive, rng):
    """Blocks of one sample of the smaller class and as many as possible of the other.

    d_i is the feature of the first minus the mean feature of the others, so E d_i is the difference
    of the means of the classes. The order is random and depends only on the labels.
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
