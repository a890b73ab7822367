"""A kernel on some of the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.engine.cpu import select_columns

from .base import Kernel, Unary


@dataclass(frozen=True)
class Columns(Unary):
    """A kernel on some columns of X, so that each feature set can have its own.

    Parameters
    ----------
    kernel : Kernel
    columns : int, slice with explicit stop, or sequence of int >= 0
    """

    columns: tuple = ()

    def __post_init__(self):
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a Kernel object, got {self.kernel!r}.")
        object.__setattr__(self, "columns", _column_tuple(self.columns))

    @property
    def _is_exponential(self):
        return self.kernel._is_exponential

    @property
    def _rate(self):
        return self.kernel._rate

    @property
    def _largest_value(self):
        return self.kernel._largest_value

    def __str__(self):
        first, last, n = self.columns[0], self.columns[-1], len(self.columns)
        run = n > 1 and self.columns == tuple(range(first, last + 1))
        return f"{self.kernel} on {f'{first}:{last + 1}' if run else list(self.columns)}"

    def resolve(self, X):
        return Columns(self.kernel.resolve(select_columns(X, self.columns)), self.columns)

    def _lower(self, b, dst, mode):
        with b.columns(self.columns):
            return self.kernel._lower(b, dst, mode)


def _column_tuple(columns):
    if isinstance(columns, slice):
        if columns.stop is None or (columns.start or 0) < 0 or columns.stop < 0:
            raise ValueError(f"columns={columns!r}: a slice needs non-negative bounds.")
        columns = range(columns.stop)[columns]
    elif isinstance(columns, (int, np.integer)) and not isinstance(columns, bool):
        columns = (columns,)
    array = np.asarray(list(columns) if hasattr(columns, "__iter__") else columns)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
        raise ValueError(
            f"columns={columns!r}: accepted are a non-negative integer, a slice with a stop, or a "
            "non-empty sequence of non-negative integers."
        )
    return tuple(int(c) for c in array)
