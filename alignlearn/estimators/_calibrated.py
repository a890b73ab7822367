"""``predict_proba`` and ``predict_set``, from decisions of models fitted without the sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.bounds import conformal
from alignlearn.folds import make_folds
from alignlearn.machines.calibration import (
    METHODS,
    fit_calibration,
    fit_label_calibration,
    surprise,
)
from alignlearn.solvers.multiclass import class_logits, predicted_labels
from alignlearn.validation import check_choice, check_flag, doubt

from .candidates import fold_results
from .guarantees import doubt_coverage
from .refits import Refits, keep, own_folds

AUTO = "auto"  # probabilities from the decisions of a search, if these include every class
_FOLDS = 5


def probabilities(model, X):
    """``predict_proba`` of a fitted classifier, (n, c)."""
    raw = model._decisions(X)
    if model.calibration_ is None:
        raise ValueError(
            f"probability={model.probability!r} was set after fit; call fit again to calibrate."
        )
    if model.classes_.ndim == 2:
        return model.calibration_.probabilities(model.machine_.confidences(raw))
    P = calibrated(model, model.machine_, raw)
    if model.calibration_.of_logits:
        scores = model.machine_.confidences(raw)
        _agree(P, predicted_labels(scores, np.arange(P.shape[1])))
    return P


def _agree(P, codes):
    """Exchange probabilities in place so that the decided class of each sample has the largest one.

    Votes of pairs of classes and their mean decisions differ for about 1% of the samples.
    """
    rows, top = np.arange(len(P)), P.argmax(axis=1)
    P[rows, top], P[rows, codes] = P[rows, codes], P[rows, top]


def calibrated(model, machine, raw):
    """Probabilities (n, c) from the decisions (n, n_problems) of a machine of all classes."""
    given = model.calibration_
    return given.probabilities(calibrated_from(given.of_logits, machine, raw, model.multiclass))


def calibrated_from(of_logits, machine, raw, multiclass):
    """The input of a calibration: the class logits, or the confidences of the classes."""
    if of_logits:
        return class_logits(raw, len(machine.classes_), multiclass)
    return machine.confidences(raw)


def class_sets(estimator, X, coverage, per_class, fit=None, refit=None):
    """``predict_set`` of a fitted classifier, bool (n, c)."""
    coverage = conformal.check_coverage(coverage)
    check_flag("per_class", per_class)
    X = estimator._check_test(X)
    calibration = getattr(estimator, "calibration_", None)
    if calibration is None:
        lack = vars(estimator).get("_uncalibrated")
        if lack:
            raise ValueError(
                f"predict_set needs probabilities, and {lack}; accepted: cv with folds whose "
                "training sets contain every class."
            )
        raise ValueError(
            "predict_set needs probabilities, and the model was fitted with probability=None; "
            "accepted: a fit with probability='sigmoid', 'isotonic' or 'temperature'."
        )
    if estimator._ranges.weighted:
        raise ValueError(
            "predict_set assumes exchangeable samples, and samples of different weights are not "
            "exchangeable; accepted: a fit without sample_weight."
        )
    reasons = _seen_too_much(estimator)
    refit = bool(reasons) if refit is None else check_flag("refit", refit)
    if refit:
        own, folds, scores, codes = _refitted_probabilities(estimator, X, fit)
        new = [1.0 - P for P in folds]
    else:
        doubt_coverage(
            reasons,
            "With refit=None, or refit=True and fit=(X, y), models are fitted again for each fold.",
        )
        own, new = _fold_scores(estimator, X)
        scores, codes = calibration.scores, calibration.codes
    _warn_few(codes, coverage, per_class)
    found = conformal.plus_set(scores, new, coverage, codes if per_class else None)
    found[np.arange(len(own)), own.argmax(axis=1)] = True
    return found


def _fold_scores(model, X):
    """Probabilities (n, c) of checked samples, and scores (n, c) by the models of the folds."""
    engine, machines = model._engine(), getattr(model, "_fold_predictors", ())
    if model._takes_gaps():
        whole = model._predictor
        machines = [p if p.takes_gaps else whole.instead(p) for p in machines]
    of_logits = model.calibration_.of_logits
    all_of = [
        calibrated_from(of_logits, model.machine_, p.decisions(X, engine), model.multiclass)
        for p in (model._predictor, *machines)
    ]
    own = model.calibration_.probabilities(all_of[0])
    return own, [surprise(decisions) for decisions in all_of[1:] or all_of]


def _refitted_probabilities(model, X, fit):
    """Probabilities (n, c) of the model and of fits without folds; scores and codes of these folds.

    A class that is missing from a training set has probability 0.
    """

    def predict(one, Z):
        P = np.zeros((one._predictor.count(one._check_test(Z)), len(model.classes_)))
        P[:, np.searchsorted(model.classes_, one.classes_)] = one.predict_proba(Z)
        return P

    folds = own_folds(model)
    found = keep(model, "sets", (fit, fit), lambda some: Refits(model, some, folds, predict))
    codes = np.searchsorted(model.classes_, found.y)
    codes = [codes[found.number == part] for part in range(len(found.values))]
    scores = [1.0 - P[np.arange(len(c)), c] for P, c in zip(found.values, codes)]
    own = calibrated(model, model.machine_, model._predictor.decisions(X, model._engine()))
    return own, found.of(X), scores, codes


def _warn_few(codes, coverage, per_class):
    codes = np.concatenate(codes)
    sizes = np.bincount(codes) if per_class else [codes.size]
    if conformal.rank(coverage, min(sizes)) > min(sizes):
        what = "of a class " if per_class else ""
        doubt(
            f"{min(sizes)} training samples {what}are too few to exclude a class with coverage "
            f"{coverage:g}; at least {conformal.least_samples(coverage)} are needed."
        )


def _seen_too_much(estimator):
    """The reason why the scores are not independent of the samples that they are compared with."""
    if estimator.probability == AUTO:
        return ["probability='auto' keeps no models of folds"]
    if estimator._members:
        return ["a strategy selected the models on the same folds, and stores no model of a fold"]
    return []


def check_probability(method, more=()):
    """The parameter ``probability``, checked; ``more`` values are accepted by a search."""
    return method if method is None else check_choice("probability", method, (*METHODS, *more))


def calibrate(method, labels, tests, decisions, weight=None):
    """The `Calibration` from the decisions on the test sets of all folds.

    A sample counts once for each test set that contains it.

    Parameters
    ----------
    method : {"sigmoid", "isotonic", "temperature"}
    labels : ndarray of shape (m,), or many labels (m, c)
    tests : list of ndarray of int
        Sample numbers of the test sets.
    decisions : list of ndarray of shape (n,) for two classes, else (n, c)
        The results of `calibrated_from` on the samples of positive weight of every test set.
    weight : ndarray of shape (m,), optional
    """
    test = np.concatenate(tests)
    test = test if weight is None else test[weight[test] > 0.0]
    weight = None if weight is None else weight[test]
    if labels.ndim == 2:
        return fit_label_calibration(method, np.concatenate(decisions), labels[test], weight)
    classes, codes = np.unique(labels, return_inverse=True)
    codes, decisions = codes[test], np.concatenate(decisions)
    found = fit_calibration(method, decisions, codes, len(classes), weight)
    return _with_scores(found, [codes], [decisions])


def _with_scores(calibration, codes, decisions):
    """A calibration with the scores of samples by these decisions, both by training sets."""
    found = [surprise(f)[np.arange(len(c)), c] for c, f in zip(codes, decisions)]
    return replace(calibration, scores=tuple(found), codes=tuple(codes))


def calibrate_on_folds(estimator, source, labels, memory, calibration=None):
    """The `Calibration` of an `MKLClassifier` whose weights and machines are learned on folds.

    Also returns the predictors of these models, one for each fold, from which its scores are
    computed.

    There are five shuffled folds, or fewer if a class has fewer samples. Two-stage weights of all
    training sets come from one pass over the pairs of samples of the source.

    Parameters
    ----------
    estimator : MKLClassifier
        With ``chosen_machine_``.
    source : Source
    labels : ndarray of shape (m,)
    memory : int
    calibration : Calibration, optional
        The calibration from other folds, whose scores are replaced.
    """
    if source.weight is not None:
        source, labels = source.used(), labels[source.weight > 0.0]
    many = labels.ndim == 2
    splits, decisions, predictors = _calibration_folds(labels), [], []
    method = None if calibration is not None else estimator.probability
    of_logits = method == "temperature" if calibration is None else calibration.of_logits
    of_logits = of_logits and not many
    learner = _learner(estimator, min(len(train) for train, _ in splits))
    learned = fold_results(learner, source, labels, splits)
    for (train, test), found in zip(splits, learned):
        train = np.sort(train)
        part = source.part(train).combine(found.unscaled)
        machine, predictor = learner._train(part, labels[train], memory)
        raw = predictor.decisions(source.as_new(test), source.engine)
        decisions.append(calibrated_from(of_logits, machine, raw, estimator.multiclass))
        predictors.append(predictor)
    tests = [test for _, test in splits]
    if many:  # they are not used for prediction sets
        return calibrate(method, labels, tests, decisions, source.weight), ()
    if calibration is None:
        given = labels, tests, decisions, source.weight
        calibration = calibrate(method, *given)
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
    """Raise an error if a training set does not contain every class, as probabilities require."""
    found = None if method is None else lacking_class(labels, splits, weight)
    if found is not None:
        which, missing = found
        raise ValueError(
            f"probability={method!r} needs every class in every training set, but "
            f"class {missing!r} is missing from that of fold {which} of cv; "
            "accepted: other folds, or probability=None."
        )


def lacking_class(labels, splits, weight):
    """(fold, class) of a class that is missing from a training set; None if there is none."""
    for which, (train, _) in enumerate(splits if labels.ndim == 1 else ()):
        used = train if weight is None else train[weight[train] > 0.0]
        missing = np.setdiff1d(labels, labels[used])
        if missing.size:
            return which, missing[0].item()
    return None


def _calibration_folds(labels):
    if labels.ndim == 2:
        return make_folds(min(_FOLDS, len(labels)), labels, False)
    classes, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < 2:
        raise ValueError(
            f"probability: class {classes[sizes.argmin()].item()!r} has one sample, but decisions "
            "on samples outside the training set need two; accepted: probability=None."
        )
    return make_folds(min(_FOLDS, int(sizes.min())), labels, True)
