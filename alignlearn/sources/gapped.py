"""Missing tables: kernels known where both samples have the table, completed for the model.

A kernel is known for the samples that have its table, and is centered at their mean.

*Statistics* are sums over the pairs of samples that have the tables: ``<K_kc, T>`` over the samples
with table k, ``<K_kc, K_lc>`` over those with both tables. These are the exact statistics of
kernels whose centered feature vectors are 0, the mean, for a missing table. Hence M is positive
semi-definite, and a table that is missing for many samples has less influence. Only the trace is an
estimate for all samples, from those with the table, so that every kernel has mean diagonal 1 on
these.

*The combination* is completed: ridge regression predicts the feature vector of a missing table from
the tables of the sample, in the combination's own kernel; see `completion`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from alignlearn._progress import Progress
from alignlearn._text import listed
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import column_group, kernel_samples
from alignlearn.statistics import AlignmentStatistics, center_gram, target_columns
from alignlearn.statistics.summary import check_sums
from alignlearn.statistics.targets import target_norm

from .completion import Completion, by_table, donors_of
from .families import GramFamily
from .pairs import PairSource
from .source import Combination, Predictor, Source, row_blocks
from .tables import Tables, present_tables, with_gaps


class GappedSource(Source):
    """p kernels on several tables, some of which may be missing for a sample.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The tables side by side, checked; NaN in all columns of a missing table.
    spans : dict of range
        The columns of each table.
    kernels : list of Kernel
        Each on columns of one table. Data-dependent parameters use the samples with the table.
    weight : ndarray of shape (m,), optional
        Sample weights, already checked. Statistics and families are those of the weighted sample;
        Gram matrices and combinations do not use the weights.
    engine : Cpu, Auto, Cuda or Cluster
        Evaluates pairs of samples.
    progress : bool or callable
        Progress callback of passes over all pairs, see `Progress`. Dropped when pickled.
    filler : ndarray of shape (d,), optional
        Replacement of NaN in computations. Default: the values of a sample with the table.
    """

    n_matrices = 3  # the kernels of a table, their sum, and the completed one

    def __init__(self, X, spans, kernels, weight=None, *, filler=None, **how):
        super().__init__(X, weight, **how)
        self.spans, self.present = spans, present_tables(X, spans)
        self.table_of = _table_of(kernels, spans)
        self.filler = _filler(X, self.present, spans) if filler is None else filler
        filled = self.fill(X)
        found = []
        for kernel, table in zip(kernels, self.table_of):
            rows = np.flatnonzero(self.present[:, table])
            some = slice(None) if rows.size in (0, len(X)) else rows
            found.append(kernel.resolve(filled[some], self.weight_of(some)))
        self.base = PairSource(kernel_samples("X", filled, found), found, weight, **how)
        self.kernels, self.names = self.base.kernels, self.base.names

    @property
    def has_gaps(self):
        """Whether a table is missing for a sample."""
        return not self.present.all()

    @property
    def filled(self):
        """The samples with missing tables filled, for code that works column by column."""
        return self.base.X

    def fill(self, X):
        """Replace NaN so that kernels can be evaluated."""
        return np.where(np.isnan(X), self.filler, X).astype(X.dtype, copy=False)

    def having(self, table):
        """Numbers of the samples that have the table with this number."""
        return np.flatnonzero(self.present[:, table])

    def check_pairs(self):
        """Return the source; raise if no pair of samples of positive weight has a table."""
        count = self.used().present.sum(axis=0)
        few = [name for name, n in zip(self.spans, count) if n < 2]
        if few:
            raise ValueError(
                f"X: fewer than two training samples have the table {listed(few)}, so "
                "its kernels have no values; accepted: at least two samples of positive "
                "weight with the table in every training set, those of a cross-validation "
                "included. Remove the table."
            )
        return self

    def statistics(self, y, task="auto", *, unbiased=False):
        """`AlignmentStatistics` of the kernels with y, from the pairs with the tables."""
        if unbiased:
            raise ValueError(
                "unbiased=True cannot be used with missing tables: a U-statistic needs kernel "
                "values for all pairs of samples; accepted: unbiased=False."
            )
        Y = target_columns(y, self.n_samples, task, weight=self.weight)
        return self.check_pairs().used()._statistics(Y)

    def _statistics(self, Y):
        m, p = self.n_samples, len(self.names)
        weight = np.ones(m) if self.weight is None else self.weight
        M, plain = np.zeros((p, p)), np.zeros(p)
        a, trace = np.zeros(p), np.zeros(p)
        with Progress("pairs of samples", 2 * m, self.progress) as progress:
            shares, means = self._shares(), self._means(progress)
            for rows in row_blocks(m, m * p):
                stack, raw = [], np.zeros(p)
                for k in range(p):
                    K, raw[k] = self._centered_rows(k, rows, means[k], shares[k], weight)
                    a[k] += np.vdot(K @ (weight[:, None] * Y), weight[rows, None] * Y[rows])
                    trace[k] += shares[k][rows] @ K.diagonal(rows.start)
                    stack.append((K * np.sqrt(np.outer(weight[rows], weight))).ravel())
                plain += raw
                M += np.array(stack) @ np.array(stack).T
                progress(m + rows.stop)
        check_sums(np.diag(plain), self.names)
        # Kernel values have rounding errors of their own size, which centering does not reduce.
        zero = M.diagonal() <= (32 * np.finfo(self.dtype).eps) ** 2 * plain
        M[zero], M[:, zero], a[zero], trace[zero] = 0.0, 0.0, 0.0, 0.0
        total = float(weight.sum())
        norm = target_norm(Y, weight=self.weight)
        return AlignmentStatistics(a, M, total * trace, norm, m, self.names, total)

    def _shares(self):
        """Sample weights that sum to 1 over those with the table of each kernel, (p, m)."""
        weight = np.ones(self.n_samples) if self.weight is None else self.weight
        shares = self.present.T * weight
        return (shares / shares.sum(axis=1, keepdims=True))[self.table_of]

    def _means(self, progress):
        """Column means of every kernel over the samples with its table, (p, m)."""
        m, shares = self.n_samples, self._shares()
        means = np.zeros(shares.shape)
        for rows in row_blocks(m, m):
            for k in range(len(means)):
                index = np.arange(m)[rows]
                means[k] += shares[k][rows] @ self.base.single(k).rows(index)
            progress(rows.stop)
        return means

    def _centered_rows(self, k, rows, means, share, weight):
        """Centered rows of kernel k, 0 for samples without its table; their sum of squares."""
        have = self.present[:, self.table_of[k]]
        K = self.base.single(k).rows(np.arange(self.n_samples)[rows]).astype(np.float64)
        K *= have
        K[~have[rows]] = 0.0
        with np.errstate(over="ignore"):  # finishing the sums raises the error
            plain = weight[rows] @ np.square(K) @ weight
            K = center_gram(K, means, share) * have
        K[~have[rows]] = 0.0
        return K, plain

    def part(self, rows):
        """The source with the same kernels on the samples of an index array."""
        given = self.X[rows], self.spans, self.kernels, self.weight_of(rows)
        return GappedSource(*given, filler=self.filler, **self._how)

    def kept(self):
        """The source for later, on a copy of its samples; see `Source.kept`."""
        given = self.X.copy(), self.spans, self.kernels, self.weight
        return GappedSource(*given, filler=self.filler)

    def samples(self, rows):
        """Select samples in the form that ``fit`` of an estimator accepts."""
        some = self.X[rows]
        return Tables({name: some[:, span] for name, span in self.spans.items()})

    def as_new(self, rows):
        """Select samples in the form that `Predictor.decisions` accepts."""
        return self.X[rows]

    def check(self, X):
        """Validate new samples, with NaN for missing tables."""
        X = with_gaps("X", X, self.spans)
        if X.shape[1] == self.n_features:  # the caller raises for others
            kernel_samples("X", self.fill(X), self.kernels)
        return X

    def largest_diagonals(self):
        """The maximum K_k(x, x) of each kernel over the samples with its table, (p,)."""
        return self.base.largest_diagonals()

    def family(self, scale, rooted=False):
        """The centered kernels times ``scale`` (p,), 0 for samples without the table."""
        root = np.sqrt(self.weight) if rooted else np.ones(self.n_samples)
        grams = []
        for k, share in enumerate(self.check_pairs()._shares()):
            K = self.base.single(k).gram().astype(np.float64)
            have = root * self.present[:, self.table_of[k]]
            center_gram(K, share @ K, share)
            K *= scale[k] * have
            K *= have[:, None]
            grams.append(K)
        return GramFamily(grams)

    def combine(self, weights):
        """The combination with weights (p,)."""
        return GappedCombination(self, weights)


class GappedCombination(Combination):
    """A weighted sum of kernels, completed for missing tables.

    Parameters
    ----------
    source : GappedSource
    weights : ndarray of shape (p,)
    whole : Combination, optional
        The combination for samples without gaps, if it is not the sum of kernels on pairs.
    """

    takes_gaps = True

    def __init__(self, source, weights, whole=None):
        weights = np.asarray(weights, float)
        plain = source.base.combine(weights) if whole is None else whole
        super().__init__(source, weights, plain.kernel)
        self._plain, self._given = plain, whole
        self._parts = [
            (table, source.base.combine(own))
            for table, own in enumerate(by_table(weights, source))
            if own.any()
        ]

    def __getstate__(self):
        # Recomputed on demand.
        return {k: v for k, v in vars(self).items() if k not in ("_mixtures", "completion")}

    @cached_property
    def completion(self):
        """The `Completion` by donors among the samples."""
        return Completion(self.source.part(donors_of(self.source)), self.weights)

    @cached_property
    def _mixtures(self):
        """For each table: the samples without it, the numbers of its donors, and their shares."""
        numbers, found = donors_of(self.source), {}
        for mixture in self.completion.mixtures(self.source.X, self.source.engine):
            found.setdefault(mixture.table, []).append(mixture)
        return {
            table: (
                np.concatenate([part.rows for part in parts]),
                numbers[parts[0].donors],
                np.concatenate([part.shares for part in parts]),
            )
            for table, parts in found.items()
        }

    def kept(self):
        """The combination of the source that `Source.kept` returns."""
        whole = None if self._given is None else self._given.kept()
        return GappedCombination(self.source.kept(), self.weights, whole)

    def gram(self, exact=False):
        """Completed training Gram matrix (m, m)."""
        if not self.source.has_gaps:
            return self._plain.gram(exact)
        K = np.zeros((self.n_samples, self.n_samples), self.source.dtype)
        for table, part in self._parts:
            own = part.gram(exact)
            if table in self._mixtures:
                lacking, donors, shares = self._mixtures[table]
                columns = own[:, donors] @ shares.T
                both = shares @ columns[donors]
                columns[lacking] = 0.5 * (both + both.T)
                own[:, lacking], own[lacking] = columns, columns.T
            K += own
        return K

    def cross_gram(self, X, exact=False, engine=None):
        """Completed Gram matrix of new samples against those of the source, (n, m)."""

        def of_filled(Z):
            if not self.source.has_gaps:
                return self._plain.cross_gram(Z, exact, engine)
            K = np.zeros((len(Z), self.n_samples), self.source.dtype)
            for table, part in self._parts:
                own = part.cross_gram(Z, exact, engine)
                if table in self._mixtures:
                    lacking, donors, shares = self._mixtures[table]
                    own[:, lacking] = own[:, donors] @ shares.T
                K += own
            return K

        return self.completion.extended(of_filled, X, engine or self.source.engine)

    def own_gram(self, X):
        """Completed Gram matrix of new samples with each other."""
        if not np.isnan(X).any():
            return self._plain.own_gram(X)
        return self.completion.own_gram(self.weights, X, self.source.engine)

    def diagonal(self, X=None):
        """``k(x, x)`` of every sample, (m,), or of checked new ones, (n,)."""
        if X is not None:
            return self.completion.diagonal(self._plain, X, self.source.engine)
        return self.gram(exact=True).diagonal().astype(np.float64)

    def predictor(self, support, coef, intercept=0.0, exact=False):
        """The `Predictor` with dual coefficients; see `Combination.predictor`."""
        full = np.zeros((self.n_samples, coef.shape[1]))
        full[slice(None) if support is None else support] = coef
        parts = []
        for table, part in self._parts:
            own = full
            if self.source.has_gaps and table in self._mixtures:
                lacking, donors, shares = self._mixtures[table]
                own = full.copy()
                own[lacking] = 0.0
                own[donors] += shares.T @ full[lacking]
            used = np.flatnonzero(own.any(axis=1))
            parts.append(part.predictor(used, own[used], 0.0, exact))
        tables = [self.source.table_of == table for table, _ in self._parts]
        return GappedPredictor(SumOfTables(parts, tables, coef, intercept), self.completion)

    def report(self):
        """The `TableCompletion` of the samples."""
        return self.completion.report(self.source)


class SumOfTables(Predictor):
    """The sum of the decisions of several predictors, each on one table.

    Parameters
    ----------
    parts : list of Predictor
    kernels : list of ndarray of bool of shape (p,)
        The kernels of each predictor.
    coef : ndarray of shape (n, q)
    intercept : float or ndarray of shape (q,)
    """

    def __init__(self, parts, kernels, coef, intercept):
        super().__init__(coef, intercept + sum(part.intercept for part in parts))
        self._parts, self._kernels, self._trained = parts, kernels, intercept

    def check(self, X):
        """Validate new samples, except their width; each part reads columns of all tables."""
        for part in self._parts[:1]:
            X = part.check(X)
        return X

    def decisions(self, X, engine=CPU):
        """The sum of the decisions plus the intercept, (n, q)."""
        zero = np.zeros((len(X), self.coef.shape[1]))
        return sum((part.decisions(X, engine) for part in self._parts), zero) + self._trained

    def reweighted(self, weights):
        """The same coefficients with other kernel weights; see `Predictor.reweighted`."""
        pairs = zip(self._parts, self._kernels)
        parts = [part.reweighted(np.where(own, weights, 0.0)) for part, own in pairs]
        return SumOfTables(parts, self._kernels, self.coef, 0.0)


class GappedPredictor(Predictor):
    """Decisions on samples that may have missing tables.

    Parameters
    ----------
    whole : Predictor
        Predictor for samples with all tables.
    completion : Completion
    """

    takes_gaps = True

    def __init__(self, whole, completion):
        super().__init__(whole.coef, whole.intercept)
        self.whole, self.completion = whole, completion
        self.is_linear, self.support_samples = whole.is_linear, whole.support_samples
        self.n_features = completion.donors.n_features

    def check(self, X):
        """Validate new samples, except their width; NaN for missing tables."""
        return self.completion.donors.check(X)

    def decisions(self, X, engine=CPU):
        """``sum_j coef_j k(x, x_j)`` plus the intercept for checked samples, (n, q), completed."""

        def of_filled(Z):
            return self.whole.decisions(Z, engine)

        return self.completion.extended(of_filled, X, engine)

    def source(self, engine=CPU):
        """The `Source` on the support samples; None if some have missing tables."""
        return self.whole.source(engine)

    def beside(self, coef, constants):
        """These coefficients and further columns (n, c), with the same completion."""
        return self.instead(self.whole.beside(coef, constants))

    def instead(self, whole):
        """Another predictor with the same completion."""
        return GappedPredictor(whole, self.completion)

    def reweighted(self, weights):
        """These coefficients with other kernel weights and the same completion."""
        return self.instead(self.whole.reweighted(weights))


def complete(learned, X):
    """The `GappedCombination` of an ordinary one, whose samples X (`Tables`) have no gaps."""
    source = learned.source
    given = X.joined(gaps=True), X.spans(), source.fitted_kernels, source.weight
    gapped = GappedSource(*given, engine=source.engine)
    return GappedCombination(gapped, learned.weights, learned)


def _filler(X, present, spans):
    """Values (d,): each table from the first sample that has it, 0 if none does."""
    filler = np.zeros(X.shape[1], X.dtype)
    for have, span in zip(present.T, spans.values()):
        if have.any():
            filler[span] = X[np.argmax(have), span]
    return filler


def _table_of(kernels, spans):
    """The number of the table on which each kernel is, (p,)."""
    owner = np.concatenate([np.full(len(span), t) for t, span in enumerate(spans.values())])
    found = []
    for kernel in kernels:
        columns = column_group(kernel)
        tables = np.unique(owner[list(columns)]) if columns is not None else np.unique(owner)
        if tables.size > 1:
            names = [list(spans)[t] for t in tables]
            raise ValueError(
                f"kernels: {kernel} uses columns of several tables, {listed(names)}, which is not "
                "available with missing='tables'; accepted: kernels on one table each."
            )
        if not kernel.is_psd:
            raise ValueError(
                f"kernels: {kernel} may be indefinite, so a missing table cannot be completed; "
                "accepted with missing='tables': positive semi-definite kernels."
            )
        found.append(int(tables[0]))
    return np.array(found)
