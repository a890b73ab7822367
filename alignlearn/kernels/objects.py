"""Kernels that are not formulas on vectors: callables and precomputed Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.validation import (
    check_choice,
    check_symmetric,
    gram_like,
    indexable_grams,
    is_sequence,
    plain,
    real_part,
    take,
)

from .base import Kernel
from .spectrum import FIXES, SpectrumFix

_SYMMETRY_PAIRS = 8
# Relative to the largest value: in single precision, the two orders may round differently.
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
        False for an indefinite function.
    name : str, optional
        Label in summaries.

    Notes
    -----
    X is a list of objects, or an array whose rows are the objects. In every block of values, up to
    eight pairs are evaluated in both orders, the same pairs in each run. If the values differ by
    more than 1e-6 of the largest value, a ValueError is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import FromFunction
    >>> def shared(x, other):  # words: an inner product of columns of 0 and 1
    ...     return len(set(x.split()) & set(other.split()))
    ...
    >>> FromFunction(shared)(["a b c", "b c d", "e"])
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 1.]])
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
        if block.size == 1:  # a sample paired with itself, on the diagonal
            return
        rng = np.random.default_rng(0)
        n = min(_SYMMETRY_PAIRS, block.size - 1)
        i = rng.integers(0, len(X), n)
        # Not the same position: if X is Y, that is one sample.
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
    """A precomputed Gram matrix, as a kernel on row numbers or in a list for "precomputed".

    As a kernel, its samples are row numbers of ``gram``: X is an integer array of shape (m, 1), so
    that subsets, cross-validation and feature sets work as for other kernels. With
    ``kernels="precomputed"``, X is a list of matrices. A ``Precomputed`` in this list adds options
    to its matrix; new samples are then passed as plain arrays.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        An ndarray, a memmap, any object with ``shape``, ``dtype`` and NumPy indexing, or a data
        frame, whose values are used. It is kept by reference, and pickles contain it. It must be
        finite, and symmetric to 1e-8 of its largest entry. For a complex Hermitian matrix, the real
        part is used, which is the kernel of the same features over the reals
        (`alignlearn.dependence.real_gram`).
    is_psd : bool, default True
        False for an indefinite matrix, which is used unchanged.
    name : str, optional
    fix : {"clip", "flip", "shift"}, optional
        Make an indefinite matrix positive semidefinite. Negative eigenvalues w of the training
        matrix become 0 ("clip", the nearest such matrix) or ``|w|`` ("flip"), or the smallest
        eigenvalue is subtracted from all ("shift"). Kernel values of new samples are transformed by
        the same map, so that both are values of one kernel; see `alignlearn.machines.SpectrumFix`.
        ``fit`` computes the map from all its samples, without labels.

    Examples
    --------
    As a kernel its samples are numbers of rows, so that it goes with other kernels and with folds:

    >>> import numpy as np
    >>> from alignlearn import Precomputed
    >>> gram = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    >>> Precomputed(gram)(np.array([[0], [2]]))
    array([[1., 0.],
           [0., 1.]])
    """

    gram: object
    is_psd: bool = True
    name: str | None = None
    fix: str | None = None

    takes_sparse = False

    def __post_init__(self):
        name = f"precomputed {self.name}" if self.name else "gram"
        gram = gram_like(name, _real(name, self.gram), "a square matrix")
        object.__setattr__(self, "gram", gram)
        shape = self.gram.shape
        if shape[0] != shape[1] or shape[0] == 0:
            raise ValueError(f"{name} must be a square matrix, got shape {shape}.")
        if not getattr(self.gram, "is_symmetric", False):  # a submatrix may be known to be
            check_symmetric(name, self.gram)
        if self.fix is not None:
            check_choice("fix", self.fix, FIXES)
            object.__setattr__(self, "is_psd", True)

    @property
    def shape(self):
        """Shape of the matrix, (m, m)."""
        return self.gram.shape

    @property
    def is_marked(self):
        """Whether it has options besides its matrix."""
        return self.fix is not None or not self.is_psd

    def fixed(self, weight=None):
        """This kernel with its matrix fixed according to ``fix``, and the `SpectrumFix` or None.

        All rows are training samples, with weights (m,) if given.
        """
        if self.fix is None:
            return self, None
        change = SpectrumFix(self.fix)
        gram = change.fit_transform(np.asarray(self.gram[:]), sample_weight=weight)
        changed = change if change.n_negative_ else None
        return replace(self, gram=self.gram if changed is None else gram, fix=None), changed

    def resolve(self, X, weight=None):
        if self.fix is None:
            return self
        rows, copies = np.unique(self._numbers(X), return_inverse=True)
        # A repeated sample is one sample with a weight; "shift" identifies it by its number.
        count = np.bincount(copies.ravel(), weight)
        rows, count = rows[count > 0.0], count[count > 0.0]
        change = SpectrumFix(self.fix)
        count = None if self.fix == "shift" or np.all(count == count[0]) else count
        gram = change.fit_extended(np.asarray(self.gram[:]), rows, count)
        return replace(self, gram=gram if change.n_negative_ else self.gram, fix=None)

    # The base class compares fields, and the comparison of arrays has no truth value.
    def __eq__(self, other):
        same = type(other) is Precomputed and self.gram is other.gram
        said = (self.is_psd, self.name, self.fix)
        return same and said == (other.is_psd, other.name, other.fix)

    def __hash__(self):
        return hash((id(self.gram), self.name))

    @property
    def given_dtype(self):
        """The dtype of the matrix as passed."""
        return np.dtype(self.gram.dtype)

    def __str__(self):
        return self.name or "precomputed"

    def block(self, X, Y):
        rows, columns = self._numbers(X), self._numbers(Y)
        return np.asarray(read_block(self.gram, rows, columns), dtype=np.float64)

    def _numbers(self, X):
        X = np.asarray(X)
        with np.errstate(invalid="ignore"):  # these numbers match no row
            numbers = X.astype(np.int64)
        n = self.gram.shape[0]
        if X.shape[1] != 1 or np.any(numbers != X) or np.any((numbers < 0) | (numbers >= n)):
            raise ValueError(
                f"{self}: samples of a precomputed kernel are row numbers, an (m, 1) array of "
                f"integers in [0, {n}); select the column with Columns if X has more."
            )
        return numbers[:, 0]


def _real(name, gram, *, test=False):
    """The real part of a complex Hermitian matrix; other objects stay unchanged."""
    return real_part(name, gram, test=test) if _is_complex(name, gram) else gram


def _is_complex(name, gram):
    # An object without a dtype is a list, read as real numbers.
    return hasattr(gram, "dtype") and np.iscomplexobj(plain(name, gram))


def _index(numbers):
    """A slice if the numbers are consecutive, so that memory maps read only the needed rows."""
    first, last = numbers[0], numbers[-1]
    run = last - first + 1 == len(numbers) and np.all(np.diff(numbers) == 1)
    return slice(first, last + 1) if run else numbers


def read_block(gram, rows, columns):
    """Some rows and columns of a matrix; for an array in a file, if possible no others are read.

    Parameters
    ----------
    gram : ndarray, memmap, or an object with NumPy indexing of rows or with ``read_block``
    rows, columns : ndarray of int, or slice
    """
    own = getattr(gram, "read_block", None)
    if own is not None:
        return own(rows, columns)
    rows, columns = (
        i if isinstance(i, slice) or not len(i) else _index(i) for i in (rows, columns)
    )
    if isinstance(gram, np.ndarray) and isinstance(columns, slice):
        return gram[rows, columns]
    return np.asarray(gram[rows])[:, columns]


class _Item:
    """Matrix k of a possibly lazy sequence, looked up at each use and never kept."""

    def __init__(self, grams, k):
        self._grams, self._k = grams, k
        self._name = f"precomputed kernel {k}"
        self._is_complex = _is_complex(self._name, grams[k])
        first = _real(self._name, grams[k]) if self._is_complex else self._read()
        self.shape, self.dtype = first.shape, first.dtype

    def _read(self):
        found = self._grams[self._k]
        if self._is_complex:
            return plain(self._name, found).real  # it was checked to be Hermitian
        return gram_like(self._name, found, "a square matrix")

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return self._read()[index]

    def read_block(self, rows, columns):
        """Some rows and columns; see `read_block`."""
        return read_block(self._read(), rows, columns)


def given_list(grams, *, test=False):
    """Convert a list of matrices to arrays; a Precomputed or a lazy sequence stays unchanged.

    With ``test``, the matrices are rows of new samples, which are not Hermitian.
    """
    if not isinstance(grams, (list, tuple)):
        return indexable_grams(grams)
    names = [f"precomputed kernel {k}" for k in range(len(grams))]
    return [
        K if isinstance(K, Precomputed) else gram_like(name, _real(name, K, test=test))
        for name, K in zip(names, grams)
    ]


def plain_gram(name, gram, *, test=False):
    """The real matrix as passed, also that of a Precomputed; lazy matrices are not read."""
    return gram.gram if isinstance(gram, Precomputed) else _real(name, gram, test=test)


def gram_items(grams, name="the list of precomputed kernels"):
    """The p matrices as objects with ``shape``, ``dtype`` and NumPy indexing, still lazy.

    A Precomputed stays unchanged. ``grams`` and errors are as in `precomputed_kernels`, which also
    checks the values.
    """
    grams = plain(name, grams)
    if not is_sequence(grams):
        raise TypeError(
            f"{name} must be a sequence of (m, m) matrices or a (p, m, m) array, got "
            f"{type(grams).__name__}."
        )
    if len(grams) == 0:
        raise ValueError(f"{name} is empty; give at least one matrix.")
    grams = given_list(grams)
    if isinstance(grams, np.ndarray) and grams.ndim != 3:
        raise ValueError(
            f"{name} must have shape (p, m, m), got {grams.shape}; pass a single matrix K in a "
            f"list, [K]."
        )
    items = []
    for k in range(len(grams)):
        K = grams[k]
        items.append(K if isinstance(K, Precomputed) else _Item(grams, k))
        m, shape = items[0].shape[0], items[k].shape
        if shape != (m, m):
            raise ValueError(
                f"precomputed kernel {k} has shape {shape}; all must be square and of the size of "
                f"the first, {items[0].shape}."
            )
    return items


def precomputed_kernels(grams):
    """Return sample numbers and one Precomputed kernel for each of p Gram matrices.

    Parameters
    ----------
    grams : sequence of (m, m) arrays, data frames or Precomputed, or array of shape (p, m, m)
        May be lazy: an item is read when a block of it is needed, and not kept. Data frames are
        read by position, without comparing labels. Complex matrices must be Hermitian.

    Returns
    -------
    X : ndarray of shape (m, 1), int64
    kernels : list of Precomputed
    """
    items, kernels = gram_items(grams), []
    for k, item in enumerate(items):
        given, name = isinstance(item, Precomputed), f"kernel {k}"
        kernel = replace(item, name=item.name or name) if given else Precomputed(item, name=name)
        kernels.append(kernel)
    return np.arange(items[0].shape[0])[:, None], kernels
