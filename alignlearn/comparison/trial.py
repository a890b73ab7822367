"""One trial of a comparison: the data for a method, from the training folds only."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from alignlearn.estimators.prepared_columns import check_varies, prepare
from alignlearn.kernels import are_per_column
from alignlearn.machines import SupportVectorClassifier
from alignlearn.machines.paths import ridge_path, svm_path
from alignlearn.sources import open_source
from alignlearn.statistics import center_gram
from alignlearn.validation import is_sparse
from alignlearn.validation.frames import FrameColumns, is_frame, read_to_fit
from alignlearn.weights import Problem

from .candidates import Candidate, centered_alignment
from .columns import COLUMNS
from .methods import METHODS

# Strong regularization first, because ties on the validation fold go to the first value. Kernels
# are trace-normalized to mean diagonal 1, so one range suits all data.
C_GRID = tuple(2.0**k for k in range(-5, 12, 2))
ALPHA_GRID = tuple(10.0 ** (k / 4) for k in range(12, -25, -1))


class Outcome(NamedTuple):
    """One method in one trial: a number for each of `COLUMNS`, by name, weights, predictions.

    Predictions are those on the test fold.
    """

    numbers: dict
    weights: np.ndarray
    predictions: np.ndarray


class Trial:
    """One assignment of the folds: the data for a method, from the training folds only."""

    def __init__(self, X, y, kernels, task, parts, protocol, statistics=None):
        train, validate, test = parts
        self._all, self._train, self._held_out = X, train, np.concatenate([validate, test])
        self.task, self.protocol, self.grid = task, protocol, grid(protocol, task)
        self.kernels, self._shared = kernels, {}
        rank_one = are_per_column(kernels)
        # Every rank-one kernel gets the same trace, so columns need no scaling.
        X_train, held_out = self._scaled("none" if rank_one else protocol.scale)
        self.y, self.y_validate, self.y_test = y[train], y[validate], y[test]
        self.source = open_source(X_train, kernels)
        self.held_out = self.source.check(held_out)
        # Parameters that depend on the training folds differ between trials.
        self.names = self.source.names if rank_one else tuple(str(k) for k in kernels)
        self.problem = Problem(self.source, self.y, task, statistics=statistics)
        self.statistics, self.scale = self.problem.statistics, self.problem.scale

    def outcome(self, method):
        """Train, select on the validation fold, and test."""
        # Ties go to the first.
        chosen = min(METHODS[method].candidates(self), key=self.validation_error, default=None)
        if chosen is None:
            raise ValueError("X: every kernel is constant on the training folds.")
        numbers = {name: column.measure(self, chosen) for name, column in COLUMNS.items()}
        return Outcome(numbers, chosen.weights, chosen.predictions[len(self.y_validate) :])

    def validation_error(self, candidate):
        """Root mean squared error, or the fraction misclassified, on the validation fold."""
        n = len(self.y_validate)
        return _error(candidate.predictions[:n], self.y_validate, self.task)

    def test_error(self, candidate):
        """Root mean squared error, or the fraction misclassified, on the test fold."""
        n = len(self.y_validate)
        return _error(candidate.predictions[n:], self.y_test, self.task)

    def test_alignment(self, candidate):
        """Alignment of the candidate's kernel on the test fold; NaN without a kernel."""
        if np.isnan(candidate.alignment):
            return np.nan
        n = len(self.y_validate)
        if candidate.kernel is None:
            learned = self.source.combine(candidate.weights * self.scale)
            K = learned.own_gram(self.held_out[n:])
        else:
            K = candidate.kernel(self.columns[1][n:])
        return centered_alignment(center_gram(K), self.y_test, self.task)

    def shared(self, make):
        """``make(self)``, computed once for all methods of the trial."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return self._shared[make]

    @cached_property
    def columns(self):
        """Training and held-out rows, scaled according to the protocol for all kernels."""
        return self._scaled(self.protocol.scale)

    def _scaled(self, scale):
        return scale_columns((self._all[self._train], self._all[self._held_out]), scale)

    def candidates(self, weights, alignment):
        """A `Candidate` with these weights for each C or alpha."""
        predictions = self.predictions(*self.grams(weights))
        return [Candidate(p, weights, alignment, g) for p, g in zip(predictions, self.grid)]

    def predictions(self, K, K_held_out):
        """Of the machine on the held-out rows for each C or alpha; overwrites K."""
        if self.task == "regression":
            return ridge_path(
                K, self.y, K_held_out, self.grid, skip_indefinite=True, overwrite=True
            )
        return svm_path(SupportVectorClassifier, K, self.y, K_held_out, self.grid)

    def grams(self, weights):
        """Combined Gram matrices, centered at the training mean: training and held-out rows.

        ``weights`` (p,) are those of the kernels of equal trace.
        """
        learned = self.source.combine(weights * self.scale)
        K = learned.gram()
        K_held_out = learned.cross_gram(self.held_out)
        means = K.mean(axis=0)
        return center_gram(K), center_gram(K_held_out, means)


def _error(prediction, y, task):
    """Root mean squared error, or the fraction misclassified."""
    if task == "regression":
        return float(np.sqrt(np.mean((prediction - y) ** 2)))
    return float(np.mean(prediction != y))


def grid(protocol, task):
    """Values of C or alpha, strong regularization first."""
    if protocol.grid is None:
        return ALPHA_GRID if task == "regression" else C_GRID
    ordered = sorted(protocol.grid, reverse=task == "regression")
    return tuple(ordered)


def frame_columns(X, kernels):
    """`FrameColumns` of a data frame that is to be prepared for the default kernels; else X."""
    if kernels is not None or not is_frame(X):
        return X
    frame = read_to_fit("X", X)
    return X if frame.is_matrix else frame


def scale_columns(parts, scale):
    """Scale the columns of several parts by the first part, as in `Protocol`; prepare a frame."""
    if isinstance(parts[0], FrameColumns):
        preparation = prepare(parts[0])
        check_varies(preparation)
        return tuple(preparation.apply(part) for part in parts)
    shift, divisor = _column_scale(parts[0], scale)
    return tuple(_scaled(A, shift, divisor) for A in parts)


def _scaled(X, shift, divisor):
    """The columns shifted (not if X is sparse) and divided; X itself for None."""
    if divisor is None:
        return X
    return X.multiply(1.0 / divisor).tocsr() if is_sparse(X) else (X - shift) / divisor


def _column_scale(X, scale):
    """(shift, divisor) of the columns from the training rows; (None, None) for no scaling."""
    if scale == "none":
        return None, None
    if is_sparse(X):
        return _sparse_column_scale(X.tocsc(), scale)
    if scale == "standard":
        shift, divisor = X.mean(axis=0), X.std(axis=0)
    else:
        low, high = X.min(axis=0), X.max(axis=0)
        shift, divisor = 0.5 * (low + high), 0.5 * (high - low)
    return shift, _spread(divisor, np.abs(X).max(axis=0))


def _sparse_column_scale(X, scale):
    """The same for a CSC matrix of this function's own, as (0, divisor)."""
    X.sum_duplicates()
    low, high = (np.asarray(A.todense()).ravel() for A in (X.min(axis=0), X.max(axis=0)))
    if scale == "standard":
        m, counts, mean = X.shape[0], np.diff(X.indptr), np.asarray(X.mean(axis=0)).ravel()
        left = np.square(X.data - np.repeat(mean, counts))
        column = np.repeat(np.arange(X.shape[1]), counts)
        squares = np.bincount(column, left, X.shape[1]) + (m - counts) * np.square(mean)
        divisor = np.sqrt(squares / m)
    else:
        divisor = 0.5 * (high - low)
    return 0.0, _spread(divisor, np.maximum(np.abs(low), np.abs(high)))


def _spread(divisor, largest):
    """Divisors of columns; 1 for a column that is constant up to rounding."""
    return np.where(divisor > 1e-12 * largest, divisor, 1.0)
