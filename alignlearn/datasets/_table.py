"""Delimited text: its fields, the line of names, the target, and features from the columns."""

from __future__ import annotations

import csv
import re
from itertools import islice
from typing import NamedTuple

import numpy as np

from alignlearn import _limits
from alignlearn._text import listed

from . import _columns
from ._columns import BLANK, MISSING, is_missing, is_number
from ._data import column_number

_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "white space"}
_UNNAMED = ("", "Unnamed: 0")
_SHOWN = 8
_ERROR_OF_SHEET = re.compile(  # in the first field, so that the line is no remark
    rf"\s*({'|'.join(map(re.escape, sorted(_columns.ERRORS_OF_SHEETS)))})\s*([,;|\t ]|$)"
)


class Table(NamedTuple):
    """Content of a text table; ``names`` is empty without a header, ``notes`` describe it."""

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple
    target_name: str
    notes: tuple


def parse_table(text, where, target=None, missing="error", drop=(), decimal=None) -> Table:
    """Features and target in delimited text.

    Fields are separated by semicolons, tabs, bars, commas or white space, whichever splits the
    first lines most evenly; between semicolons a comma is a decimal sign, unless ``decimal`` is
    "point". Lines that start with # are skipped. The first line holds names when it has words over
    numbers, or words that do not occur again below; whole numbers that count (0, 1, 2, ...) may be
    among them, and are names on their own as data frames write them: all of 0, 1, ..., but in a
    table of two columns only over decimal points. A first column without a name, beside others with
    names, is an index and left out; ``target`` and ``drop`` count columns without it.

    Columns of numbers stay unchanged; fields such as "$1,234.50" become numbers, with a note; true
    and false become 1 and 0; a column of words becomes one column of 0 and 1 for each, named
    ``color=red``. Missing are the empty field and ?, among numbers also NA, N/A, NaN, null and None
    (in any case), which are values among words. ``missing="impute"`` fills words with the most
    frequent one. Rows whose target is missing are left out by "drop" and "impute", and an error
    otherwise.
    """
    rows, lines, delimiter, notes = _read_rows(text, where)
    columns, names, lines, said = _named_columns(rows, lines, where, remarks=notes)
    del rows
    shape = f"{_count(len(lines), 'row')} and {_count(len(columns), 'column')}"
    notes = [f"{shape}, separated by {_DELIMITERS[delimiter]}; {said[0]}", *said[1:], *notes]
    titles = list(names) or [f"number {i + 1}" for i in range(len(columns))]
    kept, at = _kept_columns(target, drop, names, len(columns), where)
    if len(kept) < len(columns):
        gone = [repr(title) for i, title in enumerate(titles) if i not in kept]
        notes.append(f"{_count(len(gone), 'column')} dropped: {listed(gone, _SHOWN, show=str)}")
        columns, titles = [columns[i] for i in kept], [titles[i] for i in kept]
    title = titles.pop(at)
    comma, said = decimal_commas(columns, delimiter, decimal)
    notes += said
    columns, lines = _with_target(columns, at, comma, missing, (where, title, lines), notes)
    y, said = _columns.targets(columns.pop(at), comma, (where, title, lines))
    notes += said
    kind = "numbers" if y.dtype.kind == "f" else f"text, {_count(np.unique(y).size, 'value')}"
    notes.append(f"target {title!r}: {kind}")
    X, made = _features(columns, titles, comma, missing, (where, lines, notes))
    named = bool(names) or made != titles
    return Table(X, y, tuple(made) * named, title * bool(names), tuple(notes))


# --- lines and fields -----------------------------------------------------------------------


def _read_rows(text, where, least=2):
    """Rows of at least ``least`` fields, the line number of each, the delimiter, and notes."""
    _limits.check_fields(text.count("\n"), where)
    lines = text.split("\n")
    if re.fullmatch("sep=.", lines[0].strip()):
        lines[0] = ""
    remarks = 0
    for i, line in enumerate(lines):
        if line.lstrip().startswith("#") and not _ERROR_OF_SHEET.match(line):
            lines[i], remarks = "", remarks + 1
    head = list(islice(filter(str.strip, lines), 50))
    if not head:
        raise ValueError(f"{where} is empty; accepted: lines with a feature and a target.")
    delimiter, width = _delimiter(lines, head, where, least)
    _limits.check_fields(text.count(delimiter) + text.count("\n"), where)
    rows, numbers = _numbered_rows(lines, delimiter, where)
    for row in rows:  # titles, as spreadsheets pad them
        if width < 3 or len(row) > 1 or is_number(row[0]):
            break
        row += [""] * (width - 1)
    if not rows:
        raise ValueError(f"{where} is empty; accepted: lines with a feature and a target.")
    _even_out(rows, width)
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != width:
            raise ValueError(
                f"{where}, line {number}: {len(row)} fields instead of {width} (separated by "
                f"{_DELIMITERS[delimiter]}); accepted: the same number in all lines."
            )
    notes = []
    if remarks:
        notes.append(f"{_count(remarks, 'line')} that start{'s' * (remarks == 1)} with # skipped")
    return rows, numbers, delimiter, notes


def _numbered_rows(lines, delimiter, where):
    """Rows of fields that are not all empty, and the number of the first line of each."""
    rows, numbers, number = [], [], 0
    try:
        for number, row in enumerate(_fields(lines, delimiter), 1):
            if any(row):
                rows.append(row)
                numbers.append(number)
    except csv.Error as exc:
        found = _rows_of_lines(lines, delimiter)
        if found is None:
            raise ValueError(f"{where}, line {number + 1}: {exc}.") from exc
        return found
    return rows, numbers


def _fields(lines, delimiter):
    """The stripped fields of each line; csv.Error where a quoted one does not end on its line."""
    if delimiter == " ":
        lines = (" ".join(line.split()) for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for number, row in enumerate(reader, 1):
        if reader.line_num != number:
            raise csv.Error("a quoted field must end on its line (is a quote missing?)")
        yield [field.strip() for field in row]


def _rows_of_lines(lines, delimiter, most=None):
    """As `_numbered_rows`, where quoted fields have line breaks; None if a quote is missing.

    All rows must have the same number of fields, and every quote must end at a delimiter.
    """
    lines = (line + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    rows, numbers, start = [], [], 1
    try:
        for row in islice(reader, most):
            if any(row):
                rows.append([" ".join(field.split()) for field in row])
                numbers.append(start)
            start = reader.line_num + 1
    except csv.Error:
        return None
    return (rows, numbers) if len({len(row) for row in rows}) == 1 else None


def _delimiter(lines, head, where, least):
    """(delimiter, number of fields) that fit most of the first lines."""
    best, found = 0.0, None
    for candidate in _DELIMITERS:
        try:
            widths = [len(row) for row in _fields(head, candidate)]
        except csv.Error:
            whole = _rows_of_lines(lines, candidate, most=len(head))
            # One broken line must not prevent finding the delimiter of the others.
            naive = [line.count(candidate) + 1 for line in head]
            widths = naive if whole is None else [len(row) for row in whole[0]]
        usual = max(set(widths), key=widths.count)
        score = widths.count(usual) / len(widths)
        if usual > 1 and score > best:
            best, found = score, (candidate, usual)
    if found is None and least == 1:
        return ",", 1
    if found is None:
        raise ValueError(
            f"{where} does not look like a table: its lines do not have the same number "
            "of fields, at least two, separated by semicolon, tab, bar, comma or white "
            "space (a feature and a target are needed)."
        )
    return found


def _even_out(rows, width):
    """Add a field for the missing name of row names, or of an empty last column."""
    first = rows[0]
    if len(first) == width - 1 and not any(map(is_number, first)):
        if all(len(row) == width and row[-1] == "" for row in rows[1:]):
            first.append("")
        else:
            first.insert(0, "")


def decimal_commas(columns, delimiter, decimal=None):
    """Whether commas are decimal signs, and a tuple of notes.

    ``decimal``, "comma" or "point", declares the decimal sign. By default commas are in a file of
    semicolons. In other files a column of numbers must contain one such as 0,5, which has no
    separator of thousands.
    """
    if decimal is not None:
        return decimal == "comma", ()
    if delimiter == ";":
        return True, ()
    found = _columns.has_decimal_commas(columns)
    return found, ("commas in numbers are read as decimal signs",) * found


# --- names and columns ----------------------------------------------------------------------


def _named_columns(rows, lines, where, least=2, remarks=()):
    """(columns, names, lines, notes) without the line of names, index and empty last columns.

    ``remarks`` are the notes of `_read_rows`, for the error if there is no row.
    """
    n_above = _titles(rows)
    above = [f"the lines above the names are left out: {listed([r[0] for r in rows[:n_above]])}"]
    rows, lines = rows[n_above:], lines[n_above:]
    names = rows[0] if _is_header(rows) else []
    notes = ["no line of names", *above[:n_above]]
    if names:
        notes[0] = f"names in line {lines[0]}"
        rows, lines = rows[1:], lines[1:]
        if not rows:
            skipped = f"; {remarks[0]}" if remarks else ""
            raise ValueError(f"{where} has a header line but no rows{skipped}.")
    elif _counts(rows[0]):
        notes.append(f"the first line {listed(rows[0], show=str)} is read as a row, not as names")
    columns = list(zip(*rows, strict=True))
    n_empty = 0
    while n_empty < len(columns) and not any(columns[-1 - n_empty]):
        if names and names[-1 - n_empty]:
            break
        n_empty += 1
    if n_empty:
        names, columns = names[:-n_empty], columns[:-n_empty]
        several = f"the last {n_empty} columns are empty and left out"
        notes.append("the last column is empty and left out" if n_empty == 1 else several)
    if names and names[0] in _UNNAMED and any(names[1:]):
        names, columns = names[1:], columns[1:]
        notes.append("the first column has no name and is left out as an index")
    if len(columns) < least:
        raise ValueError(
            f"{where} has {_count(len(columns), 'column')}, not counting empty columns "
            "and a first column without a name, which is an index; accepted: at least a "
            "feature and a target."
        )
    return columns, list(names), lines, notes


def _titles(rows) -> int:
    """Number of first lines with a title above the names: all fields but the first are empty."""
    n = 0
    while n < len(rows) - 2 and len(rows[n]) > 2 and rows[n][0] and not any(rows[n][1:]):
        n += 1
    return n if n and not is_number(rows[0][0]) and _is_header(rows[n:]) else 0


def _is_header(rows) -> bool:
    """Whether the first row holds names (the rules stand in :func:`parse_table`)."""
    first, body = rows[0], rows[1:]
    at = [j for j, field in enumerate(first) if is_number(field, comma=True)]
    numbers = [first[j] for j in at]
    words = [j for j in sorted(set(range(len(first))) - set(at)) if not is_missing(first[j])]
    pointed = all("." in row[j] for j in at for row in body)
    if not words:
        if first[0] == "":
            return _counts(first) and len({row[0] for row in body}) == len(body)
        return _counts(first) and (len(first) > 2 or pointed)
    if any(row[j] == first[j] for j in words for row in body):
        return False
    over_numbers = bool(body) and any(
        all(is_missing(row[j]) or is_number(row[j], comma=True) for row in body[:50]) for j in words
    )
    if numbers:
        counts = numbers[0] == "0" and (len(numbers) > 1 or pointed)
        return _consecutive(numbers) and (over_numbers or counts)
    named = len(set(first)) == len(first) and not any(map(is_missing, first[1:]))
    return over_numbers or named or not body


def _counts(first) -> bool:
    """Whether a row is 0, 1, 2, ..., after an empty field or not."""
    numbers = first[1:] if first[0] == "" else first
    return numbers[0] == "0" and _consecutive(numbers)


def _consecutive(numbers) -> bool:
    if not all(re.fullmatch("[0-9]{1,9}", f) for f in numbers):
        return False
    return [str(int(numbers[0]) + i) for i in range(len(numbers))] == list(numbers)


def _kept_columns(target, drop, names, width, where):
    """(remaining columns, position of the target among them)."""
    gone = {column_number("drop", one, names, width, where) for one in drop}
    kept = [i for i in range(width) if i not in gone]
    at = width - 1 if target is None else column_number("target", target, names, width, where)
    at = max(kept, default=at) if target is None else at
    if at in gone:
        raise ValueError(f"drop: the target of {where} cannot be dropped; choose another target.")
    if len(kept) < 2:
        raise ValueError(f"drop removes every feature of {where}; accepted: all columns but two.")
    return kept, kept.index(at)


def _with_target(columns, at, comma, missing, place, notes):
    """(columns, lines) of the rows that have a target."""
    where, title, lines = place
    values, _ = _columns.numbers_or_amounts(columns[at], comma, place)
    gone = BLANK if values is None else MISSING
    gaps = np.array([field.lower() in gone for field in columns[at]])
    n_gaps = int(gaps.sum())
    if n_gaps and (missing not in ("drop", "impute") or gaps.all()):
        raise ValueError(
            f"{where}, line {lines[int(gaps.argmax())]}: the target is missing in column {title!r} "
            f"({n_gaps} of {gaps.size} rows); missing='drop' leaves such rows out where others "
            "remain."
        )
    if n_gaps:
        rows = _count(gaps.size, "row")
        notes.append(f"missing={missing!r}: {n_gaps} of {rows} without a target left out")
    keep = np.flatnonzero(~gaps).tolist()
    return [[column[i] for i in keep] for column in columns], [lines[i] for i in keep]


# --- features -------------------------------------------------------------------------------


def _features(columns, titles, comma, missing, context):
    """(X, names) of the feature columns, words as columns of 0 and 1."""
    where, lines, notes = context
    blocks, names, spread = [], [], []
    for column, title in zip(columns, titles, strict=True):
        place = (where, title, lines)
        values, said = _columns.numbers_or_amounts(column, comma, place)
        notes += said
        if values is None:
            column = _filled(column, title, missing, notes)
            values = _columns.truth_values(column)
        if values is not None:
            blocks.append(values[:, None])
            names.append(title)
            continue
        levels = _columns.categories(column, place)
        _columns.check_width(len(lines), len(names) + len(levels), place)
        names += [f"{title}={level}" for level in levels]
        blocks.append(_columns.one_hot(column, levels))
        spread.append(f"{title!r} ({_count(len(levels), 'value')})")
        odd = listed([level for level in levels if is_missing(level)])
        if odd:
            notes.append(f"{odd} in column {title!r} is read as a value, not as missing")
    n_plain = len(columns) - len(spread)
    notes.append(f"features: {_count(n_plain, 'column')} of numbers")
    if spread:
        shown = listed(spread, _SHOWN, show=str)
        notes.append(f"words in {shown}: {_count(len(names) - n_plain, 'column')} of 0 and 1")
    return np.concatenate(blocks, axis=1), names


def _filled(column, title, missing, notes):
    gaps = sum(field in BLANK for field in column)
    if missing != "impute" or not gaps:
        return column
    word = _columns.most_frequent(column)
    notes.append(
        f"missing='impute': {_count(gaps, 'value')} of column {title!r} filled with {word!r}, "
        "the most frequent"
    )
    return [word if field in BLANK else field for field in column]


def _count(n, noun) -> str:
    return f"{n} {noun}" + "s" * (n != 1)
