"""Kernels that are not formulas on vectors: callables and given Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.validation import (
    check_symmetric,
    gram_like,
    indexable_grams,
    is_sequence,
    plain,
    take,
)

from .base import Kernel

_SYMMETRY_PAIRS = 8
# Of the largest value: functions that compute in single precision may round either order apart.
_ASYMMETRY = 1e-6


def _shown(sample):
    return f"{sample!r:.60}"


@dataclass(frozen=True)
class FromFunction(Kernel):
    """A kernel from a Python function on arbitrary objects (rows, strings, graphs, ...).

    Parameters
    ----------
    function : callable
        ``function(x, x') -> float``, symmetric; or with ``vectorized=True``
        ``function(X, Y) -> (n_X, n_Y)`` values. Pickling needs an importable function.
    vectorized : bool, default False
    is_psd : bool, default True
        Say False for a function that is known to be indefinite.
    name : str, optional
        Label in summaries.

    Notes
    -----
    X is a list of objects, or an array whose rows are the objects. In every block of values up to
    eight pairs, the same in each run, are evaluated in both orders; values that differ by more than
    1e-6 of the largest raise a ValueError.
    """

    function: object
    vectorized: bool = False
    is_psd: bool = True
    name: str | None = None

    needs_vectors = False
    takes_sparse = False

    def __post_init__(self):
        if not callable(self.function):
            raise TypeError(
                f"function must be callable, (x, x') -> float, or (X, Y) -> matrix with "
                f"vectorized=True; got {self.function!r}."
            )

    def __str__(self):
        return self.name or getattr(self.function, "__name__", "function")

    def block(self, X, Y):
        if self.vectorized:
            block = self._numbers(self.function(X, Y))
            if block.shape != (len(X), len(Y)):
                raise ValueError(
                    f"{self}: function(X, Y) returned shape {block.shape}, expected "
                    f"({len(X)}, {len(Y)})."
                )
        else:
            block = self._numbers([[self.function(x, y) for y in Y] for x in X])
        if not np.all(np.isfinite(block)):
            raise ValueError(f"{self}: function returned NaN or infinity.")
        self._check_symmetry(X, Y, block)
        return block

    def _numbers(self, values):
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{self}: function must return real numbers: {error}.") from None

    def _check_symmetry(self, X, Y, block):
        """Compare some pairs with their other order."""
        if block.size == 1:  # a sample with itself, on the diagonal
            return
        rng = np.random.default_rng(0)
        n = min(_SYMMETRY_PAIRS, block.size - 1)
        i = rng.integers(0, len(X), n)
        # Not the same position, which is the same sample where X is Y.
        j = (i + rng.integers(1, max(len(Y), 2), n)) % len(Y)
        left, right = take(X, i), take(Y, j)
        if self.vectorized:
            swapped = np.diagonal(self._numbers(self.function(right, left)))
        else:
            swapped = self._numbers([self.function(y, x) for x, y in zip(left, right)])
        values = block[i, j]
        gap = np.abs(values - swapped)
        t = int(np.argmax(gap))
        if not gap[t] <= _ASYMMETRY * np.abs(block).max():
            raise ValueError(
                f"{self}: function is not symmetric: function(x, x') = {values[t]:.6g} but "
                f"function(x', x) = {swapped[t]:.6g} for x = {_shown(left[t])} and x' = "
                f"{_shown(right[t])}; a kernel must not depend on the order."
            )


@dataclass(frozen=True, eq=False)
class Precomputed(Kernel):
    """A given Gram matrix, as a kernel on sample numbers.

    Samples are row numbers of ``gram``: X is an integer array of shape (m, 1), so that subsets,
    cross-validation and feature sets work as for any other kernel.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        ndarray, memmap or anything with ``shape``, ``dtype`` and NumPy indexing, kept by reference:
        a pickle holds it; or a data frame, of which the values are taken. Must be finite, and
        symmetric to 1e-8 of its largest entry.
    is_psd : bool, default True
    name : str, optional
    """

    gram: object
    is_psd: bool = True
    name: str | None = None

    takes_sparse = False

    def __post_init__(self):
        name = f"precomputed {self.name}" if self.name else "gram"
        object.__setattr__(self, "gram", gram_like(name, self.gram, "a square matrix"))
        shape = self.gram.shape
        if shape[0] != shape[1] or shape[0] == 0:
            raise ValueError(f"{name} must be a square matrix, got shape {shape}.")
        check_symmetric(name, self.gram)

    # The base class compares fields, of which arrays make no truth value.
    def __eq__(self, other):
        same = type(other) is Precomputed and self.gram is other.gram
        return same and (self.is_psd, self.name) == (other.is_psd, other.name)

    def __hash__(self):
        return hash((id(self.gram), self.name))

    @property
    def given_dtype(self):
        return np.dtype(self.gram.dtype)

    def __str__(self):
        return self.name or "precomputed"

    def block(self, X, Y):
        rows, columns = self._numbers(X), self._numbers(Y)
        return np.asarray(self.gram[_index(rows)][:, _index(columns)], dtype=np.float64)

    def _numbers(self, X):
        X = np.asarray(X)
        with np.errstate(invalid="ignore"):  # no row has the number that becomes of these
            numbers = X.astype(np.int64)
        n = self.gram.shape[0]
        if X.shape[1] != 1 or np.any(numbers != X) or np.any((numbers < 0) | (numbers >= n)):
            raise ValueError(
                f"{self}: samples of a precomputed kernel are row numbers, an (m, 1) array of "
                f"integers in [0, {n}); select the column with Columns if X has more."
            )
        return numbers[:, 0]


def _index(numbers):
    """A slice where the numbers run in steps of one: memory maps then read only what is needed."""
    first, last = numbers[0], numbers[-1]
    run = last - first + 1 == len(numbers) and np.all(np.diff(numbers) == 1)
    return slice(first, last + 1) if run else numbers


class _Item:
    """Matrix k of a sequence that may be lazy: looked up at each use, never kept."""

    def __init__(self, grams, k):
        self._grams, self._k = grams, k
        self._name = f"precomputed kernel {k}"
        first = self._read()
        self.shape, self.dtype = first.shape, first.dtype

    def _read(self):
        return gram_like(self._name, self._grams[self._k], "a square matrix")

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return self._read()[index]


def gram_items(grams, name="the list of precomputed kernels"):
    """The p given matrices as things with ``shape``, ``dtype`` and NumPy indexing, still lazy.

    ``grams`` and errors as in `precomputed_kernels`, which also looks at the values.
    """
    grams = plain(name, grams)
    if not is_sequence(grams):
        raise TypeError(
            f"{name} must be a sequence of (m, m) matrices or a (p, m, m) array, got "
            f"{type(grams).__name__}."
        )
    if len(grams) == 0:
        raise ValueError(f"{name} is empty; give at least one matrix.")
    grams = indexable_grams(grams)
    if isinstance(grams, np.ndarray) and grams.ndim != 3:
        raise ValueError(
            f"{name} must have shape (p, m, m), got {grams.shape}; a single matrix K goes into a "
            "list, [K]."
        )
    items = [_Item(grams, k) for k in range(len(grams))]
    for k, item in enumerate(items):
        if item.shape != (items[0].shape[0],) * 2:
            raise ValueError(
                f"precomputed kernel {k} has shape {item.shape}; all must be square and of the "
                f"size of the first, {items[0].shape}."
            )
    return items


def precomputed_kernels(grams):
    """Sample numbers and one Precomputed kernel for each of p Gram matrices.

    Parameters
    ----------
    grams : sequence of (m, m) arrays or data frames, or array of shape (p, m, m)
        May be lazy: an item is read when a block of it is needed, and not kept. Data frames are
        read by position: their labels are not compared.

    Returns
    -------
    X : ndarray of shape (m, 1), int64
    kernels : list of Precomputed
    """
    items = gram_items(grams)
    kernels = [Precomputed(item, name=f"kernel {k}") for k, item in enumerate(items)]
    return np.arange(len(items[0]))[:, None], kernels
