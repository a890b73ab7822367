"""A kernel for tables of categories and numbers."""

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
    """The mean over columns of how alike two samples are, for categories and numbers; "gower".

    In a column of categories that is 1 where they are equal, else 0; in one of numbers
    ``max(0, 1 - |x - x'| / range)``. Both are positive semi-definite, so is their mean.

    Parameters
    ----------
    categorical : int, slice with a stop, sequence of int or str, or (), optional
        The columns of categories. By default those of a data frame whose type is categorical,
        object, string or bool; of an array none.
    ranges : array-like of shape (d,), optional
        Of every column, not negative; those of categories are not read. By default the largest
        less the least number in the training samples. A column of range 0 is one of categories.

    Notes
    -----
    Categories may be texts, in a data frame or an array of objects, or numbers. A text stands for a
    number that depends on nothing else, so that data frames of new samples may lack some, or have
    others; these are equal to none of the training samples'. Gaps are refused.
    Kernels that read texts as numbers are refused: give those their columns by `Columns`.

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
                    f"ranges: accepted are 0 and numbers above {_LEAST}, got {ranges.min():g}."
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
            raise ValueError("Gower: the range of a column is beyond float64; scale X.")
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
