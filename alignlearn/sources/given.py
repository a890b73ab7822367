"""Given Gram matrices as a source, the combination of them, and views for cross-validation."""

from __future__ import annotations

import copy

import numpy as np

from alignlearn.kernels import precomputed_kernels
from alignlearn.validation import (
    check_psd,
    check_test_gram,
    gram_like,
    indexable_grams,
    is_sequence,
    optional_weights,
)

from .pairs import PairSource, centred_family, row_blocks


class GramCombination:
    """The learned kernel on given matrices: ``kernel_(grams)`` is their weighted sum.

    Parameters
    ----------
    weights : ndarray of shape (p,)
    """

    def __init__(self, weights):
        self.weights = weights

    @property
    def is_psd(self):
        """Whether a combination of positive semi-definite matrices is one."""
        return bool(np.all(self.weights >= 0.0))

    def __call__(self, grams):
        """Weighted sum, float64 of shape (n, m), of p matrices (n, m); weight 0 is not read."""
        return self.block(grams, slice(None), slice(None))

    def block(self, grams, rows, columns):
        """Some rows and columns of it."""
        n, m = gram_like("grams[0]", grams[0]).shape
        rows = np.arange(n)[rows]
        out = np.zeros((len(rows), np.arange(m)[columns].size))
        for k in np.flatnonzero(self.weights):
            gram = gram_like(f"grams[{k}]", grams[k])
            for some in row_blocks(len(rows), m):
                block = np.asarray(gram[rows[some]], np.float64)[:, columns]
                out[some] += self.weights[k] * block
        return out


class GramSource(PairSource):
    """p given Gram matrices, read one at a time; samples are row numbers.

    Parameters
    ----------
    grams : sequence of p matrices (m, m), or array of shape (p, m, m)
        See `alignlearn.kernels.precomputed_kernels`.
    sample_weight : array-like of shape (m,), optional
    """

    def __init__(self, grams, sample_weight=None):
        numbers, kernels = precomputed_kernels(grams)
        weight = optional_weights(sample_weight, len(numbers))
        super().__init__(numbers.astype(np.float64), kernels, weight)
        self.grams = [k.gram for k in self.kernels]
        self.n_features = None

    def samples(self, rows):
        """Rows and columns of every matrix, as ``fit`` takes them."""
        return GramViews(self.grams, rows, rows)

    def against(self, rows, columns):
        """The matrices between samples ``rows`` and samples ``columns``."""
        return GramViews(self.grams, rows, columns)

    def _taken(self, rows):
        return self.X[rows]

    def part(self, used):
        """This source on the samples of a mask (m,)."""
        part = super().part(used)
        part.grams = self.samples(np.flatnonzero(used))
        return part

    def largest_diagonals(self):
        """The largest diagonal entry of every matrix, (p,)."""
        return np.array([np.diagonal(np.asarray(gram[:])).max() for gram in self.grams], float)

    def family(self, scale, rooted=False):
        """The matrices centred and times ``scale`` (p,), as one-stage problems take them."""
        grams = [np.array(gram[:], dtype=np.float64) for gram in self.grams]
        return centred_family(grams, scale, self.weight, rooted)

    def combine(self, weights):
        """Take the weights of the kernels; return the combined kernel."""
        self.kernel = GramCombination(weights)
        return self.kernel

    def gram(self, exact=True):
        """Training Gram matrix (m, m) of the combination; a ValueError if it is indefinite."""
        K = self.kernel(self.grams)
        if self.kernel.is_psd:
            self._check_psd(K)
        return K

    def _check_psd(self, K):
        used = np.flatnonzero(self.kernel.weights)
        dtypes = [np.dtype(self.grams[k].dtype) for k in used]
        single = np.dtype(np.float32)
        try:
            dtype = single if single in dtypes else None
            check_psd("X: the combination", K, dtype, overwrite=True)
        except ValueError:
            for k, dtype in zip(used, dtypes):
                check_psd(f"X: precomputed kernel {k}", np.asarray(self.grams[k][:]), dtype)
            raise

    def split_gram(self, split):
        """(training, test against training) Gram matrices of a (train, test) split."""
        train, test = split
        part = copy.copy(self)
        part.grams = GramViews(self.grams, train, train)
        return part.gram(), part.cross_gram(GramViews(self.grams, test, train))

    def cross_gram(self, X, exact=True):
        """The same against new samples, (n, m)."""
        return self.kernel(X)

    def keep_all(self):
        """New samples come with their own matrices, so the training matrices are dropped."""
        self.kernels = self.grams = self.X = self.weight = None

    def reduce(self, support, coef):
        """Keep the numbers of the support samples; return what to add to the intercept."""
        self.support, self.coef = support, coef
        self.keep_all()
        return 0.0

    def check_test(self, X):
        """p matrices (n, m) between new and training samples, of equal shape."""
        p, X = len(self.kernel.weights), indexable_grams(X)
        if not is_sequence(X) or len(X) != p:
            given = f"{len(X)} items" if is_sequence(X) else type(X).__name__
            raise ValueError(
                f"X must be a sequence of {p} matrices (n_samples, {self.n_samples}), one per "
                f"kernel, as in fit; got {given}."
            )
        n = None
        for k in range(p):
            shape = np.shape(X[k])
            n = shape[0] if n is None and len(shape) == 2 else n
            if shape != (n, self.n_samples) or n == 0:
                raise ValueError(
                    f"X: precomputed kernel {k} has shape {shape}, accepted is (n_samples, "
                    f"{self.n_samples}): a row per new sample, a column per training sample."
                )
            if self.kernel.weights[k] != 0.0:
                check_test_gram(f"X: precomputed kernel {k}", X[k], self.n_samples)
        return X

    def decisions(self, X):
        """``sum_j coef_j k(x, x_j)`` for each new sample, (n, q), in blocks of rows."""
        n = np.shape(X[0])[0]
        out = np.zeros((n, self.coef.shape[1]))
        for rows in row_blocks(n, self.n_samples):
            out[rows] = self.kernel.block(X, rows, self.support) @ self.coef
        return out


class GramView:
    """Rows and columns of a matrix, read when asked for.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        Also a memmap, or anything with ``dtype`` and NumPy indexing of rows.
    rows, columns : ndarray of int
    """

    def __init__(self, gram, rows, columns):
        self._gram, self._rows, self._columns = gram, rows, columns
        self.shape, self.dtype = (len(rows), len(columns)), gram.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return np.asarray(self._gram[self._rows[index]])[..., self._columns]

    def __array__(self, dtype=None, copy=None):
        block = self[:]
        return block if dtype is None else block.astype(dtype)


class GramViews:
    """The same rows and columns of each of p matrices; nothing is copied until it is read."""

    def __init__(self, grams, rows, columns):
        self._grams, self._rows, self._columns = grams, rows, columns

    def __len__(self):
        return len(self._grams)

    def __getitem__(self, k):
        return GramView(gram_like(f"grams[{k}]", self._grams[k]), self._rows, self._columns)
