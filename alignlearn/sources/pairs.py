"""Kernels evaluated on pairs of samples.

Gram matrices here may lack a constant, ``f(x)`` or ``f(x')`` added to the kernel. The dual
coefficients of every machine with an intercept sum to 0, so such terms change the intercept only,
and what is trained is the machine on the kernel centred at the training means. Near-constant
kernels keep their digits this way, and linear ones on samples far from the origin.
"""

from __future__ import annotations

import copy

import numpy as np

from alignlearn.engine import grams, pair_sums
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import distinct, kernel_samples, weighted_sum
from alignlearn.statistics import centre_gram, finish_sums, target_columns
from alignlearn.validation import as_array, check_psd, is_sparse, take

from .families import GramFamily
from .training_sets import Sample, training_statistics

# Kernel values held at once while predicting: 32 MB in float64.
_BLOCK_ENTRIES = 2**22


def row_blocks(n, width):
    """Slices of rows whose blocks of ``width`` columns hold a fixed number of entries."""
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


class PairSource:
    """Kernels evaluated on pairs of samples.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (m, d), or list of m objects
        Checked.
    kernels : list of Kernel
        Data-dependent parameters are taken from X.
    weight : ndarray of shape (m,), optional
        Sample weights, checked.

    Attributes
    ----------
    n_samples : int
    n_features : int or None
        None for samples that are not rows of a matrix.
    kernels : list of Kernel
        With numbers for all parameters.
    names : tuple of str
    given : bool
        Whether a kernel is a given matrix that claims to be positive semi-definite.
    verbose : bool
        Whether passes over all pairs report on stderr how far they are. False until it is set.
    engine : Cpu, Cuda or Cluster
        What pairs are evaluated on. This process until it is set.
    """

    sparse = False
    verbose = False
    engine = CPU
    _moved = 0.0

    def __init__(self, X, kernels, weight=None):
        self.X, self.weight = X, weight
        self.n_samples = len(X)
        self.n_features = X.shape[1] if getattr(X, "ndim", 0) == 2 else None
        self.kernels = [k.resolve(X, weight) for k in kernels]
        self.names = _names(self.kernels)
        self.given = any(k.given_dtype is not None and k.is_psd for k in self.kernels)

    def statistics(self, y, task="auto", *, unbiased=False):
        """Alignment statistics of the kernels with y."""
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        kernels, index = distinct(self.kernels)
        sums = pair_sums.centred_sums(used.X, Y, kernels, self.verbose, used.weight, self.engine)
        return finish_sums(sums, Y, _names(kernels), unbiased, used.weight).take(index)

    def training_statistics(self, y, task, training_sets):
        """Yield the statistics of every training set, index arrays; from one pass if that pays."""
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        kernels, index = distinct(self.kernels)
        training_sets = used_positions(training_sets, self.weight)
        options = _names(kernels), training_sets, self.verbose, self.engine
        for found in training_statistics(Sample(used.X, Y, used.weight), kernels, *options):
            yield found.take(index)

    def used(self):
        """This source on the samples of positive weight; itself if these are all."""
        return self if self.weight is None or self.weight.all() else self.part(self.weight > 0.0)

    def part(self, used):
        """This source, kernels as they are, on the samples of a mask (m,)."""
        rows, part = np.flatnonzero(used), copy.copy(self)
        part.X, part.n_samples = self._taken(rows), rows.size
        part.weight = None if self.weight is None else self.weight[rows]
        return part

    def _taken(self, rows):
        return self.samples(rows)

    def samples(self, rows):
        """Some samples, as ``fit`` takes them."""
        return take(self.X, rows)

    def largest_diagonals(self):
        """The largest K_k(x, x) of each kernel over the samples, (p,)."""
        known = np.array([np.nan if (v := k.largest_value) is None else v for k in self.kernels])
        unknown = np.flatnonzero(np.isnan(known))
        if unknown.size:
            values = grams.gram_diagonals([self.kernels[k] for k in unknown], self.X)
            known[unknown] = values.max(axis=1)
        return known

    def family(self, scale, rooted=False):
        """The kernels centred and times ``scale`` (p,), as one-stage problems take them.

        With ``rooted`` times the square roots of both samples' weights.
        """
        found = [self._gram(([k], [1.0]), self.X, exact=False) for k in self.kernels]
        return centred_family(found, scale, self.weight, rooted)

    def combine(self, weights):
        """Take the weights of the kernels; return the combined kernel."""
        used = np.flatnonzero(weights)
        self._terms = [self.kernels[k] for k in used], weights[used]
        self.kernel = weighted_sum(self.kernels, weights)
        return self.kernel

    def gram(self, exact=False):
        """Training Gram matrix (m, m) of the combination, up to a constant if not exact.

        A combination of given matrices must be positive semi-definite if all of them claim to be;
        a ValueError names those that are not.
        """
        if self.given and self.kernel.is_psd:
            self._check_psd(self._gram(self._terms, self.X))
        return self._gram(self._terms, self.X, exact=exact)

    def _check_psd(self, K):
        try:
            check_psd("kernels: the combination", K, overwrite=K.dtype == np.float64)
        except ValueError:
            for kernel in self._terms[0]:
                if kernel.given_dtype is not None:
                    single = self._gram(([kernel], [1.0]), self.X)
                    check_psd(f"kernels: the matrix of {kernel}", single, kernel.given_dtype)
            raise

    def cross_gram(self, X, exact=False, out=None):
        """The same against new samples, (n, m), in ``out`` if given."""
        return self._gram(self._terms, X, self.X, exact=exact, out=out)

    def against(self, rows, columns):
        """Samples ``rows`` as new ones, for a `part` of this source on samples ``columns``."""
        return self.samples(rows)

    def split_gram(self, split):
        """(training, test against training) Gram matrices of a (train, test) split."""
        part = copy.copy(self)
        part.X = self.samples(split[0])
        return part.gram(), part.cross_gram(self.samples(split[1]))

    def own_gram(self, X):
        """Gram matrix of new samples with each other, up to terms that centring removes."""
        return self._gram(self._terms, X, exact=False)

    def products(self, X=None, Z=None, exact=True):
        """Products with the matrix of the combination between samples, the training ones for None.

        A `alignlearn.engine.grams.GramProducts`; no matrix is stored.
        """
        X = self.X if X is None else X
        return grams.GramProducts(*self._terms, X, Z, exact=exact, engine=self.engine)

    def diagonal(self, X=None):
        """``k(x, x)`` of the combination for each sample, (n,)."""
        kernels, weights = self._terms
        return weights @ grams.gram_diagonals(kernels, self.X if X is None else X)

    def _gram(self, terms, *samples, exact=True, out=None):
        return grams.weighted_gram(*terms, *samples, exact=exact, out=out, engine=self.engine)

    def keep_all(self):
        """Keep every training sample, in a copy that the caller cannot change."""
        self.X = self.X.copy() if hasattr(self.X, "copy") else list(self.X)

    def reduce(self, support, coef, exact=False):
        """Keep the support samples; return what to add to the intercept.

        ``exact`` where columns of ``coef`` do not sum to 0.
        """
        self.X, self.weight = take(self.X, support), None
        self.coef, self._exact, self._moved = coef, exact, 0.0
        if exact or not len(self.X) or not self._terms[0]:
            return 0.0
        if self.products(exact=False).lacks_sides:
            # That adds the same constant to the decisions on all samples, found in float64.
            X = self.X.astype(np.float64)
            forms = [grams.gram_times(*self._terms, X[:1], X, coef, exact=e) for e in (False, True)]
            self._moved = (forms[0] - forms[1])[0]
        return self._moved

    def check_test(self, X):
        """New samples, validated."""
        if self.n_features is not None and not is_sparse(X):
            X = as_array("X", X)
        return kernel_samples("X", X, self.kernels)

    def decisions(self, X):
        """``sum_j coef_j k(x, x_j)`` for each row of X, (n, q), without a Gram matrix."""
        if not len(self.X):
            return np.zeros((len(X), self.coef.shape[1]))
        options = {"exact": self._exact, "engine": self.engine}
        return grams.gram_times(*self._terms, X, self.X, self.coef, **options) - self._moved


def _names(kernels):
    return tuple(str(k) for k in kernels)


def centred_family(grams, scale, weight=None, rooted=False):
    """p Gram matrices, centred in place and times ``scale``, as a family; see `family`."""
    share = None if weight is None else weight / weight.sum()
    for K, s in zip(grams, scale):
        centre_gram(K, share=share)
        K *= K.dtype.type(s)
        if rooted:
            root = np.sqrt(weight).astype(K.dtype)
            K *= root
            K *= root[:, None]
    return GramFamily(grams)


def used_positions(training_sets, weight):
    """Training sets as positions among the samples of positive weight."""
    if weight is None or weight.all():
        return training_sets
    position = np.cumsum(weight > 0.0) - 1
    found = [position[rows[weight[rows] > 0.0]] for rows in training_sets]
    if not all(rows.size for rows in found):
        raise ValueError(
            "sample_weight is zero for every sample of a training set; accepted: a positive one "
            "outside each fold."
        )
    return found
