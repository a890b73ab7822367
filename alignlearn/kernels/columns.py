"""A kernel on some of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from alignlearn._text import listed, short
from alignlearn.engine.external import select_columns

from .algebra import Unary
from .base import some_names
from .families import as_kernel

_IN_A_LABEL = 5  # columns


@dataclass(frozen=True)
class Columns(Unary):
    """A kernel on some columns of X, so that each feature set can have its own.

    Parameters
    ----------
    kernel : Kernel or str
    columns : int, slice with explicit stop, sequence of int >= 0, str, or sequence of str
        Strings are column names of a data frame; `resolve_names` replaces them by numbers.
    name : str, optional
        Name of this group of columns in tables and messages.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Columns, Gaussian, Linear
    >>> X = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
    >>> Columns(Linear(), [1, 2])(X)
    array([[ 5., 11.],
           [11., 25.]])
    >>> np.array_equal(Columns(Gaussian(0.5), slice(0, 1))(X), np.ones((2, 2)))  # column 0
    True
    """

    columns: tuple = ()
    name: str | None = None
    _labels = None  # names of the columns in a data frame, which are only shown

    is_exponential = property(attrgetter("kernel.is_exponential"))
    rate = property(attrgetter("kernel.rate"))
    largest_value = property(attrgetter("kernel.largest_value"))
    has_unit_diagonal = property(attrgetter("kernel.has_unit_diagonal"))

    def __post_init__(self):
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        object.__setattr__(self, "columns", column_tuple(self.columns))

    @property
    def _slice(self):
        """The columns as a slice if their steps are equal, None otherwise."""
        first, last, n = self.columns[0], self.columns[-1], len(self.columns)
        if isinstance(first, str) or n < 2 or not last > first:
            return None
        step = self.columns[1] - first
        run = slice(first, last + 1, None if step == 1 else step)
        equal = step > 0 and self.columns == tuple(range(first, last + 1, step))
        return run if equal and (n > 2 or step == 1) else None

    def __str__(self):
        run = self._slice
        if self.name is not None:
            shown = self.name
        elif self._labels is not None:
            shown = f"[{listed(self._labels, _IN_A_LABEL, show=str)}]"
        elif run is None:
            shown = f"[{listed(self.columns, _IN_A_LABEL)}]"
        else:
            shown = f"{run.start}:{run.stop}" + (f":{run.step}" if run.step else "")
        return f"{self.kernel} on {shown}"

    def __repr__(self):
        run, name = self._slice, "" if self.name is None else f", name={self.name!r}"
        if run is None or len(self.columns) < 3:
            shown = short(self.columns)
        else:
            shown = f"slice({run.start}, {run.stop}{'' if run.step is None else f', {run.step}'})"
        return f"Columns(kernel={short(self.kernel)}, columns={shown}{name})"

    def resolve(self, X, weight=None):
        if isinstance(self.columns[0], str):
            self.resolve_names(None)
        kernel = self.kernel.resolve(select_columns(X, self.columns), weight)
        return self if kernel is self.kernel else self._with(kernel)

    def _with(self, kernel, columns=None, labels=None):
        """The same with another kernel; ``labels``: names of the columns in a data frame."""
        found = Columns(kernel, self.columns if columns is None else columns, self.name)
        object.__setattr__(found, "_labels", self._labels if labels is None else tuple(labels))
        return found

    def resolve_names(self, names):
        columns = column_numbers("Columns", self.columns, names)
        inside = names is not None and max(columns) < len(names)
        inner = some_names(names, columns) if inside else None
        return self._with(self.kernel.resolve_names(inner), columns, inner)

    def added_columns(self, n):
        inner = self.kernel.added_columns(len(self.columns))
        return {tuple(self.columns[k] for k in some) for some in inner}

    def columns_as_numbers(self, n):
        inner = self.kernel.columns_as_numbers(len(self.columns))
        return {self.columns[k] for k in inner if k < len(self.columns)}

    @property
    def reads_packed(self):
        if self.kernel.reads_packed:
            raise ValueError(
                f"{self}: packed=True unpacks all of X, so it cannot be used on columns "
                "or tables; accepted: np.unpackbits(bytes, axis=1) as the table, without "
                "packed=True."
            )
        return False

    def columns_as_sets(self, n):
        return {self.columns[k] for k in self.kernel.columns_as_sets(len(self.columns))}

    def lower(self, b, dst, mode):
        with b.columns(self.columns):
            return self.kernel.lower(b, dst, mode)

    def lower_distance(self, b, dst):
        with b.columns(self.columns):
            self.kernel.lower_distance(b, dst)

    def unit_form(self):
        unit = self.kernel.unit_form()
        return None if unit is None else self._with(unit)

    def gradient(self):
        # A column selected twice would need the sum of two derivatives.
        if len(set(self.columns)) < len(self.columns):
            return super().gradient()
        terms = []
        for term in self.kernel.gradient():
            inner = range(len(self.columns)) if term.columns is None else term.columns
            columns = tuple(self.columns[c] for c in inner)
            kernel = Columns(term.kernel, self.columns)
            terms.append(term._replace(kernel=kernel, columns=columns))
        return tuple(terms)


def column_group(kernel):
    """The columns that a kernel, or a multiple of it, is on; None for one on all columns."""
    while isinstance(kernel, Unary):
        if isinstance(kernel, Columns):
            return kernel.columns
        kernel = kernel.kernel
    return None


def column_numbers(kernel, columns, names):
    """The numbers of columns that a kernel selects by their numbers, or by names."""
    if not columns or not isinstance(columns[0], str):
        return columns
    if names is None:
        raise ValueError(
            f"{kernel} selects {listed(columns)} by name, but X has no column names; "
            "accepted: a data frame whose column names are strings, or column numbers."
        )
    names = list(names)
    for problem, bad in (
        ("not a column", [c for c in columns if c not in names]),
        ("the name of several columns", [c for c in columns if names.count(c) > 1]),
    ):
        if bad:
            raise ValueError(
                f"{kernel} selects {listed(bad)}, which is {problem} of X; X has {listed(names)}."
            )
    return tuple(names.index(c) for c in columns)


def column_tuple(columns, argument="columns"):
    """Convert the user's columns to a tuple of numbers or of names."""
    if isinstance(columns, tuple) and set(map(type, columns)) == {int} and min(columns) >= 0:
        return columns
    if isinstance(columns, slice):
        if columns.stop is None or (columns.start or 0) < 0 or columns.stop < 0:
            raise ValueError(f"{argument}={short(columns)}: a slice needs non-negative bounds.")
        columns = range(columns.stop)[columns]
    elif isinstance(columns, (int, np.integer, str)) and not isinstance(columns, bool):
        columns = (columns,)
    if hasattr(columns, "__iter__"):
        columns = tuple(columns)
        if columns and all(isinstance(c, str) for c in columns):
            return tuple(map(str, columns))
    array = np.asarray(columns)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
        mask = " Convert a boolean mask by numpy.flatnonzero." if array.dtype == bool else ""
        raise ValueError(
            f"{argument}={short(columns)}: accepted are a non-negative integer, a slice with a "
            "stop, a column name, or a non-empty sequence of non-negative integers or of names."
            + mask
        )
    return tuple(int(c) for c in array)
