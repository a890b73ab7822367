"""A kernel for tables with categorical and numeric columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn._text import listed
from alignlearn.engine import formulas
from alignlearn.engine import opcodes as ops
from alignlearn.validation import check_numbers

from .base import Kernel, named
from .columns import column_numbers, column_tuple

_LEAST = 1e-300  # the inverse of a smaller range overflows


@named("gower")
@dataclass(frozen=True)
class Gower(Kernel):
    """Mean similarity over categorical and numeric columns; "gower".

    In a categorical column the similarity is 1 for equal values and 0 otherwise; in a numeric
    column it is ``max(0, 1 - |x - x'| / range)``. Both are positive semidefinite, and so is their
    mean.

    Parameters
    ----------
    categorical : int, slice with a stop, sequence of int or str, or (), optional
        The categorical columns. Default: the columns of a data frame whose type is categorical,
        object, string or bool; none for an array.
    ranges : array-like of shape (d,), optional
        Nonnegative ranges of all columns; those of categorical columns are ignored. Default:
        maximum minus minimum over the training samples. A column of range 0 is treated as
        categorical.

    Notes
    -----
    Categories are numbers, or strings in a data frame or an object array. The code of a string
    depends only on the string. New data frames may therefore have other categories, which equal no
    category of the training samples. Missing values raise an error. Kernels that read strings as
    numbers raise an error, too; select other columns for them with `Columns`.

    References
    ----------
    Gower (1971), "A general coefficient of similarity and some of its properties".

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gower
    >>> X = np.array([["red", 1.0], ["blue", 3.0], ["red", 2.0]], dtype=object)
    >>> Gower(categorical=[0])(X)
    array([[1.  , 0.  , 0.75],
           [0.  , 1.  , 0.25],
           [0.75, 0.25, 1.  ]])
    """

    categorical: tuple | None = None
    ranges: tuple | None = None

    largest_value = 1.0
    has_unit_diagonal = True
    is_non_negative = True
    takes_sparse = False

    def __post_init__(self):
        if self.categorical is not None:
            columns = self.categorical
            none = hasattr(columns, "__len__") and not isinstance(columns, str) and not len(columns)
            columns = () if none else column_tuple(columns, "categorical")
            object.__setattr__(self, "categorical", columns)
        if self.ranges is not None:
            ranges = check_numbers("ranges", self.ranges, 1)
            if not np.all((ranges == 0.0) | (ranges > _LEAST)):
                raise ValueError(
                    f"ranges: accepted: 0 and numbers above {_LEAST}; got {ranges.min():g}."
                )
            object.__setattr__(self, "ranges", tuple(ranges.tolist()))

    def __str__(self):
        return "gower"

    def resolve_names(self, names):
        if self.categorical is None:
            categories = getattr(names, "categories", None)
            return self if categories is None else replace(self, categorical=categories)
        return replace(self, categorical=self._numbers(names))

    def _numbers(self, names):
        return column_numbers("categorical of Gower", self.categorical or (), names)

    def columns_as_numbers(self, n):
        return set(range(n)) - set(self.categorical or ())

    def resolve(self, X, weight=None):
        categorical = self._numbers(None)
        d = X.shape[1]
        if max(categorical, default=0) >= d:
            raise ValueError(
                f"Gower: categorical has column {max(categorical)}, but X has only {d} columns."
            )
        if self.ranges is not None:
            if len(self.ranges) != d:
                raise ValueError(f"Gower: {len(self.ranges)} ranges, but X has {d} columns.")
            return replace(self, categorical=categorical)
        used = X if weight is None or weight.all() else X[weight > 0.0]
        with np.errstate(over="ignore"):
            ranges = np.max(used, axis=0).astype(np.float64) - np.min(used, axis=0)
        ranges[list(categorical)] = 0.0
        if not np.all((ranges == 0.0) | ((ranges > _LEAST) & (ranges < np.inf))):
            raise ValueError("Gower: the range of a column exceeds float64; scale X.")
        return replace(self, categorical=categorical, ranges=tuple(ranges.tolist()))

    def lower(self, b, dst, mode):
        d = b.n_columns
        if self.ranges is None or len(self.ranges) != d:
            raise ValueError(
                f"Gower: {listed(self.ranges or (), 3)} are not ranges of {d} columns."
            )
        equal = set(self.categorical or ()) | {c for c in range(d) if self.ranges[c] == 0.0}
        numbers = [c for c in range(d) if c not in equal]
        if equal:
            with b.columns(tuple(sorted(equal))):
                b.emit(ops.AFFINE, dst, b.primitive(ops.MATCHES), f0=1.0 / d)
        row = b.temporary()
        for n, c in enumerate(numbers):
            first, share = not equal and n == 0, 1.0 / (d * self.ranges[c])
            target = dst if first else row
            with b.columns((c,)):
                b.formula(target, formulas.tl1, b.primitive(ops.L1_DISTANCE), self.ranges[c])
            if first:
                b.emit(ops.AFFINE_IN_PLACE, dst, f0=share)
            else:
                b.emit(ops.ADD, dst, row, f0=share)
        b.release(row)
        return 0.0
