"""Preparation of the columns of a data frame: features of comparable scale, by `column_maps`."""

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

from .column_maps import (
    CLIP,
    MIN_COUNT,
    MISSING,
    NumberMaps,
    map_of,
    number_maps,
)

_LEAST_VALUES = 20  # rows from which on there is a warning that strings rarely repeat


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
        c: map_of(values, weight, min_count, clip) for c, values in frame.categories.items()
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
