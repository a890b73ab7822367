"""Several tables of the same samples, and several Gram matrices, indexed by sample.

This module converts them to one matrix with a group of columns for each table and kernels on
these groups, or to precomputed kernels between some samples and those of ``fit``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from alignlearn._text import listed
from alignlearn.kernels import (
    Columns,
    Kernel,
    RankOneKernels,
    are_per_column,
    check_group_names,
    column_group,
    column_names,
    group_kernels,
    kernel_list,
    refuse_packed,
)
from alignlearn.validation import (
    RowLabels,
    align_rows,
    as_array,
    check_features,
    check_samples,
    columns_as_fitted,
    is_sparse,
    row_labels,
)
from alignlearn.validation.samples import frame_names, is_missing

from .gram_stack import GramStack
from .named_parts import NamedParts, check_part_names


class Tables(NamedParts):
    """Several tables of the same samples, indexed by sample: X for kernels of each table.

    scikit-learn cannot index a dict, so its cross-validation and searches need this class; ``fit``
    and ``predict`` of estimators with ``kernels`` also accept the dict or list itself.

    Parameters
    ----------
    tables : dict {name: table}, or sequence of tables
        Matrices (m, d_k): arrays, data frames, SciPy sparse matrices. The tables of a sequence are
        named "table 0", "table 1", ... Tables are stored by reference; ``fit`` checks their values.
        pandas frames are matched by their index: rows with the same labels are brought to the order
        of the first table that has labels.
    key : str, optional
        A column of every table whose values are the row labels, such as a sample identifier. It is
        removed from the tables. This is the only way to give polars frames row labels.

    Attributes
    ----------
    names : tuple of str
    row_labels : pandas.Index, sequence or None
        Labels of the samples, if tables have them.
    shape : tuple of int
        Number of samples, and total number of columns.
    columns : list of str
        "table__column" for every column of all tables. A column without a name has its number
        instead.

    Raises
    ------
    ValueError, TypeError
        No table, a name that is not a string, a table that is not a matrix or has no columns,
        tables with different numbers of rows or different row labels, or a table without the key.
        The message names the table.

    Notes
    -----
    Different labels are an error, because a table in another order would be joined to the wrong
    samples. ``table.reindex(labels)`` inserts rows of NaN for samples without this table, which
    ``missing="tables"`` of the estimators accepts. Arrays have no labels: their rows are matched by
    position.

    Kernels use the tables side by side: dense tables are copied into one matrix; if one table
    is sparse, all are converted to sparse matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import MKLRegressor, Tables
    >>> X = Tables({"genes": np.eye(6), "lipids": np.arange(6.0)[:, None]})
    >>> model = MKLRegressor({"genes": "linear", "lipids": ["linear", "rbf"]}).fit(X, np.arange(6))
    >>> X[:2]
    Tables(2 samples, tables genes, lipids)

    Rows are matched by their labels:

    >>> import pandas as pd
    >>> genes = pd.DataFrame({"g": [1.0, 2.0, 3.0]}, index=["ann", "bob", "eve"])
    >>> lipids = pd.DataFrame({"l": [30.0, 10.0, 20.0]}, index=["eve", "ann", "bob"])
    >>> Tables({"genes": genes, "lipids": lipids}).joined().tolist()
    [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]
    """

    _what = "tables"

    def __init__(self, tables, key=None):
        self.row_labels = getattr(tables, "row_labels", None)
        if isinstance(tables, Tables):
            tables = tables.tables
        if not isinstance(tables, Mapping):
            if not isinstance(tables, (list, tuple)):
                raise TypeError(f"tables must be a dict or list of tables, got {tables!r:.80}.")
            tables = {f"table {k}": table for k, table in enumerate(tables)}
        names = check_group_names("tables", tables)
        found = {name: _table(name, tables[name]) for name in names}
        if key is not None:
            found = {name: _keyed(name, table, key) for name, table in found.items()}
        found = align_rows({f"table {name!r}": table for name, table in found.items()})
        labels = [row_labels(table) for table in found.values()]
        self.tables = {
            name: table.rows if isinstance(table, _Keyed) else table
            for name, table in zip(names, found.values())
        }
        rows = {name: table.shape[0] for name, table in self.tables.items()}
        if len(set(rows.values())) > 1:
            shown = listed([f"{name!r} has {m}" for name, m in rows.items()], show=str)
            raise ValueError(
                f"tables have different numbers of rows: {shown}; accepted: the same "
                "number of rows. Match data frames with row labels by "
                "table.reindex(labels)."
            )
        self.row_labels = next((own for own in labels if own is not None), self.row_labels)

    @property
    def names(self):
        """Names of the tables."""
        return tuple(self.tables)

    @property
    def shape(self):
        """Number of samples, and total number of columns."""
        tables = list(self.tables.values())
        return tables[0].shape[0], sum(table.shape[1] for table in tables)

    @property
    def columns(self):
        """Names of all columns, "table__column"."""
        return [
            f"{name}__{column}"
            for name, table in self.tables.items()
            for column in frame_names(table) or range(table.shape[1])
        ]

    def spans(self):
        """The range of columns of each table, as a dict."""
        ends = np.cumsum([table.shape[1] for table in self.tables.values()]).tolist()
        starts = [0, *ends[:-1]]
        return {name: range(*ends) for name, ends in zip(self.names, zip(starts, ends))}

    def joined(self, gaps=False):
        """All tables side by side, (m, d): an array, or a CSR matrix where one is sparse.

        If a table contains strings the result is an array of objects, for kernels on strings,
        unless a table is sparse. With ``gaps``, a row of NaN marks a missing table and raises no
        error; strings are then not allowed.
        """
        if not gaps and not any(map(is_sparse, self.tables.values())):
            arrays = [as_array(f"table {name!r}", table) for name, table in self.tables.items()]
            if any(map(_holds_texts, arrays)):
                return np.hstack([array.astype(object) for array in arrays])
        parts = []
        for name, table in self.tables.items():
            if gaps:
                parts.append(_dense_with_gaps(name, table))
            elif is_sparse(table):
                parts.append(check_features(table))
            else:
                _refuse_gaps(name, table)
                parts.append(check_samples(f"table {name!r}", table))
        if not any(map(is_sparse, parts)):
            return parts[0] if len(parts) == 1 else np.hstack(parts)
        from scipy.sparse import csr_array, hstack

        return hstack([csr_array(part) for part in parts], format="csr")

    def __array__(self, dtype=None, copy=None):
        joined = self.joined()
        if is_sparse(joined):
            raise TypeError("a table is sparse; accepted here: arrays, such as table.toarray().")
        return joined if dtype is None else joined.astype(dtype)

    def _some(self, rows):
        part = Tables({name: table_rows(table, rows) for name, table in self.tables.items()})
        part.row_labels = None if self.row_labels is None else self.row_labels[rows]
        return part

    def arranged(self, names):
        """The tables in the order of ``names``; raises `ValueError` if the names differ."""
        check_part_names("table", names, self.names)
        arranged = Tables({name: self.tables[name] for name in names})
        arranged.row_labels = self.row_labels
        return arranged


class _Keyed:
    """A table with row labels from a column that was removed."""

    def __init__(self, rows, labels):
        self.rows, self.row_labels = rows, labels

    @property
    def shape(self):
        return self.rows.shape

    def __getitem__(self, order):
        return _Keyed(table_rows(self.rows, order), self.row_labels[order])


class AbsentTable:
    """A table that is missing for all new samples: NaN in every row and column.

    Parameters
    ----------
    n_samples : int
    columns : list
        Names of the columns, equal to those of the table in ``fit``.
    """

    def __init__(self, n_samples, columns):
        self.shape, self.columns = (n_samples, len(columns)), list(columns)

    def __array__(self, dtype=None, copy=None):
        return np.full(self.shape, np.nan, dtype)

    def __getitem__(self, rows):
        return AbsentTable(np.arange(self.shape[0])[rows].size, self.columns)


def with_absent(X, fitted):
    """Several tables of new samples, with an `AbsentTable` for each missing table of ``fit``.

    Parameters
    ----------
    X : dict, list or Tables
    fitted : dict {name: list}
        The names of the columns of each table in ``fit``.
    """
    if not (_is_dict(X) or isinstance(X, Tables)):
        return X
    X = Tables(X)
    absent = {name: columns for name, columns in fitted.items() if name not in X.tables}
    if not absent:
        return X
    given = {name: AbsentTable(len(X), columns) for name, columns in absent.items()}
    found = Tables(X.tables | given)
    found.row_labels = X.row_labels
    return found


def _keyed(name, table, key):
    """Split a table into its data without the key column, and the row labels."""
    columns = frame_names(table)
    if columns is None or key not in columns:
        raise ValueError(
            f"key={key!r}: table {name!r} has no such column; accepted: a column of every table, "
            "which must be data frames."
        )
    if hasattr(table, "set_index"):
        return _table(name, table.set_index(key))
    rows = table[[column for column in columns if column != key]]
    return _Keyed(_table(name, rows), RowLabels(table[key].to_list()))


def _table(name, table):
    """A table in the form that is stored: a frame, an array or a CSR matrix."""
    if is_sparse(table):
        table = table.tocsr()
    elif frame_names(table) is None:
        table = as_array(f"table {name!r}", table)
    shape = tuple(table.shape)
    if len(shape) != 2:
        raise ValueError(
            f"table {name!r} has shape {shape}; accepted: a matrix (n_samples, n_features), of one "
            "column for one variable, such as table.reshape(-1, 1) or frame[[column]]."
        )
    if 0 in shape:
        raise ValueError(f"table {name!r} has shape {shape}; accepted: at least a row and column.")
    return table


def _holds_texts(array):
    objects = array.dtype.kind in "OUST"
    return objects and any(isinstance(value, str) for value in array.flat)


def _refuse_gaps(name, table):
    """Raise an error for missing tables (rows of NaN) that the user did not declare."""
    lacking = lacking_rows(table)
    if lacking.size:
        raise ValueError(
            f"table {name!r} contains NaN in all columns of {lacking.size} samples "
            f"({listed(lacking.tolist(), 5)}). Fill the values, for instance with "
            "sklearn.impute.SimpleImputer, or allow missing tables with missing='tables' "
            "of MKLClassifier, MKLRegressor, their searches and KernelCombiner."
        )


def lacking_rows(table):
    """Numbers of the rows of a dense table in which every value is missing."""
    if hasattr(table, "isna"):  # a data frame, which may contain strings
        nan = np.asarray(table.isna())
    else:
        table = np.asarray(table)
        if table.dtype.kind == "O":
            nan = np.vectorize(is_missing, otypes=[bool])(table)
        else:
            nan = np.isnan(table) if table.dtype.kind == "f" else np.zeros(table.shape, bool)
    return np.flatnonzero(nan.all(axis=1))


def _dense_with_gaps(name, table):
    """A table as an array in which every row is all NaN or has no NaN."""
    if is_sparse(table):
        raise TypeError(
            f"table {name!r} is sparse, and missing='tables' needs dense tables, because a sparse "
            "row without entries is a row of zeros; accepted: arrays and data frames."
        )
    found = check_samples(f"table {name!r}", table, gaps=True)
    nan = np.isnan(found)
    some = np.flatnonzero(nan.any(axis=1) & ~nan.all(axis=1))
    if some.size:
        raise ValueError(
            f"table {name!r} contains NaN in some columns of {some.size} samples "
            f"({listed(some.tolist(), 5)}); with missing='tables' a table is missing as a whole: "
            "the row is all NaN. Fill single values, for instance with "
            "sklearn.impute.SimpleImputer."
        )
    return found


def present_tables(X, spans):
    """Which samples of a matrix (n, d) have each table; a missing table is a row of NaN."""
    return ~np.isnan(X[:, [span.start for span in spans.values()]])


def with_gaps(name, X, spans):
    """A checked matrix (n, d) of tables side by side, with NaN for missing tables."""
    X = check_samples(name, X, gaps=True)
    if X.shape[1] == sum(map(len, spans.values())):
        Tables({table: X[:, span] for table, span in spans.items()}).joined(gaps=True)
        lost = np.flatnonzero(~present_tables(X, spans).any(axis=1))
        if lost.size:
            raise ValueError(
                f"{name}: every table is missing for {lost.size} samples "
                f"({listed(lost.tolist(), 5)}); accepted: at least one table. Remove these samples."
            )
    return X


def table_rows(table, rows):
    """Select rows of a table by number."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def as_tables(X, kernels=None):
    """X as `Tables` or `GramStack` if it is several tables or named matrices, else X itself.

    Parameters
    ----------
    X : samples as the user passed them
        A list of matrices is a list of tables if kernels work on vectors; a dict of kernels then
        provides their names, in order.
    kernels : kernels as the user passed them
    """
    precomputed = isinstance(kernels, str) and kernels == "precomputed"
    if isinstance(X, (Tables, GramStack)):
        if isinstance(X, GramStack) and not precomputed:
            raise TypeError('X is a GramStack; accepted with it: kernels="precomputed".')
        if isinstance(X, Tables) and precomputed:
            raise TypeError('X is Tables, but kernels="precomputed" needs a GramStack.')
        return X
    if _is_dict(X):
        return GramStack(X) if precomputed else Tables(X)
    if precomputed or not _are_matrices(X):
        return X
    if not are_per_column(kernels):
        try:
            if not any(kernel.needs_vectors for kernel in kernel_list(kernels)):
                return X  # objects that are matrices
        except (TypeError, ValueError):
            return X  # opening the kernels raises the error
    if not isinstance(kernels, Mapping):
        return Tables(X)
    if len(X) != len(kernels):
        raise ValueError(
            f"X has {len(X)} tables, but kernels has {len(kernels)} names, "
            f"{listed(list(kernels))}; accepted: one name for each table."
        )
    return Tables(dict(zip(kernels, X)))


def _are_matrices(X):
    return (
        isinstance(X, (list, tuple))
        and len(X) > 0
        and all(len(getattr(table, "shape", ())) == 2 for table in X)
    )


def open_tables(X, kernels):
    """The matrix of `Tables` and the kernels on its columns; anything else unchanged."""
    X = as_tables(X, kernels)
    if not isinstance(X, Tables):
        return X, kernels
    if are_per_column(kernels):
        names = tuple(X.columns) if kernels.names is None else kernels.names
        return X.joined(), RankOneKernels(names)
    joined, kernels = X.joined(), table_kernels(X, kernels)
    if joined.dtype.kind == "O":
        _check_numbers(X, joined, kernels)
    return joined, kernels


def _check_numbers(tables, joined, kernels):
    """Raise an error that names the table if a kernel on numbers gets strings."""
    read = set().union(*(kernel.columns_as_numbers(joined.shape[1]) for kernel in kernels))
    for name, span in tables.spans().items():
        columns = [c for c in span if c in read]
        if columns:
            check_samples(f"table {name!r}", joined[:, columns])


def table_kernels(tables, kernels) -> list[Kernel]:
    """Kernels on the columns of tables side by side.

    Parameters
    ----------
    tables : Tables
    kernels : None, Kernel, str, sequence of Kernel and str, or dict
        A dict has a kernel, a sequence of kernels, or columns of the table for every name. Other
        kernels are put on each table, but a kernel that selects `Columns` is put on these columns
        of all tables side by side.
    """
    everywhere = []
    if isinstance(kernels, Mapping):
        names = check_group_names("kernels", kernels)
        if set(names) != set(tables.names):
            unknown = [name for name in names if name not in tables.names]
            missing = [name for name in tables.names if name not in names]
            parts = [f"no table {listed(unknown)}"] * bool(unknown)
            parts += [f"table {listed(missing)} without kernels"] * bool(missing)
            raise ValueError(
                f"kernels: X has {' and '.join(parts)}; accepted: kernels for each of "
                f"{listed(tables.names)}."
            )
        own = {name: group_kernels(kernels, name) for name in tables.names}
    else:
        given = kernel_list(kernels)
        everywhere = [k.resolve_names(tables.columns) for k in given if column_group(k) is not None]
        on_each = [k for k in given if column_group(k) is None]
        own = {name: on_each for name in tables.names}
    found = []
    for name, span in tables.spans().items():
        columns = column_names(tables.tables[name])
        for kernel in own[name]:
            group = column_group(kernel)
            if group is not None and not isinstance(group[0], str) and max(group) >= len(span):
                raise ValueError(
                    f"kernels[{name!r}]: {kernel} selects column {max(group)}, but the table has "
                    f"{len(span)}."
                )
            found.append(Columns(kernel.resolve_names(columns), tuple(span), name))
    found += everywhere
    for name, span in tables.spans().items():
        table = f"table {name!r}"
        refuse_packed(table, tables.tables[name], found, span.start, tables.shape[1])
    return found


def as_fitted(X, names, stack=None, labels=None):
    """New samples in the form and order of ``fit``: tables or matrices by name.

    Parameters
    ----------
    X : samples as the user passed them
    names : sequence of str, or None
        Names of the tables or matrices in ``fit``; None if there were none.
    stack : tuple (rows, width), optional
        The rows of a `GramStack` that are the training samples, and its number of columns; None
        for tables.
    labels : ndarray, optional
        Row labels of precomputed kernels in ``fit``, as `stored_labels` returns them. With a stack,
        the labels of the whole stack.
    """
    several = _is_dict(X) or isinstance(X, (Tables, GramStack))
    if names is None:
        if several and not isinstance(X, Tables):  # Tables are also accepted as one matrix
            raise TypeError(
                f"X is {'a dict' if _is_dict(X) else type(X).__name__}, but fit had no "
                "tables; accepted: samples as in fit."
            )
        if labels is not None and isinstance(X, (list, tuple)):
            return [columns_as_fitted(f"matrix {k}", K, labels) for k, K in enumerate(X)]
        return X
    if stack is None:
        if not several and _are_matrices(X):
            if len(X) != len(names):
                raise ValueError(
                    f"X has {len(X)} tables; accepted: {len(names)}, {listed(names)} in this order."
                )
            X = dict(zip(names, X))
        elif not several:
            return X
        if isinstance(X, GramStack):
            raise TypeError("X is a GramStack, but fit had tables.")
        return Tables(X).arranged(names)
    if isinstance(X, Tables):
        raise TypeError("X is Tables, but fit had precomputed kernels.")
    if isinstance(X, GramStack):
        return X.arranged(names).against(*stack, labels)
    if _is_dict(X):
        check_part_names("matrix", names, list(X))
        own = None if labels is None else labels[stack[0]]
        return [columns_as_fitted(f"matrix {name!r}", X[name], own) for name in names]
    return X


def _is_dict(X):
    """Whether X is a dict of tables or matrices; a sparse DOK matrix (also a dict) is numeric."""
    return isinstance(X, Mapping) and not is_sparse(X)
