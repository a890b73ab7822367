"""Row labels of tables, targets and weights: rows are sorted to one order of labels.

`align_rows` is the one place that compares labels. Estimators call it through `wrap_methods`,
functions through the decorator `aligns_rows`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from contextlib import nullcontext

import numpy as np

from alignlearn._text import listed

from .arguments import MergedConvergence, doubt
from .samples import is_missing, is_sparse

_BY_SAMPLE = ("y", "sample_weight", "groups", "task")
_SHOWN = 3  # labels in an error message


class RowLabels:
    """Row labels that are not a pandas index, such as a key column of a polars frame.

    Parameters
    ----------
    values : sequence of hashable objects
    """

    def __init__(self, values):
        self._values = tuple(values)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values)

    def __getitem__(self, rows):
        return RowLabels(np.fromiter(self._values, object, len(self))[rows].tolist())

    def equals(self, other):
        """Whether other labels are equal and in the same order."""
        return self._values == tuple(other)


def row_labels(table):
    """Return the labels of the rows of a pandas frame or series or of a stack, else None."""
    for name in ("index", "row_labels"):  # a frame may have a column of the second name
        found = getattr(table, name, None)
        if hasattr(found, "equals"):
            return found
    return None


def stored_labels(labels):
    """Return labels as an array that a model keeps: integers, or else strings.

    Returns
    -------
    ndarray of shape (m,), int64 or object, or None for None
    """
    if labels is None:
        return None
    values = list(labels)
    if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values):
        return np.array(values, dtype=np.int64)
    return np.array([v if isinstance(v, str) else str(v) for v in values], dtype=object)


def row_order(first, expected, name, labels):
    """Return the positions of labels in the order of the expected ones; None where they are equal.

    Parameters
    ----------
    first, name : str
        Names in messages of the objects with the expected labels and with the given ones.
    expected, labels : pandas.Index, RowLabels or sequence
        The given labels must be the expected ones in any order.

    Raises
    ------
    ValueError
        The labels or their number differ, or labels repeat and are in another order.
    """
    equal = getattr(expected, "equals", None) or getattr(labels, "equals", None)
    other = labels if hasattr(expected, "equals") else expected
    if len(expected) == len(labels) and equal is not None and equal(other):
        return None
    mine, given = _keys(expected), _keys(labels)
    if mine == given:
        return None
    places = {label: place for place, label in enumerate(given)}
    if len(mine) != len(given) or set(mine) != set(places):
        raise ValueError(_difference(first, mine, name, given))
    if len(places) < len(given):
        raise ValueError(
            f"{first} and {name} have repeated row labels in different order, so that their rows "
            f"cannot be matched: {listed(_repeated(given), _SHOWN)}. Accepted: unique labels in "
            f"any order, or rows in the same order: {_POSITION}."
        )
    if _is_default(expected) or _is_default(labels):
        doubt(
            f"{first} and {name} have the labels 0 to {len(mine) - 1} in different order; their "
            f"rows are matched by label. If they correspond by position, {_POSITION}."
        )
    return np.array([places[label] for label in mine], dtype=np.intp)


_POSITION = "drop the labels by reset_index(drop=True) or to_numpy()"


def _are_unrelated(expected, labels):
    """Whether one of two indexes of the same length is a default, and not of the other's labels."""
    if len(expected) != len(labels) or _is_default(expected) == _is_default(labels):
        return False
    return set(_keys(expected)) != set(_keys(labels))


def align_rows(given):
    """Reorder rows to the order of the first object that has row labels.

    Targets, weights and groups with other labels are matched by position, with a warning, if either
    they or the first object have the labels 0, 1, ... of a new data frame.

    Parameters
    ----------
    given : dict
        Objects of the same samples by the names that messages show; those without labels, and
        None, are returned unchanged.

    Returns
    -------
    dict
        The same names; an object in the right order is returned unchanged.

    Raises
    ------
    ValueError
        As `row_order`.
    """
    found, first, expected = dict(given), None, None
    for name, rows in given.items():
        labels = row_labels(rows)
        if labels is None:
            continue
        if first is None:
            first, expected = name, labels
            continue
        if name in _BY_SAMPLE and _are_unrelated(expected, labels):
            default, other = (first, name) if _is_default(expected) else (name, first)
            doubt(
                f"{default} has the labels 0 to {len(labels) - 1}, and {other} has different ones; "
                f"their rows are matched by position. If that is right, {_POSITION}."
            )
            continue
        order = row_order(first, expected, name, labels)
        if order is not None:
            found[name] = rows.iloc[order] if hasattr(rows, "iloc") else rows[order]
    return found


def align_columns(given):
    """Reorder the columns of matrices of pairs, a dict, to the order of the first one with labels.

    Result and errors as of `align_rows`; labels are those of `column_labels`.
    """
    found, first, expected = dict(given), None, None
    for name, matrix in given.items():
        labels = column_labels(matrix)
        if labels is None:
            continue
        if first is None:
            first, expected = f"columns of {name}", labels
            continue
        order = row_order(first, expected, f"columns of {name}", labels)
        if order is not None:
            found[name] = matrix.iloc[:, order]
    return found


def columns_as_rows(name, matrix):
    """Reorder the columns of a square matrix of training samples to the order of its rows."""
    labels = column_labels(matrix)
    if labels is None or matrix.shape[0] != matrix.shape[1]:
        return matrix  # a matrix that is not square raises another error
    order = row_order(f"rows of {name}", row_labels(matrix), f"columns of {name}", labels)
    return matrix if order is None else matrix.iloc[:, order]


def columns_as_fitted(name, matrix, fitted):
    """Reorder the columns of rows of new samples to the order of the training samples.

    Parameters
    ----------
    name : str
    matrix : array-like of shape (n, m)
    fitted : ndarray of shape (m,)
        Labels of the training samples as `stored_labels` returns them, or None.
    """
    labels = None if fitted is None else column_labels(matrix)
    if labels is None:
        return matrix
    order = row_order("X of fit", fitted, f"columns of {name}", stored_labels(labels))
    return matrix if order is None else matrix.iloc[:, order]


def column_labels(matrix):
    """Return the labels of the columns of a matrix of pairs, or None if it has none.

    Default labels 0, 1, ... of columns do not count if rows have other labels.
    """
    columns, rows = getattr(matrix, "columns", None), row_labels(matrix)
    if rows is None or not hasattr(columns, "equals"):
        return None
    return None if _is_default(columns) and not _is_default(rows) else columns


def aligns_rows(function, is_fit=False):
    """Decorate a function of X: tables, y, weights and groups are aligned by their row labels.

    A fit gives one ConvergenceWarning for all of its solves.
    """
    parameters = inspect.signature(function)

    @functools.wraps(function)
    def aligned(*args, **kwargs):
        try:
            bound = parameters.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # the call itself raises the error
        given = bound.arguments
        kernels = given.get("kernels", getattr(given.get("self"), "kernels", None))
        others = {name: given[name] for name in _BY_SAMPLE if given.get(name) is not None}
        if "X" in given:
            given["X"], changed = _aligned(given["X"], others, kernels)
            given.update(changed)
        fit = given.get("fit")
        if isinstance(fit, tuple) and len(fit) >= 2:
            names = _BY_SAMPLE[: len(fit) - 1]
            X, changed = _aligned(fit[0], dict(zip(names, fit[1:])), kernels)
            given["fit"] = (X, *(changed[name] for name in names), *fit[1 + len(names) :])
        with MergedConvergence() if is_fit else nullcontext():
            return function(*bound.args, **bound.kwargs)

    aligned._aligns_rows = True
    return aligned


def wrap_methods(cls):
    """Let every public method of a class that takes X align rows, and ``fit`` merge warnings."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        if name.startswith("_") or not inspect.isfunction(found):
            continue
        takes = "X" in inspect.signature(found).parameters
        if takes and not hasattr(found, "_aligns_rows"):
            setattr(cls, name, aligns_rows(found, name == "fit"))


def _aligned(X, others, kernels):
    """X and other arguments with a row per sample, aligned by their labels."""
    of_objects = isinstance(kernels, (list, tuple)) and all(
        getattr(kernel, "needs_vectors", True) is False for kernel in kernels
    )
    frames = isinstance(X, (list, tuple)) and any(hasattr(table, "iloc") for table in X)
    tables = {"X": X}  # by the names that messages show
    if isinstance(X, Mapping) and not is_sparse(X):
        tables = {f"table {name!r}": table for name, table in X.items()}
    elif frames and not of_objects:
        tables = {f"table {k}": table for k, table in enumerate(X)}
    found = align_rows(tables | others)
    if isinstance(kernels, str) and kernels == "precomputed":
        found |= align_columns({name: found[name] for name in tables})
    changed = {name: found.pop(name) for name in others}
    if all(found[name] is tables[name] for name in tables):
        return X, changed
    if isinstance(X, Mapping):
        return dict(zip(X, found.values())), changed
    return (list(found.values()) if isinstance(X, (list, tuple)) else found["X"]), changed


def _keys(labels):
    """Labels as a list of hashable values, with one value for all missing labels."""
    return [_MISSING if is_missing(label) else label for label in labels]


_MISSING = ("missing",)


def _is_default(labels):
    """Whether labels are the 0, 1, ... that pandas gives rows without labels."""
    return type(labels).__name__ == "RangeIndex" and (labels.start, labels.step) == (0, 1)


def _repeated(labels):
    seen, found = set(), []
    for label in labels:
        if label in seen and label not in found:
            found.append(label)
        seen.add(label)
    return found


def _difference(first, mine, name, given):
    """The message for labels that differ."""
    known, own = set(mine), set(given)
    only = [
        (first, [v for v in mine if v not in own]),
        (name, [v for v in given if v not in known]),
    ]
    shown = [f"{listed(labels, _SHOWN)} only in {owner}" for owner, labels in only if labels]
    if not shown:
        shown = [f"{listed(_repeated(mine) or _repeated(given), _SHOWN)} repeated"]
    return (
        f"{first} has {len(mine)} rows and {name} has {len(given)}, with different labels: "
        f"{'; '.join(shown)}. Accepted: the same labels in any order. Take the samples of both, "
        "first.reindex(common) and second.reindex(common) with common = "
        "first.index.intersection(second.index). If rows correspond by position, "
        f"{_POSITION}."
    )
