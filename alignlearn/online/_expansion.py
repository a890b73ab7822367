"""A kernel expansion that grows by one sample at a time, and its steps in blocks."""

from __future__ import annotations

import numpy as np

from alignlearn.engine import grams
from alignlearn.engine.sparse import sparse_rows
from alignlearn.validation import check_sparse, is_sparse, take

from ._steps import NEVER, Model, mean_losses, run_block

_BLOCK = 256  # samples whose kernel values are computed at once
_ENTRIES = 2**22  # kernel values in memory at once: 32 MB


class Expansion:
    """``f = sum_i coef_i k(x_i, .) + intercept`` for q problems.

    Parameters
    ----------
    kernel : Kernel
        Resolved.
    rule : Rule
    n_problems : int

    Attributes
    ----------
    X : samples of the expansion, or None
    coef : ndarray of shape (n, q)
    number : ndarray of int64 of shape (n,)
        Position of each sample among all samples ever passed.
    intercept, error : ndarray of shape (q,)
    n_steps, n_seen : int
    loss_of_zero : float
        The largest mean loss, summed over problems, of f = 0 on the samples of a call.
    """

    def __init__(self, kernel, rule, n_problems):
        self.kernel, self.rule = kernel, rule
        self.X = None
        self.coef, self.age = np.zeros((0, n_problems)), np.zeros(0, dtype=np.int64)
        self.number = np.zeros(0, dtype=np.int64)
        self.intercept, self.error = np.zeros(n_problems), np.zeros(n_problems)
        self.n_steps = self.n_seen = 0
        self.loss_of_zero = 0.0

    def check_loaded(self):
        """Raise a ValueError if a loaded state could cause invalid indices."""
        n, q = self.coef.shape
        lengths = [self.age.shape, self.number.shape, (0 if self.X is None else len(self.X),)]
        ends = [self.intercept.shape, self.error.shape]
        if lengths != [(n,)] * 3 or ends != [(q,)] * 2:
            raise ValueError("an expansion needs a coefficient for each sample and problem")
        arrays = self.coef, self.intercept, self.error, self.age, self.number
        if [a.dtype.kind for a in arrays] != ["f", "f", "f", "i", "i"]:
            raise ValueError("an expansion needs real coefficients and whole ages")

    def train(self, X, targets, orders):
        """Step through new samples in each of some orders.

        Parameters
        ----------
        X : checked samples
        targets : ndarray of shape (m, q)
        orders : iterable of arrays of int, none with repeats

        Returns
        -------
        list of ndarray of shape (q,)
            For every order the mean loss, each measured before the step on its sample.
        """
        held, m = len(self.coef), len(targets)
        X = X if self.X is None else _joined(self.X, X)
        coef = np.vstack([self.coef, np.zeros_like(targets)])
        age = np.concatenate([self.age, np.full(m, NEVER)])
        number = np.concatenate([self.number, self.n_seen + np.arange(m)])
        norms = np.zeros(len(age))
        if self.rule.budget != NEVER:
            norms = np.sqrt(np.maximum(grams.gram_diagonals([self.kernel], X)[0], 0.0))
        curve, clock = [], np.array([1.0, self.n_steps])
        intercept, error = self.intercept.copy(), self.error.copy()
        for order in orders:
            losses = np.zeros(coef.shape[1])
            size = int(np.clip(_ENTRIES // len(age), 16, _BLOCK))
            for first in range(0, len(order), size):
                rows = order[first : first + size]
                columns = np.union1d(np.flatnonzero(age != NEVER), held + rows)
                model = Model(
                    coef[columns], age[columns], norms[columns], intercept, error, losses, clock
                )
                self._steps(X, (columns, held + rows), targets[rows], model)
                coef[columns], age[columns] = model.coef, model.age
            curve.append(losses / max(len(order), 1))
        self._check_finite(coef, intercept)
        zero = mean_losses(self.rule.loss, np.zeros_like(targets), targets, self.rule.epsilon)
        self.loss_of_zero = max(self.loss_of_zero, float(zero.sum()))
        kept = np.flatnonzero(age != NEVER)
        self.X, self.coef, self.age = take(X, kept), clock[0] * coef[kept], age[kept]
        self.number, self.intercept, self.error = number[kept], intercept, error
        self.n_steps, self.n_seen = int(clock[1]), self.n_seen + m
        return curve

    def _steps(self, X, places, targets, model):
        columns, rows = places
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._gram(take(X, columns), take(X, rows))
            decisions = np.ascontiguousarray(model.coef.T @ K)
            targets = np.ascontiguousarray(targets.T)
            run_block(K, np.searchsorted(columns, rows), targets, decisions, model, self.rule)

    def _gram(self, X, Z):
        K = grams.weighted_gram([self.kernel], [1.0], X, Z)
        return np.ascontiguousarray(K, dtype=np.float64)

    def _check_finite(self, coef, intercept):
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError(
                f"eta0={self.rule.eta0:g} is too large for these samples: the coefficients "
                "overflow; accepted: about 1 / max k(x, x), or None."
            )

    def decisions(self, X):
        """f at checked samples, (n, q)."""
        if not len(self.coef):
            return np.tile(self.intercept, (len(X), 1))
        return self.intercept + grams.gram_times([self.kernel], [1.0], X, self.X, self.coef)

    def regularized_risk(self, X, targets):
        """Mean loss plus alpha / 2 times the squared norm of f without intercept, (q,)."""
        rule, decisions = self.rule, self.decisions(X)
        if decisions.shape != targets.shape:
            raise ValueError(f"{targets.shape[1]} targets for {decisions.shape[1]} problems.")
        risk = mean_losses(rule.loss, decisions, targets, rule.epsilon)
        if len(self.coef):
            values = self.decisions(self.X) - self.intercept
            risk += 0.5 * rule.alpha * np.sum(self.coef * values, axis=0)
        return risk


def _joined(X, Z):
    """The samples of both: matrices, sparse rows or lists of objects."""
    if is_sparse(X) or is_sparse(Z):
        from scipy.sparse import vstack

        return check_sparse("X", vstack([sparse_rows(X).tocsr(), sparse_rows(Z).tocsr()]))
    if hasattr(X, "shape") and hasattr(Z, "shape"):
        return np.concatenate([X, Z])
    return [*X, *Z]
