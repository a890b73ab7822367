"""``predict_proba`` and ``predict_set``, by decisions of machines that did not see the sample."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.bounds import conformal
from alignlearn.folds import make_folds
from alignlearn.machines.calibration import METHODS, fit_calibration
from alignlearn.validation import check_choice, check_flag, doubt
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

    def predict_set(self, X, coverage=0.9, *, per_class=False):
        """Sets of classes that hold those of n new samples, by conformal prediction.

        For fits with ``probability``, whose calibrated probabilities of samples outside a training
        set say how small that of the true class may be.

        Parameters
        ----------
        X : as in ``fit``, n samples
        coverage : float in (0, 1), default 0.9
            Share of the samples whose class is to lie in their set.
        per_class : bool, default False
            Whether that is to hold among the samples of every class, also of a rare one.

        Returns
        -------
        ndarray of bool of shape (n, c)
            Columns as ``classes_``. The most probable class is always in the set.

        Raises
        ------
        ValueError
            The fit had no ``probability``, or had sample weights; an argument is out of range.

        Warns
        -----
        DoubtfulResultWarning
            The training samples, or those of a class, are too few: sets hold all classes, or it.

        Notes
        -----
        `MKLClassifier` keeps machines of five folds: a class is in the set where not too
        many samples had, by the machine that did not see them, a larger probability of their class
        than the new sample has of this one by the same machine (CV+). Were the scores of a fold
        made without its samples, coverage were at least ``2 coverage - 1`` less a term of
        ``1 / 5`` at most, whatever the law, and usually is ``coverage``. Machines and kernels are,
        but the calibration, two numbers a class for "sigmoid", has seen the decisions on all folds.
        `MKLClassifierCV` has chosen C by all samples besides. Where it chose by a ``strategy`` it
        keeps no machines of folds, and compares decisions on folds with the machine on all samples:
        there is no guarantee. See docs/guide/error-bars.md for coverage on ten laws.

        References
        ----------
        Romano, Sesia and Candes (2020), Classification with valid and adaptive coverage; Vovk
        (2015), Cross-conformal predictors.
        """
        coverage = conformal.check_coverage(coverage)
        check_flag("per_class", per_class)
        X = self._check_test(X)
        calibration = vars(self).get("calibration_")
        if calibration is None:
            raise ValueError(
                "predict_set needs probabilities, which probability=None in fit gives none of; "
                "accepted: a fit with probability='sigmoid' or 'isotonic'."
            )
        model = self.members_[0].model if "members_" in vars(self) else self
        if model._ranges.weighted:
            raise ValueError(
                "predict_set rests on samples that are exchangeable, which samples of different "
                "weights are not; accepted: a fit without sample_weight."
            )
        _warn_few(calibration, coverage, per_class)
        own, folds = self._probabilities(X)
        found = conformal.plus_set(
            calibration.scores,
            [1.0 - P for P in folds],
            coverage,
            calibration.codes if per_class else None,
        )
        found[np.arange(len(own)), own.argmax(axis=1)] = True
        return found

    def _probabilities(self, X):
        """Probabilities (n, c) of checked samples, and those by what their scores compare with."""
        engine, machines = self._engine(), vars(self).get("_fold_predictors", ())
        all_of = [
            self.calibration_.probabilities(self.machine_.confidences(p.decisions(X, engine)))
            for p in (self._predictor, *machines)
        ]
        return all_of[0], all_of[1:] or all_of


def _warn_few(calibration, coverage, per_class):
    codes = np.concatenate(calibration.codes)
    sizes = np.bincount(codes) if per_class else [codes.size]
    if conformal.rank(coverage, min(sizes)) > min(sizes):
        what = "of a class " if per_class else ""
        doubt(
            f"{min(sizes)} training samples {what}are too few to rule a class out with coverage "
            f"{coverage:g}: it takes {conformal.least_samples(coverage)}."
        )


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
    codes, decisions = codes[test], np.concatenate(decisions)
    found = fit_calibration(method, decisions, codes, len(classes), weight)
    return _with_scores(found, [codes], [decisions])


def _with_scores(calibration, codes, decisions):
    """A calibration with the scores of samples by these decisions, both by training sets."""
    found = [
        1.0 - calibration.probabilities(f)[np.arange(len(c)), c] for c, f in zip(codes, decisions)
    ]
    return replace(calibration, scores=tuple(found), codes=tuple(codes))


def calibrate_on_folds(estimator, source, labels, memory, calibration=None):
    """The `Calibration` of an `MKLClassifier` whose weights and machines are learned on folds.

    And the predictors of these machines, one for each fold, which its scores are made with.

    Five shuffled folds, fewer where a class has fewer samples. Two-stage weights of all training
    sets come from one pass over the pairs of samples of the source.

    Parameters
    ----------
    estimator : MKLClassifier
        With ``chosen_machine_``.
    source : Source
    labels : ndarray of shape (m,)
    memory : int
    calibration : Calibration, optional
        That of other folds, whose scores alone are to be replaced.
    """
    if source.weight is not None:
        source, labels = source.used(), labels[source.weight > 0.0]
    splits, decisions, predictors = _calibration_folds(labels), [], []
    learner = _learner(estimator, min(len(train) for train, _ in splits))
    weights = _weights_of_folds(learner, source, labels, splits)
    for (train, test), of_kernels in zip(splits, weights):
        train = np.sort(train)
        part = source.part(train).combine(of_kernels)
        machine, predictor = learner._train(part, labels[train], memory)
        raw = predictor.decisions(source.as_new(test), source.engine)
        decisions.append(machine.confidences(raw))
        predictors.append(predictor)
    tests = [test for _, test in splits]
    if calibration is None:
        given = labels, tests, decisions, source.weight
        calibration = calibrate(estimator.probability, *given)
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    return _with_scores(calibration, [codes[test] for test in tests], decisions), tuple(predictors)


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
