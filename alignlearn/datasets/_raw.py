"""Delimited text as the columns of a data frame: numbers, dates and categories, with gaps."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from alignlearn.validation.frames import FrameColumns, coded, days

from . import _columns, _files, _table

_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")


class RawTable(NamedTuple):
    """The columns of a file.

    Attributes
    ----------
    frame : FrameColumns
        Columns without names are called "number 1", "number 2", ...
    notes : tuple of str
        What was read.
    """

    frame: FrameColumns
    notes: tuple


def read_raw(path) -> RawTable:
    """Read a file of delimited text, as `parse_table` splits it, without a target.

    A column of numbers and missing fields holds numbers, one of dates such as 2026-11-25 or
    2026-11-25 14:30 holds dates, and any other one categories.

    Raises
    ------
    ValueError, OSError
        The file cannot be read, or its lines have different numbers of fields.
    """
    text, said = _files.read_text(path)
    rows, lines, delimiter, notes = _table._read_rows(text, path)
    columns, names, lines, more = _table._named_columns(rows, lines, path)
    labels = list(names) or [f"number {c + 1}" for c in range(len(columns))]
    numbers, categories, dates = [], {}, []
    for c, fields in enumerate(columns):
        values = _columns.numbers(fields, delimiter == ";", (path, labels[c], lines))
        moments = None
        if values is None and all(map(_columns.is_missing, fields)):
            values = np.full(len(fields), np.nan)
        if values is None:
            values = moments = _dates(fields)
        if moments is not None:
            dates.append(c)
        if values is None:
            categories[c] = coded([None if f in _columns.BLANK else f for f in fields])
        else:
            numbers.append(values)
    matrix = np.column_stack(numbers) if numbers else np.empty((len(lines), 0))
    found = FrameColumns(labels, matrix, categories, tuple(dates))
    shape = f"{len(lines)} rows, {len(columns)} columns with the target, "
    shape += f"{len(categories)} of them categorical"
    return RawTable(found, (shape, *more[1:], *notes, *said))


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
