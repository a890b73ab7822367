"""Tables, targets and weights whose row labels are permuted: never a silent permutation."""

import warnings

import numpy as np
import pandas as pd
from draws import fuzz, require

import alignlearn as al

_TABLES = {"a": 2, "b": 1, "c": 3}


def _labels(draws, m):
    kind = draws.pick("numbers", "strings", "dates", "pairs", "default", "repeated")
    order = draws.numbers.permutation(m)
    if kind == "numbers":
        return pd.Index(3 * order + 7)
    if kind == "strings":
        return pd.Index([f"patient {k}" for k in order])
    if kind == "dates":
        return pd.date_range("2020-01-01", periods=m)[order]
    if kind == "pairs":
        return pd.MultiIndex.from_arrays([order % 3, order])
    if kind == "repeated":
        return pd.Index(order // 2)
    return pd.RangeIndex(m)


def _permuted(draws, labels):
    """The same labels in another order, or others of the same number."""
    while True:
        if draws.chance(0.7):
            found = labels[draws.numbers.permutation(len(labels))]
        else:
            found = pd.Index([f"other {k}" for k in range(len(labels))])
        if not found.equals(labels):
            return found


_KERNELS = dict.fromkeys(_TABLES, "rbf")
_MODELS = {
    "regressor": lambda: al.MKLRegressor(_KERNELS),
    "classifier": lambda: al.MKLClassifier(_KERNELS),
    "combiner": lambda: al.KernelCombiner(_KERNELS),
    "search": lambda: al.MKLRegressorCV(_KERNELS, alphas=[0.1, 1.0, 10.0], cv=2),
    "one class": lambda: al.OneClassMKL(_KERNELS),
    "transformer": lambda: al.TableTransformer(),
    "one table": lambda: al.MKLRegressor(["rbf", "linear"]),
    "matrices": lambda: al.MKLRegressor("precomputed"),
}
# Where labels may differ: in a table of fit or of new samples, or in the target.
_PLACES = {
    "one class": ("none", "table", "new"),
    "transformer": ("none", "table", "new"),
    "one table": ("none", "target"),
    "matrices": ("none", "table", "target"),
}


def _given(draws, name, labels, other, bare, wrong=None):
    """X, whose table of number ``wrong``, if there is one, has other labels."""
    indexes = [other if k == wrong else labels for k in range(len(_TABLES))]
    m = len(labels)
    rows = draws.numbers.normal(size=(m, 6))
    if name == "one table":
        return pd.DataFrame(rows, index=labels).add_prefix("x")
    if name == "matrices":
        grams = [al.Gaussian(0.1 * 3**k)(rows) for k in range(len(_TABLES))]
        X = {t: pd.DataFrame(K, i, labels) for t, K, i in zip(_TABLES, grams, indexes)}
        return al.GramStack(X) if wrong is None and draws.chance(0.5) else X
    tables = {
        table: pd.DataFrame(draws.numbers.normal(size=(m, d)), index=index).add_prefix("x")
        for (table, d), index in zip(_TABLES.items(), indexes)
    }
    if bare is not None:
        tables[bare] = np.asarray(tables[bare])
    form = draws.pick("dict", "list", "tables")
    if form == "list" and name != "transformer":
        return list(tables.values())
    return al.Tables(tables) if form == "tables" else tables


def _without_labels(X):
    """X with arrays and frames of the default index."""
    if isinstance(X, list):
        return list(map(_without_labels, X))
    if isinstance(X, (dict, al.Tables)):
        tables = X if isinstance(X, dict) else X.tables
        return {name: _without_labels(table) for name, table in tables.items()}
    return X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else X


def _doubts(call):
    """What a call gives, and how many doubts of labels it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, sum("joined by position" in str(w.message) for w in caught)


@fuzz(2)
def test_permuted_row_labels(draws):
    """One doubt per call where labels differ, none where they agree; rows are in their order."""
    name = draws.pick(*_MODELS)
    labels = _labels(draws, draws.whole(12, 24))
    other = _permuted(draws, labels)
    where = draws.pick(*_PLACES.get(name, ("none", "table", "new", "target")))
    wrong = draws.whole(0, len(_TABLES) - 1)
    others = [table for k, table in enumerate(_TABLES) if k != wrong]
    bare = draws.pick(None, None, *others)  # an array has no labels; two of the tables still have
    X = _given(draws, name, labels, other, bare, wrong if where == "table" else None)
    y = (
        np.arange(len(labels)) % 2
        if name == "classifier"
        else draws.numbers.normal(size=len(labels))
    )
    y = pd.Series(y, index=other if where == "target" else labels)
    model = _MODELS[name]()
    _, count = _doubts(lambda: model.fit(X, y))
    require(count == (where in ("table", "target")), f"{name}, {where}: {count} doubts in fit")
    if name == "matrices":
        return where
    method = getattr(model, "predict" if hasattr(model, "predict") else "transform")
    new = _given(draws, name, labels, other, bare, wrong if where == "new" else None)
    found, count = _doubts(lambda: method(new))
    require(count == (where == "new"), f"{name}, {where}: {count} doubts of new samples")
    plain = _without_labels(new)
    same, count = _doubts(lambda: method(plain))
    require(count == 0, f"{name}, {where}: {count} doubts without labels")
    require(np.array_equal(found, same), f"{name}, {where}: rows are not joined by position")
    return where
