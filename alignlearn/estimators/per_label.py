"""Classifiers with ``per_label=True``: one kernel and one machine for every label.

Each label is fitted as a separate target with the parameters of the estimator. Its model has its
own weights, C, class weights and calibration. A constant label has no model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from alignlearn._text import listed, table
from alignlearn.solvers.multiclass import (
    label_decisions,
    present_classes,
    varying_labels,
    weights_of_labels,
)
from alignlearn.validation import check_label_matrix, doubt, is_label_matrix, optional_weights

from . import inputs
from .base import OF_COLUMNS

_OF_EACH = ("C_", "best_score_", "alignment_", "uniform_alignment_")
_FITTED = ("_predictor", "_postponed", "_ranges", "_fold_predictors", "_uncalibrated", "_names")


def fit_labels(estimator, X, y, sample_weight=None, **options):
    """Fit a copy of the estimator to each label that varies, and store them as ``models_``.

    ``options`` are passed to each ``fit``.
    """
    inputs.require_y(estimator, y)
    if not is_label_matrix(y):
        raise ValueError(
            f"per_label=True is for y of several labels, of shape (m, c), got shape {np.shape(y)}; "
            "accepted for one label: per_label=False."
        )
    Y = check_label_matrix(y)
    weight = optional_weights(sample_weight, len(Y))
    Y_used = Y if weight is None else Y[weight > 0.0]
    inputs.refuse_constant(Y_used, weight)
    for name in list(vars(estimator)):
        if name in _FITTED or (name.endswith("_") and not name.startswith("_")):
            del estimator.__dict__[name]
    params = {**estimator.get_params(deep=False), "per_label": False}
    if isinstance(params.get("cv"), Iterator):  # every label reads it
        params["cv"] = list(params["cv"])
    classes, models = _fitted_classes(estimator, Y_used), []
    class_weights = weights_of_labels(params["class_weight"], Y.shape[1])
    for k, varies in enumerate(varying_labels(classes)):
        params["class_weight"] = class_weights[k]
        model = type(estimator)(**params) if varies else None
        try:
            models.append(
                None if model is None else model.fit(X, Y[:, k], sample_weight, **options)
            )
        except ValueError as error:
            raise ValueError(f"label {k} of y: {error}") from error
    _store(estimator, classes, tuple(models))
    return estimator


def _fitted_classes(estimator, Y):
    """Return the classes (c, 2) of the labels, twice the common one if the rarer has one sample.

    A value with one sample cannot be in both parts of a fold.
    """
    classes = present_classes(Y)
    if estimator.probability is None and not hasattr(estimator, "cv"):
        return classes
    ones = Y.sum(axis=0)
    single = np.flatnonzero(np.minimum(ones, len(Y) - ones) == 1)
    if single.size == 0:
        return classes
    doubt(
        f"{single.size} labels of y ({listed(single.tolist())}) have one sample of their rarer "
        "value, which cannot be in a training and a test set; the other value is predicted for all."
    )
    common = (2 * ones[single] > len(Y)).astype(classes.dtype)
    classes[single] = common[:, None]
    inputs.refuse_constant(classes.T, None)
    return classes


def _store(estimator, classes, models):
    """Store the fitted attributes: those of all models, stacked."""
    first, n = next(m for m in models if m is not None), len(models)
    for name in OF_COLUMNS:
        if hasattr(first, name):
            setattr(estimator, name, getattr(first, name))
    for name in _OF_EACH:
        if all(hasattr(m, name) for m in models if m is not None):
            found = [np.nan if m is None else getattr(m, name) for m in models]
            setattr(estimator, name, np.array(found, dtype=np.float64))
    fitted = [None if m is None else getattr(m, "weights_", None) for m in models]
    sizes = {w.size for w, m in zip(fitted, models) if w is not None}
    if len(sizes) == 1 and all(w is not None for w, m in zip(fitted, models) if m is not None):
        weights = np.zeros((sizes.pop(), n))
        for k, w in enumerate(fitted):
            if w is not None:
                weights[:, k] = w
        estimator.weights_ = weights
    estimator.classes_, estimator.models_ = classes, models


def decisions(estimator, X):
    """Return decisions (n, c), -1 or 1 for constant labels."""
    raw = [m.decision_function(X) for m in estimator.models_ if m is not None]
    return label_decisions(np.column_stack(raw), estimator.classes_)


def label_probabilities(estimator, X):
    """Return probabilities (n, c) of 1; 0 or 1 for constant labels."""
    found = [m.predict_proba(X)[:, 1] for m in estimator.models_ if m is not None]
    P = np.tile(estimator.classes_[:, 0].astype(np.float64), (len(found[0]), 1))
    P[:, varying_labels(estimator.classes_)] = np.column_stack(found)
    return P


def summary(estimator, max_rows):
    """Return a line for each label: its alignment, and after a search its C and score."""
    models = estimator.models_
    searched = hasattr(estimator, "C_")
    rows = []
    for k, model in enumerate(models):
        if model is None:
            value = f"always {estimator.classes_[k, 0]}"
            rows.append((f"{k}", value, "", *(("", "") if searched else ())))
            continue
        chosen = (f"{model.C_:.3g}", f"{model.best_score_:.4f}") if searched else ()
        rows.append((f"{k}", *_alignments(model), *chosen))
    header = "label", "alignment", "of equal weights", *(("C", "score") if searched else ())
    options = {"total": len(rows), "most": max_rows, "more": " labels"}
    lines = [table(rows[:max_rows], header, **options)]
    lines.append("Each label has a model of its own: models_[j].summary() shows its kernels.")
    return "\n".join(lines)


def _alignments(model):
    """Return the alignments of the combination and of equal weights as text; "" for an average."""
    if not hasattr(model, "alignment_"):
        return "", ""
    return f"{model.alignment_:.4f}", f"{model.uniform_alignment_:.4f}"


def refuse(what, own):
    """Raise an error for a method for one label; with ``own``, models of single labels have it."""
    accepted = (
        f"models_[j].{what} of the model of one label"
        if own
        else f"a fit of one label, or per_label=True and models_[j].{what}"
    )
    raise ValueError(
        f"{what} is for one label, but this model was fitted on several; accepted: {accepted}."
    )
