"""Scores of a search: those of ``scoring``, and the score of a strategy."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from alignlearn._jit import jit
from alignlearn._text import listed
from alignlearn.machines.calibration import cross_calibrated, sigmoid_log_loss
from alignlearn.machines.scores import r2
from alignlearn.solvers.multiclass import (
    class_confidences,
    class_logits,
    decided_labels,
    label_decisions,
    present_classes,
    summed_by_class,
    varying_labels,
)
from alignlearn.sources import GramStack, Tables, as_tables
from alignlearn.validation import take

_LOSS = 0.3  # factor of the log loss, in units of accuracy
_TEMPERATURES = 2.0 ** np.arange(-5.0, 5.5, 0.5)


def _accuracy(y, predicted, weight=None):
    """Return the accuracy, for many labels the subset accuracy."""
    right = y == predicted
    return float(np.average(right if y.ndim == 1 else right.all(axis=1), weights=weight))


def _balanced_accuracy(y, predicted, weight=None):
    if y.ndim == 2:
        raise ValueError(
            "scoring='balanced_accuracy' is for one label; accepted for many: 'accuracy', "
            "'f1_macro', 'f1_micro', 'roc_auc' and other multilabel scores of "
            "scikit-learn."
        )
    weight = np.ones(len(y)) if weight is None else weight
    classes = [y == label for label in np.unique(y)]
    return float(np.mean([np.average((predicted == y)[c], weights=weight[c]) for c in classes]))


def _minus_mean(loss, outer=None):
    """Return minus the (weighted) mean of a loss over samples, and of ``outer`` over targets."""

    def score(y, predicted, weight=None):
        losses = loss(y - predicted)
        mean = losses.mean(axis=0) if weight is None else np.average(losses, axis=0, weights=weight)
        return -float(np.mean(mean if outer is None else outer(mean)))

    return score


def correlation_by_target(y, predicted, weight=None):
    """Return Pearson's correlation of each target with its predictions, 0 if constant, (q,)."""
    y, predicted = y.reshape(len(y), -1), predicted.reshape(len(y), -1)
    y, predicted = (A - np.average(A, axis=0, weights=weight) for A in (y, predicted))
    # Units do not affect the ratio, but squares in large units overflow.
    y, predicted = (A / (np.abs(A).max(axis=0) + (A == 0.0).all(axis=0)) for A in (y, predicted))
    weight = np.ones(len(y)) if weight is None else weight
    size = np.sqrt((weight @ np.square(y)) * (weight @ np.square(predicted)))
    return np.divide(weight @ (y * predicted), size, out=np.zeros(size.shape), where=size > 0.0)


def _correlation(y, predicted, weight=None):
    return float(np.mean(correlation_by_target(y, predicted, weight)))


SCORES = {
    "classifier": {"accuracy": _accuracy, "balanced_accuracy": _balanced_accuracy},
    "regressor": {
        "neg_root_mean_squared_error": _minus_mean(np.square, np.sqrt),
        "neg_mean_squared_error": _minus_mean(np.square),
        "neg_mean_absolute_error": _minus_mean(np.abs),
        "r2": r2,
        "correlation": _correlation,
    },
}


class FoldPredictions:
    """Predictions on the test samples of a fold, as a fitted model for scikit-learn's scorers.

    Parameters
    ----------
    estimator : object
        Whose tags it has.
    X : object
        The test samples, of which alone predictions are known.
    predicted : ndarray of shape (n,) or (n, q)
    """

    def __init__(self, estimator, X, predicted):
        self._estimator, self._X, self._predicted = estimator, X, predicted
        self._estimator_type = estimator._estimator_type

    def __sklearn_tags__(self):
        return self._estimator.__sklearn_tags__()

    def __sklearn_is_fitted__(self):
        return True

    def _check(self, X):
        if X is not self._X:
            raise ValueError(
                "scoring: predictions are available for the samples of the fold only; "
                "accepted: the X passed to scoring(estimator, X, y), unchanged."
            )

    def predict(self, X):
        """Return the predictions."""
        self._check(X)
        return self._predicted

    def score(self, X, y, sample_weight=None):
        """Return the accuracy of classes, or R^2."""
        measure = r2 if self._estimator_type == "regressor" else _accuracy
        return measure(y, self.predict(X), sample_weight)


class FoldDecisions(FoldPredictions):
    """Decisions on the test samples of a fold, as a fitted classifier.

    Parameters
    ----------
    estimator : object
        Whose tags it has.
    X : object
        The test samples, of which alone predictions are known.
    raw : ndarray of shape (n, n_problems)
        Decisions of the problems of two classes.
    classes : ndarray of shape (c,)
        Classes of the training samples.
    y : ndarray of shape (n,)
        The true labels, from which decisions are calibrated.
    """

    def __init__(self, estimator, X, raw, classes, y):
        super().__init__(estimator, X, raw)
        self.classes_, self._y, self._multiclass = classes, y, estimator.multiclass

    def predict(self, X):
        """Return the labels."""
        self._check(X)
        return decided_labels(self._predicted, self.classes_, self._multiclass)

    def decision_function(self, X):
        """Return the confidences of the classes."""
        self._check(X)
        return class_confidences(self._predicted, self.classes_, self._multiclass)

    def predict_proba(self, X):
        """Return probabilities, calibrated on the other parts of the fold."""
        self._check(X)
        if self.classes_.ndim == 2:
            return self._label_probabilities()
        logits = class_logits(self._predicted, len(self.classes_), self._multiclass)
        known = np.isin(self._y, self.classes_)
        codes = np.searchsorted(self.classes_, self._y[known])
        return cross_calibrated(logits, codes, known)

    def _label_probabilities(self):
        F, P = label_decisions(self._predicted, self.classes_), np.empty(self._y.shape)
        for k, (f, y) in enumerate(zip(F.T, self._y.T)):
            known = np.ones(len(y), dtype=bool)
            P[:, k] = cross_calibrated(np.outer(f, [-0.5, 0.5]), y, known)[:, 1]
        return P


def samples_of(X, rows, kernels=None):
    """Return some samples of X as given to ``fit``, by number."""
    X = as_tables(X, kernels)
    if isinstance(kernels, str) and kernels == "precomputed" and not isinstance(X, GramStack):
        return rows  # p matrices, which cannot be sliced as X
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    X = X.tocsr() if hasattr(X, "tocsr") else X
    return take(X if hasattr(X, "shape") or isinstance(X, Tables) else list(X), rows)


class Measure(NamedTuple):
    """One score.

    Attributes
    ----------
    name : str
    of_labels : callable or None
        ``of_labels(y, predicted, weight)``.
    of_model : callable or None
        ``of_model(model, X, y, **options)``, as a scikit-learn scorer; excludes ``of_labels``.
    """

    name: str
    of_labels: Any = None
    of_model: Any = None

    @property
    def reads_samples(self):
        """Whether it may read X; scikit-learn's scorers only pass X to the model."""
        return self.of_model is not None and not hasattr(self.of_model, "_score_func")

    def __call__(self, model, X, y, weight=None):
        """Return the score of `FoldPredictions`; larger is better."""
        if self.of_model is None:
            return float(self.of_labels(y, model.predict(X), weight))
        options = {} if weight is None else {"sample_weight": weight}
        if options and not _takes_weights(self.of_model):
            raise ValueError(
                f"scoring={self.name!r} takes no sample_weight; accepted with sample weights: "
                "another score, or scoring=None."
            )
        try:
            return float(self.of_model(model, X, y, **options))
        except ValueError as error:
            raise ValueError(f"scoring={self.name!r}: {error}") from error


class Scoring(NamedTuple):
    """The score that a search maximizes, and further scores of its table.

    Attributes
    ----------
    chosen : Measure
    others : tuple of Measure
        Every score by name, if several were given.
    """

    chosen: Measure
    others: tuple = ()

    def __call__(self, model, X, y, weight=None):
        """Return the value to maximize, the same for display, and the values of all others."""
        others = [measure(model, X, y, weight) for measure in self.others]
        names = [measure.name for measure in self.others]
        if self.chosen.name in names:
            value = others[names.index(self.chosen.name)]
        else:
            value = self.chosen(model, X, y, weight)
        return (value, value, *others)

    def samples(self, X, rows, kernels):
        """Return some rows of X if a score reads them, otherwise their numbers."""
        read = any(measure.reads_samples for measure in (self.chosen, *self.others))
        return samples_of(X, rows, kernels) if read else rows

    @property
    def names(self):
        """Return the names of all scores, if several were given."""
        return [measure.name for measure in self.others]


def read_scoring(scoring, kind, refit=None):
    """Return the `Scoring` of the parameters ``scoring`` and ``refit``.

    Parameters
    ----------
    scoring : None, str, callable, dict or sequence of str
        Names of `SCORES` and of scikit-learn's scorers; scorers of ``make_scorer``, and functions
        ``scoring(estimator, X, y)`` or ``scoring(y_true, y_predicted)``; or a dict or sequence.
    kind : {"classifier", "regressor"}
    refit : str, optional
        Name of the score to maximize, if there are several.

    Raises
    ------
    ValueError, TypeError
        For an unknown name, or several scores without ``refit``.
    """
    if not isinstance(scoring, (Mapping, list, tuple, set)):
        if refit is not None and refit is not True:
            raise ValueError(
                f"refit={refit!r:.80} names one of several scores, but "
                f"scoring={scoring!r:.80} is a single score; accepted with it: "
                "refit=None."
            )
        return Scoring(_measure(scoring, kind))
    named = scoring if isinstance(scoring, Mapping) else {name: name for name in scoring}
    if not named or not all(isinstance(name, str) for name in named):
        raise ValueError(
            f"scoring={scoring!r:.80}; accepted: names of scores, or a dict {{name: score}} of at "
            "least one."
        )
    if not isinstance(refit, str) or refit not in named:
        raise ValueError(
            f"refit={refit!r:.80}; accepted with several scores in scoring: the name of the one to "
            f"choose by, {listed(list(named))}."
        )
    found = tuple(_measure(score, kind)._replace(name=name) for name, score in named.items())
    return Scoring(next(m for m in found if m.name == refit), found)


def _measure(scoring, kind):
    known = SCORES[kind]
    if scoring is None:
        scoring = next(iter(known))
    if isinstance(scoring, str):
        if scoring in known:
            return Measure(scoring, known[scoring])
        return Measure(scoring, None, _sklearn_scorer(scoring, known))
    if not callable(scoring):
        raise TypeError(
            f"scoring={scoring!r:.80}; accepted: a name, a scorer, scoring(estimator, X, y), "
            "scoring(y_true, y_predicted), or several with names."
        )
    name = getattr(scoring, "__name__", type(scoring).__name__)
    if _is_of_model(scoring):
        return Measure(name, None, scoring)
    return Measure(name, get_score(scoring, kind))


def _sklearn_scorer(name, known):
    """Return scikit-learn's scorer of a name."""
    try:
        from sklearn.metrics import get_scorer, get_scorer_names
    except ImportError:
        names = []
    else:
        names = get_scorer_names()
    name = name if name in names or f"neg_{name}" not in names else f"neg_{name}"  # "max_error"
    if name not in names:
        others = (
            " and those of sklearn.metrics.get_scorer_names()"
            if names
            else ("; with scikit-learn installed also the names of its scorers")
        )
        raise ValueError(
            f"scoring={name!r:.80} is not known; accepted: {listed(list(known))}{others}."
        )
    return get_scorer(name)


def _is_of_model(scoring):
    """Whether a callable takes (estimator, X, y), not (y_true, y_predicted)."""
    try:
        given = list(inspect.signature(scoring).parameters.values())
    except (TypeError, ValueError):
        return False
    needed = [
        p
        for p in given
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(needed) >= 3 or (bool(given) and given[0].name in ("estimator", "model", "clf"))


def _takes_weights(scorer):
    """Whether a scorer takes ``sample_weight``."""
    function = getattr(scorer, "_score_func", scorer)
    try:
        given = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return "sample_weight" in given or any(p.kind is p.VAR_KEYWORD for p in given.values())


def get_score(scoring, kind):
    """Return a function ``score(y_true, y_predicted, weight=None)``; larger is better.

    For scores that need only predictions. A callable ``scoring`` receives weights, if any, as
    ``sample_weight``.
    """
    if callable(scoring) and not _is_of_model(scoring):

        def score(y, predicted, weight=None):
            options = {} if weight is None else {"sample_weight": weight}
            return float(scoring(y, predicted, **options))

        return score
    measure = _measure(scoring, kind)
    if measure.of_labels is not None:
        return measure.of_labels

    def of_predictions(y, predicted, weight=None):
        model = _Predicted(kind, predicted)
        try:
            return measure(model, model.X, y, weight)
        except AttributeError as error:
            raise ValueError(
                f"scoring={measure.name!r} needs more than predictions: {error}. Accepted here: "
                "scores of predictions."
            ) from None

    return of_predictions


class _Predicted:
    """Predictions as a model without decisions or probabilities."""

    def __init__(self, kind, predicted):
        self.X, self._predicted, self._estimator_type = object(), predicted, kind
        if kind == "classifier":
            self.classes_ = present_classes(predicted)

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if self._estimator_type == "classifier" else None,
            regressor_tags=RegressorTags() if self._estimator_type == "regressor" else None,
        )

    def fit(self, X, y):
        """Never called."""
        raise NotImplementedError

    def predict(self, X):
        """Return the predictions."""
        return self._predicted


def class_score(raw, codes, classes, multiclass, weight=None, shifted=False):
    """Return accuracy minus 0.3 times the log loss at the best temperature, and the accuracy.

    Parameters
    ----------
    raw : ndarray of shape (n, n_problems)
        Decisions of a machine that was trained on ``classes``.
    codes : ndarray of int of shape (n,)
        Codes of the test samples. Samples of a class without training samples count as errors, but
        are omitted from the log loss, which would be infinite for every candidate.
    classes : ndarray of int
        Sorted codes of the classes in the training set. For many labels (c, 2); the score is then
        the mean over labels, returned with the subset accuracy.
    multiclass : {"ovo", "ovr"}
    weight : ndarray of shape (n,), optional
    shifted : bool, default False
        For two classes, use the log loss at the best sigmoid, which has an intercept, instead of
        that at the best temperature.
    """
    if codes.ndim == 2:
        return _label_score(raw, codes, classes, weight)
    raw = summed_by_class(raw, len(classes))
    right = decided_labels(raw, classes, multiclass) == codes
    accuracy = float(right.mean() if weight is None else np.average(right, weights=weight))
    share = np.full(len(codes), 1.0 / len(codes)) if weight is None else weight / weight.sum()
    logits = class_logits(raw, len(classes), multiclass)
    scales = _TEMPERATURES / (np.abs(logits).mean() or 1.0)
    own = np.minimum(np.searchsorted(classes, codes), len(classes) - 1)
    known = classes[own] == codes
    if shifted and known.any():
        loss = sigmoid_log_loss(raw[known, 0], own[known] == 1, share[known])
        return accuracy - _LOSS * loss * float(share[known].sum()), accuracy
    if not known.all():
        logits, share, own = logits[known], share[known], own[known]
    losses, room = np.zeros(len(_TEMPERATURES)), np.empty((2, len(classes)))
    logits = np.ascontiguousarray(logits, dtype=np.float64)
    _add_log_losses(logits, own, share, scales, room, losses)
    return accuracy - _LOSS * float(losses.min()), accuracy


@jit
def _add_log_losses(logits, own, share, scales, room, losses):
    """Add the log losses of samples to those of all temperatures.

    Each is the logarithm of a sum of exponentials relative to the true class. Every second scale is
    twice as large, so its exponentials are the squares of those before.

    Parameters
    ----------
    logits : ndarray of shape (n, n_classes)
    own : ndarray of int of shape (n,)
        The columns of the true classes.
    share : ndarray of shape (n,)
        Weights of the samples.
    scales : ndarray of shape (n_temperatures,)
    room : ndarray of shape (2, n_classes)
    losses : ndarray of shape (n_temperatures,)
    """
    for i in range(len(logits)):
        row = logits[i]
        top = row[0]
        for k in range(1, row.size):
            top = row[k] if row[k] > top else top
        behind = top - row[own[i]]
        for t in range(2):
            for k in range(row.size):
                room[t, k] = math.exp(scales[t] * (row[k] - top))
        for t in range(scales.size):
            total = 0.0
            for k in range(row.size):
                total += room[t % 2, k]
                room[t % 2, k] *= room[t % 2, k]
            losses[t] += share[i] * (math.log(total) + scales[t] * behind)


def _label_score(raw, Y, classes, weight=None):
    """Return the mean of `class_score` over many labels (n, c), and their subset accuracy."""
    share = np.full(len(Y), 1.0 / len(Y)) if weight is None else weight / weight.sum()
    right = (label_decisions(raw, classes) > 0.0) == Y
    margins = raw * (2.0 * Y[:, varying_labels(classes)] - 1.0)
    size = np.abs(raw).mean(axis=0)
    margins = margins / np.where(size > 0.0, size, 1.0)
    losses = [share @ np.logaddexp(0.0, -scale * margins) for scale in _TEMPERATURES]
    loss = np.min(losses, axis=0).sum() / Y.shape[1]
    return float((share @ right).mean() - _LOSS * loss), float(share @ right.all(axis=1))
