"""Preparation of the columns of a data frame: features of comparable scale.

Skewed numbers are transformed to be nearly symmetric, and all numbers are standardized. Categories
become indicators whose variances sum to 1. All columns then have similar squared distances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alignlearn._text import Described, listed
from alignlearn._versions import Versioned
from alignlearn.validation import check_samples, doubt
from alignlearn.validation.frames import (
    FrameColumns,
    coded,
    days_of_strings,
    is_frame,
    read_frame,
    read_to_fit,
)

CLIP = 4.0  # standard deviations beyond which numbers are clipped
MIN_COUNT = 5  # minimum number of rows of a level with its own indicator
_MOST_LEVELS = 1000  # levels with their own indicators, so that features fit into memory
_LEAST_VALUES = 20  # rows from which on there is a warning that strings rarely repeat
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


def _map_of(values, weight, min_count, clip):
    """Return an `OrderedMap` for more than two ordered categories, else a `CategoryMap`."""
    if not values.order or len(np.unique(values.codes[values.codes >= 0])) < 3:
        return category_map(values, weight, min_count)
    X = positions(values, values.order)
    return OrderedMap(values.order, number_maps(X, np.array([False]), weight, clip))


@dataclass(frozen=True, eq=False, repr=False)
class Preparation(Described, Versioned):
    """Learned preparation of the columns of a frame, applied to other frames.

    Attributes
    ----------
    columns : tuple of (str or int)
        Labels of the columns of the frame.
    numbers : NumberMaps
        For the columns that are not in ``categories``, in their order.
    categories : dict {int: CategoryMap or OrderedMap}
        By the position of the column.
    dates : tuple of int
        Positions of the columns of dates.
    codes : tuple of int
        Positions of columns of numbers whose values are levels, too, in ``categories`` at the
        positions that follow those of the columns.
    """

    columns: tuple
    numbers: NumberMaps
    categories: dict
    dates: tuple
    codes: tuple = ()

    def check_loaded(self):
        """Raise a ValueError if the maps of a file do not fit its columns."""
        width, n = len(self.columns), len(self.columns) + len(self.codes)
        k = n - len(self.categories)
        if not all(type(label) in (int, str) for label in self.columns):
            raise ValueError("columns of a preparation are ints or strings")
        whole = all(type(c) is int and 0 <= c < n for c in (*self.categories, *self.dates))
        whole = whole and set(range(width, n)).issubset(self.categories)
        of_numbers = set(range(width)).difference(self.categories)
        whole = whole and all(type(c) is int and c in of_numbers for c in self.codes)
        if not whole or not isinstance(self.numbers, NumberMaps):
            raise ValueError("categories and dates of a preparation are positions of columns")
        if len(self.numbers.kept) != k:
            raise ValueError(f"a preparation has maps of {len(self.numbers.kept)} numbers, not {k}")

    @property
    def labels(self):
        """Labels of the columns, and of the levels of those whose numbers are codes."""
        return (*self.columns, *(f"levels of {self.columns[c]}" for c in self.codes))

    @property
    def widths(self):
        """Number of features of each column, (n_columns + n_codes,)."""
        found = np.zeros(len(self.labels), dtype=int)
        found[self._at] = self.numbers.kept.astype(int) + self.numbers.indicated
        for c, one in self.categories.items():
            found[c] = one.width
        return found

    @property
    def _at(self):
        return [c for c in range(len(self.columns)) if c not in self.categories]

    @property
    def groups(self):
        """For each feature the position of the column that it comes from, (n_features,)."""
        return np.repeat([*range(len(self.columns)), *self.codes], self.widths)

    @property
    def parts(self):
        """For each feature the position in ``labels``, (n_features,)."""
        return np.repeat(np.arange(len(self.labels)), self.widths)

    def names(self):
        """Unique names of the features; each of several features of a column has its level."""
        found, number = [], dict(zip(self._at, range(len(self._at))))
        labels = *self.columns, *(self.columns[c] for c in self.codes)
        for c, label in enumerate(labels):
            if c in self.categories:
                found += self.categories[c].names(label)
                continue
            k = number[c]
            found += [str(label)] * bool(self.numbers.kept[k])
            found += [f"{label}={MISSING}"] * bool(self.numbers.indicated[k])
        seen: dict = {}
        for k, name in enumerate(found):
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                found[k] = f"{name} ({seen[name]})"
        return found

    def aligned(self, frame):
        """Return the columns of `FrameColumns` in the order of fit, matched by label.

        Columns that were not in fit are dropped. Numbers in a column of categories become levels.

        Raises
        ------
        ValueError
            If columns are missing, or hold another kind of values than in fit.
        """
        position = {label: c for c, label in enumerate(frame.columns)}
        missing = [label for label in self.columns if label not in position]
        if missing:
            raise ValueError(
                f"X has no column {listed(missing)}: {len(missing)} of the {len(self.columns)} "
                f"columns of fit are missing; X has the columns {listed(frame.columns)}. "
                "Accepted: a data frame with all columns of fit."
            )
        of_numbers = {c: k for k, c in enumerate(frame.at)}
        numbers, categories, wrong = np.empty((len(frame), len(self._at)), order="F"), {}, {}
        for k, c in enumerate(self._at):
            given = position[self.columns[c]]
            found = frame.categories.get(given)
            if not self.numbers.kept[k] and not self.numbers.indicated[k]:
                numbers[:, k] = np.nan  # it has no feature, regardless of its values
                continue
            as_days = days_of_strings(found) if found is not None and c in self.dates else None
            if as_days is not None:
                numbers[:, k] = as_days
                continue
            if found is not None:  # strings where there were numbers
                wrong[self.columns[c]] = "strings or categories"
                continue
            numbers[:, k] = values = frame.numbers[:, of_numbers[given]]
            if (given in frame.dates) != (c in self.dates) and not np.isnan(values).all():
                wrong[self.columns[c]] = "dates" if given in frame.dates else "numbers"
        if wrong:
            label, kind = next(iter(wrong.items()))
            raise ValueError(
                "X has values of a different kind than in fit in the columns "
                f"{listed(list(wrong))}: {label!r} had {self._kind(label)} in fit, "
                f"and has {kind} now."
            )
        source = dict(enumerate(self.codes, start=len(self.columns)))
        for c in self.categories:
            given = position[self.columns[source.get(c, c)]]
            found = frame.categories.get(given)
            as_levels = found is None
            categories[c] = coded(frame.numbers[:, of_numbers[given]]) if as_levels else found
        return FrameColumns(list(self.columns), numbers, categories, self.dates, self.codes)

    def _kind(self, label):
        return "dates" if self.columns.index(label) in self.dates else "numbers"

    def apply(self, frame):
        """Return the features (n, n_features) of `FrameColumns` with these columns."""
        widths = self.widths
        ends = np.cumsum(widths)
        found = np.empty((len(frame), int(ends[-1])))
        Z, gaps = self.numbers.apply(frame.numbers)
        for k, c in enumerate(self._at):
            j = ends[c] - widths[c]
            if self.numbers.kept[k]:
                found[:, j] = Z[:, k]
            if self.numbers.indicated[k]:
                found[:, ends[c] - 1] = gaps[:, k]
        for c, one in self.categories.items():
            found[:, ends[c] - widths[c] : ends[c]] = one.apply(frame.categories[c])
        return found


def prepare(frame, weight=None, *, min_count=MIN_COUNT, clip=CLIP) -> Preparation:
    """Learn the `Preparation` of `FrameColumns`; rows of weight 0 are ignored.

    Parameters
    ----------
    frame : FrameColumns
    weight : ndarray of shape (m,), optional
        Nonnegative weights of the rows.
    min_count : int
        Minimum number of rows of a level with its own indicator.
    clip : float
        Standard deviations at which numbers are clipped.
    """
    if weight is not None and not weight.all():
        frame, weight = frame[np.flatnonzero(weight)], weight[weight > 0.0]
    dates = np.isin(frame.at, frame.dates)
    numbers = number_maps(frame.numbers, dates, weight, clip)
    categories = {
        c: _map_of(values, weight, min_count, clip) for c, values in frame.categories.items()
    }
    return Preparation(tuple(frame.columns), numbers, categories, frame.dates, frame.codes)


class PreparedMatrix(np.ndarray):
    """Features (m, n_features) from a `Preparation`, which estimators use unchanged.

    Attributes
    ----------
    preparation : Preparation
    frame : FrameColumns or None
        The original frame, if folds prepare its rows again.
    """

    preparation = None
    frame = None

    @classmethod
    def of(cls, preparation, frame, again=False):
        """Return the features of `FrameColumns` in the order of fit."""
        found = preparation.apply(frame).view(cls)
        found.preparation, found.frame = preparation, frame if again else None
        return found


def as_prepared(preparation, X, name):
    """Return the `PreparedMatrix` of new samples: a frame, or a matrix with all columns."""
    if isinstance(X, PreparedMatrix):
        return X
    if is_frame(X):
        return PreparedMatrix.of(preparation, preparation.aligned(read_frame("X", X)))
    frame = columns_of(X)
    n = len(preparation.columns)
    if len(frame.columns) != n:
        raise ValueError(
            f"X has {len(frame.columns)} features, but {name} is expecting {n} features as input."
        )
    # The columns of a matrix have no names, so they must be in the order of fit.
    frame = FrameColumns(list(preparation.columns), frame.numbers, {}, preparation.dates)
    return PreparedMatrix.of(preparation, preparation.aligned(frame))


def prepared_to_fit(frame, weight=None):
    """Return the `PreparedMatrix` of `FrameColumns` for fit, whose folds prepare it again.

    Warns
    -----
    DoubtfulResultWarning
        If the values of a column of strings or categories are all different.
    """
    found = prepare(frame, weight)
    check_varies(found, frame)
    doubt_identifiers(frame)
    return PreparedMatrix.of(found, frame, again=True)


def columns_of(X):
    """Return the `FrameColumns` of a data frame, or of a matrix with NaN for missing values."""
    if is_frame(X):
        return read_to_fit("X", X)
    X = check_samples("X", X, gaps=True)
    names = [f"x{c}" for c in range(X.shape[1])]
    return FrameColumns(names, X.astype(np.float64), {})


def check_varies(preparation, frame=None):
    """Raise a ValueError if no column has a feature; of `FrameColumns` it names the remedy."""
    if preparation.widths.any():
        return
    texts = [] if frame is None else _numbers_as_strings(frame, identifiers(frame))
    remedy = f" Convert numbers that are strings: {listed(texts)}." if texts else ""
    raise ValueError(
        "X: every column is constant, missing, or has only levels that are rarer than "
        f"min_count; accepted: a data frame with a column that varies.{remedy}"
    )


def doubt_identifiers(frame):
    """Warn about columns of strings in which values rarely repeat, and of different categories."""
    found = identifiers(frame)
    texts = _numbers_as_strings(frame, found)
    if texts:
        doubt(
            "Columns of X hold numbers as strings, which are hardly used because most of them are "
            f"rare: {listed(texts)}; convert them to numbers, such as by "
            "pandas.to_numeric(column, errors='coerce'), or leave them out."
        )
    found = [label for label in found if label not in texts]
    if found:
        doubt(
            "Columns of X have a different string in every row, which is not informative for new "
            f"samples, and are not used: {listed(found)}; leave them out, or derive numbers, "
            "dates or categories from them."
        )


def _numbers_as_strings(frame, different):
    """Labels of columns of strings that are mostly rare numbers."""
    given = [(frame.columns[c], v) for c, v in frame.categories.items() if c < len(frame.columns)]
    return [label for label, values in given if _hold_numbers(values, label in different)]


def _hold_numbers(values, differ):
    """Whether most rows have strings of numbers that are too rare for levels of their own."""
    if not (values.strings or differ):
        return False
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.levels))
    rare = [count for level, count in zip(values.levels, counts) if _is_number(level)]
    lost = sum(count for count in rare if count < MIN_COUNT)
    return lost >= _LEAST_VALUES and 2 * lost > counts.sum()


def _is_number(text):
    """Whether a string is a finite number, possibly with a unit or separators of thousands."""
    try:
        return math.isfinite(float(text.strip(" $€£%").replace(",", "")))
    except ValueError:
        return False


def identifiers(frame) -> list:
    """Return labels of category columns whose values, 20 at least, are all different."""
    found = []
    for c, values in frame.categories.items():
        codes = values.codes[values.codes >= 0]
        if not values.order and len(codes) >= _LEAST_VALUES and len(np.unique(codes)) == len(codes):
            found.append(frame.columns[c])
    return found
