"""What p kernels on m samples can do: the contract of a source, its combination, its predictor.

Data flows one way through three objects, none of which changes after it is made: a `Source` gives
statistics of p kernels, weights make it a `Combination`, and a machine's coefficients make that a
`Predictor`. Whoever holds one asks for what the class states, or for a flag, never for its class.

Gram matrices may lack a constant, ``f(x)`` or ``f(x')`` added to the kernel, unless they are asked
to be ``exact``. The dual coefficients of every machine with an intercept sum to 0, so such terms
change the intercept only, and what is trained is the machine on the kernel centered at the training
means. Near-constant kernels keep their digits this way, and linear ones on samples far from the
origin.

A class that lacks an abstract method raises a `TypeError` when an object of it is made. An override
has the parameters of its contract, in their order; further ones have defaults.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from alignlearn.engine.cpu import CPU
from alignlearn.validation import take

# Kernel values held at once while predicting: 32 MB in float64.
_BLOCK_ENTRIES = 2**22


def row_blocks(n, width):
    """Slices of rows whose blocks of ``width`` columns hold a fixed number of entries."""
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


class Source(ABC):
    """p kernels on m samples.

    Parameters
    ----------
    X : the samples, checked
    weight : ndarray of shape (m,), optional
        Sample weights, checked. Statistics and families are those of the weighted sample; Gram
        matrices and combinations are of the samples as they are.
    engine : Cpu, Auto, Cuda or Cluster
        What pairs of samples are evaluated on.
    progress : bool or callable
        Who is told how far passes over all pairs are, as in `Progress`; nobody after pickling.

    Attributes
    ----------
    n_samples : int
    n_features : int or None
        None for samples that are not rows of a matrix.
    kernels : list of Kernel, or what else stands for p kernels
        With numbers for all parameters.
    names : tuple of str
    is_linear : bool
        Whether kernels are linear in the features: `Combination.features` exists, and few features
        need no pair of samples.
    is_given : bool
        Whether samples are row numbers of given matrices, which new samples bring rows of.
    is_paired : bool
        Whether values are computed pair by pair: `Combination.products` exists.
    checks_psd : bool
        Whether a kernel is a given matrix that claims to be positive semi-definite, which Gram
        matrices of combinations are checked for.
    has_gaps : bool
        Whether samples lack a table, so that a combination is completed: it is one matrix (m, m),
        whose rows are not found by themselves.
    n_matrices : int
        Gram matrices (m, m) that are held while that of a combination is made.
    made : ndarray of shape (m, m) or None
        What `whole` gave; combinations take parts of it.
    """

    is_linear = is_given = is_paired = checks_psd = has_gaps = False
    n_matrices, made = 1, None

    def __init__(self, X, weight=None, *, engine=CPU, progress=False):
        self.X, self.weight, self.engine, self.progress = X, weight, engine, progress
        self.n_samples = len(X) if isinstance(X, list) else X.shape[0]
        self.n_features = X.shape[1] if getattr(X, "ndim", 0) == 2 else None

    def __getstate__(self):
        # Who is told is in this process, and not on a worker.
        return {**vars(self), "progress": False}

    @property
    def _how(self):
        return {"engine": self.engine, "progress": self.progress}

    def _weight_of(self, rows):
        return None if self.weight is None else self.weight[rows]

    @property
    def dtype(self):
        """The type of the values of a combined kernel."""
        single = getattr(self.X, "dtype", None) == np.float32
        return np.dtype(np.float32 if single else np.float64)

    @property
    def rounding(self):
        """Unit of rounding of kernel values, relative to the largest."""
        return float(np.finfo(self.dtype).eps)

    @property
    def fitted_kernels(self):
        """What opens the same kernels, with these numbers, on other samples."""
        return self.kernels

    @property
    def filled(self):
        """The samples without gaps, for what looks at columns alone."""
        return self.X

    @abstractmethod
    def statistics(self, y, task="auto", *, unbiased=False):
        """`AlignmentStatistics` of the kernels with y."""

    def training_statistics(self, y, task, training_sets, *, unbiased=False):
        """Yield the statistics of every training set, index arrays; here each by a pass."""
        for rows in training_sets:
            yield self.part(rows).statistics(y[rows], task, unbiased=unbiased)

    def whole(self):
        """The matrix on all samples, up to a constant, kept; None where it is not worth it."""
        return None

    @abstractmethod
    def part(self, rows):
        """The source, kernels as they are, on the samples of an index array."""

    def used(self):
        """The source on the samples of positive weight; itself if these are all."""
        if self.weight is None or self.weight.all():
            return self
        return self.part(np.flatnonzero(self.weight))

    @abstractmethod
    def kept(self):
        """The source for later: on a copy of its samples, in this process, without progress.

        The caller of ``fit`` can then change its samples, and a client may close. Given matrices
        are not held, as new samples bring theirs.
        """

    def samples(self, rows):
        """Some samples, as ``fit`` of an estimator takes them."""
        return take(self.X, rows)

    def as_new(self, rows):
        """Some samples as `Predictor.decisions` takes new ones."""
        return self.samples(rows)

    @abstractmethod
    def check(self, X):
        """New samples, validated."""

    def largest_diagonals(self):
        """The largest K_k(x, x) of each kernel over the samples, (p,)."""
        return np.array([self.single(k).diagonal().max() for k in range(len(self.names))])

    @abstractmethod
    def family(self, scale, rooted=False):
        """The kernels centered and times ``scale`` (p,), as one-stage problems take them.

        With ``rooted`` times the square roots of both samples' weights.
        """

    @abstractmethod
    def combine(self, weights):
        """The `Combination` with weights (p,)."""

    def single(self, k):
        """The `Combination` that is kernel k."""
        return self.combine(np.eye(1, len(self.names), k)[0])


class BlockProducts:
    """Products with a matrix (m, r) of which some rows are read at a time.

    Parameters
    ----------
    matrix : callable
        ``matrix(rows)`` gives some rows, of a slice or an index array.
    m, r : int

    Attributes
    ----------
    transposed : BlockProducts' transpose, an object with ``times``
    """

    def __init__(self, matrix, m, r):
        self.matrix, self.shape, self.transposed = matrix, (m, r), _Transposed(self)

    def blocks(self):
        """Slices of rows to be read at once."""
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

    takes_gaps = False  # whether new samples may lack tables
    n_samples = property(lambda self: self.source.n_samples)
    n_features = property(lambda self: self.source.n_features)
    weight = property(lambda self: self.source.weight)

    def _of_used(self, K):
        """Rows and columns of a Gram matrix for samples of positive weight: what must be psd."""
        if self.weight is None or self.weight.all():
            return K
        return K[np.ix_(self.weight > 0.0, self.weight > 0.0)]

    def kept(self):
        """The combination of `Source.kept`."""
        return self.source.kept().combine(self.weights)

    def check(self, X):
        """New samples, validated, but for their width where ``n_features`` is known."""
        return self.source.check(X)

    def part(self, rows):
        """The combination on the samples of an index array."""
        return self.source.part(rows).combine(self.weights)

    @abstractmethod
    def gram(self, exact=False):
        """Training Gram matrix (m, m).

        Raises
        ------
        ValueError
            For nonnegative weights, where the source checks it: the matrix is indefinite.
        """

    @abstractmethod
    def cross_gram(self, X, exact=False, engine=None):
        """Gram matrix of new samples against those of the source, (n, m).

        ``engine`` takes the place of the source's own.
        """

    @abstractmethod
    def own_gram(self, X):
        """Gram matrix of new samples with each other."""

    def rows(self, index, columns=None, exact=False):
        """Rows of the training Gram matrix, or of some of its columns."""
        K = self.cross_gram(self.source.as_new(index), exact)
        return K if columns is None else K[:, columns]

    def columns(self, rows, index):
        """Rows, an index array, of the exact columns of some samples, (len(rows), len(index))."""
        return self.rows(rows, index, exact=True)

    def column_products(self, index):
        """Products with the exact columns (m, r) of some samples, and with their transpose."""
        every = np.arange(self.n_samples)
        read = BlockProducts(
            lambda rows: self.columns(every[rows], index), self.n_samples, len(index)
        )
        return read, read.transposed

    def split(self, split):
        """(training, test against training) Gram matrices of a (train, test) split."""
        part = self.part(split[0])
        return part.gram(), part.cross_gram(self.source.as_new(split[1]))

    def times(self, V):
        """Product of the exact training Gram matrix with V, (m,) or (m, c)."""
        return np.concatenate([self.rows(i, exact=True) @ V for i in self._blocks()])

    def diagonal(self, X=None):
        """``k(x, x)`` of every sample, (m,), or of checked new ones, (n,), where it is known."""
        if X is not None:
            raise ValueError("k(x, x) of new samples is not known here.")
        found = [self.rows(i, i, exact=True).diagonal() for i in self._blocks()]
        return np.concatenate(found).astype(np.float64)

    def _blocks(self):
        """Index arrays of all samples, of as many as are evaluated at once."""
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
            Samples of the source; None for all of them, which are not copied then.
        coef : ndarray of shape (n, q)
        intercept : float or ndarray of shape (q,)
            Of a machine that was trained on `gram`, or on exact values where ``exact``.
        exact : bool
            Needed where columns of ``coef`` do not sum to 0.
        """


class Predictor(ABC):
    """What a fitted estimator keeps of its samples: the support, or coefficients of the features.

    Parameters
    ----------
    coef : ndarray of shape (n, q)
    intercept : float or ndarray of shape (q,)
        That of the kernel as it is, exact.

    Attributes
    ----------
    is_linear, is_given, n_features
        As of the source.
    takes_gaps : bool
        Whether new samples may lack tables.
    support_samples : samples, or None where there are none to keep
    """

    is_linear = is_given = takes_gaps = False
    n_features = support_samples = None

    def __init__(self, coef, intercept):
        self.coef, self.intercept = coef, intercept

    @abstractmethod
    def check(self, X):
        """New samples, validated, but for their width where ``n_features`` is known."""

    def count(self, X):
        """How many checked samples there are."""
        return len(X)

    def take(self, X, rows):
        """Some of the checked samples."""
        return take(X, rows)

    @abstractmethod
    def decisions(self, X, engine=CPU):
        """``sum_j coef_j k(x, x_j)`` and the intercept for checked samples, (n, q)."""

    def source(self, engine=CPU):
        """The `Source` on the support samples; None where they are not kept."""
        return None

    @abstractmethod
    def reweighted(self, weights):
        """These coefficients with other weights (p,) of the kernels, and no intercept.

        Its decisions are those of one term of the machine where all other weights are 0, up to a
        constant. Not where ``is_linear``: coefficients of features hold the weights.
        """
