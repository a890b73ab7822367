"""Kernels evaluated on pairs of samples."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from alignlearn._pairs import ClassCoefficients, PairCoefficients, PairDecisions, is_compact
from alignlearn.engine import grams, pair_sums
from alignlearn.engine.binding import vectors
from alignlearn.engine.cpu import CPU
from alignlearn.engine.program import Mode, program_of
from alignlearn.kernels import distinct, kernel_samples, weighted_sum
from alignlearn.kernels.scales import resolve_each
from alignlearn.statistics import center_gram, finish_sums, target_columns
from alignlearn.validation import as_array, check_psd, is_sparse, take
from alignlearn.validation.row_hashes import first_copies

from .families import GramFamily
from .source import MOST_DIFFERENT, Combination, Predictor, Source
from .training_sets import Sample, training_statistics

_LARGEST_IN_SINGLE = 1e15  # its square and the reciprocal of that fit into float32
_OUTLYING = 100.0  # root mean squares; a larger value has a rounding error unlike the others'
_MOST_AT_ONCE = 2000  # samples up to which the whole matrix (32 MB) is computed and indexed
# Rows and columns whose values are compared with exact ones, and the accepted difference.
_PROBED, _AGAINST, _ROUNDINGS = 8, 400, 16.0


class PairSource(Source):
    """Kernels evaluated on pairs of samples.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (m, d), or list of m objects
    kernels : list of Kernel
        Data-dependent parameters are taken from X, unless the kernels are ``resolved``.
    weight : ndarray of shape (m,), optional
        Sample weights, already checked. Statistics and families are those of the weighted sample;
        Gram matrices and combinations do not use the weights.
    engine : Cpu, Auto, Cuda or Cluster
        Evaluates pairs of samples.
    progress : bool or callable
        Progress callback of passes over all pairs, see `Progress`. Dropped when pickled.
    """

    is_paired = True

    def __init__(self, X, kernels, weight=None, *, resolved=False, **how):
        super().__init__(X, weight, **how)
        self.kernels = kernels if resolved else resolve_each(kernels, X, weight)
        self.checks_psd = any(k.given_dtype is not None and k.is_psd for k in self.kernels)

    @cached_property
    def names(self):
        """Names of the kernels; only results and errors show them."""
        return _names(self.kernels)

    @property
    def rounding(self):
        """The unit roundoff of the samples' dtype, or that of a precomputed kernel, if larger."""
        given = [k.given_dtype for k in self.kernels if k.given_dtype is not None]
        types = [self.dtype, *(t for t in given if t.kind == "f")]
        return max(float(np.finfo(t).eps) for t in types)

    def whole(self):
        """See `Source.whole`: for one kernel, few samples, and matrices that are not checked."""
        few = len(self.kernels) == 1 and self.n_samples <= _MOST_AT_ONCE
        if few and not self.checks_psd and self.made is None:
            how = {"exact": False, "engine": self.engine}
            self.made = grams.weighted_gram(self.kernels, [1.0], self.X, **how)
        return self.made

    def copies(self):
        """See `Source.copies`; for samples in a dense matrix."""
        return self._copies

    @cached_property
    def _copies(self):
        numbers = isinstance(self.X, np.ndarray) and self.X.dtype.kind in "biuf"
        return first_copies(self.X, MOST_DIFFERENT) if numbers and self.X.ndim == 2 else None

    def statistics(self, y, task="auto", *, unbiased=False):
        """`AlignmentStatistics` of the kernels with y."""
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        kernels, index = distinct(self.kernels)
        sums = pair_sums.centered_sums(used.X, Y, kernels, self.progress, used.weight, self.engine)
        return finish_sums(sums, Y, _names(kernels), unbiased, used.weight).take(index)

    def training_statistics(self, y, task, training_sets, *, unbiased=False):
        """Yield the statistics of every training set (index arrays); one pass if that is faster."""
        Y, used = target_columns(y, self.n_samples, task, weight=self.weight), self.used()
        kernels, index = distinct(self.kernels)
        training_sets = used_positions(training_sets, self.weight)
        options = _names(kernels), training_sets, self.progress, self.engine, unbiased
        for found in training_statistics(Sample(used.X, Y, used.weight), kernels, *options):
            yield found.take(index)

    def part(self, rows):
        """The source with the same kernels on the samples of an index array."""
        given = take(self.X, rows), self.kernels, self.weight_of(rows)
        return PairSource(*given, resolved=True, **self._how)

    def kept(self):
        """The source to store in a model, on a copy of its samples; see `Source.kept`."""
        X = self.X.copy() if hasattr(self.X, "copy") else list(self.X)
        return PairSource(X, self.kernels, self.weight, resolved=True)

    def check(self, X):
        """Validate new samples."""
        return _checked(X, self.kernels, self.n_features)

    def largest_diagonals(self):
        """The maximum K_k(x, x) of each kernel over the samples, (p,)."""
        known = np.array([np.nan if (v := k.largest_value) is None else v for k in self.kernels])
        unknown = np.flatnonzero(np.isnan(known))
        if unknown.size:
            values = grams.gram_diagonals([self.kernels[k] for k in unknown], self.X)
            known[unknown] = values.max(axis=1)
        return known

    def family(self, scale, rooted=False):
        """The centered kernels times ``scale`` (p,), as one-stage problems use them."""
        options = {"exact": False, "engine": self.engine}
        found = [grams.weighted_gram([k], [1.0], self.X, **options) for k in self.kernels]
        return centered_family(found, scale, self.weight, rooted)

    def combine(self, weights):
        """The combination with weights (p,)."""
        return PairCombination(self, weights)


class PairCombination(Combination):
    """A weighted sum of kernels that are evaluated on pairs of samples."""

    takes_compact = True
    _shared = None  # or a list of what the next call of `split` returns

    def __init__(self, source, weights):
        super().__init__(source, weights, weighted_sum(source.kernels, weights))
        used = np.flatnonzero(self.weights)
        self.terms = [source.kernels[k] for k in used], self.weights[used]

    def _gram(self, *samples, exact=False, out=None, terms=None):
        options = {"exact": exact, "out": out, "engine": self.source.engine}
        return grams.weighted_gram(*(terms or self.terms), *samples, **options)

    def gram(self, exact=False):
        """Training Gram matrix (m, m), up to a constant if not exact.

        Raises
        ------
        ValueError
            All precomputed kernels are declared positive semi-definite, and the matrix is not.
            The message names the indefinite kernels.
        """
        if self.source.checks_psd and self.kernel.is_psd:
            self._check_psd(self._of_used(self._gram(self.source.X, exact=True)))
        how = {"exact": exact, "engine": self.source.engine}
        return grams.weighted_gram(*self.terms, self.source.X, **how)

    def sharing(self):
        """See `Combination.sharing`; up to 2000 samples, whose matrices are copied."""
        if self.n_samples > _MOST_AT_ONCE or self.source.made is not None:
            return self
        found = copy.copy(self)
        found._shared = []
        return found

    def split(self, split):
        """(training, test against training) Gram matrices of a (train, test) split."""
        (train, test), source = split, self.source
        if source.made is None:
            if self._shared and self._shared[0][0] is split:
                return self._shared.pop()[1]
            part = self.part(train)
            found = part.gram(), part.cross_gram(source.as_new(test))
            if self._shared is not None:  # the caller may overwrite them
                self._shared[:] = [(split, tuple(K.copy() for K in found))]
            return found
        given = train, self.weights[0]
        return tuple(grams.submatrix(source.made, rows, *given) for rows in (train, test))

    def _check_psd(self, K):
        try:
            check_psd("kernels: the combination", K, overwrite=K.dtype == np.float64)
        except ValueError:
            for kernel in self.terms[0]:
                if kernel.given_dtype is not None:
                    single = self._gram(self.source.X, exact=True, terms=([kernel], [1.0]))
                    single = self._of_used(single)
                    check_psd(f"kernels: the matrix of {kernel}", single, kernel.given_dtype)
            raise

    def cross_gram(self, X, exact=False, engine=None):
        """Gram matrix of new samples against those of the source, (n, m)."""
        how = {"exact": exact, "engine": engine or self.source.engine}
        return grams.weighted_gram(*self.terms, X, self.source.X, **how)

    def own_gram(self, X):
        """Gram matrix of new samples with each other."""
        return self._gram(X)

    def rows(self, index, columns=None, exact=False, out=None):
        """Rows of the training Gram matrix, or of some of its columns; in ``out`` if passed."""
        samples = self.source.samples(index), self._columns(columns)
        return self._gram(*samples, exact=exact, out=out)

    def fill_upper_rows(self, height, out):
        """Put blocks of rows into flat memory; see `Combination.fill_upper_rows`.

        If that is float32, values are computed in float32 where this is precise enough.
        """
        if not self._is_bound(self.source.X):
            super().fill_upper_rows(height, out)
            return
        single = self.in_single() if out.dtype == np.float32 else None
        combination = self if single is None else single
        X, m, at = combination.source.X, self.n_samples, 0
        bound, parts = grams.GramRows(*combination.terms, X, X, exact=False), []
        for start in range(0, m, height):
            stop = min(start + height, m)
            shape = stop - start, m - start
            parts.append((slice(start, stop), out[at : at + shape[0] * shape[1]].reshape(shape)))
            at += shape[0] * shape[1]
        bound.fill_each(parts)

    def column_blocks(self, index, height):
        """Blocks of rows of the columns of some samples; see `Combination.column_blocks`."""
        X, m, Z = self.source.X, self.n_samples, self.source.samples(index)
        if self._is_bound(Z):
            bound = grams.GramRows(*self.terms, X, Z)
            memory = np.empty((min(height, m), len(index)), self.source.dtype)
            for start in range(0, m, height):
                rows = np.arange(start, min(start + height, m))
                yield bound.fill(rows, memory[: len(rows)])
        else:
            yield from super().column_blocks(index, height)

    @property
    def _program(self):
        kernels, X = self.terms[0], self.source.X
        return program_of(kernels, X, vectors(kernels, X), mode=Mode.SIDES)

    def _is_bound(self, Z):
        """Whether rows against Z are evaluated by programs bound to them once."""
        in_loops = not self._program.external and not is_sparse(Z)
        return in_loops and self.source.engine.in_place

    def _columns(self, columns):
        return self.source.X if columns is None else self.source.samples(columns)

    def products(self, X=None, Z=None, exact=False):
        """Products with the combination's matrix between samples; None: the training samples.

        Returns `alignlearn.engine.grams.GramProducts`; no matrix is stored.
        """
        X = self.source.X if X is None else X
        return grams.GramProducts(*self.terms, X, Z, exact=exact, engine=self.source.engine)

    def column_products(self, index):
        """Products with columns (m, r) of the exact Gram matrix, and with their transpose."""
        Z = self.source.samples(index)
        return self.products(Z=Z, exact=True), self.products(Z, self.source.X, exact=True)

    def times(self, V):
        """Product of the exact training Gram matrix with V, (m,) or (m, c)."""
        return self.products(exact=True).times(V)

    def diagonal(self, X=None):
        """``k(x, x)`` of every sample, (m,), or of checked new ones, (n,)."""
        if X is None:
            return self._diagonal.copy()
        kernels, weights = self.terms
        return weights @ grams.gram_diagonals(kernels, X)

    @cached_property
    def _diagonal(self):
        return self.diagonal(self.source.X)

    def row_cache_options(self):
        """``(rows, options)`` of a `RowCache` on the training Gram matrix."""

        def times(rows, columns, weights):
            X = None if rows is None else self.source.samples(rows)
            return self.products(X, self.source.samples(columns)).times(weights)

        single = self.in_single()
        return self._row_reader, {
            "times": times,
            "diagonal": self._inexact_diagonal(),
            "single": None if single is None else single._row_reader,
        }

    def in_single(self):
        """See `Combination.in_single`."""
        source = self.source
        if source.dtype == np.float32 or is_sparse(source.X) or not self._program.is_common:
            return None
        X = source.X
        size = max(X.max(), -X.min())
        if not size < _LARGEST_IN_SINGLE or size > _OUTLYING * np.sqrt(np.vdot(X, X) / X.size):
            return None
        few, columns = (np.linspace(0, len(X) - 1, n).astype(np.intp) for n in (_PROBED, _AGAINST))
        exact = self.rows(few, columns)
        largest = np.abs(exact).max()
        if not 1.0 / _LARGEST_IN_SINGLE < largest < _LARGEST_IN_SINGLE:
            return None
        single = PairSource(
            X.astype(np.float32), source.kernels, source.weight, **source._how
        ).combine(self.weights)
        apart = np.abs(single.rows(few, columns) - exact).max()
        return single if apart <= _ROUNDINGS * np.finfo(np.float32).eps * largest else None

    def _row_reader(self, columns):
        """A function that returns rows of some columns, in memory that the next call reuses."""
        Z, memory = self._columns(columns), ()
        source, bound = self.source, None
        if self._is_bound(Z):
            bound = grams.GramRows(*self.terms, source.X, Z, exact=False)

        def rows(index, out=None):
            nonlocal memory
            if out is None and len(memory) < len(index):
                memory = np.empty((len(index), len(Z)), source.dtype)
            out = memory[: len(index)] if out is None else out
            if bound is not None:
                return bound.fill(index, out)
            return self._gram(source.samples(index), Z, out=out)

        return rows

    def _inexact_diagonal(self):
        """Values K_ii as in `rows`, which may omit a constant; None if they omit more."""
        if self._program.lacks_sides:
            return None
        first, values = np.zeros(1, dtype=np.intp), self.diagonal()
        return values + (float(self.rows(first, first)[0, 0]) - values[0])

    def predictor(self, support, coef, intercept=0.0, exact=False):
        """The `Predictor` with dual coefficients; see `Combination.predictor`."""
        X = self.source.X if support is None else take(self.source.X, support)
        trained = intercept
        if not exact and len(X) and self.terms[0] and self._program.lacks_sides:
            # This adds one constant to the decisions on all samples, which is found in float64.
            one, X64 = X[:1].astype(np.float64), X.astype(np.float64)
            if is_compact(coef):
                rows = [grams.weighted_gram(*self.terms, one, X64, exact=e) for e in (False, True)]
                intercept = trained + coef.times(rows[0] - rows[1])[:, 0]
            else:
                forms = [
                    grams.gram_times(*self.terms, one, X64, coef, exact=e) for e in (False, True)
                ]
                intercept = trained + (forms[0] - forms[1])[0]
        return PairPredictor(self, X, coef, (trained, intercept), exact)


class PairPredictor(Predictor):
    """Decisions from kernel values with support samples, without a Gram matrix."""

    def __init__(self, combination, X, coef, intercepts, exact):
        self._trained, intercept = intercepts
        super().__init__(coef, intercept)
        source = combination.source
        self.n_features, self._kernels = source.n_features, source.kernels
        self._terms, self._exact = combination.terms, exact
        self.support_samples = X

    def check(self, X):
        """Validate new samples, except their width."""
        return _checked(X, self._kernels, self.n_features)

    def reweighted(self, weights):
        """The same coefficients with other kernel weights; see `Predictor.reweighted`."""
        part, used = copy.copy(self), np.flatnonzero(weights)
        part._terms = [self._kernels[k] for k in used], np.asarray(weights)[used]
        part.intercept = part._trained = 0.0
        return part

    def source(self, engine=CPU):
        """The `Source` on the support samples."""
        return PairSource(self.support_samples, self._kernels, engine=engine)

    def beside(self, coef, constants):
        """These coefficients and further columns (n, c), with constants trained on `gram`."""
        both = copy.copy(self)
        both.coef = np.hstack([self.coef, coef])
        trained = np.broadcast_to(self._trained, self.coef.shape[1])
        both.intercept = both._trained = np.concatenate([trained, constants])
        return both

    def decisions(self, X, engine=CPU):
        """``sum_j coef_j k(x, x_j)`` plus the intercept for checked samples, (n, q).

        Of compact coefficients `PairDecisions`.
        """
        if isinstance(self.coef, PairCoefficients):
            rows = _NewRows(self, X, engine)
            return PairDecisions.of_kernel(rows, None, self.coef, self._trained)
        if isinstance(self.coef, ClassCoefficients):
            columns = self._products(X, self.coef.columns, engine)
            return PairDecisions.of_columns(columns, self._trained)
        return self._products(X, self.coef, engine) + self._trained

    def _products(self, X, coef, engine):
        """``sum_j coef_j k(x, x_j)`` for checked samples, (n, q)."""
        Z, values = self.support_samples, np.zeros((len(X), coef.shape[1]))
        if len(Z) and self._terms[0]:
            options = {"exact": self._exact, "engine": engine}
            values = grams.gram_times(*self._terms, X, Z, coef, **options)
        return values

    def rows(self, X, index, engine=CPU):
        """Kernel values of some checked samples with the support samples, (n, n_support)."""
        Z = self.support_samples
        if not (len(Z) and self._terms[0]):
            return np.zeros((len(index), len(Z)))
        options = {"exact": self._exact, "engine": engine}
        return grams.weighted_gram(*self._terms, take(X, index), Z, **options)


class _NewRows(NamedTuple):
    """Rows of the Gram matrix of new samples, computed whenever they are read."""

    predictor: PairPredictor
    X: Any
    engine: Any

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        return self.predictor.rows(self.X, index, self.engine)


def _checked(X, kernels, n_features):
    if n_features is not None and not is_sparse(X):
        X = as_array("X", X)
    return kernel_samples("X", X, kernels)


def _names(kernels):
    return tuple(str(k) for k in kernels)


def centered_family(grams, scale, weight=None, rooted=False):
    """p Gram matrices, centered in place and times ``scale``, as a family; see `family`."""
    share = None if weight is None else weight / weight.sum()
    for K, s in zip(grams, scale):
        center_gram(K, share=share)
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
            "sample_weight is zero for every sample of a training set; accepted: a positive weight "
            "outside each fold."
        )
    return found
