"""``predict_proba``: calibration on the decisions of machines that did not see the sample."""

from __future__ import annotations

import copy

import numpy as np

from alignlearn.folds import make_folds
from alignlearn.machines import paths
from alignlearn.machines.calibration import METHODS, fit_calibration
from alignlearn.validation import check_choice
from alignlearn.weights import get_weighting

from . import _tuning

_FOLDS = 5


class CalibratedProbabilities:
    """``predict_proba`` for classifiers with a parameter ``probability``."""

    @property
    def predict_proba(self):
        """``predict_proba(X)``: probability of each class, in the order of ``classes_``, (n, c).

        Rows sum to 1. Only where ``probability`` was "sigmoid" or "isotonic" in ``fit``. The
        largest one need not be that of ``predict``, which is the machine's decision.
        """
        if self.probability is None:
            raise AttributeError(
                f"this {type(self).__name__} has no predict_proba, as probability=None; set "
                "probability='sigmoid' or 'isotonic' before fit."
            )
        return self._predict_proba

    def _predict_proba(self, X):
        decisions = self.decision_function(X)
        if self.calibration_ is None:
            raise ValueError(
                f"probability={self.probability!r} was set after fit; call fit again, which "
                "calibrates."
            )
        return self.calibration_.probabilities(decisions)


def check_probability(method):
    """The parameter ``probability``, checked."""
    return method if method is None else check_choice("probability", method, METHODS)


def calibrate(estimator, C, source, labels, splits=None, weights=None):
    """The `Calibration` of an estimator with this C, from the test decisions of all folds.

    A sample that is in several test sets counts in each, one that is in none does not.

    Parameters
    ----------
    estimator : MKLClassifier
    C : float
    source : opened on all samples
    labels : ndarray of shape (m,)
    splits : list of (train, test), optional
        By default five shuffled folds, fewer where a class has fewer samples.
    weights : list of ndarray of shape (p,), optional
        Weights of the kernels learned on each training set. By default found here, two-stage ones
        from one pass over the pairs of samples.
    """
    if source.weight is not None and not source.weight.all():
        splits = _tuning.used_splits(splits, source.weight)
        source, labels = source.used(), labels[source.weight > 0.0]
    splits = _calibration_folds(labels) if splits is None else splits
    if weights is None:
        weights = _weights_of_folds(estimator, source, labels, splits)
    classes, codes = np.unique(labels, return_inverse=True)
    part, found = copy.copy(source), []
    for split, of_kernels in zip(splits, weights):
        part.combine(of_kernels)
        path = paths.classifier_predictions
        found += path(estimator._machine, part, labels, split, [C], decisions=True)
    test = np.concatenate([split[1] for split in splits])
    weight = None if source.weight is None else source.weight[test]
    decisions = np.concatenate(found)
    return fit_calibration(estimator.probability, decisions, codes[test], len(classes), weight)


def check_classes(method, labels, splits, weight):
    """Raise where probabilities are asked for and a training set lacks a class."""
    for which, (train, _) in enumerate(splits if method is not None else ()):
        used = train if weight is None else train[weight[train] > 0.0]
        missing = np.setdiff1d(labels, labels[used])
        if missing.size:
            raise ValueError(
                f"probability={method!r} needs every class in every training set, but class "
                f"{missing[0].item()!r} is missing in that of fold {which} of cv; accepted: other "
                "folds, or probability=None."
            )


def _calibration_folds(labels):
    classes, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < 2:
        raise ValueError(
            f"probability: class {classes[sizes.argmin()].item()!r} has one sample, but decisions "
            "on samples outside the training set need two; accepted: probability=None."
        )
    return make_folds(min(_FOLDS, int(sizes.min())), labels, True)


def _weights_of_folds(estimator, source, labels, splits):
    """Yield the weights of the kernels learned on every training set."""
    rule = get_weighting(estimator.weighting)
    statistics = [None] * len(splits)
    if _tuning.from_statistics(rule):
        trains = [train for train, _ in splits]
        statistics = source.training_statistics(labels, "classification", trains)
    for (train, _), found in zip(splits, statistics):
        learner = type(estimator)(**estimator.get_params(deep=False))
        learner.set_params(probability=None)
        yield _tuning.fold_weights(learner, source, labels, rule, train=train, statistics=found)
