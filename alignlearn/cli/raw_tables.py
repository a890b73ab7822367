"""The raw columns of a file of delimited text, and a target."""

from __future__ import annotations

import os
import shlex
from typing import Any, NamedTuple

from alignlearn._text import listed


class Sample(NamedTuple):
    """Rows of a table with a target.

    Attributes
    ----------
    frame : FrameColumns
    y : ndarray of shape (m,)
    target : str
    task : {"classification", "regression"}
    notes : tuple of str
    name : str
        Of the file.
    decimal : str or None
        The decimal sign; see `RawTable`.
    """

    frame: Any
    y: Any
    target: str
    task: str
    notes: tuple
    name: str = ""

    @property
    def X(self):
        """The columns except the target, named as in a `Dataset`."""
        return self.frame

    @property
    def n_samples(self):
        """Number of rows."""
        return len(self.frame)

    @property
    def is_plain(self):
        """Whether the columns are numbers without gaps, which need no preparation."""
        frame = self.frame
        gaps = frame.numbers != frame.numbers
        return not (frame.categories or frame.dates or gaps.any())

    decimal: str | None = None


def add_dates_option(add):
    """Add ``--dates`` to a parser by its ``add_argument``."""
    add(
        "--dates",
        choices=("month-first", "day-first"),
        help="the order of dates such as 3/4/2026; default: from days above 12",
    )


def add_decimal_option(add):
    """Add ``--decimal`` to a parser by its ``add_argument``."""
    add(
        "--decimal",
        choices=("comma", "point"),
        help="the decimal sign; default: a comma in files with semicolons, else from the numbers",
    )


def read_sample(
    path, target=None, task=None, drop=(), raw=None, dates=None, decimal=None
) -> Sample:
    """The rows of a file that have a target; ``raw`` is the file, if it was read before.

    ``dates`` is the order of dates and ``decimal`` the decimal sign, as `read_raw` takes them.

    Raises
    ------
    ValueError, OSError
        The file cannot be read, a column does not exist, or the target is constant.
    """
    import numpy as np

    from alignlearn.datasets._data import settle_task
    from alignlearn.datasets._raw import read_raw

    raw = read_raw(path, order=dates, decimal=decimal) if raw is None else raw
    frame, notes = raw.frame, raw.notes
    labels = frame.columns
    dropped = [_label(labels, "drop", one) for one in drop]
    if target is not None and _label(labels, "target", target) in dropped:
        raise ValueError(f"--drop {target}: the target cannot be dropped; name another --target.")
    if target is None:
        target = next((one for one in reversed(labels) if one not in dropped), labels[-1])
    given = [_label(labels, "target", target), *dropped]
    label, y = given[0], frame.column(given[0])
    missing = np.array([v is None or v != v for v in y.tolist()])
    frame = frame.without(given)
    notes = (*notes, *_consecutive(frame))
    if not frame.columns:
        raise ValueError(f"{path} has no column besides the target {label!r}.")
    if missing.any():
        rows = np.flatnonzero(~missing)
        frame, y = frame[rows], y[rows]
        rows = "1 row" if missing.sum() == 1 else f"{missing.sum()} rows"
        is_or_are = "is" if missing.sum() == 1 else "are"
        notes = (*notes, f"{rows} without a target {is_or_are} left out")
    y, task = settle_task(y.astype(str) if y.dtype.kind == "O" else y, task, path)
    notes = (*notes, *_doubtful_classes(y, label))
    return Sample(frame, y, label, task, notes, os.path.basename(path), raw.decimal)


def _doubtful_classes(y, label):
    """Notes on classes that may be missing values."""
    import numpy as np

    from alignlearn.datasets._columns import is_missing

    names, counts = np.unique(y, return_counts=True) if y.dtype.kind == "U" else ((), ())
    for name, count in zip(names, counts):
        if is_missing(name) or set(name) <= {"-", "."}:
            rows = "1 row" if count == 1 else f"{count} rows"
            yield (
                f"{name.item()!r} is a class of the target {label!r} ({rows}); if it stands for a "
                "missing value, empty these fields in the file"
            )


def _consecutive(frame):
    """A note on columns that are k, k + 1, k + 2, ..."""
    import numpy as np

    steps = np.diff(frame.numbers, axis=0)
    alike = np.all(steps == 1.0, axis=0) & (len(steps) > 0)
    names = [frame.columns[c] for c, one in zip(frame.at, alike) if one and c not in frame.dates]
    if names:
        how = " ".join(f"--drop {shlex.quote(name)}" for name in names)
        yield f"consecutive numbers in {listed(names)}: if they only count the rows, set {how}"


def _label(labels, option, given):
    """The label of a column that an option names."""
    if isinstance(given, int) and -len(labels) <= given < len(labels):
        return labels[given]
    if given in labels:
        return given
    raise ValueError(f"--{option} {given}: there is no such column; accepted: {listed(labels)}.")
