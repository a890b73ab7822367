"""A transformer for each of several tables, in front of an estimator with kernels of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from alignlearn._text import listed
from alignlearn.kernels import check_group_names
from alignlearn.sources import GramStack, Tables, as_fitted

from .base import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self

_UNCHANGED = "passthrough"


@dataclass(eq=False, repr=False, kw_only=True)
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
            Bad tables, a table without a transformer, a transformer without a table.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None) -> Tables:
        """``fit(X, y).transform(X)``."""
        self._forget()
        X = _tables(X)
        found, changed = {}, {}
        for name, transformer in self._of_tables(X.names).items():
            table = X.tables[name]
            if isinstance(transformer, str):
                found[name], changed[name] = transformer, table
            elif hasattr(transformer, "fit_transform"):
                changed[name] = transformer.fit_transform(table, y)
                found[name] = transformer
            else:
                found[name] = transformer.fit(table, y)
                changed[name] = found[name].transform(table)
        changed = Tables(changed)
        self.table_names_in_, self.transformers_ = X.names, found
        return changed

    def transform(self, X) -> Tables:
        """The tables of new samples transformed, in the order of ``fit``."""
        self._check_is_fitted()
        X = _tables(as_fitted(X, self.table_names_in_))
        return Tables(
            {
                name: X.tables[name] if isinstance(t, str) else t.transform(X.tables[name])
                for name, t in self.transformers_.items()
            }
        )

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
                f"accepted: one for each, {_UNCHANGED!r} for a table that stays as it is."
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


def _tables(X):
    if isinstance(X, GramStack) or not isinstance(X, (Mapping, Tables, list, tuple)):
        raise TypeError(f"X must be a dict or list of tables, or Tables, got {type(X).__name__}.")
    return Tables(X)
