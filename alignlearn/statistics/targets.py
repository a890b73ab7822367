"""Target columns Y whose centred kernel ``Y Y'`` is what kernels are aligned with."""

from __future__ import annotations

import warnings

import numpy as np

from alignlearn.validation import check_choice, check_labels, check_targets, plain

_MANY = 20  # classes of integers above which they may well be amounts


def target_columns(y, n_samples=None, task="auto", name="y"):
    """Centred target columns, float64 of shape (m, c); exactly 0 where a target is constant.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, c)
    n_samples : int, optional
        m, to be checked against.
    task : {"auto", "classification", "regression"}
        "auto" reads floating-point targets (and any matrix) as regression, the rest as classes.
        Two classes give one column of -1 and +1, c > 2 classes give c one-hot columns.
    name : str
        What error messages call y.
    """
    Y = centred_columns(plain_columns(y, n_samples, task, name))
    target_norm(Y, name)  # refuses what overflows
    return Y


def centred_columns(Y):
    """Y (m, c) less its column means; exactly 0 where a column is constant."""
    return np.where(Y.min(axis=0) == Y.max(axis=0), 0.0, Y - Y.mean(axis=0))


def target_norm(Y, name="y"):
    """``|YY'|_F`` for centred target columns Y (m, c); a ValueError where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        norm = float(np.linalg.norm(Y.T @ Y))
    if not np.isfinite(norm):
        raise ValueError(
            f"{name} reaches {np.abs(Y).max():.3g} beside its mean, where the fourth powers that "
            "an alignment is made of overflow; accepted: up to about 1e75. Scale it."
        )
    return norm


def plain_columns(y, n_samples=None, task="auto", name="y"):
    """The columns of :func:`target_columns` before centring."""
    check_choice("task", task, ("auto", "classification", "regression"))
    y = plain(name, y)
    if reads_as_regression(y, task):
        Y = check_targets(y, n_samples, name)
        return Y[:, None] if Y.ndim == 1 else Y
    classes, codes = np.unique(check_labels(y, n_samples, name), return_inverse=True)
    if task == "auto" and len(classes) > _MANY and classes.dtype.kind in "iu":
        warnings.warn(
            f"{name} holds {len(classes)} different integers, which are read as class labels; pass "
            'task="regression" or floating-point numbers if they are amounts.',
            UserWarning,
            stacklevel=3,
        )
    if len(classes) <= 2:
        return 2.0 * codes[:, None] - 1.0
    Y = np.zeros((len(codes), len(classes)))
    Y[np.arange(len(codes)), codes] = 1.0
    return Y


def reads_as_regression(y, task):
    """Whether y holds real targets: said by the task or, for "auto", by its type."""
    if task != "auto":
        return task == "regression"
    y = np.asarray(y, dtype=None if isinstance(y, np.ndarray) else object)
    if y.dtype == object and y.ndim >= 1:
        # A list of labels of mixed type has to stay one: an array of numbers would hide it.
        return y.ndim == 2 or all(isinstance(v, (float, np.floating)) for v in y.ravel())
    return y.dtype.kind == "f" or y.ndim == 2
