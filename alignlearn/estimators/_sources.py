"""Where kernel values come from: pairs of samples, features, or given Gram matrices.

A source is opened on the training data. It computes the alignment statistics, takes the weights,
gives the Gram matrix of the combination for the machine, and is then reduced to what prediction
needs: support samples, or a coefficient vector, never a Gram matrix.

Gram matrices here may lack a constant, ``f(x)`` or ``f(x')`` added to the kernel. The dual
coefficients of every machine with an intercept sum to 0, so such terms change the intercept only,
and what is trained is the machine on the kernel centred at the training means. Near-constant
kernels keep their digits this way.
"""

from __future__ import annotations

import numpy as np

from alignlearn.engine.cpu import weighted_gram
from alignlearn.estimators import _inputs
from alignlearn.kernels import FeatureWeighted, Precomputed, RankOneKernels, kernel_list
from alignlearn.kernels.base import Scaled, Sum
from alignlearn.kernels.objects import precomputed_kernels
from alignlearn.streaming import _linear_groups, alignment_statistics
from alignlearn.validation import check_finite, take

# Kernel values held at once while predicting: 32 MB in float64.
_BLOCK_ENTRIES = 2**22


def open_source(X, kernels):
    """The source that suits the kernels, on validated training data."""
    if isinstance(kernels, str) and kernels == "precomputed":
        return GramSource(X)
    if isinstance(kernels, RankOneKernels):
        return FeatureSource(_inputs.as_features(X), kernels, None)
    kernels = kernel_list(kernels)
    groups = _linear_groups(kernels)
    if groups is not None:
        return FeatureSource(_inputs.as_features(X), kernels, groups)
    return PairSource(_inputs.as_samples(X, any(k._needs_vectors for k in kernels)), kernels)


class SignedSum(Sum):
    """A sum of kernels with weights of any sign, indefinite unless shown otherwise."""

    is_psd = False


def combined_kernel(kernels, weights):
    """``sum_k weights_k K_k`` as a kernel; terms of weight 0 are left out."""
    terms = tuple(Scaled(k, float(w)) for k, w in zip(kernels, weights) if w != 0.0)
    return Sum(terms) if min(weights) >= 0.0 else SignedSum(terms)


def _row_blocks(n, width):
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


class PairSource:
    """Kernels evaluated on pairs of samples."""

    def __init__(self, X, kernels):
        self.X = X
        self.n_samples = len(X)
        self.n_features = X.shape[1] if np.ndim(X) == 2 else None
        _inputs.check_sample_count(self.n_samples)
        self.kernels = [k.resolve(X) for k in kernels]
        for kernel in self.kernels:
            _check_given(kernel, X)

    def statistics(self, y, task):
        """Alignment statistics of the kernels with y."""
        return alignment_statistics(self.X, y, self.kernels, task=task)

    def combine(self, weights):
        """Take the weights of the kernels; return the combined kernel."""
        used = np.flatnonzero(weights)
        self._terms = [self.kernels[k] for k in used], weights[used]
        return combined_kernel(self.kernels, weights)

    def gram(self, exact=False):
        """Training Gram matrix (m, m) of the combination, up to a constant if not exact."""
        return weighted_gram(*self._terms, self.X, exact=exact)

    def cross_gram(self, X, exact=False):
        """The same against new samples, (n, m)."""
        return weighted_gram(*self._terms, X, self.X, exact=exact)

    def keep_all(self):
        """Keep every training sample, in a copy that the caller cannot change."""
        self.X = self.X.copy() if hasattr(self.X, "copy") else list(self.X)

    def reduce(self, support, coef):
        """Keep the support samples; return what to add to the intercept."""
        self.X = take(self.X, support)
        self.coef = coef
        return 0.0

    def check_test(self, X):
        """New samples, validated."""
        vectors = any(k._needs_vectors for k in self.kernels)
        if self.n_features is not None and not hasattr(X, "tocsr"):
            X = np.asarray(X)
        return _inputs.as_samples(X, vectors)

    def decisions(self, X):
        """``sum_j coef_j k(x, x_j)`` for each row of X, (n, q), in blocks of rows."""
        out = np.zeros((len(X), self.coef.shape[1]))
        if len(self.X):
            for rows in _row_blocks(len(X), len(self.X)):
                out[rows] = self.cross_gram(X[rows]) @ self.coef
        return out


def _check_given(kernel, X):
    """Kernels built on given matrices: positive semi-definite, unless marked."""
    given = [k for k in _leaves(kernel) if isinstance(k, Precomputed)]
    if given and kernel.is_psd:
        single = any(k.gram.dtype == np.float32 for k in given)
        K = weighted_gram([kernel], [1.0], X)
        dtype = "float32" if single else "float64"
        _inputs.check_psd(f"kernels: the matrix of {kernel}", K, dtype)


def _leaves(kernel):
    inner = getattr(kernel, "kernels", None) or (getattr(kernel, "kernel", None),)
    return [kernel] if inner == (None,) else [leaf for k in inner for leaf in _leaves(k)]


class FeatureSource:
    """Linear kernels on groups of features (or each feature): one weight a feature, no pairs."""

    def __init__(self, X, kernels, groups):
        self.X = X
        self.n_samples, self.n_features = X.shape
        _inputs.check_sample_count(self.n_samples)
        self.kernels = kernels
        self.groups = groups
        self.sparse = hasattr(X, "tocsr")
        # A sparse matrix stays sparse, so is not centred.
        self.mean = np.zeros(self.n_features) if self.sparse else X.mean(axis=0, dtype=np.float64)

    def statistics(self, y, task):
        """Alignment statistics of the kernels with y."""
        return alignment_statistics(self.X, y, self.kernels, task=task)

    def combine(self, weights):
        """Take the weights of the kernels; return the combined kernel."""
        per_feature = weights
        if self.groups is not None:
            per_feature = np.zeros(self.n_features)
            for w, (columns, scale) in zip(weights, self.groups):
                where = slice(None) if columns is None else list(columns)
                np.add.at(per_feature, where, w * scale)
        self.kernel = FeatureWeighted(per_feature)
        return self.kernel

    def _centred(self, X):
        if self.sparse:
            return X
        return (X.toarray() if hasattr(X, "tocsr") else X) - self.mean

    def gram(self, exact=False):
        """Training Gram matrix (m, m), of centred features if they are dense and not exact."""
        return self.kernel(self.X if exact else self._centred(self.X))

    def cross_gram(self, X, exact=False):
        """The same against new samples, (n, m)."""
        pair = (X, self.X) if exact else (self._centred(X), self._centred(self.X))
        return self.kernel(*pair)

    def keep_all(self):
        """Keep every training sample, in a copy that the caller cannot change."""
        self.X = self.X.copy()

    def reduce(self, support, coef, of_features=None):
        """Keep one coefficient a feature; return what to add to the intercept."""
        if of_features is None:
            X = self.X.tocsr()[support] if self.sparse else self._centred(self.X[support])
            of_features = self.kernel.weights[:, None] * np.asarray(X.T @ coef)
        self.coef = of_features
        self.X = None
        return -(self.mean @ self.coef)

    def check_test(self, X):
        """New samples, validated."""
        return _inputs.as_features(X)

    def decisions(self, X):
        """``X @ coef``, (n, q)."""
        return np.asarray(X @ self.coef)


class GramCombination:
    """The learned kernel on given matrices: ``kernel_(grams)`` is their weighted sum.

    Parameters
    ----------
    weights : ndarray of shape (p,)
    """

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, grams):
        """Weighted sum, float64 of shape (n, m), of p matrices (n, m); weight 0 is not read."""
        return self._sum(grams, slice(None), slice(None))

    def _sum(self, grams, rows, columns):
        total = 0.0
        for k in np.flatnonzero(self.weights):
            total = total + self.weights[k] * np.asarray(grams[k][rows], np.float64)[:, columns]
        return total


class GramSource:
    """Given Gram matrices, read one at a time."""

    n_features = None

    def __init__(self, grams):
        numbers, self.kernels = precomputed_kernels(grams)
        self.n_samples = len(numbers)
        _inputs.check_sample_count(self.n_samples)
        self.numbers, self.grams = numbers, [k.gram for k in self.kernels]
        for k, gram in enumerate(self.grams):
            K = np.asarray(gram[:])
            _inputs.check_psd(f"X: precomputed kernel {k}", K, K.dtype)

    def statistics(self, y, task):
        """Alignment statistics of the kernels with y."""
        return alignment_statistics(self.numbers, y, self.kernels, task=task)

    def combine(self, weights):
        """Take the weights of the kernels; return the combined kernel."""
        self.kernel = GramCombination(weights)
        return self.kernel

    def gram(self, exact=True):
        """Training Gram matrix (m, m) of the combination."""
        return self.kernel(self.grams)

    def cross_gram(self, X, exact=True):
        """The same against new samples, (n, m)."""
        return self.kernel(X)

    def keep_all(self):
        """New samples come with their own matrices, so the training matrices are dropped."""
        self.kernels = self.grams = self.numbers = None

    def reduce(self, support, coef):
        """Keep the numbers of the support samples; return what to add to the intercept."""
        self.support, self.coef = support, coef
        self.keep_all()
        return 0.0

    def check_test(self, X):
        """p matrices (n, m) between new and training samples, of equal shape."""
        p = len(self.kernel.weights)
        if not hasattr(X, "__len__") or not hasattr(X, "__getitem__") or len(X) != p:
            given = f"{len(X)} items" if hasattr(X, "__len__") else type(X).__name__
            raise ValueError(
                f"X must be a sequence of {p} matrices (n_samples, {self.n_samples}), one a "
                f"kernel, as in fit; got {given}."
            )
        n = None
        for k in range(p):
            shape = np.shape(X[k])
            n = shape[0] if n is None and len(shape) == 2 else n
            if shape != (n, self.n_samples) or n == 0:
                raise ValueError(
                    f"X: precomputed kernel {k} has shape {shape}, accepted is (n_samples, "
                    f"{self.n_samples}): a row a new sample, a column a training sample."
                )
            if self.kernel.weights[k] != 0.0:
                check_finite(f"X: precomputed kernel {k}", np.asarray(X[k]))
        return X if all(hasattr(X[k], "shape") for k in range(p)) else [np.asarray(K) for K in X]

    def decisions(self, X):
        """``sum_j coef_j k(x, x_j)`` for each new sample, (n, q), in blocks of rows."""
        n = np.shape(X[0])[0]
        out = np.zeros((n, self.coef.shape[1]))
        for rows in _row_blocks(n, self.n_samples):
            out[rows] = self.kernel._sum(X, rows, self.support) @ self.coef
        return out
