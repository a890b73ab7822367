"""Confidence intervals for the alignment by betting: shorter than `class_intervals` at every m.

The same events as there, each decided by `betting`. The mean over random orders makes the ends
depend little on ``random_state``; it must be chosen without looking at them.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation import check_seed

from . import betting
from .checks import HypothesisNotMet, check_delta
from .class_intervals import (
    SHARES,
    FeatureRange,
    check_gram_range,
    check_label_range,
    interval,
    positive_class,
    share_product_interval,
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
    return learned_betting_interval([K], [1.0], y, delta, [features], random_state)


def learned_betting_interval(
    grams, weights, y, delta=0.05, features=None, random_state=0
) -> Interval:
    """The interval of `class_betting_interval` for all weights >= 0 of p kernels at once.

    rho = s(1-s) sum_k mu_k d_k^2 / (sum_kl mu_k mu_l b_kl)^(1/2) with b_kl = E[K_kc K_lc]: every
    d_k^2 and every b_kl is bounded, p and p(p+1)/2 of them, so the weights may come from the same
    samples.

    Parameters
    ----------
    grams : sequence of p arrays (m, m)
    weights : array (p,)
        Not negative, not all zero.
    y, delta, random_state
        As in `class_betting_interval`.
    features : sequence of p FeatureRange, optional

    Raises
    ------
    HypothesisNotMet, ValueError
        As `class_betting_interval`; for negative weights.
    """
    delta, rng = check_delta(delta), check_seed("random_state", random_state)
    grams = [np.ascontiguousarray(K, dtype=np.float64) for K in grams]
    weights = np.asarray(weights, dtype=float)
    features = [None] * len(grams) if features is None else features
    features = [FeatureRange() if f is None else f for f in features]
    if (weights < 0).any() or not weights.any():
        raise HypothesisNotMet("weights must not be negative, and one of them must be positive.")
    positive = positive_class(y)
    for K, f in zip(grams, features):
        check_gram_range(K, f)
    p = len(grams)
    L1 = np.log(2 * p / (SHARES[0] * delta))
    L2 = np.log(p * (p + 1) / (SHARES[1] * delta))
    blocks = betting.class_blocks(positive, rng)
    distances = np.zeros(2)
    for K, f, w in zip(grams, features, weights):
        if w > 0:
            ends = betting.norm2_interval(K, blocks, np.sqrt(f.diameter2), L1, L1)
            distances += w * np.array(ends)
    groups = betting.random_groups(len(positive), 4, rng)
    norm2 = _norm2_of_sum(grams, weights, features, groups, L2)
    n = int(positive.sum())
    shares = share_product_interval(n, len(positive) - n, SHARES[2] * delta)
    high = shares[1] * distances[1] / np.sqrt(norm2[0]) if norm2[0] > 0 else np.inf
    return interval(shares[0] * distances[0] / np.sqrt(norm2[1]), high)


def _norm2_of_sum(grams, weights, features, groups, log_inverse):
    """(low, high) of sum_kl mu_k mu_l b_kl."""
    used = np.flatnonzero(weights > 0)
    sums = {k: betting.sums_of_fours(grams[k], groups) for k in used}
    total = np.zeros(2)
    for k in used:
        for other in used[used <= k]:
            h = betting.four_point_values(sums[k], sums[other])
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
    covariance2 = betting.norm2_interval(K, blocks, most, L1, L1)
    groups = betting.random_groups(len(y), 4, rng)
    norm2 = _norm2_of_sum([K], np.ones(1), [features], groups, L2)
    pairs = betting.random_groups(len(y), 2, rng)
    half_squares = (y[pairs[..., 0]] - y[pairs[..., 1]]) ** 2 / 2
    variance = betting.product_interval(half_squares, length2 / 2, L3, L3)
    low = covariance2[0] / (np.sqrt(norm2[1]) * variance[1])
    bottom = np.sqrt(norm2[0]) * variance[0]
    return interval(low, covariance2[1] / bottom if bottom > 0 else np.inf)
