"""Bounds on the risk of predictors whose kernel was learned on the same sample.

The predictor is h = sum_k f_k + b, f_k in the space of the kernel K_k, K_k(x, x) <= R_k^2. Its
size is N(h) = sum_k R_k ||f_k|| + |b|. The predictors with N(h) <= g are the class of radius g of
the learned combinations of K_k/R_k^2 and the constant kernel 1 (`rademacher`, q = 1). It contains h
for any weights, however they were chosen. The bounds therefore hold for all weights, all norms and
all C simultaneously.

Margins, and clipped regression. Let the loss be l(h) in [0, 1] and s-Lipschitz in h(x), and take g
from a fixed list of J numbers. Exchanging a point changes sup (R - R_S) - 2 Rad_S(l o class) by
3/m at most, its mean is at most 0, and Rad_S(l o class) <= s g Rad_S, Rad_S the complexity for g =
1. Hence with probability 1 - delta, for all h with N(h) <= g and all g of the list, R <= R_S + 2 s
g Rad_S + 3 (log(J/delta)/2m)^(1/2). For labels +-1 h is divided by N(h)/g first, which does not
change its signs, so every h has every g of the list: l is the ramp loss min(1, max(0, 1 - y h)), s
= 1. For labels in an interval of length W around 0 the prediction is clipped to it, l = (clip h -
y)^2/W^2, s = 2/W, and N(h)/W is compared with the list.

Rad_S by random signs. The mean of n independent draws changes by at most 2/(m n) when one sign
changes, so with probability 1 - delta it is too small by at most (2 log(1/delta)/(m n))^(1/2).

Random predictors (PAC-Bayes). For shares pi_k >= 0 with sum 1 let G be the Gaussian process with
the covariance sum_k pi_k K_k/R_k^2 + pi_0, which has the variance v(x), and Q its shift by c h/L,
L^2 = sum_k R_k^2 ||f_k||^2/pi_k + b^2/pi_0: the divergence of Q from the unshifted process is
c^2/2. The loss 1[y g(x) < t v(x)^(1/2)] (1 where v(x) = 0) has under Q the mean Phi(t - c y
h(x)/(L v(x)^(1/2))), which is at least Phi(t) where h errs. By Maurer (2004) with probability 1 -
delta for all c and h, kl(mean over the sample, expectation) <= (c^2/2 + log(2 m^(1/2)/delta))/m,
and the risk of h is at most the expectation over Phi(t). The shares are rounded to multiples of
1/n_shares, t is one of a list, and delta is divided by the number of such choices.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from .checks import HypothesisNotMet, check_delta, check_size
from .guarantee import SAMPLE

SHARES = 16
LEVELS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0])


class LearnedBound(NamedTuple):
    """A bound and its parts.

    Attributes
    ----------
    value : float
    empirical : float
        Mean loss on the sample.
    complexity : float
        The term for the size of the class; for PAC-Bayes the right-hand side of kl <= ..
    ratio : float
        N(h) over the margin (or over the range of the labels): the g of the list; for PAC-Bayes c.
    hypotheses, not_met : tuple of str
        The assumptions, and those that are not met, as in
        `alignlearn.bounds.guarantee.Guarantee`.
    """

    value: float
    empirical: float
    complexity: float
    ratio: float
    hypotheses: tuple[str, ...] = ()
    not_met: tuple[str, ...] = ()


_CLASS = (
    SAMPLE,
    "kernels chosen without these samples, K_k(x, x) <= R_k^2 in the size of the predictor",
    "a complexity that holds for these samples",
)


def ratio_list(m, least=1.0) -> np.ndarray:
    """The list of radii g: m^(1/2)/2, decreasing by factors of 2^(1/2) to `least`.

    They depend only on m. A margin bound is vacuous for g < 1, where every loss is positive.
    """
    m = check_size(m, 1)
    steps = max(0, int(np.floor(2 * np.log2(np.sqrt(m) / 2 / least) + 1e-9)))
    return np.sqrt(m) / 2 / np.sqrt(2.0) ** np.arange(steps + 1)


def sampled_complexity(mean, m, draws, delta) -> float:
    """An upper bound, with probability 1 - delta, of the complexity from its mean over draws.

    Parameters
    ----------
    mean : float
        Mean for radius 1 and kernels with K_k(x, x) <= 1.
    m, draws : int
        Samples and draws; no draws mean that all signs were enumerated.
    """
    check_delta(delta)
    if draws == 0:
        return float(mean)
    return float(mean + np.sqrt(2 * np.log(1 / delta) / (check_size(m, 1) * draws)))


def ramp_loss(margins) -> np.ndarray:
    """min(1, max(0, 1 - margin)), elementwise."""
    return np.clip(1.0 - np.asarray(margins, dtype=float), 0.0, 1.0)


def margin_bound(margins, size, complexity, delta) -> LearnedBound:
    """Bound on the probability of error of sign(h), for learned weights.

    Parameters
    ----------
    margins : array (m,)
        y_i h(x_i).
    size : float
        N(h).
    complexity : float
        Of the class of radius 1.
    delta : float in (0, 1)

    Raises
    ------
    ValueError
        If a number is out of range.
    """
    margins = _checked(margins, size, complexity)
    delta, m = check_delta(delta), len(margins)
    ratios = ratio_list(m)
    spread = 3 * np.sqrt(np.log(len(ratios) / delta) / (2 * m))
    best = None
    for ratio in ratios:
        scaled = margins * (ratio / size) if size > 0 else margins
        empirical = float(ramp_loss(scaled).mean())
        added = 2 * ratio * complexity + spread
        if best is None or empirical + added < best.value:
            numbers = float(empirical + added), empirical, float(added), float(ratio)
            best = LearnedBound(*numbers, _CLASS)
    return best


def clipped_bound(residuals, size, width, complexity, delta) -> LearnedBound:
    """Bound of the mean squared error of predictions clipped to the range of the labels.

    Parameters
    ----------
    residuals : array (m,)
        clip(h(x_i)) - y_i.
    size : float
        N(h - middle of the range).
    width : float
        W, the length of the range.
    complexity : float
        Rademacher complexity of the class of radius 1.
    delta : float in (0, 1)

    Returns
    -------
    LearnedBound
        In units of y^2; infinite if N(h)/W exceeds the largest radius m^(1/2)/2.
    """
    residuals = _checked(residuals, size, complexity)
    delta, m = check_delta(delta), len(residuals)
    if not width > 0:
        raise HypothesisNotMet("width: the range of the labels must have a positive length.")
    ratios = ratio_list(m, 1 / 8)
    empirical = float(np.mean((residuals / width) ** 2))
    spread = 3 * np.sqrt(np.log(len(ratios) / delta) / (2 * m))
    enough = ratios[ratios >= size / width]
    hypotheses = (*_CLASS, f"labels in an interval of length {width:g}, predictions clipped to it")
    if not enough.size:
        return LearnedBound(np.inf, width**2 * empirical, np.inf, np.inf, hypotheses)
    ratio = float(enough.min())
    added = 4 * ratio * complexity + spread
    value = width**2 * (empirical + added)
    added = float(width**2 * added)
    return LearnedBound(float(value), width**2 * empirical, added, ratio, hypotheses)


def _checked(values, size, complexity):
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError("margins and residuals must be vectors of finite numbers.")
    if not (size >= 0 and complexity >= 0):
        raise HypothesisNotMet(f"size={size!r} and complexity={complexity!r} must be >= 0.")
    return values


# -- PAC-Bayes -------------------------------------------------------------------------


def rounded_shares(sizes) -> np.ndarray:
    """Multiples of 1/`SHARES` near sizes/sum(sizes), positive for positive sizes, with sum 1.

    Raises
    ------
    ValueError
        If more than `SHARES` sizes are positive.
    """
    sizes = np.asarray(sizes, dtype=float)
    used = sizes > 0
    if used.sum() > SHARES or not used.any():
        raise HypothesisNotMet(f"between 1 and {SHARES} sizes must be positive, got {used.sum()}.")
    counts = used.astype(int)
    # One part at a time, where it reduces sum sizes^2/counts most.
    for _ in range(SHARES - counts.sum()):
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(used, sizes**2 / (counts * (counts + 1.0)), -1.0)
        counts[np.argmax(gain)] += 1
    return counts / SHARES


def better_of_levels(best, scores, right, levels, ratio):
    """The smaller of the `LearnedBound` of a level and the best one so far.

    The loss 1[g < t] of a normal g of mean ``scores`` and variance 1 has the mean Phi(t - scores),
    at least Phi(t) where a score is negative; ``right`` bounds its mean.
    """
    from scipy.special import ndtr

    for level in levels:
        empirical = float(ndtr(level - scores).mean())
        if empirical < best.value * ndtr(level):
            value = kl_inverse(empirical, right) / ndtr(level)
            if value < best.value:
                numbers = float(value), empirical, float(right), float(ratio)
                best = LearnedBound(*numbers, best.hypotheses)
    return best


def kl_inverse(empirical, right) -> float:
    """The largest p with kl(empirical, p) <= right, for Bernoulli distributions."""
    low, high = float(empirical), 1.0
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (middle, high) if _kl(empirical, middle) <= right else (low, middle)
    return high


def _kl(q, p):
    first = q * np.log(q / p) if q > 0 else 0.0
    second = (1 - q) * np.log((1 - q) / (1 - p)) if q < 1 and p < 1 else 0.0
    return np.inf if p >= 1 and q < 1 else first + second


def random_predictor_bound(margins, sizes, shares, variances, delta) -> LearnedBound:
    """PAC-Bayes bound on the probability of error of sign(h), for learned weights.

    Parameters
    ----------
    margins : array (m,)
        y_i h(x_i).
    sizes, shares : arrays (p + 1,)
        R_k ||f_k|| of the kernels and |b|, and `rounded_shares` of them.
    variances : array (m,)
        v(x_i) = sum_k pi_k K_k(x_i, x_i)/R_k^2 + pi_0.
    delta : float in (0, 1)

    Raises
    ------
    ValueError
        If a number is out of range, or m < 8.
    """

    margins = _checked(margins, 0.0, 0.0)
    delta, m = check_delta(delta), int(check_size(len(margins), 8))
    used = np.asarray(sizes) > 0
    length = np.sqrt((np.asarray(sizes)[used] ** 2 / np.asarray(shares)[used]).sum())
    # If the process has no variance, the loss is 1 by definition.
    usable = np.asarray(variances) > 0
    cosines = np.full(m, -np.inf)
    cosines[usable] = margins[usable] / (length * np.sqrt(variances[usable]))
    choices = comb(SHARES + len(sizes) - 1, len(sizes) - 1) * len(LEVELS)
    cost = np.log(2 * np.sqrt(m) / delta) + np.log(float(choices))
    best = LearnedBound(1.0, 1.0, 0.0, 0.0, _CLASS[:2])
    for c in np.geomspace(0.25, np.sqrt(m), 40):
        right = (c**2 / 2 + cost) / m
        best = better_of_levels(best, c * cosines, right, LEVELS, c)
    return best
