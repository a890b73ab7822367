"""Checks of ``fit`` and ``predict`` in scikit-learn's terms: column names, labels, targets."""

from __future__ import annotations

import numpy as np

from alignlearn.kernels import column_names, kernel_list
from alignlearn.sources import FeatureSource
from alignlearn.validation import check_labels, check_targets, check_weights, warn
from alignlearn.validation.memory import check_gram_memory

from ._sklearn import data_conversion_warning


def take_sparse(kernels):
    """Whether all kernels of a list take the rows of SciPy sparse matrices."""
    try:
        return all(kernel.takes_sparse for kernel in kernel_list(kernels))
    except (TypeError, ValueError):
        return False


def feature_names(X):
    """Column names of a data frame if all are strings, as an array, else None."""
    names = column_names(X)
    return None if names is None else np.asarray(names, dtype=object)


def check_sample_count(n_samples):
    """At least two samples: one has no centred kernel."""
    if n_samples < 2:
        raise ValueError(f"X has {n_samples} sample; at least 2 are needed to learn a kernel.")


def check_room(source, rules, matrices=1):
    """Refuse, before stage 1, samples whose kernel matrices do not fit into free memory.

    The machine holds so many ``matrices``, one-stage ``rules`` one more for each kernel. Kernels
    that are linear in the features may need none, which the weights decide: `FeatureSource.gram`
    asks.
    """
    if isinstance(source, FeatureSource):
        return
    one_stage = any(callable(getattr(rule, "solve_grams", None)) for rule in rules)
    single = getattr(source.X, "dtype", None) == np.float32
    matrices += one_stage * len(source.names)
    if matrices:
        check_gram_memory(source.n_samples, matrices, itemsize=4 if single else 8)


def check_test_names(estimator, X):
    """Compare the column names of a data frame with those of ``fit``."""
    fitted, given = getattr(estimator, "feature_names_in_", None), feature_names(X)
    name = type(estimator).__name__
    if fitted is None and given is not None:
        message = f"X has feature names, but {name} was fitted without feature names"
        warn(message, UserWarning)
    elif fitted is not None and given is None:
        message = f"X does not have valid feature names, but {name} was fitted with feature names"
        warn(message, UserWarning)
    check_same_names(fitted, given)


def check_same_names(fitted, given):
    """Column names, or None, must be those of ``fit``, in their order, where both are known."""
    if fitted is not None and given is not None and list(fitted) != list(given):
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            + _name_differences(set(fitted), set(given))
        )


def _name_differences(fitted, given):
    text = ""
    for title, names in (
        ("Feature names unseen at fit time:", given - fitted),
        ("Feature names seen at fit time, yet now missing:", fitted - given),
    ):
        if names:
            shown = [*(f"- {n}" for n in sorted(names)[:5]), *(["- ..."] if len(names) > 5 else [])]
            text += "\n".join([title, *shown, ""])
    return text or "Feature names must be in the same order as they were in fit.\n"


def check_test_width(estimator, n_features):
    """As many columns as in ``fit``."""
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


def require_y(estimator, y):
    """Every estimator here learns from a target."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )


def _warn_column(y):
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected; y.ravel() is used.",
            data_conversion_warning(),
        )


def class_labels(estimator, y, n_samples, weight=None):
    """Labels of one kind, of at least two classes, each with a sample of positive weight."""
    require_y(estimator, y)
    _warn_column(y)
    labels = check_labels(y, n_samples)
    if weight is not None:
        found = np.unique(labels[weight > 0.0])
        without = np.setdiff1d(labels, found)
        if without.size:
            raise ValueError(
                f"sample_weight is zero for all samples of class {without[0].item()!r}; accepted: "
                "a positive one in every class. Leave the class out."
            )
    if np.all(labels == labels[0]):
        raise ValueError(
            f"y has 1 class, {labels[0].item()!r}; a classifier needs at least two classes."
        )
    return labels


def real_targets(estimator, y, n_samples, weight=None):
    """Targets as float64 of shape (m,) or (m, c)."""
    require_y(estimator, y)
    y = check_targets(y, n_samples)
    used = y if weight is None else y[weight > 0.0]
    if np.all(used == used[0]):
        where = "" if weight is None else " where sample_weight is positive"
        raise ValueError(
            f"y is constant ({used[0]}){where}; a regression needs at least two values."
        )
    return y


def accuracy(predicted, y, sample_weight=None):
    """Share of labels that are predicted, weighted by ``sample_weight`` (n,)."""
    right = predicted == check_labels(y, len(predicted))
    weight = check_weights(sample_weight, len(right))
    return float(weight @ right / weight.sum())
