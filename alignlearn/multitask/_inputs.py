"""The task of every sample, as an array or as a column of X."""

from __future__ import annotations

import numpy as np

from alignlearn._text import listed
from alignlearn.estimators import inputs
from alignlearn.validation import as_array, check_labels, is_sparse


def split_column(X, column):
    """The samples without the column of task labels, and the labels.

    Parameters
    ----------
    X : array-like of shape (m, d), data frame or SciPy sparse matrix
    column : int or str
        A number from -d to d - 1, or the name of a data frame's column.

    Returns
    -------
    (ndarray or sparse matrix of shape (m, d - 1), ndarray of shape (m,))
    """
    names = inputs.feature_names(X)
    sparse = is_sparse(X)
    A = X.tocsc() if sparse else as_array("X", X)
    if A.ndim != 2:
        raise ValueError(f"X must be a matrix (m, d) that task_column selects from, got {A.shape}.")
    j = _column_number(column, names, A.shape[1])
    rest = np.delete(np.arange(A.shape[1]), j)
    if rest.size == 0:
        raise ValueError("X has 1 column, which is task_column; accepted: at least one feature.")
    labels = A[:, [j]].toarray().ravel() if sparse else A[:, j]
    return (A[:, rest].tocsr() if sparse else A[:, rest]), labels


def without_name(names, column):
    """Names of the remaining columns; None if there are no names."""
    if names is None:
        return None
    return list(np.delete(names, _column_number(column, names, len(names))))


def _column_number(column, names, width):
    if isinstance(column, str):
        if names is None or column not in list(names):
            known = "no column names" if names is None else f"the columns {listed(list(names))}"
            raise ValueError(f"task_column={column!r}, but X has {known}.")
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise TypeError(f"task_column must be None, an integer or a column name, got {column!r}.")
    if not -width <= column < width:
        raise ValueError(
            f"task_column={column} is out of range; accepted for the {width} columns of X: "
            f"{-width} to {width - 1}."
        )
    return int(column) % width


def task_labels(task, n_samples):
    """Labels of the tasks in order, and the rows of each."""
    labels = check_labels(task, n_samples, "task", classes=False)
    tasks, codes = np.unique(labels, return_inverse=True)
    order = np.argsort(codes.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(codes.reshape(-1)))
    return tasks, np.split(order, ends[:-1])


def task_rows(task, tasks, n_samples):
    """(number of the task, rows) for the tasks that new samples belong to.

    Parameters
    ----------
    task : array-like of shape (n,)
    tasks : ndarray of shape (T,)
        Those of ``fit``.
    n_samples : int

    Raises
    ------
    ValueError
        A task was not present in ``fit``.
    """
    found, rows = task_labels(task, n_samples)
    known = {label: t for t, label in enumerate(tasks.tolist())}
    unseen = [label for label in found.tolist() if label not in known]
    if unseen:
        raise ValueError(
            f"task has values that did not occur in fit, {listed(unseen, 5)}; accepted: "
            f"{listed(tasks.tolist())}."
        )
    return [(known[label], some) for label, some in zip(found.tolist(), rows)]
