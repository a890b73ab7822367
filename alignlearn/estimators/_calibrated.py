"""``predict_proba``: calibration on the decisions of machines that did not see the sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.folds import make_folds
from alignlearn.machines.calibration import METHODS, fit_calibration
from alignlearn.validation import check_choice
from alignlearn.weights import get_weighting

from . import tuning

_FOLDS = 5


@dataclass(eq=False, repr=False, kw_only=True)
class CalibratedProbabilities:
    """Mixin: the parameter ``probability`` and ``predict_proba``."""

    probability: str | None = None

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


def calibrate(method, labels, tests, decisions, weight=None):
    """The `Calibration` from the decisions on the test sets of all folds.

    A sample that is in several test sets counts in each, one that is in none does not.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    labels : ndarray of shape (m,)
    tests : list of ndarray of int
        Sample numbers of the test sets.
    decisions : list of ndarray of shape (n,) for two classes, else (n, c)
        On the samples of positive weight of every test set.
    weight : ndarray of shape (m,), optional
    """
    test = np.concatenate(tests)
    test = test if weight is None else test[weight[test] > 0.0]
    weight = None if weight is None else weight[test]
    classes, codes = np.unique(labels, return_inverse=True)
    decisions = np.concatenate(decisions)
    return fit_calibration(method, decisions, codes[test], len(classes), weight)


def calibrate_on_folds(estimator, learned, labels, memory):
    """The `Calibration` of an `MKLClassifier` whose weights and machines are learned on folds.

    Five shuffled folds, fewer where a class has fewer samples. Two-stage weights of all training
    sets come from one pass over the pairs of samples of the source.
    """
    source = learned.source
    if source.weight is not None:
        source, labels = source.used(), labels[source.weight > 0.0]
    splits, decisions = _calibration_folds(labels), []
    learner = _learner(estimator, min(len(train) for train, _ in splits))
    weights = _weights_of_folds(learner, source, labels, splits)
    for (train, test), of_kernels in zip(splits, weights):
        train = np.sort(train)
        part = source.part(train).combine(of_kernels)
        machine, predictor = learner._train(part, labels[train], memory)
        raw = predictor.decisions(source.as_new(test), source.engine)
        decisions.append(machine.confidences(raw))
    tests = [test for _, test in splits]
    return calibrate(estimator.probability, labels, tests, decisions, source.weight)


def _learner(estimator, n_samples):
    """The estimator without probabilities and with the machine that was chosen on all samples."""
    chosen = {"probability": None, "machine": estimator.chosen_machine_}
    params = {**estimator.get_params(deep=False), **chosen}
    if params["n_centers"] is not None:
        params["n_centers"] = min(params["n_centers"], n_samples)
    learner = type(estimator)(**params)
    learner.chosen_machine_ = estimator.chosen_machine_
    return learner


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


def _weights_of_folds(learner, source, labels, splits):
    """Yield the weights of the kernels learned on every training set."""
    rule = get_weighting(learner.weighting)
    statistics = [None] * len(splits)
    if tuning.from_statistics(rule):
        trains = [train for train, _ in splits]
        how = {"unbiased": learner.unbiased}
        statistics = source.training_statistics(labels, "classification", trains, **how)
    for (train, _), found in zip(splits, statistics):
        again = type(learner)(**learner.get_params(deep=False))
        yield tuning.fold_weights(again, source, labels, rule, train=train, statistics=found)
