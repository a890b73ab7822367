"""A transformer for each of several tables, before an estimator with kernels on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._text import listed
from alignlearn.kernels import check_group_names
from alignlearn.sources import GramStack, Tables, as_fitted, lacking_rows, table_rows
from alignlearn.validation import as_array, is_sparse, take

from .base import Estimator, parameters

if TYPE_CHECKING:
    from typing_extensions import Self

_UNCHANGED = "passthrough"


@parameters
class TableTransformer(Estimator):
    """Preprocessing of several tables, each by a transformer or pipeline of its own.

    ``make_pipeline(TableTransformer({"genes": StandardScaler(), "text": TfidfTransformer()}),
    MKLClassifier({"genes": "rbf", "text": "linear"}))`` takes a dict of tables, or `Tables` in
    scikit-learn's cross-validation, which then fits the transformers to training samples alone.

    Parameters
    ----------
    transformers : transformer, or dict {name: transformer or "passthrough"}
        One for all tables, or one for each. They have ``fit`` and ``transform`` and are copied
        before they are fitted. Parameters of the table "genes" are set as ``genes__name``.

    Attributes
    ----------
    transformers_ : dict
        The fitted ones.
    table_names_in_ : tuple of str

    Notes
    -----
    A sample whose row of a table is missing in every column has no such table. Its row is not
    passed to the transformer, which may be an imputer, and stays missing in the output, for
    ``missing="tables"`` of the estimator that follows.

    An estimator that makes folds itself, such as `MKLClassifierCV`, gets tables that were
    transformed on all of its training samples: its folds do not fit the transformers again. A
    `GridSearchCV` around the pipeline does.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from alignlearn import TableTransformer
    >>> X = {"a": np.arange(4.0)[:, None], "b": np.eye(4)}
    >>> changed = TableTransformer({"a": StandardScaler(), "b": "passthrough"}).fit_transform(X)
    >>> float(changed.tables["a"].std())
    1.0

    A sample that has no such table is not filled:

    >>> from sklearn.impute import SimpleImputer
    >>> X["a"] = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, 4.0], [5.0, 6.0]])
    >>> change = TableTransformer({"a": SimpleImputer(), "b": "passthrough"})
    >>> change.fit_transform(X).tables["a"].tolist()
    [[1.0, 5.0], [nan, nan], [3.0, 4.0], [5.0, 6.0]]
    """

    _fitted_marker = "transformers_"

    transformers: Any = field(default=_UNCHANGED, kw_only=False)

    def fit(self, X, y=None) -> Self:
        """Fit every transformer to its table, and to y if it takes it; return self.

        Parameters
        ----------
        X : dict or list of tables, or `Tables`
        y : array-like, optional

        Raises
        ------
        ValueError, TypeError
            Bad tables, a table without a transformer, a transformer without a table, or a table
            that is missing for every sample.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None) -> Tables:
        """``fit(X, y).transform(X)``."""
        self._forget()
        X = _tables(X)
        found, changed = self._of_tables(X.names), {}
        for name, transformer in found.items():
            table = X.tables[name]
            if isinstance(transformer, str):
                changed[name] = table
                continue
            rows = _present(table)
            if rows is not None and not rows.size:
                raise ValueError(
                    f"table {name!r} is missing for every sample; accepted: a table that some "
                    "samples have."
                )
            some, of_some = table, y
            if rows is not None:
                some, of_some = table_rows(table, rows), _targets_of(y, rows)
            changed[name] = _with_missing(_fit_transform(transformer, some, of_some), table, rows)
        changed = _labeled(changed, X)
        self._widths = {name: table.shape[1] for name, table in changed.tables.items()}
        self.table_names_in_, self.transformers_ = X.names, found
        return changed

    def transform(self, X) -> Tables:
        """Transform the tables of new samples, in the order of ``fit``.

        A table that X does not contain is missing for all samples, also in the result, which
        ``missing="tables"`` of the following estimator accepts.
        """
        self._check_is_fitted()
        given = X if isinstance(X, (Mapping, Tables)) else ()
        some = [name for name in self.table_names_in_ if name in getattr(given, "tables", given)]
        X = _tables(as_fitted(X, some or self.table_names_in_))
        found = {}
        for name in X.names:
            table, unchanged = X.tables[name], isinstance(self.transformers_[name], str)
            found[name] = table if unchanged else self._changed(name, table)
        return _labeled(found, X)

    def _changed(self, name, table):
        """The transformed table of new samples that have it."""
        rows, transform = _present(table), self.transformers_[name].transform
        if rows is None:
            return transform(table)
        if not rows.size:
            return np.full((table.shape[0], self._widths[name]), np.nan)
        return _with_missing(transform(table_rows(table, rows)), table, rows)

    def _of_tables(self, names):
        """An unfitted transformer of each table."""
        from sklearn.base import clone

        given = self.transformers
        if not isinstance(given, Mapping):
            given = dict.fromkeys(names, given)
        known = check_group_names("transformers", given)
        if set(known) != set(names):
            raise ValueError(
                f"transformers are for the tables {listed(known)}, X has {listed(names)}; "
                f"accepted: one for each, {_UNCHANGED!r} for a table that is not changed."
            )
        for name in names:
            usable = hasattr(given[name], "fit") and hasattr(given[name], "transform")
            if not usable and not (isinstance(given[name], str) and given[name] == _UNCHANGED):
                raise TypeError(
                    f"transformers[{name!r}] is {given[name]!r:.80}; accepted: an object with fit "
                    f"and transform, or {_UNCHANGED!r}."
                )
        return {n: given[n] if isinstance(given[n], str) else clone(given[n]) for n in names}

    def get_params(self, deep=True):
        """The parameters; with ``deep``, those of transformers as ``table__name`` too."""
        params = super().get_params(deep=deep)
        if deep and isinstance(self.transformers, Mapping):
            for table, transformer in self.transformers.items():
                if hasattr(transformer, "get_params") and not isinstance(transformer, type):
                    inner = transformer.get_params(deep=True)
                    params.update({f"{table}__{key}": value for key, value in inner.items()})
        return params

    def set_params(self, **params) -> Self:
        """Set parameters, ``table__name=value`` that of a table's transformer; return self."""
        own = self.transformers if isinstance(self.transformers, Mapping) else {}
        rest, inner = {}, {}
        for key, value in params.items():
            table = next((t for t in own if key.startswith(f"{t}__")), None)
            if table is None:
                rest[key] = value
            else:
                inner.setdefault(table, {})[key[len(table) + 2 :]] = value
        super().set_params(**rest)
        for table, values in inner.items():
            if not hasattr(own[table], "set_params"):
                raise ValueError(
                    f"transformers[{table!r}] is {own[table]!r:.80}, which has no parameter "
                    f"{next(iter(values))!r}."
                )
            own[table].set_params(**values)
        return self


def _labeled(tables, X):
    """`Tables` of transformed tables, with the row labels of X if they have none."""
    found = Tables(tables)
    found.row_labels = X.row_labels if found.row_labels is None else found.row_labels
    return found


def _fit_transform(transformer, table, y):
    if hasattr(transformer, "fit_transform"):
        return transformer.fit_transform(table, y)
    return transformer.fit(table, y).transform(table)


def _present(table):
    """The rows of a table that are not missing; None for all."""
    if is_sparse(table):
        return None
    lacking = lacking_rows(table)
    return np.delete(np.arange(table.shape[0]), lacking) if lacking.size else None


def _targets_of(y, rows):
    if y is None:
        return None
    return y.iloc[rows] if hasattr(y, "iloc") else take(y, rows)


def _with_missing(changed, table, rows):
    """The transformed rows of a table, and missing values in the other rows."""
    if rows is None:
        return changed
    m = table.shape[0]
    if hasattr(changed, "reindex"):  # a frame of pandas
        changed = changed.set_axis(rows).reindex(range(m))
        return changed.set_axis(table.index) if hasattr(table, "index") else changed
    changed = changed.toarray() if is_sparse(changed) else as_array("table", changed)
    kind = changed.dtype if changed.dtype.kind in "fO" else np.float64
    found = np.full((m, changed.shape[1]), np.nan, kind)
    found[rows] = changed
    return found


def _tables(X):
    if isinstance(X, GramStack) or not isinstance(X, (Mapping, Tables, list, tuple)):
        raise TypeError(f"X must be a dict or list of tables, or Tables, got {type(X).__name__}.")
    return Tables(X)
