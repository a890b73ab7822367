"""A kernel on some of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from alignlearn.engine.external import select_columns

from .algebra import Unary
from .families import as_kernel


@dataclass(frozen=True)
class Columns(Unary):
    """A kernel on some columns of X, so that each feature set can have its own.

    Parameters
    ----------
    kernel : Kernel or str
    columns : int, slice with explicit stop, sequence of int >= 0, str, or sequence of str
        Names are those of a data frame's columns; `resolve_names` turns them into numbers.
    """

    columns: tuple = ()

    is_exponential = property(attrgetter("kernel.is_exponential"))
    rate = property(attrgetter("kernel.rate"))
    largest_value = property(attrgetter("kernel.largest_value"))
    has_unit_diagonal = property(attrgetter("kernel.has_unit_diagonal"))

    def __post_init__(self):
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        object.__setattr__(self, "columns", _column_tuple(self.columns))

    @property
    def _named(self):
        return isinstance(self.columns[0], str)

    def __str__(self):
        first, last, n = self.columns[0], self.columns[-1], len(self.columns)
        run = not self._named and n > 1 and self.columns == tuple(range(first, last + 1))
        return f"{self.kernel} on {f'{first}:{last + 1}' if run else list(self.columns)}"

    def resolve(self, X, weight=None):
        if self._named:
            self.resolve_names(None)
        kernel = self.kernel.resolve(select_columns(X, self.columns), weight)
        return Columns(kernel, self.columns)

    def resolve_names(self, names):
        columns = self._numbers(names) if self._named else self.columns
        inside = names is not None and max(columns) < len(names)
        inner = [names[c] for c in columns] if inside else None
        return Columns(self.kernel.resolve_names(inner), columns)

    def _numbers(self, names):
        """The numbers of the named columns."""
        if names is None:
            raise ValueError(
                f"Columns selects {list(self.columns)} by name, but X has no column names; "
                "accepted: a data frame whose column names are strings, or column numbers."
            )
        names = list(names)
        for problem, bad in (
            ("not a column", [c for c in self.columns if c not in names]),
            ("the name of several columns", [c for c in self.columns if names.count(c) > 1]),
        ):
            if bad:
                raise ValueError(
                    f"Columns selects {', '.join(map(repr, bad))}, which is {problem} of X; X has "
                    f"{_listed(names)}."
                )
        return tuple(names.index(c) for c in self.columns)

    def lower(self, b, dst, mode):
        with b.columns(self.columns):
            return self.kernel.lower(b, dst, mode)

    def lower_distance(self, b, dst):
        with b.columns(self.columns):
            self.kernel.lower_distance(b, dst)

    def unit_form(self):
        unit = self.kernel.unit_form()
        return None if unit is None else Columns(unit, self.columns)


def column_group(kernel):
    """The columns that a kernel, or a multiple of it, is on; None for one on all columns."""
    while isinstance(kernel, Unary):
        if isinstance(kernel, Columns):
            return kernel.columns
        kernel = kernel.kernel
    return None


def _listed(names, most=20):
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _column_tuple(columns):
    if isinstance(columns, slice):
        if columns.stop is None or (columns.start or 0) < 0 or columns.stop < 0:
            raise ValueError(f"columns={columns!r}: a slice needs non-negative bounds.")
        columns = range(columns.stop)[columns]
    elif isinstance(columns, (int, np.integer, str)) and not isinstance(columns, bool):
        columns = (columns,)
    if hasattr(columns, "__iter__"):
        columns = tuple(columns)
        if columns and all(isinstance(c, str) for c in columns):
            return tuple(map(str, columns))
    array = np.asarray(columns)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
        raise ValueError(
            f"columns={columns!r}: accepted are a non-negative integer, a slice with a stop, a "
            "column name, or a non-empty sequence of non-negative integers or of names."
        )
    return tuple(int(c) for c in array)
