"""Columns of text fields: numbers, truth values, categories, and what is missing."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from alignlearn import _limits

ERRORS_OF_SHEETS = frozenset(
    {"#N/A", "#N/A N/A", "#NV", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"}
)
"""What spreadsheets write for a cell without a value."""
BLANK = frozenset({"", "?"}) | ERRORS_OF_SHEETS
"""Fields that stand for a missing word: ``none`` and ``NA`` are values like other words."""
MISSING = frozenset({"na", "n/a", "nan", "null", "none"}) | {field.lower() for field in BLANK}
"""Fields, in lower case, that stand for a missing number."""
MAX_CATEGORIES = 256

# Fields that look like numbers or dates, but in a form that is not accepted: a thousands separator,
# an underscore, a currency or percent sign, apostrophes, Fortran's exponents, hexadecimal digits,
# imaginary parts.
_ALMOST_NUMBER = re.compile(
    r"'?[-+\u2212]?[$€£¥]?\d[\d.,_' ]*(d[-+]?\d+)?%?'?|0x[0-9a-f]+|[-+.\de]*\dj"
    r"|\d+([-/.]\d+){2}([ T].*)?",
    re.IGNORECASE,
)
# A number with a currency sign, separators of thousands or a percent sign; negative in brackets.
_AMOUNT = re.compile(
    r"(?P<open>\()?(?P<sign>[-+\u2212]?) ?(?P<before>[$€£¥]?) ?"
    r"(?P<whole>[1-9]\d{0,2}(?P<separator>[,'\u2019 \u00a0\u202f])\d{3}((?P=separator)\d{3})*"
    r"|0|[1-9]\d*)"
    r"(?P<part>\.\d+)? ?(?P<after>[%€£¥$]?)(?(open)\))",
    re.ASCII,
)
_DECIMAL_COMMA = re.compile(r"[-+\u2212]?\d+(,\d+)?(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_ONE_GROUP = re.compile(r"[-+\u2212]?[1-9]\d{0,2},\d{3}", re.ASCII)
_NO_THOUSANDS = re.compile(r"[-+\u2212]?(0\d*,\d+|\d+,(\d{1,2}|\d{4,}))", re.ASCII)
_SWAPPED = str.maketrans(",.", ".,")


def as_number(field: str, comma: bool = False) -> float:
    """``float``, but without underscores and digits of other scripts, which `float` accepts."""
    if "_" in field or not field.isascii():
        raise ValueError(f"{field!r} is not a number.")
    return float(field.replace(",", ".") if comma else field)


def is_number(field: str, comma: bool = False) -> bool:
    """Whether :func:`as_number` accepts the field."""
    try:
        as_number(field, comma)
    except ValueError:
        return False
    return True


def is_missing(field: str) -> bool:
    """Whether the field is missing in a column of numbers."""
    return field.lower() in MISSING


def numbers(column, comma, place):
    """float64 values with NaN where missing; None for a column of words.

    ``comma``: a comma is the decimal sign, unless points occur in the column as well. ``place`` is
    (file, title, line numbers) for the error when a value is infinite.
    """
    if comma and any("," in f for f in column) and any("." in f for f in column):
        return None
    try:
        values = np.array([np.nan if is_missing(f) else as_number(f, comma) for f in column])
    except ValueError:
        return None
    if np.isnan(values).all() and not BLANK.issuperset(column):
        return None
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        where, title, lines = place
        raise ValueError(
            f"{where}, line {lines[infinite[0]]}: column {title!r} holds {column[infinite[0]]!r}, "
            "which is infinite; accepted: numbers up to 1.8e308 in size."
        )
    return values


def amounts(column, comma, title):
    """Numbers of fields such as "$1,234.50" or "12 %", NaN for missing ones, and a tuple of notes.

    None unless all have the same symbols and the same separator of thousands: a comma, an
    apostrophe or a space. A field in brackets is negative, unless all are. With ``comma``, points
    separate thousands.
    """
    found = [None if is_missing(field) else _amount(field, comma) for field in column]
    matches = [match for match in found if match]
    if len(matches) < sum(not is_missing(field) for field in column) or not matches:
        return None, ()
    if len({(match["before"], match["after"]) for match in matches}) > 1:
        return None, ()
    if len({match["separator"] for match in matches} - {None}) > 1:
        return None, ()
    if all(match["open"] for match in matches):
        return None, ()
    values = [np.nan if match is None else _without_symbols(match) for match in found]
    example = next((match for match in matches if match["open"]), matches[0])
    shown = example[0].translate(_SWAPPED) if comma else example[0]
    return np.array(values), (
        f"column {title!r}: fields such as {shown!r} are read as numbers, "
        f"{_without_symbols(example):.15g}",
    )


def _amount(field, comma):
    """The match of an amount, or None."""
    match = _AMOUNT.fullmatch(field.translate(_SWAPPED) if comma else field)
    return None if match is None or (match["open"] and match["sign"]) else match


def is_amount(field: str, comma: bool = False) -> bool:
    """Whether :func:`amounts` reads such a field."""
    return _amount(field, comma) is not None


def _without_symbols(match):
    whole = match["whole"].replace(match["separator"] or ",", "")
    value = float(whole + (match["part"] or ""))
    return -value if match["open"] or match["sign"] in ("-", "\u2212") else value


def has_decimal_commas(columns) -> bool:
    """Whether some column holds numbers such as 0,5, and none such as 1,234.5 or 1,234,567."""
    found = False
    for column in columns:
        with_comma = [field for field in column if "," in field]
        if any(is_amount(f) and ("." in f or f.count(",") > 1) for f in with_comma):
            return False
        if any(map(_NO_THOUSANDS.fullmatch, with_comma)):
            found |= all(is_missing(f) or _DECIMAL_COMMA.fullmatch(f) for f in column)
    return found


def is_ambiguous(column) -> bool:
    """Whether commas are in fields such as 2,125 only, where they may be decimal signs."""
    with_comma = [field for field in column if "," in field]
    return bool(with_comma) and all(map(_ONE_GROUP.fullmatch, with_comma))


def numbers_or_amounts(column, comma, place):
    """What `numbers` returns, or else `amounts`, and a tuple of notes."""
    values = numbers(column, comma, place)
    return (values, ()) if values is not None else amounts(column, comma, place[1])


def truth_values(column):
    """1.0 for true, 0.0 for false (in any case), NaN where missing; None for other columns."""
    words = {"true": 1.0, "false": 0.0, **dict.fromkeys(BLANK, np.nan)}
    values = [words.get(field.lower()) for field in column]
    return None if None in values or BLANK.issuperset(column) else np.array(values)


def categories(column, place):
    """The distinct words of a column in alphabetical order.

    Raises ValueError for columns that cannot be one-hot encoded: numbers among the words or in a
    form that is not accepted, dates, and more distinct words than half of the rows (up to 10 are
    always accepted) or than ``MAX_CATEGORIES``.
    """
    levels = sorted(set(column) - BLANK)
    like_numbers = [f for f in levels if is_number(f) or _ALMOST_NUMBER.fullmatch(f)]
    if 2 * len(like_numbers) < len(levels) <= min(most_words(column), MAX_CATEGORIES):
        return levels
    raise _no_category(column, place, len(levels))


def most_words(column) -> int:
    """Maximum number of distinct words of a column of categories; more are names or remarks."""
    return max(10, len(column) // 2)


def _no_category(column, place, n_levels):
    where, title, lines = place
    at = next(i for i, f in enumerate(column) if not is_number(f) and not is_missing(f))
    return ValueError(
        f"{where}, line {lines[at]}: column {title!r} has the value {column[at]!r}, and {n_levels} "
        "distinct values in all; accepted: a column of numbers, such as -1.5e3, or a column of at "
        f"most {min(most_words(column), MAX_CATEGORIES)} distinct words and fewer numbers, each "
        "word of which becomes a column of 0 and 1. Correct the field, encode the column, or leave "
        f"it out by drop={_drop(title)!r}."
    )


def _drop(title):
    """The value of ``drop`` for a column: its name, or its number from 0."""
    unnamed = re.fullmatch("number ([0-9]+)", title)
    return int(unnamed[1]) - 1 if unnamed else title


def most_frequent(column) -> str:
    """The most frequent word; ties go to the first in alphabetical order."""
    counts = Counter(field for field in column if field not in BLANK)
    return min(counts, key=lambda field: (-counts[field], field))


def one_hot(column, levels) -> np.ndarray:
    """(n, len(levels)) of 0 and 1; a row of NaN where the word is missing."""
    at = {level: j for j, level in enumerate(levels)}
    codes = np.array([at.get(field, -1) for field in column])
    out = (codes[:, None] == np.arange(len(levels))).astype(np.float64)
    out[codes < 0] = np.nan
    return out


def check_width(n_rows, n_columns, place):
    """ValueError when a feature matrix of that size would exceed the limit of memory."""
    where, title, _ = place
    _limits.check_bytes(
        8 * n_rows * n_columns, f"{where}: with column {title!r}, {n_columns} features"
    )


def targets(column, comma, place):
    """Convert to float64 numbers, or keep strings as labels; also a tuple of notes.

    Strings raise an error if more than half of the distinct ones are numbers, or more than half of
    the rows are distinct (and more than 10), which indicates a typing error among numbers. Numbers
    raise an error if they are different integers that are equal in float64.
    """
    where, title, lines = place
    values, notes = numbers_or_amounts(column, comma, place)
    levels = set(column)
    if values is not None:
        large = {int(f) for f in levels if re.fullmatch("[-+]?[0-9]{16,300}", f)}
        if len(set(map(float, large))) < len(large):
            raise ValueError(
                f"{where}: the target {title!r} holds different integers beyond 2**53 "
                "that are equal in double precision; accepted: smaller integers, or "
                "strings as labels."
            )
        return values, notes
    n_numbers = sum(is_number(field, comma) for field in levels)
    if 2 * n_numbers > len(levels) or len(levels) > most_words(column):
        at = next(i for i, f in enumerate(column) if not is_number(f, comma))
        raise ValueError(
            f"{where}, line {lines[at]}: the target {title!r} holds {column[at]!r} "
            f"({len(levels)} distinct values in {len(column)} rows, {n_numbers} of "
            f"them numbers); accepted: only numbers, or at most {most_words(column)} "
            "distinct labels that are not mostly numbers."
        )
    return np.array(column), notes
