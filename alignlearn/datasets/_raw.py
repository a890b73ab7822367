"""Delimited text as the columns of a data frame: numbers, dates and categories, with gaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._text import listed
from alignlearn.validation.frames import FrameColumns, coded

from . import _columns, _files, _table
from ._dates import read_dates

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
    undecided : tuple of str
        Columns of dates that may have the month or the day first, which are read as categories.
    decimal : {"comma", "point"} or None
        The decimal sign; None if no number has a comma or a point.
    """

    frame: FrameColumns
    notes: tuple
    undecided: tuple = ()
    decimal: str | None = None


def read_raw(
    path, numbers=(), words_of_fit=(), order=None, least=2, decimal=None, usual=None
) -> RawTable:
    """Read a file of delimited text, as `parse_table` splits it, without a target.

    A column of numbers and missing fields holds numbers, one of dates holds dates, and any other
    one categories. At most two words in a column that
    otherwise has more than 20 different numbers, such as "-", are read as missing; so is every word
    in the columns of ``numbers``, a collection of labels. The columns of ``words_of_fit`` are not
    read as dates or as numbers with symbols.

    Fields such as "$1,234.50", "1'234.50" and "(5)" are numbers, the last one negative; commas are
    decimal signs where `decimal_commas` finds them. Dates are read by `read_dates`, with ``order``
    for those such as 3/4/2026. A file has at least ``least`` columns.

    ``decimal``, "comma" or "point", declares the decimal sign. Without it, fields such as 2,125 in
    all rows of a column of ``numbers`` raise an error outside of files with semicolons, because
    other files may have shown what the comma means. ``usual`` is the sign of such a file, which is
    then used.

    Raises
    ------
    ValueError, OSError
        The file cannot be read, or its lines have different numbers of fields.
    """
    text, said = _files.read_text(path)
    rows, lines, delimiter, notes = _table._read_rows(text, path, least)
    columns, names, lines, more = _table._named_columns(rows, lines, path, least, notes)
    labels = list(names) or [f"number {c + 1}" for c in range(len(columns))]
    labels, renamed = _unique(labels)
    comma, more_said = _table.decimal_commas(columns, delimiter, decimal)
    if decimal is None and not comma:
        given = [(n, column) for n, column in zip(labels, columns) if n in numbers]
        comma = _is_comma(given, path, usual)
    said = (*said, *more_said)
    found, categories, dates, undecided = [], {}, [], []
    sign = "comma" if comma else None
    for c, fields in enumerate(columns):
        values = _columns.numbers(fields, comma, (path, labels[c], lines))
        moments = None
        if values is None and all(map(_columns.is_missing, fields)):
            values = np.full(len(fields), np.nan)
        if values is None:
            of_fit = (labels[c] in numbers, labels[c] in words_of_fit)
            values, notes_of_column = _with_symbols(fields, comma, labels[c], *of_fit)
            said = (*said, *notes_of_column)
        if values is None and labels[c] not in words_of_fit:
            values, note = read_dates(fields, labels[c], order)
            moments, said = values, (*said, *note)
            undecided += [labels[c]] * (values is None and bool(note))
        if moments is not None:
            dates.append(c)
        if values is None:
            words = coded([None if f in _columns.BLANK else f for f in fields])
            categories[c] = words._replace(strings=True)
        else:
            found.append(values)
            if sign is None and moments is None and any("," in f or "." in f for f in fields):
                sign = "point"
    matrix = np.column_stack(found) if found else np.empty((len(lines), 0))
    frame = FrameColumns(labels, matrix, categories, tuple(dates))
    shape = f"{len(lines)} rows, {len(columns)} columns with the target, "
    shape += f"{len(categories)} of them categorical"
    notes = (shape, *more[1:], *renamed, *notes, *said)
    return RawTable(frame, notes, tuple(undecided), sign)


def _is_comma(columns, path, usual):
    """Whether commas of some columns are decimal signs. ``usual``: the sign of the file of the fit.

    Raises
    ------
    ValueError
        All commas of a column may also separate thousands, and ``usual`` is None.
    """
    for label, fields in columns:
        if _columns.is_ambiguous(fields):
            if usual is not None:
                return usual == "comma"
            shown = next(field for field in fields if "," in field)
            raise ValueError(
                f"{path}: column {label!r} holds {shown!r}, whose comma may separate thousands or "
                "be the decimal sign; set --decimal point or --decimal comma."
            )
    return False


def _with_symbols(fields, comma, label, are_numbers, are_words):
    """Numbers with symbols or words among them, and notes; None and none in other columns."""
    values, said = (None, ()) if are_words else _columns.amounts(fields, comma, label)
    if values is not None:
        return values, said
    words = _missing_words(fields, lambda f: _columns.is_number(f, comma), are_numbers)
    if not are_words:  # "$5" and "-": one of both kinds of numbers leaves fewer words
        others = _missing_words(fields, lambda f: _columns.is_amount(f, comma), are_numbers)
        if others is not None and (words is None or len(others) < len(words)):
            values, said = _columns.amounts(_without(fields, others), comma, label)
            words = words if values is None else others
    if words is None:
        return None, ()
    if values is None:
        values = _columns.numbers(_without(fields, words), comma, None)
    if values is None:
        return None, ()
    n_rows = int(np.isin(fields, words).sum())
    rows = f"{n_rows} row" + "s" * (n_rows != 1)
    return values, (*said, f"column {label!r}: {listed(words)} is read as missing ({rows})")


def _without(fields, words):
    """The fields, empty in place of words."""
    gone = set(words)
    return ["" if field in gone else field for field in fields]


def _missing_words(fields, fits, are_numbers):
    """The words of a column whose other fields fit; None in a column of categories."""
    others = [f for f in fields if not _columns.is_missing(f)]
    words = sorted({f for f in others if not fits(f)})
    if not are_numbers:
        n_rows = sum(f not in words for f in others)
        different = len(set(others)) - len(words)
        if len(words) > _MOST_WORDS or different <= _FEW_NUMBERS or 2 * n_rows < len(fields):
            return None
    return words


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
