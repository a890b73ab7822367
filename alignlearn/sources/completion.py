"""Completion of missing tables: ridge regression on the tables that a sample has.

The feature vector of a missing table is a mixture of those of *donors*, training samples with the
table. The completed kernel is therefore positive semi-definite without a projection, and the same
for training samples and new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve

from alignlearn._text import Result
from alignlearn._versions import Versioned
from alignlearn.engine.cpu import CPU
from alignlearn.statistics import center_gram

from .tables import present_tables

# The ridge, relative to the mean squared length of the regressors' vectors. From 0.03 to 1 it
# it makes no difference (half of the data sets of scripts/lab/missing_tables.py).
_RIDGE = 0.3
_MOST_DONORS, _LEAST_DONORS = 1000, 200  # in total, and for each table
_PROBED = 100  # donors for which the explained variance is estimated


class Mixture(NamedTuple):
    """The donors that replace one missing table, and their shares.

    Parameters
    ----------
    table : int
    rows : ndarray of int of shape (n,)
        The samples with the missing table.
    donors : ndarray of int of shape (q,)
        The donors that have the table.
    shares : ndarray of shape (n, q)
        Rows sum to 1.
    """

    table: int
    rows: np.ndarray
    donors: np.ndarray
    shares: np.ndarray


class Completion:
    """Ridge regression of missing tables on the tables that samples have.

    Take a sample with the tables S and without table t, and the n donors with t, of weights w. The
    inputs are the combination's feature vectors of the tables S: each table is centered at the mean
    of the donors that have it, and is 0 for the others. G is the donors' Gram matrix, g the inner
    products of the sample with the donors, and ``c = (G + r W^-1)^-1 g``, where r is 0.3 times the
    mean diagonal entry of G. The feature vector of table t is ``sum_i e_i phi_t(x_i)`` with
    ``e = c + (1 - sum c) w / sum w``: the donors' mean plus the correction by the regression.

    Parameters
    ----------
    donors : GappedSource
    weights : ndarray of shape (p,)
        Weights of the kernels. The regression uses the sum with their absolute values.
    """

    def __init__(self, donors, weights):
        self.donors, self.weights = donors, np.abs(weights)

    def mixtures(self, X, engine=CPU):
        """A `Mixture` for every table of the combination that is missing for some samples."""
        inputs, found = _Inputs(self, X, engine), []
        for rows, pattern in _patterns(present_tables(X, self.donors.spans)):
            for table in np.flatnonzero(~pattern & inputs.in_use):
                donors = self.donors.having(table)
                shares = _shares_of_donors(*inputs.of(rows, pattern, donors))
                found.append(Mixture(int(table), rows, donors, shares))
        return found

    def extended(self, function, X, engine=CPU):
        """Values (n, q), on samples with missing tables, of a function that sums over the tables.

        Parameters
        ----------
        function : callable
            A function of samples without gaps that is linear in the feature vectors of each table.
        X : ndarray of shape (n, d)
        """
        found = function(self.donors.fill(X))
        if not np.isnan(X).any():
            return found
        filler, terms = self.donors.filler[None], {}
        for table, rows, donors, shares in self.mixtures(X, engine):
            if table not in terms:
                # All other tables are equal, so that the difference is the table's own term.
                span = list(self.donors.spans.values())[table]
                Z = np.repeat(filler, len(donors), axis=0).astype(X.dtype)
                Z[:, span] = self.donors.filled[np.ix_(donors, span)]
                terms[table] = function(Z) - function(filler.astype(X.dtype))
            found[rows] += shares @ terms[table]
        return found

    def diagonal(self, combination, X, engine=CPU):
        """``k(x, x)`` of samples with missing tables, (n,), for a combination of these kernels."""
        found = combination.diagonal(self.donors.fill(X)).astype(np.float64)
        base, of_tables = self.donors.base, by_table(combination.weights, self.donors)
        for table, rows, donors, shares in self.mixtures(X, engine):
            filler = base.combine(of_tables[table]).diagonal(self.donors.filler[None])
            K = base.part(donors).combine(of_tables[table]).gram(exact=True)
            found[rows] += np.einsum("ij,ij->i", shares @ K, shares) - filler
        return found

    def own_gram(self, weights, X, engine=CPU):
        """Gram matrix (n, n) of samples with missing tables, up to a constant, for weights (p,)."""
        filled, base, n = self.donors.fill(X), self.donors.base, len(X)
        found, mixtures = np.zeros((n, n), self.donors.dtype), self.mixtures(X, engine)
        for table, own in enumerate(by_table(weights, self.donors)):
            if not own.any():
                continue
            lacking = [mixture for mixture in mixtures if mixture.table == table]
            donors = self.donors.having(table) if lacking else np.arange(0)
            # A sample with the table is its own row; the others mix the rows of the donors.
            shares = np.eye(n, n + donors.size)
            for mixture in lacking:
                shares[mixture.rows] = 0.0
                shares[np.ix_(mixture.rows, n + np.arange(donors.size))] = mixture.shares
            Z = np.concatenate([filled, self.donors.filled[donors]])
            found += shares @ base.combine(own).own_gram(Z) @ shares.T
        return found

    def report(self, source):
        """The `TableCompletion` of the training samples."""
        lacking = ~source.present
        lost, size = np.zeros(lacking.shape[1]), np.zeros(lacking.shape[1])
        inputs = _Inputs(self, self.donors.X[:0], self.donors.engine)
        for rows, pattern in _patterns(source.present):
            for table in np.flatnonzero(~pattern & inputs.in_use):
                donors = self.donors.having(table)
                outputs = inputs.outputs(table, donors)
                found = _left_out(*inputs.of(np.arange(0), pattern, donors), outputs)
                lost[table] += len(rows) * found
                size[table] += len(rows)
        explained = 1.0 - np.divide(lost, size, out=np.full(len(size), np.nan), where=size > 0.0)
        counts = lacking.sum(axis=0)
        return TableCompletion(tuple(source.spans), counts, source.n_samples, explained)


@dataclass(frozen=True, eq=False)
class TableCompletion(Result, Versioned):
    """How many training samples have each missing table, and how well other tables explain it.

    Attributes
    ----------
    names : tuple of str
        Names of the tables.
    n_lacking : ndarray of int of shape (T,)
    n_samples : int
    explained : ndarray of shape (T,)
        Share of the variance of the table's feature vectors (of the combination's kernels)
        explained by the regression on the tables of the samples without this table. It is estimated
        on 100 samples with the table, each left out in turn. Negative if the mean is a better
        prediction; NaN if the table is never missing, or if its kernels have weight 0.
    """

    names: tuple[str, ...]
    n_lacking: np.ndarray
    n_samples: int
    explained: np.ndarray

    def lines(self):
        """Lines of a summary."""
        for name, n, share in zip(self.names, self.n_lacking, self.explained):
            if n:
                known = "weight 0" if np.isnan(share) else f"{share:.1%} explained by others"
                yield f"table {name}: missing for {n} of {self.n_samples} samples, {known}"


class _Inputs:
    """Kernel values for the regressions: of the donors, and of samples with the donors."""

    def __init__(self, completion, X, engine):
        donors = self.donors = completion.donors
        self.present = present_tables(X, donors.spans)
        tables = list(enumerate(by_table(completion.weights, donors)))
        self.in_use = np.array([own.any() for _, own in tables])
        self._parts = {t: donors.base.combine(own) for t, own in tables if own.any()}
        self._grams, self._filled, self._engine = {}, donors.fill(X), engine
        self.weight = np.ones(donors.n_samples) if donors.weight is None else donors.weight

    def _gram(self, table):
        if table not in self._grams:
            self._grams[table] = self._parts[table].gram().astype(np.float64)
        return self._grams[table]

    def of(self, rows, pattern, donors):
        """``(G, g, w)`` of some donors, and of n samples that have the tables of a pattern."""
        G, g = np.zeros((donors.size, donors.size)), np.zeros((rows.size, donors.size))
        weight = self.weight[donors]
        for table in np.flatnonzero(pattern & self.in_use):
            have = self.donors.present[donors, table]
            if not have.any():
                continue
            own = self._gram(table)[np.ix_(donors, donors)]
            share = weight * have / (weight @ have)
            means = share @ own
            if rows.size:
                part, X = self._parts[table], self._filled[rows]
                new = part.cross_gram(X, engine=self._engine)[:, donors].astype(np.float64)
                g += center_gram(new, means, share) * have
            G += center_gram(own, means, share) * np.outer(have, have)
        return G, g, weight

    def outputs(self, table, donors):
        """The centered Gram matrix of a table on the donors that have it."""
        own, weight = self._gram(table)[np.ix_(donors, donors)], self.weight[donors]
        share = weight / weight.sum()
        return center_gram(own, share @ own, share)


def _regularized(G, weight):
    """``G + r W^-1``; None if all inputs are 0."""
    size = weight @ G.diagonal() / weight.sum()
    if not size > 0.0:
        return None
    system = G.copy()
    system.flat[:: len(G) + 1] += _RIDGE * size / weight
    return system


def _shares_of_donors(G, g, weight):
    """The shares e of donors, (n, q); see `Completion`."""
    system, share = _regularized(G, weight), weight / weight.sum()
    if system is None:
        return np.tile(share, (len(g), 1))
    coef = solve(system, g.T, assume_a="pos").T
    return coef + np.outer(1.0 - coef.sum(axis=1), share)


def _left_out(G, _, weight, outputs):
    """Share of the outputs' variance that the leave-one-out regression does not explain."""
    system = _regularized(G, weight)
    size = weight @ outputs.diagonal()
    if system is None or not size > 0.0:
        return 1.0
    some = np.unique(np.linspace(0, len(G) - 1, _PROBED).astype(np.intp))
    A = solve(system, np.eye(len(G))[:, some], assume_a="pos")
    residual = np.einsum("ij,ij->j", A, outputs @ A) / np.square(A[some, np.arange(some.size)])
    return float(weight[some] @ residual / (weight[some] @ outputs.diagonal()[some]))


def donors_of(source):
    """Numbers of the donors: samples of positive weight, at most 1000.

    More are used if a table would have fewer than 200 donors and more samples have it.
    """
    used = np.ones(source.n_samples, bool) if source.weight is None else source.weight > 0.0
    chosen = np.zeros(source.n_samples, bool)
    chosen[_spread(np.flatnonzero(used), _MOST_DONORS)] = True
    for have in source.present.T:
        if np.count_nonzero(chosen & have) < _LEAST_DONORS:
            chosen[_spread(np.flatnonzero(used & have), _LEAST_DONORS)] = True
    return np.flatnonzero(chosen)


def _spread(numbers, most):
    """At most ``most`` of the numbers, evenly spaced."""
    if numbers.size <= most:
        return numbers
    return numbers[np.linspace(0, numbers.size - 1, most).astype(np.intp)]


def _patterns(present):
    """(samples, pattern) of every set of tables that some samples have, except the full set."""
    patterns, number = np.unique(present, axis=0, return_inverse=True)
    number = number.reshape(-1)
    found = [(np.flatnonzero(number == q), pattern) for q, pattern in enumerate(patterns)]
    return [(rows, pattern) for rows, pattern in found if not pattern.all()]


def by_table(weights, source):
    """The weights (p,) of the kernels of each table, 0 elsewhere."""
    return [np.where(source.table_of == t, weights, 0.0) for t in range(len(source.spans))]
