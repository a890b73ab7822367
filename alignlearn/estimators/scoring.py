"""Scores by which a search chooses: those that ``scoring`` names, and that of a strategy."""

from __future__ import annotations

import numpy as np

from alignlearn.machines.scores import r2
from alignlearn.solvers.multiclass import decided_labels, summed_decisions
from alignlearn.validation import check_choice

_LOSS = 0.3  # of the log loss, in units of accuracy
_TEMPERATURES = 2.0 ** np.arange(-5.0, 5.5, 0.5)


def _accuracy(y, predicted, weight=None):
    return float(np.average(y == predicted, weights=weight))


def _balanced_accuracy(y, predicted, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    classes = [y == label for label in np.unique(y)]
    return float(np.mean([np.average((predicted == y)[c], weights=weight[c]) for c in classes]))


def _minus_mean(loss, outer=None):
    """Minus the (weighted) mean over samples of a loss, and then over targets of ``outer``."""

    def score(y, predicted, weight=None):
        mean = np.average(loss(y - predicted), axis=0, weights=weight)
        return -float(np.mean(mean if outer is None else outer(mean)))

    return score


SCORES = {
    "classifier": {"accuracy": _accuracy, "balanced_accuracy": _balanced_accuracy},
    "regressor": {
        "neg_root_mean_squared_error": _minus_mean(np.square, np.sqrt),
        "neg_mean_squared_error": _minus_mean(np.square),
        "neg_mean_absolute_error": _minus_mean(np.abs),
        "r2": r2,
    },
}


def get_score(scoring, kind):
    """The function ``score(y_true, y_predicted, weight=None)``, larger being better.

    A callable ``scoring`` takes weights as ``sample_weight``, where there are any.
    """
    known = SCORES[kind]
    if scoring is None:
        return next(iter(known.values()))
    if callable(scoring):

        def score(y, predicted, weight=None):
            options = {} if weight is None else {"sample_weight": weight}
            return float(scoring(y, predicted, **options))

        return score
    return known[check_choice("scoring", scoring, tuple(known))]


def class_score(raw, codes, classes, multiclass, weight=None):
    """Accuracy less 0.3 times the log loss at the best temperature, and the accuracy.

    Parameters
    ----------
    raw : ndarray of shape (n, n_problems)
        Decisions of a machine that was trained on ``classes``.
    codes : ndarray of int of shape (n,)
        Of the test samples. Those of a class that was not trained on count as errors. They have no
        log loss, which would be infinite for every candidate.
    classes : ndarray of int
        Codes of the classes in the training set, sorted.
    """
    accuracy = float(np.average(decided_labels(raw, classes, multiclass) == codes, weights=weight))
    share = np.full(len(codes), 1.0 / len(codes)) if weight is None else weight / weight.sum()
    logits = class_logits(raw, len(classes), multiclass).T
    scales = (_TEMPERATURES / (np.abs(logits).mean() or 1.0))[:, None]
    known = np.isin(codes, classes)
    logits, share = logits[:, known], share[known]
    # Beside the true class, of which the log loss is that of the sum of exponentials.
    own = np.searchsorted(classes, codes[known])
    beside = logits - logits[own, np.arange(len(own))]
    top = beside.max(axis=0)
    losses = np.log(np.exp(scales * (beside - top)[:, None]).sum(axis=0)) + scales * top
    return accuracy - _LOSS * float((losses @ share).min()), accuracy


def class_logits(raw, n_classes, multiclass):
    """Decisions as a column for each class: means over the problems that it is in."""
    if n_classes == 2:
        return np.hstack([-0.5 * raw, 0.5 * raw])
    if multiclass == "ovr":
        return raw
    return summed_decisions(raw, n_classes) / (n_classes - 1)
