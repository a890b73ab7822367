"""Dates in the fields of a column of delimited text."""

from __future__ import annotations

import re

import numpy as np

from alignlearn.validation.frames import days

from . import _columns

ORDERS = ("month-first", "day-first")

_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)

_TIME = (
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d{1,9})?)?"
    r"(?: ?(?P<half>[AP])M)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_SEPARATOR = r"(?P<separator>[/.-])"
_FORMS = {
    "year first": rf"(?P<year>\d{{4}}){_SEPARATOR}(?P<a>\d{{1,2}})(?P=separator)(?P<b>\d{{1,2}})",
    "by number": rf"(?P<a>\d{{1,2}}){_SEPARATOR}(?P<b>\d{{1,2}})(?P=separator)(?P<year>\d{{4}})",
    "short year": r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d\d)",
    "day and name": r"(?P<b>\d{1,2})[-/ ](?P<name>[a-z]{3,9})\.?,?[-/ ](?P<year>\d{4}|\d\d)",
    "name and day": r"(?P<name>[a-z]{3,9})\.? (?P<b>\d{1,2}),? (?P<year>\d{4})",
}
_FORMS = {name: re.compile(form + _TIME, re.ASCII | re.IGNORECASE) for name, form in _FORMS.items()}
_AMBIGUOUS = (_FORMS["by number"], _FORMS["short year"])
_CENTURY = 69  # two digits of a year from which it is of the 20th century, as in POSIX
_MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august"]
_MONTHS += ["september", "october", "november", "december"]


def read_dates(fields, label, order=None):
    """Days since 1970 of fields that are all dates or missing, or None; and a tuple of notes.

    Parameters
    ----------
    fields : sequence of str
    label : str
        Of the column, for notes.
    order : {"month-first", "day-first"}, optional
        Of dates such as 3/4/2026. Without it, a day above 12 decides. If there is none, the result
        is None, and a note explains how to declare the order.
    """
    given = [None if _columns.is_missing(field) else field for field in fields]
    if all(field is None or _ISO.fullmatch(field) for field in given):
        return _days(given, str), ()
    for form in _FORMS.values():
        if all(field is None or form.fullmatch(field) for field in given):
            break
    else:
        return None, ()
    found = [None if field is None else form.fullmatch(field) for field in given]
    if form not in _AMBIGUOUS:
        return _days(found, _iso), ()
    orders = ORDERS if order is None else (order,)
    read = {one: _days(found, lambda m, one=one: _iso(m, one)) for one in orders}
    read = {one: values for one, values in read.items() if values is not None}
    if not read:
        return None, ()
    if len(read) == 2 and not np.array_equal(*read.values(), equal_nan=True):
        example = next(match for match in found if match)
        return None, (
            f"column {label!r}: dates such as {example[0]!r} may have the month or the day "
            "first, so they are read as categories. Set --dates month-first or --dates day-first, "
            f"or write them as {str(_iso(example))[:10]}",
        )
    one = next(iter(read))
    return read[one], (f"column {label!r} is read as dates, {one.replace('-', ' ')}",)


def _days(given, convert):
    """Days since 1970, NaN for None; None if one is not a date, such as the 31st of February."""
    try:
        moments = ["NaT" if one is None else convert(one) for one in given]
        return days(np.array(moments, dtype="datetime64[us]"))
    except ValueError:
        return None


def _iso(match, order=ORDERS[0]):
    """The moment of a match, in UTC if it has a zone, as `numpy.datetime64`."""
    parts = match.groupdict()
    if "name" in parts:
        month, day = _month(parts["name"]), int(parts["b"])
    else:
        swapped = order == "day-first" and match.re in _AMBIGUOUS
        month, day = (int(parts[k]) for k in ("ba" if swapped else "ab"))
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(f"{match[0]!r} is not a time of 12 hours.")
        hour = hour % 12 + 12 * (parts["half"] in "pP")
    time = f"{hour:02}:{parts['minute'] or '00'}:{parts['second'] or '00'}"
    fraction = (parts["fraction"] or "")[:7]
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    moment = np.datetime64(f"{year:04}-{month:02}-{day:02}T{time}{fraction}", "us")
    zone = (parts["zone"] or "").replace(":", "")
    if zone[:1] in ("+", "-"):
        minutes = 60 * int(zone[1:3]) + int(zone[3:])
        moment -= np.timedelta64(minutes if zone[0] == "+" else -minutes, "m")
    return moment


def _month(name):
    """The number of a month by its English name or at least three letters of it."""
    for number, month in enumerate(_MONTHS, 1):
        if month.startswith(name.lower()):
            return number
    raise ValueError(f"{name!r} is not a month.")
