"""Target columns Y whose centred kernel ``Y Y'`` is what kernels are aligned with."""

from __future__ import annotations

import numpy as np

from alignlearn.validation import check_choice


def check_labels(y, n_samples=None, name="y"):
    """A 1-d array of class labels of one kind; mixed types, NaN and wrong lengths are errors."""
    if hasattr(y, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; a 1-d array of labels is accepted.")
    raw = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.ndim != 1:
        raise ValueError(f"{name} must be a 1-d array of labels, got shape {raw.shape}.")
    if raw.dtype == object:
        if len({isinstance(v, str) for v in raw}) > 1:
            raise TypeError(
                f"{name} holds labels of mixed type: strings and numbers; use one kind."
            )
        try:
            raw = np.array(raw.tolist())
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} holds labels of mixed type: {error}.") from None
    if raw.dtype.kind not in "biufUS":
        raise TypeError(f"{name} must hold numbers or strings, got dtype {raw.dtype}.")
    if raw.dtype.kind == "f" and not np.all(np.isfinite(raw)):
        raise ValueError(f"{name} contains NaN or infinity; all labels must be finite.")
    if n_samples is not None and len(raw) != n_samples:
        raise ValueError(f"{name} has {len(raw)} labels, but X has {n_samples} samples.")
    return raw


def check_targets(y, n_samples=None, name="y"):
    """Real targets as a float64 array of shape (m,) or (m, c)."""
    if hasattr(y, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; a dense array of numbers is accepted.")
    try:
        y = np.asarray(y)
        # Strings of digits and complex numbers would be converted without a word.
        y = y.astype(np.float64) if y.dtype.kind in "biuO" else y
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}.") from None
    if y.dtype.kind != "f":
        raise ValueError(f"{name} must hold real numbers, got dtype {y.dtype}.")
    y = y.astype(np.float64, copy=False)
    if y.ndim not in (1, 2) or y.size == 0:
        raise ValueError(f"{name} must have shape (m,) or (m, c), got {y.shape}.")
    if not np.all(np.isfinite(y)):
        raise ValueError(f"{name} contains NaN or infinity; all targets must be finite.")
    if n_samples is not None and y.shape[0] != n_samples:
        raise ValueError(f"{name} has {y.shape[0]} targets, but X has {n_samples} samples.")
    return y


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
    Y = plain_columns(y, n_samples, task, name)
    return np.where(Y.min(axis=0) == Y.max(axis=0), 0.0, Y - Y.mean(axis=0))


def plain_columns(y, n_samples=None, task="auto", name="y"):
    """The columns of :func:`target_columns` before centring."""
    check_choice("task", task, ("auto", "classification", "regression"))
    if task == "auto":
        kind = np.asarray(y, dtype=None if isinstance(y, np.ndarray) else object)
        if kind.dtype == object and kind.ndim >= 1:
            numbers = all(isinstance(v, (float, np.floating)) for v in kind.ravel())
            task = "regression" if kind.ndim == 2 or numbers else "classification"
        else:
            real = kind.dtype.kind == "f" or kind.ndim == 2
            task = "regression" if real else "classification"
    if task == "regression":
        Y = check_targets(y, n_samples, name)
        return Y[:, None] if Y.ndim == 1 else Y
    classes, codes = np.unique(check_labels(y, n_samples, name), return_inverse=True)
    if len(classes) <= 2:
        return 2.0 * codes[:, None] - 1.0
    Y = np.zeros((len(codes), len(classes)))
    Y[np.arange(len(codes)), codes] = 1.0
    return Y
