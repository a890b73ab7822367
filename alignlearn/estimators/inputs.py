"""Checks of what ``fit`` takes, in scikit-learn's terms: column names, labels, targets."""

from __future__ import annotations

import numpy as np

from alignlearn.kernels import column_names, kernel_list
from alignlearn.validation import check_labels, check_targets, own_or_sklearn, warn
from alignlearn.validation.memory import check_gram_memory


class DataConversionWarning(UserWarning):
    """The input was accepted after a change of shape."""


def data_conversion_warning():
    """The warning class for a column vector y."""
    return own_or_sklearn(DataConversionWarning)


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
    that are linear in the features may need none, which the weights decide: its Gram matrix
    asks.
    """
    if source.is_linear:
        return
    one_stage = any(callable(getattr(rule, "solve_grams", None)) for rule in rules)
    matrices += one_stage * len(source.names)
    if matrices:
        check_gram_memory(source.n_samples, matrices, itemsize=source.dtype.itemsize)


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
