"""The interface of p kernels on m samples: a source, its combination and its predictor.

Data flows one way through three objects, none of which changes after it is made. A `Source`
computes statistics of p kernels, weights make it a `Combination`, and dual coefficients make the
combination a `Predictor`. Callers use only what these classes define, and never test for a
subclass.

Gram matrices may omit an additive term ``f(x)`` or ``f(x')`` of the kernel, unless they are
requested as ``exact``. The dual coefficients of every model with an intercept sum to 0, so such
terms change only the intercept, and the model is that of the kernel centered at the training means.
This keeps the precision of near-constant kernels, and of linear kernels on samples far from the
origin.

A class without one of the abstract methods raises a `TypeError` when it is instantiated. An
override has the parameters of the abstract method, in their order; further parameters have
defaults.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from alignlearn.engine.cpu import CPU
from alignlearn.validation import take

# Number of kernel values held at once during prediction: 32 MB in float64.
_BLOCK_ENTRIES = 2**22
# Share of different samples up to which it is worth to train on one of each.
MOST_DIFFERENT = 0.9


def row_blocks(n, width):
    """Split n rows into slices whose blocks of ``width`` columns hold a fixed number of entries."""
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


class Source(ABC):
    """p kernels on m samples.

    Parameters
    ----------
    X : samples, already checked
    weight : ndarray of shape (m,), optional
        Sample weights, already checked. Statistics and families are those of the weighted sample;
        Gram matrices and combinations do not use the weights.
    engine : Cpu, Auto, Cuda or Cluster
        Evaluates pairs of samples.
    progress : bool or callable
        Progress callback of passes over all pairs, see `Progress`. Dropped when pickled.

    Attributes
    ----------
    n_samples : int
    n_features : int or None
        None for samples that are not rows of a matrix.
    kernels : list of Kernel, or another object that represents p kernels
        All parameters are numbers.
    names : tuple of str
    is_linear : bool
        Whether kernels are linear in the features. Then `Combination.features` exists, and with
        few features no pair of samples is evaluated.
    is_given : bool
        Whether samples are row numbers of precomputed kernels, whose rows new samples provide.
    is_paired : bool
        Whether values are computed pair by pair. Then `Combination.products` exists.
    checks_psd : bool
        Whether a precomputed kernel is declared positive semi-definite, which is checked for the
        Gram matrices of combinations.
    has_gaps : bool
        Whether samples have missing tables. The combination is then completed: it is one matrix
        (m, m), whose rows cannot be computed separately.
    n_matrices : int
        Gram matrices (m, m) held in memory while that of a combination is computed.
    made : ndarray of shape (m, m) or None
        The result of `whole`; combinations index into it.
    """

    is_linear = is_given = is_paired = checks_psd = has_gaps = False
    n_matrices, made = 1, None

    def __init__(self, X, weight=None, *, engine=CPU, progress=False):
        self.X, self.weight, self.engine, self.progress = X, weight, engine, progress
        self.n_samples = len(X) if isinstance(X, list) else X.shape[0]
        self.n_features = X.shape[1] if getattr(X, "ndim", 0) == 2 else None

    def __getstate__(self):
        # The progress callback belongs to this process, not to a worker.
        return {**vars(self), "progress": False}

    @property
    def _how(self):
        return {"engine": self.engine, "progress": self.progress}

    def weight_of(self, rows):
        """Weights of the samples of an index array; None if there are none."""
        return None if self.weight is None else self.weight[rows]

    @property
    def dtype(self):
        """The dtype of the values of a combined kernel."""
        single = getattr(self.X, "dtype", None) == np.float32
        return np.dtype(np.float32 if single else np.float64)

    @property
    def rounding(self):
        """Unit roundoff of kernel values, relative to the largest value."""
        return float(np.finfo(self.dtype).eps)

    @property
    def fitted_kernels(self):
        """Kernels with fixed parameters, to be opened on other samples."""
        return self.kernels

    @property
    def filled(self):
        """The samples with missing tables filled, for code that works column by column."""
        return self.X

    @abstractmethod
    def statistics(self, y, task="auto", *, unbiased=False):
        """`AlignmentStatistics` of the kernels with y."""

    def training_statistics(self, y, task, training_sets, *, unbiased=False):
        """Yield the statistics of every training set (index arrays); here one pass for each."""
        for rows in training_sets:
            yield self.part(rows).statistics(y[rows], task, unbiased=unbiased)

    def whole(self):
        """The kernel matrix on all samples, up to a constant, cached; None if it is too large."""
        return None

    def copies(self):
        """The first sample that equals each one, as positions (m,), cached.

        None if it is unknown, or if few samples are equal to another one.
        """
        return None

    @abstractmethod
    def part(self, rows):
        """The source with the same kernels on the samples of an index array."""

    def used(self):
        """The source on the samples of positive weight; itself if all weights are positive."""
        if self.weight is None or self.weight.all():
            return self
        return self.part(np.flatnonzero(self.weight))

    def used_rows(self):
        """Positions of the samples of positive weight."""
        return np.arange(self.n_samples) if self.weight is None else np.flatnonzero(self.weight)

    @abstractmethod
    def kept(self):
        """A source to store in a fitted model: a copy of the samples, in this process, no progress.

        The caller of ``fit`` may then change its samples or close its client. Precomputed kernels
        are not kept, because new samples provide their own rows.
        """

    def samples(self, rows):
        """Select samples in the form that ``fit`` of an estimator accepts."""
        return take(self.X, rows)

    def as_new(self, rows):
        """Select samples in the form that `Predictor.decisions` accepts."""
        return self.samples(rows)

    @abstractmethod
    def check(self, X):
        """Validate new samples."""

    def largest_diagonals(self):
        """The maximum K_k(x, x) of each kernel over the samples, (p,)."""
        return np.array([self.single(k).diagonal().max() for k in range(len(self.names))])

    @abstractmethod
    def family(self, scale, rooted=False):
        """The centered kernels times ``scale`` (p,), as one-stage problems use them.

        With ``rooted`` also times the square roots of both samples' weights.
        """

    @abstractmethod
    def combine(self, weights):
        """The `Combination` with weights (p,)."""

    def single(self, k):
        """The `Combination` that consists of kernel k."""
        return self.combine(np.eye(1, len(self.names), k)[0])


class BlockProducts:
    """Products with a matrix (m, r) that is read in blocks of rows.

    Parameters
    ----------
    matrix : callable
        ``matrix(rows)`` returns the rows of a slice or an index array.
    m, r : int

    Attributes
    ----------
    transposed : BlockProducts' transpose, an object with ``times``
    """

    def __init__(self, matrix, m, r):
        self.matrix, self.shape, self.transposed = matrix, (m, r), _Transposed(self)

    def blocks(self):
        """Slices of rows that are read at once."""
        return row_blocks(*self.shape)

    def times(self, V):
        """Product with V, (r, c)."""
        return np.concatenate([self.matrix(rows) @ V for rows in self.blocks()])

    def normal_times(self, V, *, shift, weight):
        """``K' diag(weight) (K V - 1 shift')``, (r, c), from one reading."""
        out = np.zeros((self.shape[1], V.shape[1]))
        for rows in self.blocks():
            K = self.matrix(rows)
            out += K.T @ (weight[rows, None] * (K @ V - shift))
        return out


class _Transposed:
    """The transpose of `BlockProducts`."""

    def __init__(self, products):
        self._products = products

    def times(self, U):
        """Product with U, (m, c)."""
        products = self._products
        return sum(products.matrix(rows).T @ U[rows] for rows in products.blocks())


class Combination(ABC):
    """A weighted sum of the kernels of a source, on its samples.

    Parameters
    ----------
    source : Source
    weights : ndarray of shape (p,)
    kernel : callable
        The sum, with ``is_psd``.
    """

    def __init__(self, source, weights, kernel):
        self.source, self.weights, self.kernel = source, np.asarray(weights, float), kernel

    takes_gaps = False  # whether new samples may have missing tables
    takes_compact = False  # whether predictors take the coefficients of `alignlearn._pairs`
    n_samples = property(lambda self: self.source.n_samples)
    n_features = property(lambda self: self.source.n_features)
    weight = property(lambda self: self.source.weight)

    def _of_used(self, K):
        """Rows and columns of a Gram matrix for samples of positive weight, which must be psd."""
        if self.weight is None or self.weight.all():
            return K
        return K[np.ix_(self.weight > 0.0, self.weight > 0.0)]

    def kept(self):
        """The combination of the source that `Source.kept` returns."""
        return self.source.kept().combine(self.weights)

    def check(self, X):
        """Validate new samples, except their width where ``n_features`` is set."""
        return self.source.check(X)

    def part(self, rows):
        """The combination on the samples of an index array."""
        return self.source.part(rows).combine(self.weights)

    def in_single(self):
        """The combination on samples in float32, which is faster.

        None if its values differ from the exact ones by more than the rounding of float32.
        """
        return None

    @abstractmethod
    def gram(self, exact=False):
        """Training Gram matrix (m, m).

        Raises
        ------
        ValueError
            Weights are nonnegative, the source checks the matrix, and it is indefinite.
        """

    @abstractmethod
    def cross_gram(self, X, exact=False, engine=None):
        """Gram matrix of new samples against those of the source, (n, m).

        ``engine`` replaces the source's engine.
        """

    @abstractmethod
    def own_gram(self, X):
        """Gram matrix of new samples with each other."""

    def rows(self, index, columns=None, exact=False):
        """Rows of the training Gram matrix, or of some of its columns."""
        K = self.cross_gram(self.source.as_new(index), exact)
        return K if columns is None else K[:, columns]

    def fill_upper_rows(self, height, out):
        """Put blocks of ``height`` rows, one after the other, into ``out``, which is flat.

        They have no columns before the block, and may omit terms ``f(x) + f(x')``.
        """
        m, at = self.n_samples, 0
        for start in range(0, m, height):
            block = self.rows(np.arange(start, min(start + height, m)), np.arange(start, m))
            out[at : at + block.size] = block.reshape(-1)
            at += block.size

    def columns(self, rows, index):
        """Entries (len(rows), len(index)) of the exact Gram matrix, for two index arrays."""
        return self.rows(rows, index, exact=True)

    def column_blocks(self, index, height):
        """Blocks of ``height`` rows of `columns` with all samples, one after the other.

        A block may overwrite the last one.
        """
        m = self.n_samples
        for start in range(0, m, height):
            yield self.columns(np.arange(start, min(start + height, m)), index)

    def column_products(self, index):
        """Products with columns (m, r) of the exact Gram matrix, and with their transpose."""
        every = np.arange(self.n_samples)
        read = BlockProducts(
            lambda rows: self.columns(every[rows], index), self.n_samples, len(index)
        )
        return read, read.transposed

    def sharing(self):
        """The same combination, of which every second call of `split` takes the first's matrices.

        For two models that are trained on the combinations one after the other.
        """
        return self

    def split(self, split):
        """Gram matrices of a (train, test) split: training, and test against training."""
        part = self.part(split[0])
        return part.gram(), part.cross_gram(self.source.as_new(split[1]))

    def times(self, V):
        """Product of the exact training Gram matrix with V, (m,) or (m, c)."""
        return np.concatenate([self.rows(i, exact=True) @ V for i in self._blocks()])

    def diagonal(self, X=None):
        """``k(x, x)`` of every sample, (m,), or of checked new ones, (n,), if available."""
        if X is not None:
            raise ValueError("k(x, x) of new samples is not available for this kernel.")
        found = [self.rows(i, i, exact=True).diagonal() for i in self._blocks()]
        return np.concatenate(found).astype(np.float64)

    def _blocks(self):
        """Index arrays that cover all samples, each as large as is evaluated at once."""
        m = self.n_samples
        return [np.arange(m)[rows] for rows in row_blocks(m, m)]

    def row_cache_options(self):
        """``(rows, options)`` of a `RowCache` on the training Gram matrix."""
        return lambda columns: lambda index: self.rows(index, columns), {}

    @abstractmethod
    def predictor(self, support, coef, intercept=0.0, exact=False):
        """The `Predictor` with dual coefficients.

        Parameters
        ----------
        support : ndarray of int of shape (n,), or None
            Samples of the source. None means all samples, without a copy.
        coef : ndarray of shape (n, q)
        intercept : float or ndarray of shape (q,)
            Of a model trained on `gram`, or on exact values if ``exact``.
        exact : bool
            Required if the columns of ``coef`` do not sum to 0.
        """


class Predictor(ABC):
    """What a fitted estimator stores of its samples: the support, or coefficients of features.

    Parameters
    ----------
    coef : ndarray of shape (n, q)
    intercept : float or ndarray of shape (q,)
        The intercept for exact kernel values.

    Attributes
    ----------
    is_linear : bool
        Whether the kernel is linear in features, of which coefficients are kept.
    is_given : bool
        Whether the kernels are precomputed matrices.
    n_features : int or None
        Of the samples that the source was opened on.
    takes_gaps : bool
        Whether new samples may have missing tables.
    support_samples : samples, or None if none are stored
    """

    is_linear = is_given = takes_gaps = False
    n_features = support_samples = None

    def __init__(self, coef, intercept):
        self.coef, self.intercept = coef, intercept

    @abstractmethod
    def check(self, X):
        """Validate new samples, except their width where ``n_features`` is set."""

    def count(self, X):
        """The number of checked samples."""
        return len(X)

    def take(self, X, rows):
        """Select some of the checked samples."""
        return take(X, rows)

    @abstractmethod
    def decisions(self, X, engine=CPU):
        """``sum_j coef_j k(x, x_j)`` plus the intercept for checked samples, (n, q)."""

    def source(self, engine=CPU):
        """The `Source` on the support samples; None if they are not stored."""
        return None

    @abstractmethod
    def reweighted(self, weights):
        """The same coefficients with other kernel weights (p,), without an intercept.

        If all other weights are 0, the decisions are those of one term of the model, up to a
        constant. Not available where ``is_linear``: coefficients of features contain the weights.
        """
