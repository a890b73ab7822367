"""Closed-form confidence intervals for the alignment with class labels or real targets.

Differences from `intervals`: the labels enter through their share or their variance, which are
scalars; the norm of the kernel is self-bounding, so that its deviation is relative; and the
expected bias of the squared norm is subtracted. Proofs: ``p1_alignment/proofs.md``, the sections on
the closed form and on real targets.

Notation: K(x, x) <= R^2, D the largest distance of two features, A = (E K_c^2)^(1/2), A_S =
||K_c||_F / m, d the distance between the means of the classes in feature space and d_S that on the
sample, s = P(y = 1). For labels of two classes rho = s (1 - s) d^2 / A, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.validation import check_flag, check_numbers

from .binomial import clopper_pearson
from .checks import HypothesisNotMet, check_delta, check_positive, check_size, of_numbers
from .intervals import Interval, check_entries

# Shares of delta / 2 for each end: the numerator, the norm of the kernel, the labels.
SHARES = (0.45, 0.45, 0.10)


@dataclass(frozen=True)
class FeatureRange:
    """What is known about the features of a kernel over the whole distribution.

    Attributes
    ----------
    radius2 : float
        R^2 >= K(x, x); units of the kernel.
    non_negative : bool
        Whether K(x, x') >= 0 for all x, x'.

    Raises
    ------
    HypothesisNotMet
        If radius2 is not positive and finite.
    """

    radius2: float = 1.0
    non_negative: bool = False

    def __post_init__(self):
        text = "K(x, x) <= R^2 needs a positive finite R^2."
        object.__setattr__(self, "radius2", check_positive("radius2", self.radius2, text))
        check_flag("non_negative", self.non_negative)

    @property
    def diameter2(self) -> float:
        """D^2 >= K(x, x) + K(x', x') - 2 K(x, x')."""
        return (2.0 if self.non_negative else 4.0) * self.radius2

    @property
    def fourth_moment(self) -> float:
        """Upper bound of E[K_c(x, x)^2]."""
        return (1.0 if self.non_negative else 4.0 / 3.0) * self.radius2**2

    @property
    def four_point(self) -> float:
        """Upper bound of h, three quarters of the variance of the three sums over four points."""
        return (2.0 if self.non_negative else 8.0) / 3.0 * self.radius2**2


# -- the norm of a kernel, or the variance of a target ---------------------------------


@of_numbers()
def spread_upper(norm, m, log_inverse, diameter2) -> float:
    """A is at most this with probability 1 - exp(-log_inverse).

    (D^2/m) [(cL/2)^(1/2) + (m^2 A_S/(D^2 (m-1)) + cL/2)^(1/2)]^2 with c = m/(m-1); no bias term.

    Parameters
    ----------
    norm : float >= 0
        A_S = ||K_c||_F / m; for a target the variance with divisor m.
    m : int >= 2
    log_inverse : float > 0
        L = log(1/delta).
    diameter2 : float > 0
        D^2; for a target the squared length of an interval that holds it.
    """
    m = check_size(m)
    half = m / (m - 1) * log_inverse / 2
    root = np.sqrt(half) + np.sqrt(m * m * norm / (diameter2 * (m - 1)) + half)
    return diameter2 / m * root**2


@of_numbers()
def expected_spread_lower(norm, m, log_inverse, diameter2) -> float:
    """(m/(m-1)) E A_S is at least this with probability 1 - exp(-log_inverse).

    (D^2/m) e with e the root of e + c'L + ((c'L)^2 + 2Lce)^(1/2) = m^2 A_S/(D^2 (m-1)), c = m/(m-1)
    and c' = (3c-1)/6. For a target this bounds the variance itself.

    Parameters are those of `spread_upper`.
    """
    m = check_size(m)
    c = m / (m - 1)
    shift = (3 * c - 1) / 6 * log_inverse
    # (x - e)^2 = shift^2 + 2 L c e for x = f - shift is a quadratic equation in e.
    x = m * m * norm / (diameter2 * (m - 1)) - shift
    if x <= shift:
        return 0.0
    half = x + log_inverse * c
    return (
        diameter2
        / m
        * max((x * x - shift * shift) / (half + np.sqrt(half**2 - x**2 + shift**2)), 0.0)
    )


def spread_lower(norm, m, log_inverse, features: FeatureRange) -> float:
    """A is at least this with probability 1 - exp(-log_inverse).

    The square of `expected_spread_lower` is at most ((m/(m-1)) E A_S)^2 <= (m/(m-1))^2 E A_S^2, and
    E A_S^2 = [(m-1)(m^2-2m+2) A^2 + (m-1)^2 kappa + (m-1) t^2]/m^3 with kappa and t bounded by
    `FeatureRange.fourth_moment` and R^2.

    Parameters are those of `spread_upper` and a `FeatureRange`.
    """
    low = expected_spread_lower(norm, m, log_inverse, features.diameter2) * (m - 1) / m
    return float(np.sqrt(_without_bias(low, m, features.fourth_moment, features.radius2**2)))


def _without_bias(norm, m, kappa, tt):
    """||C||^2 from a lower bound of E ||C_S||, at least 0."""
    excess = m**3 * norm**2 - (m - 1) ** 2 * kappa - (m - 1) * tt
    return max(excess, 0.0) / ((m - 1) * (m * m - 2 * m + 2))


# -- two classes -----------------------------------------------------------------------


def share_product_interval(m_plus, m_minus, delta):
    """(low, high) of s (1 - s) with probability 1 - delta, from the counts of the two classes.

    Raises
    ------
    ValueError
        If delta is not in (0, 1) or both counts are 0.
    """
    delta = check_delta(delta)
    low, high = clopper_pearson(m_plus, m_plus + m_minus, delta / 2, delta / 2)
    ends = low * (1 - low), high * (1 - high)
    return min(ends), 0.25 if low <= 0.5 <= high else max(ends)


@of_numbers()
def mean_distance_slack(m_plus, m_minus, log_inverse, diameter2) -> float:
    """d_S exceeds its mean, or falls below it, by this with probability at most exp(-log_inverse).

    D (L (1/m_+ + 1/m_-)/2)^(1/2), given the labels.
    """
    return np.sqrt(diameter2 * log_inverse * (1 / m_plus + 1 / m_minus) / 2)


def mean_distance2_lower(distance, m_plus, m_minus, log_inverse, features: FeatureRange) -> float:
    """d^2 is at least this with probability 1 - exp(-log_inverse).

    (d_S - t)_+^2 - R^2 (1/m_+ + 1/m_-), at least 0, with t = `mean_distance_slack`.
    """
    slack = mean_distance_slack(m_plus, m_minus, log_inverse, features.diameter2)
    bias = features.radius2 * (1 / m_plus + 1 / m_minus)
    return max(max(distance - slack, 0.0) ** 2 - bias, 0.0)


def mean_distance2_upper(distance, m_plus, m_minus, log_inverse, features: FeatureRange) -> float:
    """d^2 is at most this with probability 1 - exp(-log_inverse): (d_S + t)^2, and D^2 always."""
    slack = mean_distance_slack(m_plus, m_minus, log_inverse, features.diameter2)
    return min((distance + slack) ** 2, features.diameter2)


def class_interval_from(m_plus, m_minus, delta, distance, norm, features=None) -> Interval:
    """Interval for the alignment with two classes at level 1 - delta, in closed form.

    Parameters
    ----------
    m_plus, m_minus : int >= 1
        Number of samples of each class.
    delta : float in (0, 1)
    distance : float
        d_S; its square has the units of the kernel.
    norm : float
        A_S = ||K_c||_F / m, in units of the kernel.
    features : FeatureRange
        Default: R = 1, any sign.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If a class has no sample, delta is not in (0, 1), or the norm is larger than R^2.
    """
    features = FeatureRange() if features is None else features
    return learned_class_interval(m_plus, m_minus, delta, [distance], [norm], [1.0], [features], 1)


def learned_class_interval(
    m_plus, m_minus, delta, distances, norms, weights, features, n_kernels
) -> Interval:
    """The interval of `class_interval_from` for all weights >= 0 of p kernels simultaneously.

    d^2 = sum_k mu_k d_k^2 and (sum_k mu_k^2 A_k^2)^(1/2) <= A <= sum_k mu_k A_k, and every d_k and
    A_k is bounded with 1/p of the error probability, so the weights may come from the same samples.

    Parameters
    ----------
    m_plus, m_minus : int >= 1
        Number of samples of each class.
    delta : float in (0, 1)
    distances, norms, weights : sequences of float
        Of the kernels that are used: d_S, A_S, and mu >= 0.
    features : sequence of FeatureRange
    n_kernels : int
        p, including kernels of weight 0.

    Raises
    ------
    ValueError
        If a class has no sample, delta is not in (0, 1), a norm is larger than R^2, or a weight is
        negative.
    """
    delta, p = check_delta(delta), check_size(n_kernels, 1, "n_kernels")
    m_plus, m_minus = (check_size(n, 1, "m of a class") for n in (m_plus, m_minus))
    check_combination(weights)
    m = m_plus + m_minus
    L1, L2 = (np.log(2 * p / (share * delta)) for share in SHARES[:2])
    least, most = share_product_interval(int(m_plus), int(m_minus), SHARES[2] * delta)
    near = far = wide = narrow = 0.0
    for distance, norm, w, f in zip(distances, norms, weights, features):
        _check_norm(norm, f)
        near += w * mean_distance2_lower(distance, m_plus, m_minus, L1, f)
        far += w * mean_distance2_upper(distance, m_plus, m_minus, L1, f)
        wide += w * spread_upper(norm, m, L2, f.diameter2)
        narrow += (w * spread_lower(norm, m, L2, f)) ** 2
    return interval(least * near / wide, ratio(most * far, np.sqrt(narrow)))


def check_combination(weights):
    """Nonnegative weights with a positive one; raises HypothesisNotMet otherwise."""
    weights = np.asarray(weights, dtype=float)
    if not (weights >= 0).all() or not weights.any():
        raise HypothesisNotMet("weights must not be negative, and one of them must be positive.")
    return weights


def interval(low, high) -> Interval:
    """The interval [low, high] clipped to [0, 1]."""
    low, high = min(max(float(low), 0.0), 1.0), min(max(float(high), 0.0), 1.0)
    return Interval(min(low, high), high, bool(low <= 0 and high >= 1))


def ratio(top, bottom):
    """top / bottom, infinite if the bottom is 0 or has no positive bound."""
    return top / bottom if bottom > 0 else np.inf


def _check_norm(norm, features):
    if not 0 <= norm <= features.radius2 * (1 + 1e-9):
        raise HypothesisNotMet(
            "||K_c||_F/m is negative or exceeds R^2, so K(x, x) <= R^2 does not hold."
        )


def class_statistics(K, y):
    """(m_+, m_-, d_S, A_S) of a Gram matrix and labels of two different values.

    Raises
    ------
    HypothesisNotMet
        If the labels do not have exactly two values.
    """
    K, positive = np.asarray(K, dtype=float), positive_class(y)
    n = int(positive.sum())
    signs = np.where(positive, 1 / n, -1 / (len(K) - n))
    distance = np.sqrt(max(float(signs @ K @ signs), 0.0))
    return n, len(K) - n, distance, centered_norm(K)


def positive_class(y):
    """A mask of the labels with the larger of the two values."""
    values, index = np.unique(np.asarray(y), return_inverse=True)
    if len(values) != 2:
        raise HypothesisNotMet(f"y has {len(values)} classes; this interval is for two classes.")
    return index.ravel() == 1


def centered_norm(K):
    """||K_c||_F / m, 0 if only rounding is left after centering."""
    K = np.asarray(K, dtype=float)
    means = K.mean(0)
    norm = np.linalg.norm(K - means - means[:, None] + means.mean()) / len(K)
    return float(norm) if norm > 1e-14 * np.abs(K).max() else 0.0


def check_gram_range(K, features):
    """Raise HypothesisNotMet if a Gram matrix shows that its `FeatureRange` is wrong."""
    if features.non_negative and K.min() < -1e-9 * features.radius2:
        raise HypothesisNotMet("the kernel takes negative values, so K(x, x') >= 0 does not hold.")
    check_entries(K, features.radius2)


# -- real targets ----------------------------------------------------------------------


def check_label_range(y, label_range):
    """The squared length of the interval of all labels, checked against the sample."""
    given = check_numbers("label_range", label_range, 2).tolist()
    y = np.asarray(y, dtype=float)
    if len(given) != 2 or not given[0] < given[1]:
        raise ValueError(f"label_range={label_range!r}; accepted: (low, high) with low < high.")
    if y.min() < given[0] or y.max() > given[1]:
        raise HypothesisNotMet(
            f"label_range={label_range!r} does not contain the labels, which lie in "
            f"[{y.min():.4g}, {y.max():.4g}]."
        )
    return (given[1] - given[0]) ** 2


def check_target(K, y, label_range, features):
    """K and y as contiguous float64, the `FeatureRange`, and the result of `check_label_range`."""
    K = np.ascontiguousarray(K, dtype=np.float64)
    y = np.ascontiguousarray(y, dtype=np.float64)
    features = FeatureRange() if features is None else features
    check_gram_range(K, features)
    return K, y, features, check_label_range(y, label_range)


def _covariance_slack(m, log_inverse, features, length2):
    return np.sqrt(features.diameter2 * length2 * log_inverse / (2 * m)) * (m - 1) / m


def covariance2_upper(covariance, m, log_inverse, features, length2):
    """|c|^2 is at most this with probability 1 - exp(-log_inverse).

    ((m/(m-1)) |c_S| + D D' (log_inverse/(2m))^(1/2))^2, D' the length of the labels' range.
    """
    slack = _covariance_slack(m, log_inverse, features, length2)
    return ((covariance + slack) * m / (m - 1)) ** 2


def target_interval_from(m, delta, covariance, norm, variance, features, length2) -> Interval:
    """Interval for the alignment with a real target at level 1 - delta, in closed form.

    rho = |c|^2/(A V) with c the covariance of features and target, V the variance of the target.

    Parameters
    ----------
    m : int >= 2
    delta : float in (0, 1)
    covariance : float
        |c_S| = (<K_c, yy'>_F)^(1/2) / m.
    norm : float
        A_S = ||K_c||_F / m.
    variance : float
        Of the target on the sample, with divisor m.
    features : FeatureRange
    length2 : float
        Squared length of an interval that holds all targets.

    Raises
    ------
    ValueError
        If m < 2, delta is not in (0, 1), the norm is larger than R^2 or the variance than a
        quarter of length2.
    """
    delta, m = check_delta(delta), int(check_size(m))
    _check_norm(norm, features)
    if not 0 <= variance <= length2 / 4 * (1 + 1e-9):
        raise HypothesisNotMet("the variance of the labels is larger than their range allows.")
    L1, L2, L3 = (-np.log(share * delta / 2) for share in SHARES)
    slack = _covariance_slack(m, L1, features, length2)
    # E y_c^4 <= (4/3)(length/2)^4 as E K_c(x, x)^2 <= 4/3 R^4, then the Cauchy-Schwarz inequality.
    kappa = np.sqrt(features.fourth_moment * 4 / 3) * length2 / 4
    expected = max(covariance - slack, 0.0)
    low = _without_bias(expected, m, kappa, features.radius2 * length2 / 4)
    low /= spread_upper(norm, m, L2, features.diameter2) * spread_upper(variance, m, L3, length2)
    least = expected_spread_lower(variance, m, L3, length2)
    high = covariance2_upper(covariance, m, L1, features, length2)
    return interval(low, ratio(high, spread_lower(norm, m, L2, features) * least))


def target_statistics(K, y):
    """(|c_S|, A_S, variance) of a Gram matrix and real targets."""
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    y = y - y.mean()
    covariance = np.sqrt(max(float(y @ K @ y), 0.0)) / len(y)
    return covariance, centered_norm(K), float(y @ y) / len(y)
