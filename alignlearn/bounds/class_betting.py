"""Confidence intervals for the alignment by betting: shorter than `class_intervals` at every m.

The same events as there, each decided by `betting`; an upper end of the numerator is the smaller of
the two forms, each at half of its share. The mean over random orders makes the ends
depend little on ``random_state``; it must be chosen without looking at them.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation import check_seed

from . import betting
from .checks import check_delta, check_size
from .class_intervals import (
    SHARES,
    FeatureRange,
    check_combination,
    check_gram_range,
    check_label_range,
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
    """The interval of `class_betting_interval` for all weights >= 0 of p kernels at once.

    rho = s(1-s) sum_k mu_k d_k^2 / (sum_kl mu_k mu_l b_kl)^(1/2) with b_kl = E[K_kc K_lc]: every
    d_k^2 and every b_kl is bounded, p and p(p+1)/2 of them, so the weights may come from the same
    samples.

    Parameters
    ----------
    grams : iterable of arrays (m, m)
        Of the kernels that are used; taken one at a time.
    weights : sequence of float
        Not negative, not all zero.
    features : sequence of FeatureRange
    y, delta, random_state
        As in `class_betting_interval`.
    n_kernels : int
        p, those of weight 0 included.

    Raises
    ------
    HypothesisNotMet, ValueError
        As `class_betting_interval`; for negative weights.
    """
    delta, rng = check_delta(delta), check_seed("random_state", random_state)
    p = check_size(n_kernels, 1, "n_kernels")
    weights, positive = check_combination(weights), positive_class(y)
    L1 = np.log(2 * p / (SHARES[0] * delta))
    L2 = np.log(p * (p + 1) / (SHARES[1] * delta))
    blocks = betting.class_blocks(positive, rng)
    groups = betting.random_groups(len(positive), 4, rng)
    distances, sums = np.zeros(2), []
    for K, w, f in zip(grams, weights, features):
        K = np.ascontiguousarray(K, dtype=np.float64)
        check_gram_range(K, f)
        low, high = betting.norm2_interval(K, blocks, np.sqrt(f.diameter2), L1, L1 + np.log(2))
        m_plus, m_minus, distance, _ = class_statistics(K, y)
        closed = mean_distance2_upper(distance, m_plus, m_minus, L1 + np.log(2), f)
        distances += w * np.array([low, min(high, closed)])
        sums.append(betting.sums_of_fours(K, groups))
    norm2 = _norm2_of_sum(sums, weights, features, L2)
    shares = share_product_interval(m_plus, m_minus, SHARES[2] * delta)
    low = shares[0] * distances[0] / np.sqrt(norm2[1])
    return interval(low, ratio(shares[1] * distances[1], np.sqrt(norm2[0])))


def _norm2_of_sum(sums, weights, features, log_inverse):
    """(low, high) of sum_kl mu_k mu_l b_kl."""
    total = np.zeros(2)
    for k, first in enumerate(sums):
        for other in range(k + 1):
            h = betting.four_point_values(first, sums[other])
            largest = np.sqrt(features[k].four_point * features[other].four_point)
            same = other == k
            ends = betting.product_interval(h, largest, log_inverse, log_inverse, same)
            total += (1 if same else 2) * weights[k] * weights[other] * np.maximum(ends, 0.0)
    return total


def target_betting_interval(
    K, y, label_range, delta=0.05, features=None, random_state=0
) -> Interval:
    """Interval for the alignment of one kernel with a real target, by betting.

    Parameters
    ----------
    K, delta, features, random_state
        As in `class_betting_interval`.
    y : float array (m,)
    label_range : (low, high)
        Holds all targets of the distribution.

    Raises
    ------
    HypothesisNotMet
        If a target lies outside, or K shows that `features` is wrong.
    ValueError
        If delta is not in (0, 1) or the range is empty.
    """
    delta, rng = check_delta(delta), check_seed("random_state", random_state)
    K = np.ascontiguousarray(K, dtype=np.float64)
    y = np.ascontiguousarray(y, dtype=np.float64)
    features = FeatureRange() if features is None else features
    check_gram_range(K, features)
    length2 = check_label_range(y, label_range)
    L1, L2, L3 = (-np.log(share * delta / 2) for share in SHARES)
    blocks = betting.target_blocks(y, rng)
    most = np.sqrt(features.diameter2 * length2) / 2
    low, high = betting.norm2_interval(K, blocks, most, L1, L1 + np.log(2))
    closed = covariance2_upper(
        target_statistics(K, y)[0], len(y), L1 + np.log(2), features, length2
    )
    groups = betting.random_groups(len(y), 4, rng)
    norm2 = _norm2_of_sum([betting.sums_of_fours(K, groups)], [1.0], [features], L2)
    pairs = betting.random_groups(len(y), 2, rng)
    half_squares = (y[pairs[..., 0]] - y[pairs[..., 1]]) ** 2 / 2
    variance = betting.product_interval(half_squares, length2 / 2, L3, L3)
    bottom = np.sqrt(norm2[0]) * variance[0]
    top = min(high, closed)
    return interval(low / (np.sqrt(norm2[1]) * variance[1]), top / bottom if bottom > 0 else np.inf)
