"""Row labels of tables, targets and weights: rows are joined by position, whatever their labels."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from contextvars import ContextVar

from .arguments import doubt

_BY_SAMPLE = ("y", "sample_weight", "groups", "task")
_compared = ContextVar("compared", default=False)


def compares_row_labels(function):
    """Decorate a function of X, and of y and weights: a doubt, once per call, for other labels."""
    parameters = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        if _compared.get():
            return function(*args, **kwargs)
        before = _compared.set(True)
        try:
            _doubt_arguments(parameters, args, kwargs)
            return function(*args, **kwargs)
        finally:
            _compared.reset(before)

    checked._compares_row_labels = True
    return checked


def wrap_methods(cls):
    """Let every public method of a class that takes X compare row labels."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        if name.startswith("_") or not inspect.isfunction(found):
            continue
        takes = "X" in inspect.signature(found).parameters
        if takes and not hasattr(found, "_compares_row_labels"):
            setattr(cls, name, compares_row_labels(found))


def doubt_matrices(matrices):
    """Warn where given matrices, a dict, have labels in different order; not inside a fit."""
    if not _compared.get():
        _doubt_groups(_labels_of_matrices(matrices))


def row_labels(table):
    """The row labels of a frame or series of pandas, or of a stack of such; else None."""
    for name in ("index", "row_labels"):  # a frame may have a column of the second name
        found = getattr(table, name, None)
        if hasattr(found, "equals"):
            return found
    return None


def _doubt_arguments(parameters, args, kwargs):
    try:
        given = parameters.bind(*args, **kwargs).arguments
    except TypeError:
        return  # the call itself raises the error
    kernels = given.get("kernels", getattr(given.get("self"), "kernels", None))
    precomputed = isinstance(kernels, str) and kernels == "precomputed"
    others = {name: given.get(name) for name in _BY_SAMPLE}
    fit = given.get("fit")
    pairs = [(given.get("X"), others)]
    if isinstance(fit, tuple) and len(fit) >= 2:
        pairs.append((fit[0], dict(zip(_BY_SAMPLE, fit[1:]))))
    for X, others in pairs:
        tables = _tables_of(X)
        rows = {name: row_labels(table) for name, table in (tables | others).items()}
        _doubt_groups([rows, *(_labels_of_matrices(tables)[1:] if precomputed else [])])


def _tables_of(X):
    tables = getattr(X, "tables", X)
    if isinstance(tables, Mapping):
        return {repr(name): table for name, table in tables.items()}
    if isinstance(tables, (list, tuple)) and tables and hasattr(tables[0], "shape"):
        return {f"table {k}": table for k, table in enumerate(tables)}
    return {"X": tables}


def _labels_of_matrices(matrices):
    """Labels that have to agree: of rows, of columns, of both where a frame is square."""
    rows = {name: row_labels(matrix) for name, matrix in matrices.items()}
    columns = {
        f"columns of {name}": matrix.columns
        for name, matrix in matrices.items()
        if rows[name] is not None and hasattr(getattr(matrix, "columns", None), "equals")
    }
    first = next(iter(columns.values()), None)
    same = {name: labels for name, labels in columns.items() if _same_labels(first, labels)}
    both = [
        {f"rows of {name}": labels, f"columns of {name}": columns[f"columns of {name}"]}
        for name, labels in rows.items()
        if labels is not None and _same_labels(labels, columns.get(f"columns of {name}", ()))
    ]
    return [rows, same, *both]


def _same_labels(first, second):
    return len(first) == len(second) and set(first) == set(second)


def _doubt_groups(groups):
    """One doubt, of the first two in a group whose labels differ."""
    for group in groups:
        labelled = [(name, labels) for name, labels in group.items() if labels is not None]
        for name, labels in labelled[1:]:
            first, expected = labelled[0]
            if len(expected) != len(labels) or expected.equals(labels):
                continue  # other lengths are an error of their own
            same = _same_labels(expected, labels)
            how = "the same labels in another order" if same else "different labels"
            doubt(
                f"{first} and {name} have {how}, but are joined by position. Align them, such as "
                "by other.loc[first.index], or drop the labels by reset_index(drop=True) where "
                "the samples are in the same order."
            )
            return
