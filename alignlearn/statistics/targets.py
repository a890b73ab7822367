"""Target columns Y, whose centered kernel ``Y Y'`` kernels are aligned with."""

from __future__ import annotations

import numpy as np

from alignlearn.validation import (
    check_choice,
    check_label_matrix,
    check_labels,
    check_targets,
    codes_by_appearance,
    doubt,
    is_label_matrix,
    plain,
    warn,
)

_MANY = 20  # number of different integers above which they may be real values
_FEW, _REPEATED = 10, 5  # different real values, and repetitions of each, that may be classes
_LEAST_NORM = 1e-150  # range of targets whose fourth powers keep their digits


def target_columns(y, n_samples=None, task="auto", name="y", weight=None):
    """Centered target columns, float64 of shape (m, c); exactly 0 for constant targets.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, c)
    n_samples : int, optional
        m, to be checked against.
    task : {"auto", "classification", "regression"}
        "auto" reads floating-point targets (and any matrix) as regression, the rest as classes.
        Two classes give one column of -1 and +1, c > 2 classes give c one-hot columns. The class
        of the first sample comes first, so that names of classes do not change the columns. Many
        labels, classes of shape (m, c), are c columns of 0 and 1.
    name : str
        Name of y in messages.
    weight : ndarray of shape (m,), optional
        Sample weights, checked. Columns are then those of the samples of positive weight, centered
        at their weighted means.
    """
    Y = plain_columns(y, n_samples, task, name, weight)
    weight = None if weight is None else weight[weight > 0.0]
    Y = centered_columns(Y, weight)
    target_norm(Y, name, weight)  # raises an error on overflow
    return Y


def centered_columns(Y, weight=None):
    """Y (m, c) minus its (weighted) column means; exactly 0 for constant columns."""
    mean = np.average(Y, axis=0, weights=weight)
    return np.where(Y.min(axis=0) == Y.max(axis=0), 0.0, Y - mean)


def fewer_columns(Y):
    """Columns with the ``YY'`` of Y (m, c), as many as samples; Y itself up to twice as many.

    Sums over the targets of squared linear functions of Y are those of Y.
    """
    return Y if Y.shape[1] <= 2 * len(Y) else np.linalg.qr(Y.T, mode="r").T


def target_norm(Y, name="y", weight=None):
    """``|YY'|_F`` for centered target columns Y (m, c); ValueError if it overflows or is 0.

    With weights that of ``sqrt(w_i) Y_i``.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if Y.shape[1] > len(Y):  # the smaller of two products
            root = Y if weight is None else np.sqrt(weight)[:, None] * Y
            norm = float(np.linalg.norm(root @ root.T))
        else:
            norm = float(np.linalg.norm(Y.T @ (Y if weight is None else weight[:, None] * Y)))
    if not np.isfinite(norm):
        raise ValueError(
            f"{name} differs from its mean by up to {np.abs(Y).max():.3g}, so that "
            "fourth powers in the alignment overflow; accepted: up to about 1e75. Scale "
            "it."
        )
    if norm < _LEAST_NORM and Y.any():
        raise ValueError(
            f"{name} varies by at most {np.abs(Y).max():.3g} from its mean, so that "
            "fourth powers in the alignment underflow; accepted: at least about 1e-75. "
            "Scale it."
        )
    return norm


def plain_columns(y, n_samples=None, task="auto", name="y", weight=None):
    """The columns of :func:`target_columns` before centering."""
    used = slice(None) if weight is None else weight > 0.0
    check_choice("task", task, ("auto", "classification", "regression"))
    if reads_as_regression(y, task):
        Y = check_targets(y, n_samples, name)[used]
        if task == "auto":
            doubt_real(Y, name)
        return Y[:, None] if Y.ndim == 1 else Y
    if is_label_matrix(y):
        return check_label_matrix(y, n_samples, name)[used].astype(np.float64)
    labels = check_labels(y, n_samples, name)[used]
    codes, n_classes = codes_by_appearance(labels)
    if task == "auto" and n_classes > _MANY and labels.dtype.kind in "iu":
        warn(
            f"{name} holds {n_classes} different integers, which are read as class labels; pass "
            'task="regression" or floating-point numbers if they are real values.',
            UserWarning,
        )
    if n_classes <= 2:
        return 2.0 * codes[:, None] - 1.0
    Y = np.zeros((len(codes), n_classes))
    Y[np.arange(len(codes)), codes] = 1.0
    return Y


def doubt_real(Y, name="y"):
    """Warn about floating-point integers with few values, which ``task="auto"`` reads as real."""
    if Y.ndim > 1 or len(Y) < 3 * _REPEATED or np.any(np.floor(Y) != Y):
        return
    n = len(np.unique(Y))
    # With two values, both readings give the same target.
    if 2 < n <= _FEW and n * _REPEATED <= len(Y):
        doubt(
            f"{name} holds {n} different whole numbers of floating point, which are read as "
            'real values; pass task="classification" or integers if they are class labels.'
        )


def reads_as_regression(y, task):
    """Whether y holds real-valued targets, by the task or, for "auto", by its type."""
    if task != "auto":
        return task == "regression"
    y = plain("y", y)
    y = np.asarray(y, dtype=None if isinstance(y, np.ndarray) else object)
    if y.dtype == object and y.ndim >= 1:
        # A list of labels of mixed type stays a list, because an array of numbers would hide the
        # types.
        return y.ndim == 2 or all(isinstance(v, (float, np.floating)) for v in y.ravel())
    return y.dtype.kind == "f" or y.ndim == 2
