"""Checks of class labels, real targets and sample weights."""

from __future__ import annotations

from numbers import Real

import numpy as np

from alignlearn._text import listed

from .arguments import check_numbers
from .samples import is_missing, is_sparse, plain


def codes_by_appearance(labels):
    """Codes (m,) of labels in the order in which these first appear, and the number of labels.

    Unlike positions among sorted labels, these codes do not depend on the names of classes.
    """
    _, first, positions = np.unique(labels, return_index=True, return_inverse=True)
    return first.argsort().argsort()[positions.reshape(-1)], len(first)


def _refuse_missing(name, labels):
    """Raise an error for missing values among objects; NaN among numbers is found later."""
    missing = [i for i, label in enumerate(labels) if is_missing(label)]
    if missing and not all(isinstance(label, Real) for label in labels):
        raise ValueError(
            f"{name} contains NaN, None or another missing value in {len(missing)} rows, the first "
            f"of them {missing[0]}; accepted: a label for every sample. Leave the rows out."
        )


def check_rows(name: str, n_rows: int, n_samples: int) -> None:
    """Raise a `ValueError` unless a matrix has as many rows as y has values."""
    if n_rows != n_samples:
        raise ValueError(f"{name} has {n_rows} rows but y has {n_samples} values; they must agree.")


def check_labels(y, n_samples=None, name="y", *, classes=True):
    """A 1-d array of labels of one kind; mixed types, NaN and wrong lengths are errors.

    With ``classes=False`` they are not classes, and messages do not mention classes.
    """
    if is_sparse(y):
        raise TypeError(f"{name} is a sparse matrix; a 1-d array of labels is accepted.")
    y = plain(name, y)
    raw = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.ndim != 1:
        raise ValueError(f"{name} must be a 1-d array of labels, got shape {raw.shape}.")
    if raw.dtype == object:
        _refuse_missing(name, raw)
        if len({isinstance(v, str) for v in raw}) > 1:
            raise TypeError(
                f"{name} holds labels of mixed type: strings and numbers; use one kind."
            )
        try:
            raw = np.array(raw.tolist())
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} holds labels of mixed type: {error}.") from None
    if raw.dtype.kind not in "biufUS":
        one = f"values of the type {type(raw.flat[0]).__name__}" if raw.dtype == object else None
        raise TypeError(
            f"{name} must hold numbers or strings, got {one or f'dtype {raw.dtype}'}. Convert the "
            "labels to strings."
        )
    if raw.dtype.kind == "f" and not np.all(np.isfinite(raw)):
        raise ValueError(f"{name} contains NaN or infinity; all labels must be finite.")
    if raw.dtype.kind == "f" and np.any(raw != np.floor(raw)):
        if classes:
            raise ValueError(
                f"Unknown label type: {name} holds continuous values; a classifier accepts class "
                "labels."
            )
        raise ValueError(
            f"{name} holds {raw[raw != np.floor(raw)][0]:g}, which is not a label; "
            "accepted: whole numbers or strings."
        )
    if n_samples is not None and len(raw) != n_samples:
        raise ValueError(f"{name} has {len(raw)} labels, but X has {n_samples} samples.")
    return raw


def is_label_matrix(y):
    """Whether y has several columns, like many labels: an array, a data frame or nested lists."""
    if isinstance(y, (list, tuple)):
        return len(y) > 0 and all(
            hasattr(row, "__len__") and not isinstance(row, (str, bytes)) and len(row) > 1
            for row in y
        )
    shape = getattr(y, "shape", None)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def check_label_matrix(y, n_samples=None, name="y"):
    """Many labels as an array of 0 and 1, int64 of shape (m, c)."""
    try:
        y = np.asarray(y.toarray() if is_sparse(y) else plain(name, y))
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths; accepted: several labels as columns "
            "of 0 and 1, as sklearn.preprocessing.MultiLabelBinarizer returns for lists "
            "of labels."
        ) from None
    try:
        found = y.astype(np.float64)
    except (TypeError, ValueError):
        found = np.full(y.shape, np.nan)
    bad = np.flatnonzero(~((found == 0.0) | (found == 1.0)).all(axis=0))
    if bad.size or y.dtype.kind in "SU":
        values = np.unique(y[:, bad[0] if bad.size else 0].astype(str))
        raise ValueError(
            f"{name} has shape {y.shape} with the values {listed(values.tolist())} "
            "in one column, which are not multilabel targets; accepted: several columns "
            "of 0 and 1, or one column of class labels. Fit a classifier for each column "
            "of more classes."
        )
    if n_samples is not None and len(y) != n_samples:
        raise ValueError(f"{name} has {len(y)} rows, but X has {n_samples} samples.")
    return found.astype(np.int64)


def check_targets(y, n_samples=None, name="y", *, columns=True, gaps=False):
    """Real targets as a float64 array of shape (m,) or, with ``columns``, also (m, c).

    With ``gaps`` NaN is a value that is missing, and no error.
    """
    if is_sparse(y):
        raise TypeError(f"{name} is a sparse matrix; a dense array of numbers is accepted.")
    y = plain(name, y)
    try:
        y = np.asarray(y)
        # Strings of digits and complex numbers would be converted silently.
        y = y.astype(np.float64) if y.dtype.kind in "biuO" else y
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold real numbers: {str(error).rstrip('.')}.") from None
    if y.dtype.kind != "f":
        raise ValueError(f"{name} must hold real numbers, got dtype {y.dtype}.")
    y = y.astype(np.float64, copy=False)
    if y.ndim not in ((1, 2) if columns else (1,)) or y.size == 0:
        accepted = "(m,) or (m, c)" if columns else "(m,)"
        raise ValueError(f"{name} must have shape {accepted}, got {y.shape}.")
    usable = ~np.isinf(y) if gaps else np.isfinite(y)
    if not np.all(usable):
        where = ""
        if y.ndim == 2 and y.shape[1] > 1:
            bad = np.flatnonzero(~usable.all(axis=0))
            where = f" in {bad.size} of {y.shape[1]} columns ({listed(bad.tolist())})"
        what = "infinity" if gaps else "NaN or infinity"
        raise ValueError(
            f"{name} contains {what}{where}; all targets must be finite. Leave the rows out."
        )
    if n_samples is not None and y.shape[0] != n_samples:
        raise ValueError(f"{name} has {y.shape[0]} targets, but X has {n_samples} samples.")
    return y


# Squares of weights are summed; outside this range they overflow or vanish.
_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100


def optional_weights(sample_weight, n_samples):
    """Return sample weights of an empirical measure as (m,) float64, or None for None.

    Weights as in `check_weights` that are 0 or whose squares neither underflow nor overflow.
    """
    if sample_weight is None:
        return None
    weight = check_weights(sample_weight, n_samples)
    low, high = weight[weight > 0.0].min(), weight.max()
    if low < _LEAST_WEIGHT or high > _LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight has positive values from {low:.3g} to {high:.3g}; accepted: 0, and "
            f"{_LEAST_WEIGHT:g} to {_LARGEST_WEIGHT:g}."
        )
    return weight


def check_weights(sample_weight, n_samples):
    """Return sample weights as (m,) float64, ones if None; not negative, not all zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    chosen = isinstance(sample_weight, np.ndarray) and sample_weight.dtype.kind == "b"
    weight = sample_weight.astype(np.float64) if chosen else sample_weight
    weight = check_numbers("sample_weight", weight, 1)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},), one value per sample; got "
            f"{weight.shape}."
        )
    if (weight < 0.0).any():
        raise ValueError("sample_weight has negative values; accepted: numbers >= 0.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; at least one must be positive.")
    return weight
