"""Columns of data frames as numbers and categories, without importing a library of frames.

pandas, polars and Arrow frames are recognized by their attributes, so that no library is imported
and libraries with the same interface work, too.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from alignlearn._text import listed

from .samples import frame_names, is_missing

_DAY = np.timedelta64(1, "D")
_REAL = (numbers.Real, Decimal)
_DATES = (datetime.date, np.datetime64)  # datetime.datetime and pandas.Timestamp are dates
_SPANS = (datetime.timedelta, np.timedelta64)
_ACCEPTED = "accepted: numbers, categories, strings, booleans, dates and durations"
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?Z?", re.ASCII)
_LEAST_DATES = 3  # number of different dates from which strings of dates are read as dates


class CategoryValues(NamedTuple):
    """The values of a column of categories.

    Attributes
    ----------
    codes : ndarray of int32 of shape (n,)
        Positions in ``levels``; -1 for missing values.
    levels : tuple of str
    order : tuple of str
        All levels that the column declares, in its order; empty without an order.
    strings : bool
        Whether the values are strings that the column does not declare as categories.
    """

    codes: np.ndarray
    levels: tuple
    order: tuple = ()
    strings: bool = False


class FrameColumns(Sequence):
    """The columns of a data frame: one matrix of numbers, and the codes of each category.

    Parameters
    ----------
    columns : list of (str or int)
        Labels of the columns, unique.
    numbers : ndarray of float64 of shape (n, d)
        Columns of numbers; dates are days since 1970, and durations are days. NaN for missing
        values.
    categories : dict {position: CategoryValues}
        The other columns, by their position in the frame.
    dates : tuple of int
        Positions in the frame of the columns of dates.
    codes : tuple of int
        Positions of columns of numbers whose values are levels, too: ``categories`` has them at
        the positions that follow those of the frame.
    """

    def __init__(self, columns, numbers, categories, dates=(), codes=()):
        self.columns, self.numbers, self.categories = columns, numbers, categories
        self.dates, self.codes = dates, codes

    def with_levels(self, levels):
        """The same where numbers are levels, too: a dict {position: CategoryValues}."""
        n = len(self.columns)
        categories = self.categories | {n + k: found for k, found in enumerate(levels.values())}
        return FrameColumns(self.columns, self.numbers, categories, self.dates, tuple(levels))

    def without(self, columns):
        """The same without the columns of these labels."""
        kept = [c for c, label in enumerate(self.columns) if label not in columns]
        numbers = [k for k, c in enumerate(self.at) if c in kept]
        categories = {k: self.categories[c] for k, c in enumerate(kept) if c in self.categories}
        dates = tuple(k for k, c in enumerate(kept) if c in self.dates)
        return FrameColumns(
            [self.columns[c] for c in kept], self.numbers[:, numbers], categories, dates
        )

    def column(self, label):
        """The values of a column: float64 with NaN, or strings (objects) with None."""
        c = self.columns.index(label)
        if c not in self.categories:
            return self.numbers[:, self.at.index(c)]
        values = self.categories[c]
        return np.array([*values.levels, None], dtype=object)[values.codes]

    @property
    def at(self):
        """Positions in the frame of the columns of numbers."""
        return [c for c in range(len(self.columns)) if c not in self.categories]

    @property
    def is_matrix(self):
        """Whether all columns are finite numbers, and named by numbers."""
        named = any(isinstance(label, str) for label in self.columns)
        return not (named or self.categories or self.dates or np.isnan(self.numbers).any())

    @property
    def shape(self):
        """Numbers of rows and columns of the frame."""
        return len(self), len(self.columns)

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, rows):
        """Some rows, by an index array or slice."""
        some = {c: v._replace(codes=v.codes[rows]) for c, v in self.categories.items()}
        return FrameColumns(self.columns, self.numbers[rows], some, self.dates, self.codes)


def is_frame(X):
    """Whether X is a data frame of pandas, polars or Arrow, or has the interface of one."""
    return isinstance(X, FrameColumns) or _series_of(X) is not None


def _series_of(X):
    """Column labels, and a function that returns a column by its position; None for no frame."""
    if isinstance(X, (np.ndarray, dict, list, tuple)):
        return None
    if callable(getattr(X, "collect_schema", None)) and not hasattr(X, "get_columns"):
        raise TypeError(
            f"X is a polars {type(X).__name__}, which has no values yet; accepted: a "
            "data frame, such as X.collect()."
        )
    if hasattr(X, "schema") and callable(getattr(X, "column", None)):  # Arrow
        names = getattr(X, "column_names", None)
        return None if names is None else (list(names), X.column)
    names = frame_names(X)
    if names is None:
        return None
    if callable(getattr(X, "compute", None)) and not hasattr(X, "get_columns"):
        raise TypeError(
            f"X is a {type(X).__module__.split('.')[0]} {type(X).__name__}, whose values are not "
            "computed yet; accepted: a data frame in memory, such as X.compute()."
        )
    if callable(getattr(X, "get_columns", None)):  # polars
        return names, X.get_columns().__getitem__
    if hasattr(X, "iloc") and hasattr(X, "dtypes"):
        return names, lambda c: X.iloc[:, c]
    return None


def label_of(name):
    """The label of a column in the form that is stored: an int or a string."""
    whole = isinstance(name, numbers.Integral) and not isinstance(name, (bool, np.bool_))
    return int(name) if whole else str(name)


def read_frame(name, X) -> FrameColumns:
    """Read the columns of a data frame.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    X : DataFrame or Table
        Of pandas, polars or Arrow.

    Raises
    ------
    ValueError
        Duplicated labels, no rows or columns, or infinite values.
    TypeError
        X is not a data frame, or a column has values that are not numbers, categories or dates.
    """
    if isinstance(X, FrameColumns):
        return X
    found = _series_of(X)
    if found is None:
        raise TypeError(f"{name} must be a data frame, got {type(X).__name__}.")
    given, column = found
    labels = [label_of(label) for label in given]
    _check_labels(name, labels)
    columns, categories, dates, bad = [], {}, [], {}
    for c, label in enumerate(labels):
        try:
            kind, values = _read(column(c))
        except _NotAColumn as error:
            bad[label] = str(error)
            continue
        if kind == "category":
            categories[c] = values
            continue
        columns.append(values)
        if kind == "date":
            dates.append(c)
    if bad:
        raise TypeError(
            f"{name} has columns that cannot be prepared: {listed(list(bad))}. The first holds "
            f"{next(iter(bad.values()))}; {_ACCEPTED}. Convert the columns, or leave them out."
        )
    n = len(columns[0]) if columns else len(next(iter(categories.values())).codes)
    if n == 0:
        raise ValueError(f"{name} has 0 rows; at least one sample is needed.")
    values = np.empty((n, len(columns)), order="F")
    for k, one in enumerate(columns):
        values[:, k] = one
    found = FrameColumns(labels, values, categories, tuple(dates))
    _check_infinite(name, found)
    return found


def read_to_fit(name, X) -> FrameColumns:
    """Read the columns of a data frame as `read_frame`, and columns of ISO 8601 strings as dates.

    Files of comma-separated values have dates as strings. A column counts as dates if each of its
    strings is one, such as "2020-02-29" or "2020-02-29T12:30", and at least three differ. `fit`
    decides; later frames are read accordingly.
    """
    frame = read_frame(name, X)
    found = {}
    for c, values in frame.categories.items():
        if values.strings and len(values.levels) >= _LEAST_DATES:
            as_days = days_of_strings(values)
            if as_days is not None:
                found[c] = as_days
    if not found:
        return frame
    numbers = np.empty((len(frame), len(frame.at) + len(found)), order="F")
    given = dict(zip(frame.at, frame.numbers.T)) | found
    for k, c in enumerate(sorted(given)):
        numbers[:, k] = given[c]
    categories = {c: values for c, values in frame.categories.items() if c not in found}
    return FrameColumns(frame.columns, numbers, categories, tuple(sorted((*frame.dates, *found))))


def days_of_strings(values):
    """Return `CategoryValues` of ISO 8601 strings as days since 1970; None if one is not a date."""
    if not all(_ISO.fullmatch(level) for level in values.levels):
        return None
    try:
        dates = [np.datetime64(level.removesuffix("Z"), "us") for level in values.levels]
    except ValueError:  # such as the 30th of February
        return None
    return days(np.array([*dates, np.datetime64("NaT")], dtype="datetime64[us]"))[values.codes]


def _check_labels(name, labels):
    if not labels:
        raise ValueError(f"{name} has 0 columns; accepted: a frame of at least one.")
    if len(set(labels)) < len(labels):
        twice = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise ValueError(
            f"{name} has several columns of the same name: {listed(twice)}; accepted: unique "
            "names. Rename the columns, or leave them out."
        )


def _check_infinite(name, found):
    infinite = np.isinf(found.numbers).any(axis=0)
    if infinite.any():
        labels = [found.columns[c] for c, bad in zip(found.at, infinite) if bad]
        raise ValueError(
            f"{name} contains infinity in the columns {listed(labels)}; accepted: finite numbers "
            "and missing values. Replace infinite values by missing ones, or leave the rows out."
        )


class _NotAColumn(TypeError):
    """A column has values that are not numbers, categories, strings, booleans or dates."""


def _read(series):
    """The kind of a column, "number", "date" or "category", and its values."""
    dtype = getattr(series, "dtype", None)
    declared = getattr(series, "cat", None) if hasattr(dtype, "categories") else None
    if hasattr(declared, "codes") and hasattr(declared, "categories"):  # pandas
        levels = [level_of(level) for level in declared.categories]
        values = _sorted(np.asarray(declared.codes, dtype=np.int32), levels)
        return "category", _in_order(values, levels if declared.ordered else ())
    kind = getattr(dtype, "kind", None)  # including pandas' own types
    if kind is not None and kind in "iuf" and not isinstance(dtype, np.dtype):
        return "number", _numbers(series, dtype)
    if kind == "M" and not isinstance(dtype, np.dtype):
        if _are_days(dtype):
            return _read_objects(_as_list(series))
        return "date", days(series.to_numpy(dtype="datetime64[ns]"))
    array = None if _holds_objects(series, dtype, kind) else np.asarray(series.to_numpy())
    if array is None or array.dtype.kind in "ObUST":
        kind, values = _read_objects(_as_list(series))
        if kind == "category" and _is_declared(series, dtype):
            values = values._replace(strings=False)
        if kind == "category" and getattr(getattr(series, "type", None), "ordered", False):
            levels = series.unify_dictionaries().chunk(0).dictionary.to_pylist()  # of Arrow
            values = _in_order(values, map(level_of, levels))
        return kind, values
    if array.dtype.kind in "iuf":
        return "number", array.astype(np.float64)
    if array.dtype.kind == "M":
        return "date", days(array)
    if array.dtype.kind == "m":
        return "number", _spans(array)
    raise _NotAColumn(f"values of the type {array.dtype}")


def _are_days(dtype):
    """Whether a type of pandas is that of Arrow's dates without a time."""
    return str(getattr(dtype, "pyarrow_dtype", "")).startswith("date")


def _in_order(values, levels):
    """`CategoryValues` with the order of some levels."""
    return values._replace(order=tuple(dict.fromkeys(levels)))


def _numbers(series, dtype):
    """Numbers of an extension type of pandas, such as those that may be missing."""
    if hasattr(dtype, "na_value") and hasattr(series, "isna"):
        try:
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            pass
    return np.asarray(series, dtype=np.float64)


def _holds_objects(series, dtype, kind):
    """Whether a column is read value by value, because the type of its array is ambiguous."""
    if isinstance(dtype, np.dtype):
        return False
    if kind is not None:
        return kind not in "mM"
    text = str(getattr(series, "type", dtype)).lower()
    plain = "int", "uint", "float", "double", "halffloat", "timestamp", "date", "duration"
    return not text.startswith(plain)


def _is_declared(series, dtype):
    """Whether a column of polars or Arrow has a type of categories."""
    text = str(getattr(series, "type", dtype)).lower()
    return text.startswith(("categorical", "enum", "dictionary"))


def _as_list(series):
    for method in ("to_pylist", "tolist", "to_list"):
        if callable(getattr(series, method, None)):
            return getattr(series, method)()
    return list(series)


def days(array):
    """Dates as days since 1970, NaN for missing dates."""
    days = (array - np.datetime64(0, "D").astype(array.dtype)) / _DAY
    return np.where(np.isnat(array), np.nan, days)


def _spans(array):
    """Durations in days, NaN where missing."""
    return np.where(np.isnat(array), np.nan, array / _DAY)


def _read_objects(values):
    """`_read` of a list of Python objects."""
    known = {}  # one value of each type that is not missing
    for value in values:
        kind = type(value)
        if kind not in known and not is_missing(value):
            known[kind] = value
    examples = list(known.values())
    if not examples:
        return "number", np.full(len(values), np.nan)
    flags = [isinstance(v, (bool, np.bool_)) for v in examples]
    real = [isinstance(v, _REAL) for v in examples]
    if all(real) and not any(flags):
        return "number", np.array([math.nan if is_missing(v) else float(v) for v in values])
    if all(isinstance(v, _DATES) for v in examples):
        found = [np.datetime64("NaT") if is_missing(v) else _moment(v) for v in values]
        return "date", days(np.array(found, dtype="datetime64[us]"))
    if all(isinstance(v, _SPANS) for v in examples):
        found = [np.timedelta64("NaT") if is_missing(v) else np.timedelta64(v) for v in values]
        return "number", _spans(np.array(found, dtype="timedelta64[us]"))
    for v, one, flag in zip(examples, real, flags):
        if not (one or flag or isinstance(v, (str, bytes))):
            raise _NotAColumn(f"values of the type {type(v).__name__}")
    strings = all(isinstance(v, str) for v in examples)
    return "category", coded(values)._replace(strings=strings)


def _moment(value):
    """A date without its time zone, in universal time."""
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return np.datetime64(value)


def level_of(value):
    """The name of a category; numbers that are equal have the same one."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, _REAL) and not isinstance(value, (bool, np.bool_)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def coded(values):
    """The `CategoryValues` of a list of objects, or of an array of numbers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        found, place = np.unique(values, return_inverse=True)  # NaN, if any, is the last
        some = coded(found.tolist())
        return some._replace(codes=some.codes[place.reshape(-1)])
    values = values.tolist() if isinstance(values, np.ndarray) else values
    known, codes, levels = {}, np.empty(len(values), dtype=np.int32), {}
    for i, value in enumerate(values):
        key = (type(value), value)
        code = known.get(key)
        if code is None:
            level = None if is_missing(value) else level_of(value)
            code = -1 if level is None else levels.setdefault(level, len(levels))
            known[key] = code
        codes[i] = code
    return _sorted(codes, list(levels))


def _sorted(codes, levels):
    """`CategoryValues` of the levels that occur, in alphabetical order."""
    used = np.unique(codes[codes >= 0])
    names = [levels[k] for k in used.tolist()]
    order = {name: k for k, name in enumerate(sorted(set(names)))}
    renumbered = np.full(len(levels) + 1, -1, dtype=np.int32)  # the last is that of -1
    for k, name in zip(used.tolist(), names):
        renumbered[k] = order[name]
    return CategoryValues(renumbered[codes], tuple(order))
