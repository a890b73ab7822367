"""Tables, targets and weights whose row labels are permuted: rows are matched, or refused."""

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
    """The same labels in another order, or others of the same number; and whether they match."""
    while True:
        same = draws.chance(0.7)
        if same:
            found = labels[draws.numbers.permutation(len(labels))]
        else:
            found = pd.Index([f"other {k}" for k in range(len(labels))])
        if not found.equals(labels):
            return found, same and labels.is_unique


_KERNELS = dict.fromkeys(_TABLES, "rbf")
_MODELS = {
    "regressor": lambda: al.MKLRegressor(_KERNELS),
    "classifier": lambda: al.MKLClassifier(_KERNELS),
    "combiner": lambda: al.KernelCombiner(_KERNELS),
    "search": lambda: al.MKLRegressorCV(
        _KERNELS, weighting="alignf", alphas=[0.1, 1.0, 10.0], cv=2
    ),
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


def _refused(call):
    """Whether a call refuses labels; a doubt on a default index is no refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.DoubtfulResultWarning)
        try:
            call()
        except ValueError as error:
            require("row labels" in str(error) or "different labels" in str(error), f"{error}")
            return True
    return False


@fuzz(2)
def test_permuted_row_labels(draws):
    """Labels in another order are accepted, others are refused, and rows are in their order."""
    name = draws.pick(*_MODELS)
    labels = _labels(draws, draws.whole(12, 24))
    other, match = _permuted(draws, labels)
    where = draws.pick(*_PLACES.get(name, ("none", "table", "new", "target")))
    wrong = draws.whole(0, len(_TABLES) - 1)
    others = [table for k, table in enumerate(_TABLES) if k != wrong]
    bare = draws.pick(None, None, *others)  # an array has no labels; two of the tables still have
    y = (
        np.arange(len(labels)) % 2
        if name == "classifier"
        else draws.numbers.normal(size=len(labels))
    )
    y = pd.Series(y, index=other if where == "target" else labels)
    model = _MODELS[name]()

    def fit():
        model.fit(_given(draws, name, labels, other, bare, wrong if where == "table" else None), y)

    refused = _refused(fit)
    require(refused == (where in ("table", "target") and not match), f"{name}, {where}: {refused}")
    if name == "matrices" or refused:
        return where
    method = getattr(model, "predict" if hasattr(model, "predict") else "transform")
    refused = _refused(
        lambda: method(_given(draws, name, labels, other, bare, wrong if where == "new" else None))
    )
    require(refused == (where == "new" and not match), f"{name}, {where}: {refused} for new")
    new = _given(draws, name, labels, other, bare)
    found, plain = method(new), method(_without_labels(new))
    require(np.array_equal(found, plain), f"{name}, {where}: labels in one order matter")
    return where
