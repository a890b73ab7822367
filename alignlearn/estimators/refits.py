"""Refits of an estimator without parts of its samples."""

from __future__ import annotations

import operator

import numpy as np

from alignlearn.folds import equal_folds
from alignlearn.sources import Tables, open_source
from alignlearn.sources.given import GramViews
from alignlearn.validation import a_part

from .guarantees import matrix_in_use
from .inputs import class_labels, real_targets
from .kernel_table import training_source

_FEW = 20  # samples up to which single samples are left out, not folds


class Refits:
    """Fits of an estimator without each part of its samples, and their values on these parts.

    Parameters
    ----------
    estimator : fitted estimator
    fit : tuple (X, y) of its training samples, or None if it holds them
    folds : int or None
        Number of parts; None: each sample is a part.
    predict : callable
        ``predict(model, X)`` returns values (n, k) of a fit at new samples.

    Attributes
    ----------
    y : ndarray
        The targets or labels.
    number : ndarray of int of shape (m,)
        The part of each sample; -1 for samples that belong to every training set.
    values : list of ndarray of shape (m_t, k)
        Values at the samples of each part, by the fit without this part.
    models : list of fitted estimators
    """

    def __init__(self, estimator, fit, folds, predict):
        source, self.y, gapped = _recovered(estimator) if fit is None else _given(estimator, fit)
        self._of_matrices, m, self._predict = source.is_given, source.n_samples, predict
        samples, self._spans = source.samples, None
        if gapped is not None:
            self._spans = gapped.spans()
            samples = _split(gapped.joined(gaps=True), self._spans).__getitem__
        new = source.as_new if self._of_matrices else samples
        self.number = np.arange(m) if folds is None else fold_of_each(folds, m)
        params = {**estimator.get_params(deep=False), "verbose": False}
        params["kernels"] = _kernels_again(estimator, source)
        self.models, self._rests, self.values = [], [], []
        for part in range(self.number.max() + 1):
            some, rest = (np.flatnonzero(self.number == part), np.flatnonzero(self.number != part))
            if estimator._estimator_type == "classifier":
                rest = rest[_of_several(self.y[rest])]
            with a_part():
                model = type(estimator)(**params).fit(samples(rest), self.y[rest])
            self.models.append(model)
            self._rests.append(rest)
            self.values.append(self._at(new(some), model, rest))

    def _at(self, X, model, rest):
        """Return values of the fit on the samples ``rest``."""
        if self._of_matrices:
            X = GramViews(X, np.arange(np.shape(X[0])[0]), rest)
        return self._predict(model, X)

    def of(self, X):
        """Return values of each fit at checked new samples, a list of (n, k)."""
        X = X if self._spans is None else _split(X, self._spans)
        return [self._at(X, model, rest) for model, rest in zip(self.models, self._rests)]


def _of_several(labels):
    """Return which samples are not alone in their class, as calibration needs two of each."""
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return sizes[codes] > 1


def _given(estimator, fit):
    """Return the source of the training samples, the targets, and X if tables are missing."""
    check_tuple(fit, (2,))
    X, gaps = estimator._as_fitted(fit[0]), estimator._takes_gaps()
    source = open_source(X, estimator.kernels, gaps=gaps, engine=estimator._engine())
    matrix = matrix_in_use(estimator._kernel_model().weights_) if source.is_given else None
    rows, seen = source.X if matrix is None else source.grams[matrix], estimator._ranges.pairs
    classes = estimator._estimator_type == "classifier"
    y = (class_labels if classes else real_targets)(estimator, fit[1], source.n_samples)
    if seen is not None and source.n_samples != len(seen.hashes):
        raise ValueError(
            f"fit has {source.n_samples} samples, but the model was fitted on {len(seen.hashes)}; "
            "accepted: all training samples."
        )
    if seen is not None and seen.count(rows, y) < source.n_samples:
        raise ValueError(
            "fit contains samples on which the model was not fitted; accepted: the training "
            "samples."
        )
    y = y if classes else y.reshape(source.n_samples, *np.shape(estimator.intercept_))
    return source, y, X if gaps else None


def _recovered(estimator):
    """Return `_given` for a kernel ridge regression, which holds its samples and targets."""
    if estimator._members or estimator.chosen_machine_ != "krr":
        what = "a strategy" if estimator._members else f"machine={estimator.chosen_machine_!r}"
        raise ValueError(
            f"fit=(X, y), the training samples, is needed after {what}: the model is "
            "refitted without each fold in turn. Also accepted, with less coverage: "
            "refit=False."
        )
    model = estimator._kernel_model()
    source, _, _ = training(model, None)
    dual = model.machine_.dual_coef_.reshape(source.n_samples, -1)
    y = model._predictor.decisions(source.as_new(np.arange(len(dual))), source.engine)
    y = y + model.machine_.alpha * dual
    y = y.reshape(len(y), *np.shape(estimator.intercept_))
    if not estimator._takes_gaps():
        return source, y, None
    return source, y, _split(source.X, estimator._predictor.completion.donors.spans)


def _kernels_again(estimator, source):
    """Return the ``kernels`` for a fit to some of the samples.

    They are those given if samples have no names that kernels refer to. Parameters such as
    ``gamma="scale"`` are then computed again.
    """
    named = hasattr(estimator, "feature_names_in_") or hasattr(estimator, "table_names_in_")
    of_tables = hasattr(estimator, "table_names_in_") and not is_search(estimator)
    if not named or (estimator.kernels is None and not of_tables):
        return estimator.kernels
    return source.fitted_kernels


def _split(X, spans):
    """Split the columns (m, d) of all tables into tables."""
    return Tables({name: X[:, span] for name, span in spans.items()})


def training(model, fit):
    """Return the training samples as a source, y (m, c) and weights; y is None without ``fit``."""
    if fit is not None:
        check_tuple(fit, (2, 3))
        if model._ranges.weighted != (len(fit) == 3 and fit[2] is not None):
            raise ValueError(
                "fit must hold the training samples as they were fitted: sample_weight "
                f"{'is missing' if model._ranges.weighted else 'was not given then'}."
            )
        if model._ranges.weighted and model.chosen_machine_ == "nystrom":
            raise ValueError(
                "error bars of machine='nystrom' are for fits without sample_weight; accepted: "
                "machine='krr'."
            )
        source, y = training_source(model, "fit", *fit)
        return source, y.reshape(len(y), -1), source.weight
    source = None
    if not model._ranges.weighted and model.chosen_machine_ != "nystrom":
        source = model._predictor.source(model._engine())
    if source is None:
        why = "precomputed kernels"
        if model._ranges.weighted:
            why = "sample weights"
        elif model._predictor.is_linear:
            why = "kernels linear in the features"
        elif model.chosen_machine_ == "nystrom":
            why = "machine='nystrom'"
        elif model._predictor.takes_gaps:
            why = "missing tables in the training samples"
        what = "(X, y, sample_weight)" if model._ranges.weighted else "(X, y)"
        raise ValueError(
            f"fit={what} is needed: with {why} the model does not store the training samples, "
            "which error bars need."
        )
    return source, None, None


def check_tuple(fit, lengths):
    """Raise a TypeError unless ``fit`` is a tuple of training samples of an accepted length."""
    if not isinstance(fit, (tuple, list)) or len(fit) not in lengths:
        weighted = " or (X, y, sample_weight)" if 3 in lengths else ""
        raise TypeError(f"fit must be a tuple (X, y){weighted} of training samples.")


def keep(model, key, fits, make):
    """Return ``make(fit)`` for a fitted model, computed once for the same samples.

    ``fits`` are the samples to use and the original ones, or None. For None, samples that were
    given earlier for another key are used.
    """
    kept = vars(model).get("_smoothers")
    if kept is None or kept[0] is not model._predictor:
        kept = vars(model)["_smoothers"] = model._predictor, {}
    used, given = fits
    found = kept[1].get(key)
    if found is not None and (given is None or _same(found[0][1], given)):
        return found[1]
    if given is None:
        earlier = (fits for fits, _ in kept[1].values() if fits[1] is not None)
        used, given = next(earlier, (None, None))
    made = make(used)
    kept[1][key] = (used, given), made
    return made


def _same(kept, given):
    """Whether these are identical objects."""
    return kept is not None and len(kept) == len(given) and all(map(operator.is_, kept, given))


def is_search(estimator):
    """Whether the model was selected on the same samples."""
    return estimator._kernel_model() is not estimator


def own_folds(estimator):
    """Return the default number of folds, about ten of equal size; None for few samples."""
    m = estimator._kernel_model().statistics_.n_samples
    if m <= _FEW:
        return None
    return min(range(8, 13), key=lambda folds: (m % folds, abs(folds - 10)))


def fold_of_each(folds, m):
    """Return the fold of each of m samples; -1 for samples in every training set."""
    if not 2 <= folds <= m:
        raise ValueError(f"folds={folds}; accepted: 2 to {m}, the number of training samples.")
    return equal_folds(m, folds)
