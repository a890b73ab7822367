"""Precomputed kernels as a source, the combination of them, and views for cross-validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.engine.cpu import CPU
from alignlearn.kernels import Precomputed, given_list, plain_gram, read_block
from alignlearn.validation import check_psd, check_test_gram, gram_like, is_sequence

from .pairs import PairSource, centered_family
from .source import Combination, Predictor, Source, row_blocks


class GramSum:
    """The learned kernel on precomputed kernels: ``kernel_(grams)`` is their weighted sum.

    Parameters
    ----------
    weights : ndarray of shape (p,)
    marked : list of bool
        Which matrices are declared indefinite.
    changes : list of SpectrumFix or None
        The change of each training matrix, which is also applied to rows of new samples.
    """

    def __init__(self, weights, marked, changes):
        self.weights, self._marked = weights, list(marked)
        self._changes = [c if w != 0.0 else None for w, c in zip(weights, changes)]

    def reweighted(self, weights):
        """The sum of the same matrices with other weights (p,)."""
        return GramSum(weights, self._marked, self._changes)

    @property
    def is_psd(self):
        """Whether a combination of the matrices is positive semi-definite, provided they are."""
        used = np.flatnonzero(self.weights)
        return bool(np.all(self.weights >= 0.0)) and not any(self._marked[k] for k in used)

    @property
    def is_changed(self):
        """Whether a matrix in use was changed by a transformation of the training matrices."""
        return any(change is not None for change in self._changes)

    def __call__(self, grams):
        """Weighted sum, float64 of shape (n, m), of p matrices (n, m); weight 0 is not read.

        Pass the matrices as to ``fit`` and ``predict``: those with a ``fix`` are transformed here.
        """
        n_opened = np.shape(grams[0])[1]
        return self.block(self.check(grams, n_opened), slice(None), slice(None))

    def check(self, X, n_opened):
        """Check p matrices (n, n_opened) of new samples like the training matrices."""
        return _checked(X, self.weights, n_opened, self._changes)

    def block(self, grams, rows, columns):
        """Some rows and columns of the sum of the matrices that `check` returned."""
        n, m = gram_like("grams[0]", grams[0]).shape
        rows = np.arange(n)[rows]
        out = np.zeros((len(rows), np.arange(m)[columns].size))
        for k in np.flatnonzero(self.weights):
            gram = gram_like(f"grams[{k}]", grams[k])
            for some in row_blocks(len(rows), m):
                block = np.asarray(read_block(gram, rows[some], columns), np.float64)
                out[some] += self.weights[k] * block
        return out


class GramSource(PairSource):
    """p precomputed kernels, read one at a time; samples are row numbers.

    Parameters
    ----------
    numbers : ndarray of shape (m, 1)
        Row numbers of the samples in the matrices.
    kernels : list of Precomputed
    weight : ndarray of shape (m,), optional
        Sample weights, already checked. Statistics and families are those of the weighted sample;
        Gram matrices and combinations do not use the weights.
    engine : Cpu, Auto, Cuda or Cluster
        Evaluates pairs of samples.
    progress : bool or callable
        Progress callback of passes over all pairs, see `Progress`. Dropped when pickled.
    changes : list of SpectrumFix or None, optional
        For kernels that are a part of others. By default computed here for kernels with a ``fix``.
    """

    is_given, is_paired = True, False

    def __init__(self, numbers, kernels, weight=None, *, changes=None, **how):
        if changes is None:
            kernels, changes = zip(*(kernel.fixed(weight) for kernel in kernels))
        super().__init__(np.asarray(numbers, np.float64), kernels, weight, **how)
        self.changes, self.marked = list(changes), [not k.is_psd for k in self.kernels]
        self.rows = self.X[:, 0].astype(np.intp)
        self.grams, self.n_features = [k.gram for k in self.kernels], None
        self.n_opened = len(self.grams[0])
        self._whole = np.array_equal(self.rows, np.arange(self.n_opened))
        if not self._whole:
            self.grams = GramViews(self.grams, self.rows, self.rows)

    @property
    def dtype(self):
        """The dtype of the values of a combined kernel."""
        return np.dtype(np.float64)

    @property
    def fitted_kernels(self):
        """Kernels with fixed parameters, to be opened on other samples."""
        return "precomputed"

    def numbers(self, index=None):
        """Rows of the matrices for some samples, or all; a slice if that is every row."""
        if index is None:
            return slice(None) if self._whole else self.rows
        return index if self._whole else self.rows[index]

    def part(self, rows):
        """The source on the samples of an index array."""
        given = self.X[rows], self.kernels, self.weight_of(rows)
        return GramSource(*given, changes=self.changes, **self._how)

    def kept(self):
        """The source without the matrices, because new samples provide their own."""
        return _NewSamples(self)

    def samples(self, rows):
        """Rows and columns of every matrix, in the form that ``fit`` accepts."""
        return gram_parts(self.kernels, self.rows[rows])

    def as_new(self, rows):
        """Rows of every matrix against all opened samples."""
        return GramViews([k.gram for k in self.kernels], self.rows[rows], np.arange(self.n_opened))

    def check(self, X):
        """Check p matrices (n, m) between new samples and all opened ones, of equal shape."""
        return _checked(X, np.ones(len(self.kernels)), self.n_opened, self.changes)

    def largest_diagonals(self):
        """The largest diagonal entry of every matrix, (p,)."""
        return np.array([_diagonal(gram).max() for gram in self.grams])

    def family(self, scale, rooted=False):
        """The centered matrices times ``scale`` (p,), as one-stage problems use them."""
        grams = [np.array(gram[:], dtype=np.float64) for gram in self.grams]
        return centered_family(grams, scale, self.weight, rooted)

    def combine(self, weights):
        """The combination with weights (p,)."""
        return GramCombination(self, weights)


class _NewSamples(Source):
    """The part of precomputed kernels that a fitted model stores: no matrices."""

    is_given = True
    fitted_kernels = "precomputed"

    def __init__(self, source):
        rows = source.numbers()
        super().__init__(np.arange(source.n_opened)[rows])
        self.X, self._rows = None, rows
        self.names, self.n_opened = source.names, source.n_opened
        self.marked, self.changes = source.marked, source.changes

    def numbers(self, index=None):
        """Rows of the matrices for some samples, or all; a slice if that is every row."""
        return self._rows if index is None else np.arange(self.n_opened)[self._rows][index]

    def check(self, X):
        """Check p matrices (n, m) between new samples and all opened ones, of equal shape."""
        return _checked(X, np.ones(len(self.names)), self.n_opened, self.changes)

    def combine(self, weights):
        """The combination with weights (p,)."""
        return GramCombination(self, weights)

    def kept(self):
        """The source itself, which stores no matrices."""
        return self

    def statistics(self, y, task="auto", *, unbiased=False):
        """Raise an error: the matrices of the training samples are not kept."""
        raise _not_kept()

    def part(self, rows):
        """Raise an error: the matrices of the training samples are not kept."""
        raise _not_kept()

    def family(self, scale, rooted=False):
        """Raise an error: the matrices of the training samples are not kept."""
        raise _not_kept()


def _not_kept():
    return ValueError("the precomputed kernels of the training samples are not kept after fit.")


class GramCombination(Combination):
    """A weighted sum of precomputed kernels, which is exact."""

    def __init__(self, source, weights):
        kernel = GramSum(np.asarray(weights, float), source.marked, source.changes)
        super().__init__(source, weights, kernel)

    def gram(self, exact=False):
        """Training Gram matrix (m, m); raises for nonnegative weights if it is indefinite."""
        K = self.kernel.block(self.source.grams, slice(None), slice(None))
        if self.kernel.is_psd:
            self._check_psd(self._of_used(K))
        return K

    def _check_psd(self, K):
        grams, used = self.source.grams, np.flatnonzero(self.weights)
        dtypes = [np.dtype(grams[k].dtype) for k in used]
        single = np.dtype(np.float32)
        try:
            dtype = single if single in dtypes else None
            check_psd("X: the combination", K, dtype, overwrite=True)
        except ValueError:
            for k, dtype in zip(used, dtypes):
                single = self._of_used(np.asarray(grams[k][:]))
                check_psd(f"X: precomputed kernel {k}", single, dtype)
            raise

    def cross_gram(self, X, exact=False, engine=None):
        """Rows of the matrix for new samples against those of the source, (n, m)."""
        return self.kernel.block(X, slice(None), self.source.numbers())

    def own_gram(self, X):
        """Raise an error: precomputed kernels hold new samples only against the opened ones."""
        raise ValueError("precomputed kernels have no values between new samples.")

    def rows(self, index, columns=None, exact=False):
        """Rows of the training Gram matrix, or of some of its columns."""
        columns = slice(None) if columns is None else columns
        return self.kernel.block(self.source.grams, index, columns)

    def columns(self, rows, index):
        """Some rows of columns, read as parts of rows, because the matrices are symmetric."""
        return self.rows(index, rows).T

    def diagonal(self, X=None):
        """The diagonal of the combination, (m,); not available for new samples."""
        if X is not None:
            self.own_gram(X)
        grams, used = self.source.grams, np.flatnonzero(self.weights)
        diagonals = [_diagonal(grams[k]) for k in used]
        zero = np.zeros(self.n_samples)
        return sum((w * d for w, d in zip(self.weights[used], diagonals)), zero)

    def predictor(self, support, coef, intercept=0.0, exact=False):
        """The `Predictor` with dual coefficients; see `Combination.predictor`."""
        source = self.source
        support = source.numbers(support)
        return GramPredictor(self.kernel, source.n_opened, support, coef, intercept)


class GramPredictor(Predictor):
    """Decisions from the columns of the support samples in the matrices of new samples."""

    is_given = True

    def __init__(self, kernel, n_opened, support, coef, intercept):
        super().__init__(coef, intercept)
        self._kernel, self._n_opened, self._support = kernel, n_opened, support

    def check(self, X):
        """Check p matrices (n, m) between new samples and all opened ones, of equal shape."""
        return self._kernel.check(X, self._n_opened)

    def count(self, X):
        """The number of checked samples."""
        return np.shape(X[0])[0]

    def take(self, X, rows):
        """Select some of the checked samples."""
        return GramViews(X, rows, np.arange(self._n_opened))

    def reweighted(self, weights):
        """The same coefficients with other kernel weights; see `Predictor.reweighted`."""
        kernel = self._kernel.reweighted(np.asarray(weights, float))
        return GramPredictor(kernel, self._n_opened, self._support, self.coef, 0.0)

    def decisions(self, X, engine=CPU):
        """``sum_j coef_j k(x, x_j)`` plus the intercept, (n, q), in blocks of rows."""
        n = self.count(X)
        out = np.zeros((n, self.coef.shape[1]))
        for rows in row_blocks(n, self._n_opened):
            out[rows] = self._kernel.block(X, rows, self._support) @ self.coef
        return out + self.intercept


def _diagonal(gram):
    """The diagonal of a matrix, read in blocks along the diagonal."""
    m, step = len(gram), 512
    starts = (np.arange(i, min(i + step, m)) for i in range(0, m, step))
    return np.concatenate([read_block(gram, i, i).diagonal() for i in starts]).astype(np.float64)


def _checked(X, weights, n_opened, changes):
    """p matrices (n, n_opened), changed like the training matrices; weight 0 is not read."""
    p, X = len(weights), given_list(X, test=True)
    if not is_sequence(X) or len(X) != p:
        given = f"{len(X)} items" if is_sequence(X) else type(X).__name__
        raise ValueError(
            f"X must be a sequence of {p} matrices (n_samples, {n_opened}), one per kernel, as in "
            f"fit; got {given}."
        )
    n, found = None, {}
    for k in range(p):
        name, K = f"X: precomputed kernel {k}", X[k]
        shape = np.shape(K)
        n = shape[0] if n is None and len(shape) == 2 else n
        if shape != (n, n_opened) or n == 0:
            raise ValueError(
                f"{name} has shape {shape}, accepted is (n_samples, {n_opened}): a row per new "
                "sample, a column per training sample."
            )
        new = K.gram if isinstance(K, Precomputed) else K
        if weights[k] != 0.0:
            new = _new_rows(name, new, n_opened, changes[k])
        if new is not K:
            found[k] = new
    return _Replaced(X, found) if found else X


def _new_rows(name, K, n_opened, change):
    """Checked rows of new samples; K itself if no change is needed."""
    rows = plain_gram(name, K, test=True)
    checked = check_test_gram(name, rows, n_opened)
    return rows if change is None else change.transform(checked)


def gram_parts(kernels, rows):
    """Rows and columns of precomputed kernels in the form that ``fit`` accepts.

    ``kernels`` are `Precomputed`, whose attributes are kept, or matrices; the parts are read on
    demand.
    """
    grams = [plain_gram(f"grams[{k}]", K) for k, K in enumerate(kernels)]
    marked = [isinstance(K, Precomputed) and K.is_marked for K in kernels]
    if not any(marked):
        return GramViews(grams, rows, rows)
    views = [GramView(K, rows, rows) for K in grams]
    return [replace(K, gram=V) if m else V for K, V, m in zip(kernels, views, marked)]


class _Replaced:
    """A sequence with some items replaced."""

    def __init__(self, items, others):
        self._items, self._others = items, others

    def __len__(self):
        return len(self._items)

    def __getitem__(self, k):
        return self._others[k] if k in self._others else self._items[k]


class GramView:
    """Rows and columns of a matrix, read on demand.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        Also a memmap, or an object with ``dtype`` and NumPy indexing of rows.
    rows, columns : ndarray of int
    checked : bool
        Whether the matrix is known to be symmetric, and rows equal columns.
    """

    def __init__(self, gram, rows, columns, checked=False):
        self._gram, self._rows, self._columns = gram, rows, columns
        self.is_symmetric = checked
        self.shape, self.dtype = (len(rows), len(columns)), gram.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return np.asarray(self._gram[self._rows[index]])[..., self._columns]

    def read_block(self, rows, columns):
        """Some rows and columns; see `alignlearn.kernels.read_block`."""
        return read_block(self._gram, self._rows[rows], self._columns[columns])

    def __array__(self, dtype=None, copy=None):
        block = self[:]
        return block if dtype is None else block.astype(dtype)


class GramViews:
    """The same rows and columns of each of p matrices, without a copy until they are read."""

    def __init__(self, grams, rows, columns):
        self._grams, self._rows, self._columns = grams, rows, columns

    def __len__(self):
        return len(self._grams)

    def __getitem__(self, k):
        return GramView(gram_like(f"grams[{k}]", self._grams[k]), self._rows, self._columns)
