"""Delimited text as the columns of a data frame: numbers, dates and categories, with gaps."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from alignlearn._text import listed
from alignlearn.validation.frames import FrameColumns, coded, days

from . import _columns, _files, _table

_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
# Month, day and year with four digits in either order, and a time of 24 hours or with AM or PM.
_SLASHED = re.compile(
    r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})([ T](\d{1,2}):(\d\d)(:(\d\d))?( ?([AP])M)?)?",
    re.ASCII | re.IGNORECASE,
)
DATE_ORDERS = ("month-first", "day-first")

_MOST_WORDS, _FEW_NUMBERS = 2, 20  # limits of a column of numbers where words are missing values


class RawTable(NamedTuple):
    """The columns of a file.

    Attributes
    ----------
    frame : FrameColumns
        Columns without names are called "number 1", "number 2", ..., and columns of the same name
        "a", "a.1", ...
    notes : tuple of str
        What was read.
    """

    frame: FrameColumns
    notes: tuple


def read_raw(path, numbers=(), words=(), order=None) -> RawTable:
    """Read a file of delimited text, as `parse_table` splits it, without a target.

    A column of numbers and missing fields holds numbers, one of dates such as 2026-11-25 or
    2026-11-25 14:30 holds dates, and any other one categories. At most two words in a column that
    otherwise has more than 20 different numbers, such as "-", are read as missing; so is every word
    in the columns of ``numbers``, a collection of labels. The columns of ``words`` are not read as
    dates.

    Dates such as 11/25/2026 are read in the ``order`` "month-first" or "day-first". Without it, a
    day above 12 decides for the whole column. Columns without such a day hold categories, and a
    note explains how to declare the order.

    Raises
    ------
    ValueError, OSError
        The file cannot be read, or its lines have different numbers of fields.
    """
    text, said = _files.read_text(path)
    rows, lines, delimiter, notes = _table._read_rows(text, path)
    columns, names, lines, more = _table._named_columns(rows, lines, path)
    labels = list(names) or [f"number {c + 1}" for c in range(len(columns))]
    labels, renamed = _unique(labels)
    found, categories, dates = [], {}, []
    for c, fields in enumerate(columns):
        values = _columns.numbers(fields, delimiter == ";", (path, labels[c], lines))
        moments = None
        if values is None and all(map(_columns.is_missing, fields)):
            values = np.full(len(fields), np.nan)
        if values is None:
            values, words = _with_words(fields, delimiter == ";", labels[c] in numbers)
            if words:
                rows = np.isin(fields, words).sum()
                said = (
                    *said,
                    f"column {labels[c]!r}: {listed(words)} is read as missing ({rows} rows)",
                )
        if values is None and labels[c] not in words:
            values = moments = _dates(fields)
            if values is None:
                values, note = _slashed_dates(fields, labels[c], order)
                moments, said = values, (*said, *note)
        if moments is not None:
            dates.append(c)
        if values is None:
            words = coded([None if f in _columns.BLANK else f for f in fields])
            categories[c] = words._replace(strings=True)
        else:
            found.append(values)
    matrix = np.column_stack(found) if found else np.empty((len(lines), 0))
    frame = FrameColumns(labels, matrix, categories, tuple(dates))
    shape = f"{len(lines)} rows, {len(columns)} columns with the target, "
    shape += f"{len(categories)} of them categorical"
    return RawTable(frame, (shape, *more[1:], *renamed, *notes, *said))


def _with_words(fields, comma, are_numbers):
    """Numbers, NaN for words, and the words; None and no words in a column of categories."""
    others = [f for f in fields if not _columns.is_missing(f)]
    words = sorted({f for f in others if not _columns.is_number(f, comma)})
    if not are_numbers:
        n_rows = sum(f not in words for f in others)
        different = len(set(others)) - len(words)
        if len(words) > _MOST_WORDS or different <= _FEW_NUMBERS or 2 * n_rows < len(fields):
            return None, []
    gaps = {*words, ""}
    as_text = ["" if f in gaps else f for f in fields]
    return _columns.numbers(as_text, comma, None), words


def _unique(labels):
    """Labels where repeated ones have numbers, "a" and "a.1" as in pandas, and a tuple of notes."""
    taken, found = set(labels), []
    for label in labels:
        new, k = label, 0
        while new in found or (k and new in taken):
            k += 1
            new = f"{label}.{k}"
        found.append(new)
    renamed = [repr(new) for new, label in zip(found, labels) if new != label]
    said = f"columns with a name that occurred before are called {listed(renamed, show=str)}"
    return found, (said,) * bool(renamed)


def _dates(fields):
    """Days since 1970 of fields that are all dates or missing; None for others."""
    gaps = [_columns.is_missing(field) for field in fields]
    if not all(gap or _DATE.fullmatch(field) for field, gap in zip(fields, gaps)):
        return None
    try:
        given = ["NaT" if gap else field for field, gap in zip(fields, gaps)]
        return days(np.array(given, dtype="datetime64[us]"))
    except ValueError:  # such as the 31st of February
        return None


def _slashed_dates(fields, label, order):
    """Days since 1970 of fields such as 11/25/2026, or None, and a tuple of notes."""
    found = [None if _columns.is_missing(field) else _SLASHED.fullmatch(field) for field in fields]
    gaps = [_columns.is_missing(field) for field in fields]
    if not all(gap or match for match, gap in zip(found, gaps)):
        return None, ()
    matches = [match for match in found if match]
    orders = DATE_ORDERS if order is None else (order,)
    read = {one: _in_order(found, one == "month-first") for one in orders}
    read = {one: moments for one, moments in read.items() if moments is not None}
    if not read:
        return None, ()
    if len(read) == 2 and not np.array_equal(*read.values(), equal_nan=True):
        return None, (
            f"column {label!r}: dates such as {matches[0][0]!r} may have the month or the day "
            "first, so they are read as categories. Set --dates month-first or --dates day-first, "
            f"or write them as {_iso(matches[0], True)[:10]}",
        )
    one = next(iter(read))
    return days(read[one]), (f"column {label!r} is read as dates, {one.replace('-', ' ')}",)


def _in_order(found, month_first):
    """Moments of matches of `_SLASHED`, and NaT for None; None if they are no dates."""
    try:
        given = ["NaT" if match is None else _iso(match, month_first) for match in found]
        return np.array(given, dtype="datetime64[us]")
    except ValueError:
        return None


def _iso(match, month_first):
    """A match of `_SLASHED` as ISO 8601."""
    month, day = (match[1], match[3]) if month_first else (match[3], match[1])
    hour = int(match[6] or 0)
    if match[11]:
        if not 1 <= hour <= 12:
            raise ValueError(f"{match[0]!r} is not a time of 12 hours.")
        hour = hour % 12 + 12 * (match[11] in "pP")
    time = f"T{hour:02}:{match[7] or '00'}:{match[9] or '00'}"
    return f"{match[4]}-{int(month):02}-{int(day):02}{time}"
