"""Coefficients and decisions of all pairs of many classes, without a matrix of samples and pairs.

c classes have c (c - 1) / 2 pairs (i, j), i < j in lexicographic order. A pair concerns only the
samples of its two classes, so almost all entries of a matrix of samples and pairs are zero, or
differences of columns of classes. Up to 30 classes such a matrix is small, and is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ._text import Result

MOST_DENSE = 435  # pairs of 30 classes
_BLOCK = 2**22  # decisions that are held at once


@cache
def pair_indices(n_classes):
    """The classes i < j of all pairs, in lexicographic order."""
    return np.triu_indices(n_classes, 1)


def are_many(n_classes):
    """Whether the pairs of classes are too many for a matrix with a column for each."""
    return n_classes * (n_classes - 1) // 2 > MOST_DENSE


def pair_differences(columns):
    """Half of column j minus column i for every pair i < j of classes."""
    i, j = pair_indices(columns.shape[1])
    return 0.5 * (columns[:, j] - columns[:, i])


@dataclass(frozen=True, eq=False)
class PairCoefficients(Result):
    """Coefficients (n_samples, n_pairs) of which most are zero.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The others, pair by pair.
    samples : ndarray of int of shape (n,)
        Their samples.
    starts : ndarray of int of shape (n_pairs + 1,)
        Where the values of each pair start.
    n_samples : int
    """

    values: np.ndarray
    samples: np.ndarray
    starts: np.ndarray
    n_samples: int

    @classmethod
    def of_support(cls, values, samples, starts):
        """The samples with a value other than 0, in order, and the coefficients of these."""
        used = values != 0.0
        starts = np.concatenate([[0], np.cumsum(used)])[starts].astype(np.int32)
        support, samples = np.unique(samples[used], return_inverse=True)
        samples = samples.reshape(-1).astype(np.int32)
        return support, cls(values[used], samples, starts, len(support))

    @property
    def shape(self):
        """The shape of the matrix."""
        return self.n_samples, len(self.starts) - 1

    @property
    def _pairs(self):
        return np.repeat(np.arange(self.shape[1]), np.diff(self.starts))

    def dense(self):
        """The matrix."""
        found = np.zeros(self.shape)
        found[self.samples, self._pairs] = self.values
        return found

    def counts(self):
        """Number of values of each pair that are not 0."""
        return np.bincount(self._pairs[self.values != 0.0], minlength=self.shape[1])

    def times(self, K):
        """``(K @ self.dense()).T`` for K (n, n_samples), (n_pairs, n)."""
        return self._transposed() @ np.ascontiguousarray(K.T, dtype=np.float64)

    def check_loaded(self):
        """Raise a ValueError if the numbers of samples from a file are not of its samples."""
        kinds = [part.dtype.kind for part in (self.values, self.samples, self.starts)]
        if kinds != ["f", "i", "i"]:
            raise ValueError(f"values, samples and starts have the kinds {kinds}")
        self._transposed().check_format(full_check=True)

    def _transposed(self):
        from scipy.sparse import csr_array

        return csr_array((self.values, self.samples, self.starts), shape=self.shape[::-1])


@dataclass(frozen=True, eq=False)
class ClassCoefficients(Result):
    """Coefficients (n, n_pairs) that are half the differences of those of classes.

    Attributes
    ----------
    columns : ndarray of shape (n, c)
    """

    columns: np.ndarray

    def check_loaded(self):
        """Raise a ValueError if the array of a file has no columns of classes."""
        if self.columns.ndim != 2:
            raise ValueError(f"columns has {self.columns.ndim} dimensions, not 2")

    @property
    def shape(self):
        """The shape of the matrix."""
        n, c = self.columns.shape
        return n, c * (c - 1) // 2

    def dense(self):
        """The matrix."""
        return pair_differences(self.columns)

    def times(self, K):
        """``(K @ self.dense()).T`` for K (m, n), (n_pairs, m)."""
        return pair_differences(K @ self.columns).T


class Coefficients:
    """A fitted attribute that is stored as above, and is a matrix for those who read it."""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            found = vars(instance)[self._name]
        except KeyError:
            kind = type(instance).__name__
            raise AttributeError(f"{kind!r} object has no attribute {self._name!r}") from None
        return found.dense() if is_compact(found) else found

    def __set__(self, instance, value):
        vars(instance)[self._name] = value

    def __delete__(self, instance):
        del vars(instance)[self._name]


def is_compact(coef):
    """Whether coefficients are stored without the matrix."""
    return isinstance(coef, (PairCoefficients, ClassCoefficients))


def stored_coefficients(machine):
    """The stored form of ``dual_coef_``."""
    found = vars(machine).get("dual_coef_")
    return machine.dual_coef_ if found is None else found


@dataclass(frozen=True)
class _OfColumns:
    """Decisions that are half the differences of those of classes (n, c), plus an intercept."""

    columns: np.ndarray
    intercept: Any = 0.0

    def __len__(self):
        return len(self.columns)

    def block(self, rows):
        i, j = pair_indices(self.columns.shape[1])
        of_class = np.ascontiguousarray(self.columns[rows].T)
        found = of_class[j]
        found -= of_class[i]
        found *= 0.5
        found += np.reshape(self.intercept, (-1, 1))
        return found

    def take(self, rows):
        return replace(self, columns=self.columns[rows])


@dataclass(frozen=True)
class _OfKernel:
    """Decisions ``gram[index][:, support] @ coef + intercept``; ``gram`` has rows only."""

    gram: Any
    support: Any
    coef: PairCoefficients
    intercept: Any
    index: np.ndarray

    def __len__(self):
        return len(self.index)

    def block(self, rows):
        K = self.gram[self.index[rows]]
        found = self.coef.times(K if self.support is None else K[:, self.support])
        found += np.reshape(self.intercept, (-1, 1))
        return found

    def take(self, rows):
        return replace(self, index=self.index[rows])


class ClassSums(NamedTuple):
    """What the rules of decision read of the decisions of all pairs of c classes.

    Attributes
    ----------
    votes, sums : ndarray of shape (n, c)
        Pairs that a class wins, and the sum of its decisions.
    """

    votes: np.ndarray
    sums: np.ndarray


class PairDecisions(np.lib.mixins.NDArrayOperatorsMixin):
    """Decisions (n, n_pairs) that are computed in blocks of rows whenever they are read.

    Sums of them, and multiples by numbers, are of this class, too. NumPy takes them as a matrix.

    Parameters
    ----------
    terms : list of (float, part)
        Whose weighted sum they are.
    n_pairs : int
    """

    ndim = 2

    def __init__(self, terms, n_pairs):
        self._terms, self.shape = terms, (len(terms[0][1]), n_pairs)

    @classmethod
    def of_columns(cls, columns, intercept=0.0):
        """Half the differences of decisions (n, c) of classes, plus an intercept."""
        coefficients = ClassCoefficients(columns)
        return cls([(1.0, _OfColumns(columns, intercept))], coefficients.shape[1])

    @classmethod
    def of_kernel(cls, gram, support, coef, intercept):
        """``gram[:, support] @ coef + intercept``.

        ``gram`` is a matrix (n, m), or gives rows by their numbers and has a length.
        """
        index = np.arange(len(gram))
        return cls([(1.0, _OfKernel(gram, support, coef, intercept, index))], coef.shape[1])

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        if isinstance(rows, tuple):
            return np.asarray(self)[rows]
        index = np.atleast_1d(np.arange(len(self))[rows])
        return PairDecisions([(f, part.take(index)) for f, part in self._terms], self.shape[1])

    def __array__(self, dtype=None, copy=None):
        found = np.empty(self.shape)
        for rows, block in self.blocks():
            found[rows] = block.T
        return found if dtype is None else found.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method == "__call__" and not options and len(inputs) == 2:
            found = self._combined(ufunc, *inputs)
            if found is not None:
                return found
        inputs = [np.asarray(one) if isinstance(one, PairDecisions) else one for one in inputs]
        return getattr(ufunc, method)(*inputs, **options)

    def _combined(self, ufunc, a, b):
        """The sum of two of them, or the multiple of one; None for another operation."""
        if isinstance(a, PairDecisions) and isinstance(b, PairDecisions):
            if ufunc is not np.add or a.shape != b.shape:
                return None
            return PairDecisions(a._terms + b._terms, a.shape[1])
        number = b if a is self else a
        if not np.isscalar(number):
            return None
        if ufunc is np.add and number == 0:  # the start of a sum
            return self
        if ufunc is np.multiply or (ufunc is np.true_divide and a is self):
            factor = number if ufunc is np.multiply else 1.0 / number
            return PairDecisions([(factor * f, part) for f, part in self._terms], self.shape[1])
        return None

    def blocks(self):
        """Yield slices of rows with their decisions, transposed, (n_pairs, n_rows)."""
        n, n_pairs = self.shape
        step = max(1, _BLOCK // max(n_pairs, 1))
        for start in range(0, n, step):
            rows, total = slice(start, min(start + step, n)), None
            for factor, part in self._terms:
                block = part.block(rows)
                block *= factor
                total = block if total is None else np.add(total, block, out=total)
            yield rows, total

    def mean_size(self):
        """The mean of the absolute values."""
        return sum(np.abs(block).sum() for _, block in self.blocks()) / (
            self.shape[0] * self.shape[1]
        )

    def class_sums(self, n_classes):
        """The `ClassSums` of the decisions."""
        votes, sums = np.empty((2, n_classes, len(self)))
        for rows, block in self.blocks():
            sums[:, rows] = _sums(block, n_classes)
            wins = block >= 0.0
            # A pair that its second class does not win is one of the first class.
            votes[:, rows] = _sums(wins, n_classes) + np.arange(n_classes - 1, -1, -1)[:, None]
        return ClassSums(votes.T, sums.T)


def _sums(block, n_classes):
    """Sums (c, n) over pairs (n_pairs, n): those of class j, less those where it is i."""
    found, start = np.zeros((n_classes, block.shape[1])), 0
    for i in range(n_classes - 1):
        own = block[start : start + n_classes - 1 - i]
        found[i] -= own.sum(axis=0)
        found[i + 1 :] += own
        start += len(own)
    return found


def mean_size(decisions):
    """The mean absolute value of decisions."""
    if isinstance(decisions, PairDecisions):
        return decisions.mean_size()
    return np.abs(decisions).mean()
