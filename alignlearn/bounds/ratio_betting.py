"""An interval for the alignment of one kernel by betting on the ratio itself, a bet for each end.

Pairs of samples (x, y), (x', y') in a random order have C_i = (phi - phi')^(x)2/2, c_i = (phi -
phi')(y - y')/2 and V_i = (y - y')^2/2, of means C, c and V, the covariances; rho = |c|^2/(A V) with
A = |C|. Targets are scaled to [-1, 1] and the kernel to K(x, x) <= 1.

From below. With W = C/A and any v known before the pair, E[2 <v, c_i> - |v|^2 V_i] <= |c|^2/V: if
rho <= r, the numbers Y_i = 2 <v, c_i> - |v|^2 V_i - r <W, C_i> have no positive mean.
From above. With w = c/|c|, any W of norm 1 known before the pair and e = (A/V)^(1/2), E[e V_i + <W,
C_i>/e] <= 2 (A V)^(1/2): if rho >= r, the numbers X_i = (r^(1/2)/2)(e V_i + <W, C_i>/e) - <w, c_i>
have no positive mean.

So prod (1 + lambda_i Y_i) and prod (1 + lambda_i X_i) are supermartingales from 1, and r is
rejected if their mean over orders exceeds 2/delta for all W of norm 1, or for all w of norm 1 and
all e > 0 (the betting of Waudby-Smith and Ramdas, 2024, for all nuisance parameters
simultaneously). Labels, numerator and norm are in one bet, so no union bound is needed, and their
common fluctuations cancel. Proofs, also of the bound of the least product over a ball:
``p1_alignment/proofs.md``, section 25.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from alignlearn.validation import check_seed

from .checks import check_delta
from .class_intervals import check_target, interval
from .intervals import Interval

_MOST = 0.95  # share of the largest bet
_ROUNDING = 4 * np.finfo(float).eps
_ORDERS = 6
_PAIRS = 250  # pairs above which fewer orders are drawn, because an order costs pairs^2
_ROUNDS = 4  # steps toward the direction of the smallest product
_NARROW = 0.04  # precision of log e, and the excess of the upper end
_SPARE = 0.1  # margin of the logarithm before more than one e is tried
_STEPS = 1 + 0.03 * 1.3 ** np.arange(16)  # steps from an approximate end to a proved one
_WIDE = np.array([-np.inf, -6.0, -2.0, -0.5, -0.1, 0.1, 0.5, 2.0, 6.0, np.inf])  # around log e


class Pairs(NamedTuple):
    """Statistics of the pairs of a sample in a random order, (k,) or (k, k); see `pairs_of`."""

    products: np.ndarray  # <C_i, C_j>
    cross: np.ndarray  # <c_i, c_j>
    squares: np.ndarray  # V_i
    norm: np.ndarray  # <W_i, C_i>, W_i from the samples before
    gain: np.ndarray  # 2 <v_i, c_i> - |v_i|^2 V_i, v_i from the samples before
    below: np.ndarray  # lambda_i of either end
    above: np.ndarray
    most: float  # the largest r for which `below` contains valid bets
    center: float  # an estimate of log e


def ratio_interval(K, y, label_range, delta=0.05, features=None, random_state=0) -> Interval:
    """Interval for the alignment of one kernel with a bounded target by betting on the ratio.

    Shorter than `class_betting` from a few hundred samples on, and slower: a few eigenproblems of
    size m/2.

    Parameters
    ----------
    K : array (m, m)
        Gram matrix of a kernel chosen without these samples.
    y : float array (m,)
        Targets; +-1 for two classes.
    label_range : (low, high)
        Contains all targets of the distribution.
    delta : float in (0, 1)
    features : FeatureRange
        Default: R = 1, any sign.
    random_state : int, Generator or None
        Seed of the orders. Choose it without looking at the result.

    Returns
    -------
    Interval

    Raises
    ------
    HypothesisNotMet
        If a target lies outside, or K shows that `features` is wrong.
    ValueError
        If delta is not in (0, 1) or the range is empty.
    """
    delta, rng = check_delta(delta), check_seed("random_state", random_state)
    K, y, features, _ = check_target(K, y, label_range, features)
    low, high = np.asarray(label_range, dtype=float)
    K, y = K / features.radius2, (2 * y - low - high) / (high - low)
    level, k = np.log(2 / delta), len(y) // 2
    if k < 2:
        return interval(0.0, 1.0)
    diameter = np.sqrt(features.diameter2 / features.radius2)
    n = int(np.clip(_ORDERS * (_PAIRS / k) ** 2, 2, _ORDERS))
    orders = [rng.permutation(len(y))[: 2 * k] for _ in range(n)]
    pairs = [pairs_of(K[np.ix_(o, o)], y[o], level, diameter) for o in orders]
    return interval(_lower_end(pairs, level), _upper_end(pairs, level))


def pairs_of(K, y, level, diameter) -> Pairs:
    """Pairs (1, 2), (3, 4), ... of a sample of even size, and bets from the samples before each.

    W_i and v_i V are the covariances of all samples before; v_i is shrunk by the share of |c|^2
    that is noise. A bet is (2 level/(k s))^(1/2), s the mean square of what was won before, or what
    keeps 1 + lambda Y and 1 + lambda X positive.
    """
    k = len(y) // 2
    # Features minus that of the first sample, so that kernels near a constant keep their digits.
    given, K = K, K - K[0] - K[:, :1] + K[0, 0]
    H = K[::2] - K[1::2]
    inner, dy = H[:, ::2] - H[:, 1::2], y[::2] - y[1::2]
    n = np.maximum(2.0 * np.arange(k), 1.0)
    ones, squares = np.ones(len(y)), dy**2 / 2
    mean = _before(np.cumsum(y)) / n
    spread = np.maximum(_before(np.cumsum(y**2)) - n * mean**2, 0.0)
    # The scatter of the features before, S = sum (phi - mean)(x)2: |S|^2 and <S, C_i>.
    rows = _diagonal_before(np.cumsum(np.cumsum(K, axis=1) ** 2, axis=0))
    total = _block(K, ones, ones)
    parts = _block(K * K, ones, ones), 2 * rows / n, (total / n) ** 2
    # At least the norm of S in spite of rounding; W is S divided by this.
    rounded = _ROUNDING * len(y) * sum(parts)
    scatter = np.sqrt(np.maximum(parts[0] - parts[1] + parts[2], 0.0) + rounded)
    seen = _row_before(H)
    norm = _quotient((_row_before(H * H) - seen**2 / n) / 2, scatter)
    norm = np.clip(norm, 0.0, np.sqrt(np.diagonal(inner**2)) / 2)
    # T = sum (y - mean) phi: |T|^2, its part from noise, and <T, phi - phi'>.
    mixed = _block(K, y, ones)
    parts = _block(K, y, y), 2 * mean * mixed, mean**2 * total
    rounded = _ROUNDING * len(y) * (np.abs(parts[0]) + np.abs(parts[1]) + np.abs(parts[2]))
    length2 = np.maximum(parts[0] - parts[1] + parts[2], 0.0) + rounded
    diagonal, total = np.diagonal(given), _block(given, ones, ones)
    parts = [_before(np.cumsum(diagonal * y**j)) for j in range(3)]
    noise = parts[2] - 2 * mean * parts[1] + mean**2 * parts[0] - total / n * spread / n
    along = _row_before(H * y) - mean * seen
    shrunk = _quotient(np.clip(1 - _quotient(noise, length2), 0.0, 1.0), spread)
    size = np.sqrt(length2) * shrunk
    shrunk, size = shrunk * np.minimum(1, _quotient(diameter, size)), np.minimum(size, diameter)
    gain = shrunk * along * dy - size**2 * squares
    guess = _quotient(_sum_before(gain), _sum_before(norm))
    guess = np.where(np.arange(k) < 10, 1.0, np.clip(guess, 0.0, 1.0))
    reach = np.minimum(1.0, guess + 1.5 / np.sqrt(np.arange(k) + 1.0))
    share = (2 + _sum_before(squares)) / (4 + np.arange(k))
    least = 2 * size * diameter + 2 * size**2 + reach * diameter**2 / 2
    below = _bets(gain - 0.8 * guess * norm, 0.1 * share, level, least)
    ahead = _quotient(along * dy / 2, np.sqrt(length2))
    drift = np.sqrt(length2) / 2 * (_quotient(squares, spread) + _quotient(norm, scatter))
    above = _bets(drift - ahead, 0.3 * share, level, diameter)
    products, cross = inner**2 / 4, inner * np.outer(dy, dy) / 4
    e = np.sqrt(max(scatter[-1], 1e-12) / max(spread[-1], 1e-12))
    center = float(np.log(e))
    return Pairs(products, cross, squares, norm, gain, below, above, reach.min(), center)


def _bets(won, prior, level, most):
    """Bets from the squares of earlier gains, with ten prior samples of mean square ``prior``."""
    i = np.arange(len(won))
    mean = (10 * prior + _sum_before(won**2)) / (10 + i)
    return np.minimum(np.sqrt(2 * level / (len(won) * mean)), _MOST / most)


def _quotient(top, bottom):
    """top/bottom, or 0 if the bottom is 0 up to rounding."""
    top, bottom = np.broadcast_arrays(top, bottom)
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 1e-9)


def _sum_before(values):
    return np.cumsum(values) - values


def _before(sums):
    """Select, from sums over 1, 2, ... samples, those over the samples before each pair."""
    return np.r_[0.0, sums[1:-1:2]]


def _diagonal_before(sums):
    return np.r_[0.0, np.diagonal(sums)[1:-1:2]]


def _block(K, a, b):
    """sum_jl a_j K_jl b_l over the samples before each pair."""
    return _diagonal_before(np.cumsum(np.cumsum(a[:, None] * K * b, axis=0), axis=1))


def _row_before(M):
    """sum_j M_ij over the samples j before pair i."""
    i = np.arange(1, len(M))
    return np.r_[0.0, np.cumsum(M, axis=1)[i, 2 * i - 1]]


# -- the two ends ----------------------------------------------------------------------


def _lower_end(pairs, level):
    """An r that is rejected from below, near the largest, else 0."""
    gains = [p.below * p.gain for p in pairs]

    def about(r):
        found = [
            np.log1p(stationary_point(p.products, p.below, g, r)[0]).sum()
            for p, g in zip(pairs, gains)
            if r <= p.most
        ]
        return _log_mean(found, len(pairs)) >= level

    near = _bisected(about, 0.0, 1.0)
    if near <= 0.0:
        return 0.0
    for i, r in enumerate(near / _STEPS):
        if i % 8 == 0:
            curves = [
                _curves_at(p.products, p.below, g, min(r, p.most)) for p, g in zip(pairs, gains)
            ]
        found = [
            least_log_product(p.products, p.below, g, r, curve)
            for p, g, curve in zip(pairs, gains, curves)
            if r <= p.most
        ]
        if _log_mean(found, len(pairs)) >= level:
            return r
    return 0.0


def _upper_end(pairs, level):
    """An r that is rejected from above for all e, near the smallest, else 1."""
    center = float(np.mean([p.center for p in pairs]))

    def gains(p, r, least, most):
        """Gains for log e in [least, most]: V_i with the smallest e, C_i with the largest."""
        parts = np.exp(least) * p.squares + np.exp(-most) * p.norm
        return p.above * np.sqrt(r) / 2 * parts

    def about(r):
        found = [
            np.log1p(stationary_point(p.cross, p.above, gains(p, r, center, center), 1.0)[0]).sum()
            for p in pairs
        ]
        return _log_mean(found, len(pairs)) < level

    near = _bisected(about, 0.0, 1.0)

    def log_mean(r, least, most):
        for points in (1, 2):  # the faster one first
            found = [
                least_log_product(p.cross, p.above, gains(p, r, least, most), 1.0, both[:points])
                for p, both in zip(pairs, curves)
            ]
            if (value := _log_mean(found, len(pairs))) >= level:
                break
        return value

    for i, r in enumerate(near * _STEPS):
        if r >= 1.0:
            break
        if i % 8 == 0:
            curves = [_curves_at(p.cross, p.above, gains(p, r, center, center), 1.0) for p in pairs]
        if log_mean(r, center, center) >= level + _SPARE:
            cells = [(center + a, center + b) for a, b in pairwise(_WIDE)]
            if _all_above(lambda *cell, r=r: log_mean(r, *cell), cells, level):
                return r
    return 1.0


def _curves_at(products, bets, gains, radius):
    """The `Curve` of 0 and of the stationary point, with some more for those nearby."""
    points = gains, stationary_point(products, bets, gains, radius)[0]
    least = gains - bets * (radius * np.sqrt(np.diagonal(products)))
    return [curve_of(products, bets, 1.1 * bend(x, x - least)) for x in points]


def _all_above(function, cells, level):
    """Whether the function of intervals is at least ``level`` on parts of all the cells."""
    cells = list(cells)
    while cells:
        least, most = cells.pop()
        if function(least, most) < level:
            middle = (least + most) / 2
            if most - least < _NARROW or not np.isfinite(middle):
                return False
            cells += [(least, middle), (middle, most)]
    return True


def _bisected(holds, low, high):
    """The point up to which ``holds`` is true, or low."""
    for _ in range(9):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _log_mean(logs, n):
    """log((sum exp logs)/n)."""
    if not len(logs):
        return -np.inf
    top = max(logs)
    return top + np.log(np.sum(np.exp(np.array(logs) - top)) / n)


# -- the least product over a ball -----------------------------------------------------


class Curve(NamedTuple):
    """An upper bound of how sum_i log(1 + gains_i - bets_i <P, c_i>) bends as a function of P."""

    bends: np.ndarray  # (k,), of each logarithm
    scale: np.ndarray  # bets_i bends_i^(1/2)
    vectors: np.ndarray  # of the matrix of scale_i scale_j <c_i, c_j>
    values: np.ndarray  # its eigenvalues, rising


def curve_of(products, bets, bends) -> Curve:
    """The `Curve` of these bends; they move what `least_log_product` finds, not that it holds."""
    scale = bets * np.sqrt(bends)
    values, vectors = np.linalg.eigh(scale[:, None] * products * scale)
    return Curve(bends, scale, vectors, np.maximum(values, 0.0))


def stationary_point(products, bets, gains, radius):
    """(x_i, <P, c_i>), x_i = gains_i - bets_i <P, c_i>, where sum log(1 + x_i) is about least."""
    inner, weights = np.zeros(len(bets)), bets / (1 + gains)
    for _ in range(_ROUNDS):
        image = products @ weights
        length = _root(weights @ image)
        if length <= 1e-12:
            break
        inner = radius * image / length
        weights = bets / (1 + gains - bets * inner)
    return gains - bets * inner, inner


def least_log_product(products, bets, gains, radius, curves):
    """A lower bound of the least sum_i log(1 + gains_i - bets_i <P, c_i>) over |P| <= radius.

    Around a point P_0 the sum is at least f_0 - <S, P - P_0> - <P - P_0, Q (P - P_0)>, S = sum_i
    bets_i/(1 + x_i) c_i and Q = sum_i bends_i bets_i^2 c_i (x) c_i. For all mu above the
    eigenvalues of Q this is at least f_0 + <S, P_0> - <P_0, Q P_0> - mu radius^2 - <Z, (mu - Q)^-1
    Z>/4, Z = S - 2 Q P_0: some mu are tried, with P_0 = 0 and the point of `stationary_point`.

    Parameters
    ----------
    products : array (k, k)
        <c_i, c_j>.
    bets, gains : arrays (k,)
        gains_i - bets_i |c_i| radius > -1.
    radius : float > 0
    curves : (Curve,) or (Curve, Curve)
        The products and bets for 0 and for the other point; omitted without one.
    """
    reach = bets * (radius * np.sqrt(np.diagonal(products)))
    found = _least_around(gains, np.zeros(len(bets)), reach, bets, radius, curves[0])
    if len(curves) == 1:
        return found
    x, inner = stationary_point(products, bets, gains, radius)
    return max(found, _least_around(x, inner, reach - bets * inner, bets, radius, curves[1]))


def _least_around(x, inner, fall, bets, radius, curve):
    more = float(np.max(bend(x, fall) / curve.bends))
    weights, squares = bets / (1 + x), more * curve.scale**2
    values = more * curve.values * (1 + 1e-9)
    # (Z, u_j)^2 for the eigenvectors u_j of Q.
    parts = (curve.vectors.T @ ((weights - 2 * squares * inner) / curve.scale)) ** 2 * curve.values
    start = max(_root(parts.sum()) / (2 * radius), 1e-12)
    mus = values[-1] + start * 2.0 ** np.arange(-12, 2)
    most = mus * radius**2 + (parts / (mus[:, None] - values)).sum(1) / 4
    constant = weights @ inner - squares @ inner**2
    return float(np.log1p(x).sum() + constant - most.min())


def bend(x, fall):
    """The minimum curvature b of a quadratic lower bound of log(1 + z) around x.

    It holds that log(1 + z) >= log(1 + x) + (z - x)/(1 + x) - b (z - x)^2 for z >= x - fall, with b
    = (-f - log(1 - f))/(f (1 + x))^2 with f = fall/(1 + x), which grows with f.
    """
    f = np.maximum(fall / (1 + x), 1e-4)  # below, rounding
    return (-f - np.log1p(-f)) / (f * (1 + x)) ** 2


def _root(value):
    return np.sqrt(max(float(value), 0.0))
