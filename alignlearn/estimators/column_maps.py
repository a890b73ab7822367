"""Maps of single columns of a data frame to features of comparable scale.

Skewed numbers are transformed to be nearly symmetric, and all numbers are standardized. Categories
become indicators whose variances sum to 1. All columns then have similar squared distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._text import Described
from alignlearn._versions import Versioned

CLIP = 4.0  # standard deviations beyond which numbers are clipped
MIN_COUNT = 5  # minimum number of rows of a level with its own indicator
_MOST_LEVELS = 1000  # levels with their own indicators, so that features fit into memory
_SKEWED = 1.0  # absolute skewness from which on numbers are transformed
_INDICATED = 0.1  # share of missing numbers from which on there is an indicator
_NORMAL = 1.349  # interquartile range of the standard normal distribution
_SAME, _LOG, _ARCSINH = 0, 1, 2

MISSING, OTHER = "<missing>", "<other>"
"""Names of the indicators of missing values, and of rare and unseen levels."""


@dataclass(frozen=True, eq=False, repr=False)
class NumberMaps(Described, Versioned):
    """Learned transformations of k columns of numbers; arrays of shape (k,).

    Attributes
    ----------
    kept : ndarray of bool
        Columns that vary on the training samples.
    start : ndarray
        Subtracted first: the minimum of dates, else 0.
    shape : ndarray of int
        0: unchanged, 1: ``log1p(max(x, 0) / scale)``, 2: ``arcsinh((x - center) / scale)``.
    center, scale : ndarray
    mean, deviation : ndarray
        Of the transformed observed values.
    missing : ndarray
        Share of missing values.
    indicated : ndarray of bool
        Whether missing values have an indicator.
    clip : float
    """

    kept: np.ndarray
    start: np.ndarray
    shape: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    missing: np.ndarray
    indicated: np.ndarray
    clip: float

    def check_loaded(self):
        """Raise a ValueError if arrays differ in shape or have invalid numbers."""
        k = len(self.kept)
        for name, found in vars(self).items():
            if name == "clip" or not isinstance(found, np.ndarray):
                continue
            if found.shape != (k,) or not np.isfinite(found).all():
                raise ValueError(f"{name} of a preparation must be finite, of shape ({k},)")
        if not (self.scale > 0.0).all() or not (self.deviation > 0.0).all():
            raise ValueError("scale and deviation of a preparation must be positive")
        if self.kept.dtype != bool or self.indicated.dtype != bool:
            raise ValueError("kept and indicated of a preparation must be booleans")

    def apply(self, X):
        """Standardized columns of X (n, k) and indicators, (n, k) each; 0 where not kept."""
        Z = self._mapped(X)
        Z -= self.mean
        Z /= self.deviation
        gaps = np.isnan(X)
        Z[gaps] = 0.0
        np.clip(Z, -self.clip, self.clip, out=Z)
        share = np.where(self.indicated, self.missing, 0.5)
        return Z, (gaps - share) / np.sqrt(share * (1.0 - share))

    def _mapped(self, X):
        log, arcsinh = self.shape == _LOG, self.shape == _ARCSINH
        with np.errstate(over="ignore"):  # new samples may overflow; they are clipped
            Z = (X - self.start - self.center) / self.scale
        Z[:, log] = np.log1p(np.maximum(Z[:, log], 0.0))
        Z[:, arcsinh] = np.arcsinh(Z[:, arcsinh])
        return Z


def number_maps(X, dates, weight=None, clip=CLIP) -> NumberMaps:
    """Learn the `NumberMaps` of a matrix.

    Parameters
    ----------
    X : ndarray of float64 of shape (m, k)
        Finite or NaN.
    dates : ndarray of bool of shape (k,)
    weight : ndarray of shape (m,), optional
        Positive weights of the samples.
    clip : float
    """
    k, seen = X.shape[1], ~np.isnan(X)
    w = np.ones(len(X)) if weight is None else weight / weight.mean()
    some = seen.any(axis=0)
    low = np.where(some, np.where(seen, X, np.inf).min(axis=0, initial=np.inf), 0.0)
    high = np.where(some, np.where(seen, X, -np.inf).max(axis=0, initial=-np.inf), 0.0)
    start = np.where(dates, low, 0.0)
    kept = low < high
    # Relative to the range, so that squares neither overflow nor underflow.
    size = np.where(kept, np.maximum(np.abs(low - start), np.abs(high - start)), 1.0)
    shape, center, scale = np.full(k, _SAME), np.zeros(k), size.copy()
    inner = ((low != X) & (high != X) & seen).any(axis=0)
    unscaled = NumberMaps(kept, start, shape, center, scale, *np.zeros((3, k)), kept, clip)
    Z = unscaled._mapped(X)
    skewed = kept & inner & (np.abs(_skewness(Z, seen, w)) > _SKEWED)
    for j in np.flatnonzero(skewed):
        values, of = X[seen[:, j], j] - start[j], w[seen[:, j]]
        if low[j] - start[j] >= 0.0:
            positive = values > 0.0
            shape[j], scale[j] = _LOG, quantiles(values[positive], of[positive], [0.5])[0]
            continue
        first, center[j], third = quantiles(values, of, [0.25, 0.5, 0.75])
        if third > first:
            shape[j], scale[j] = _ARCSINH, (third - first) / _NORMAL
        else:  # more than half of the values are equal
            center[j] = 0.0
    mapped = unscaled._mapped(X)  # with the values filled in above
    mean, variance = _moments(mapped, seen, w)
    deviation = np.where(kept & (variance > 0.0), np.sqrt(variance), 1.0)
    missing = w @ ~seen / w.sum()
    indicated = (missing >= _INDICATED) & (missing < 1.0)
    return NumberMaps(
        kept, start, shape, center, scale, mean, deviation, missing, indicated, float(clip)
    )


def _moments(Z, seen, w):
    """Weighted means and variances of the observed values of each column."""
    total = np.maximum(w @ seen, 1e-300)
    mean = w @ np.where(seen, Z, 0.0) / total
    return mean, w @ np.square(np.where(seen, Z - mean, 0.0)) / total


def _skewness(Z, seen, w):
    """Weighted third central moment over the variance to the power of 3/2, by column."""
    mean, variance = _moments(Z, seen, w)
    third = w @ np.power(np.where(seen, Z - mean, 0.0), 3) / np.maximum(w @ seen, 1e-300)
    return third / np.where(variance > 0.0, variance, 1.0) ** 1.5


def quantiles(x, w, levels):
    """Quantiles of weighted values; a weight of 2 repeats a value (type 2 of Hyndman and Fan)."""
    order = np.argsort(x, kind="stable")
    x, total = x[order], np.cumsum(w[order])
    asked = np.asarray(levels) * total[-1]
    close = 1e-12 * total[-1]
    last = len(x) - 1
    left = np.minimum(np.searchsorted(total, asked - close), last)
    right = np.minimum(np.searchsorted(total, asked + close), last)
    return 0.5 * x[left] + 0.5 * x[right]


@dataclass(frozen=True, eq=False, repr=False)
class CategoryMap(Described, Versioned):
    """Learned encoding of a column of categories.

    Attributes
    ----------
    levels : tuple of str
        Levels with their own indicator.
    others : tuple of str
        "missing" and "other", if missing values or rare levels have an indicator.
    share : ndarray of shape (n_levels + n_others,)
        Share of the training samples for each indicator.
    """

    levels: tuple
    others: tuple
    share: np.ndarray

    def check_loaded(self):
        """ValueError where shares do not fit the levels."""
        n = len(self.levels) + len(self.others)
        texts = all(type(level) is str for level in (*self.levels, *self.others))
        if not texts or self.share.shape != (n,) or not (self.share > 0.0).all():
            raise ValueError("levels of a preparation are strings with positive shares")
        if not np.isclose(self.share.sum(), 1.0):
            raise ValueError("shares of levels of a preparation must sum to 1")

    @property
    def width(self):
        """Number of features: one for two levels, none for one."""
        n = len(self.share)
        return 0 if n < 2 else 1 if n == 2 else n

    def names(self, label):
        """Names of the features."""
        shown = [*self.levels, *self.others]
        shown = shown[1:] if len(shown) == 2 else shown if len(shown) > 2 else []
        return [f"{label}={level}" for level in shown]

    def apply(self, values):
        """Centered indicators of `CategoryValues`, (n, width), of total variance 1."""
        n, known = len(self.share), {level: k for k, level in enumerate(self.levels)}
        other = len(self.levels) + self.others.index(OTHER) if OTHER in self.others else n
        missing = len(self.levels) if MISSING in self.others else other
        at = np.array([known.get(level, other) for level in values.levels] + [missing])
        place = at[values.codes]
        if not self.width:
            return np.empty((len(place), 0))
        spread = np.sqrt(np.sum(self.share * (1.0 - self.share)))
        table = (np.eye(n) - self.share) / spread
        if n == 2:  # one column with the same distances
            table = (table[:, 1:] - table[:, :1]) / np.sqrt(2.0)
        # An unknown level is at the mean of all samples.
        return np.vstack([table, np.zeros((1, table.shape[1]))])[place]


def category_map(values, weight=None, min_count=MIN_COUNT) -> CategoryMap:
    """Learn the `CategoryMap` of `CategoryValues`; levels with fewer rows are pooled."""
    n = len(values.levels)
    place = np.where(values.codes < 0, n, values.codes)
    count = np.bincount(place, minlength=n + 1)
    total = np.bincount(place, weight, n + 1).astype(np.float64)
    own = count >= min_count
    if np.count_nonzero(own[:-1]) > _MOST_LEVELS:  # the most frequent ones
        own[np.argsort(-count[:-1], kind="stable")[_MOST_LEVELS:]] = False
    levels = np.flatnonzero(own[:-1])
    share, others = list(total[levels]), []
    if own[-1]:
        others.append(MISSING)
        share.append(total[-1])
    if count[~own].any():
        others.append(OTHER)
        share.append(total[~own].sum())
    share = np.array(share) / total.sum()
    return CategoryMap(tuple(values.levels[k] for k in levels), tuple(others), share)


@dataclass(frozen=True, eq=False, repr=False)
class OrderedMap(Described, Versioned):
    """Learned encoding of a column of ordered categories by their positions.

    Attributes
    ----------
    levels : tuple of str
        All levels of the column, in their order.
    numbers : NumberMaps
        Of the positions, as one column. An undeclared level counts as missing.
    """

    levels: tuple
    numbers: NumberMaps

    def check_loaded(self):
        """Raise a ValueError if there are no levels, or not one column of positions."""
        texts = all(type(level) is str for level in self.levels)
        if not texts or not isinstance(self.numbers, NumberMaps) or len(self.numbers.kept) != 1:
            raise ValueError("ordered levels of a preparation are strings, with one map of numbers")

    @property
    def width(self):
        """Number of features: the position, and whether it is missing."""
        return int(self.numbers.kept[0]) + int(self.numbers.indicated[0])

    def names(self, label):
        """Names of the features."""
        found = [str(label)] * bool(self.numbers.kept[0])
        return found + [f"{label}={MISSING}"] * bool(self.numbers.indicated[0])

    def apply(self, values):
        """Standardized positions of `CategoryValues` and an indicator, (n, width)."""
        both = np.hstack(self.numbers.apply(positions(values, self.levels)))
        return both[:, [self.numbers.kept[0], self.numbers.indicated[0]]]


def positions(values, levels):
    """Positions of `CategoryValues` among ordered levels, (n, 1); NaN where missing or unknown."""
    known = {level: float(k) for k, level in enumerate(levels)}
    at = np.array([known.get(level, np.nan) for level in values.levels] + [np.nan])
    return at[values.codes][:, None]


def map_of(values, weight, min_count, clip):
    """Return an `OrderedMap` for more than two ordered categories, else a `CategoryMap`."""
    if not values.order or len(np.unique(values.codes[values.codes >= 0])) < 3:
        return category_map(values, weight, min_count)
    X = positions(values, values.order)
    return OrderedMap(values.order, number_maps(X, np.array([False]), weight, clip))
