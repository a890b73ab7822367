"""Rows are matched by their labels: permuted rows give the ordered results, others raise errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cases import each
from refusals import raises

import alignlearn as al

RNG = np.random.default_rng(0)
M = 24
LABELS = pd.Index([f"p{k}" for k in range(M)])
ORDER = RNG.permutation(M)
A = pd.DataFrame(RNG.normal(size=(M, 2)), LABELS, ["u", "v"])
B = pd.DataFrame(RNG.normal(size=(M, 1)), LABELS, ["w"])
Y = A["u"] + B["w"] ** 2
W = pd.Series(RNG.uniform(0.5, 2.0, M), LABELS)
K = pd.DataFrame(al.Gaussian(0.3)(A.to_numpy()), LABELS, LABELS)
L = pd.DataFrame(al.Linear()(B.to_numpy()), LABELS, LABELS)
SHUFFLED = LABELS[ORDER]
KERNELS = {"a": "rbf", "b": "rbf"}
TWO = {"a": A, "b": B}


def fitted(X=TWO, y=Y):
    return al.MKLRegressor(KERNELS).fit(X, y)


def predicted(X, y=Y, weight=None):
    return al.MKLRegressor(KERNELS).fit(X, y, weight).predict(TWO)


def of_matrices(X, y=Y):
    return al.MKLRegressor("precomputed").fit(X, y).dual_coef_


CALLS = {
    "fit": lambda p: predicted({"a": A, "b": p(B)}),
    "a list": lambda p: predicted([A, p(B)]),
    "a target of a list with an array": lambda p: fitted([A.to_numpy(), B], p(Y)).predict(
        [A.to_numpy(), B]
    ),
    "tables": lambda p: predicted(al.Tables({"a": A, "b": p(B)})),
    "tables and a target": lambda p: predicted(al.Tables(TWO), p(Y)),
    "a target of one table": lambda p: al.MKLRegressor(["rbf"]).fit(A, p(Y)).predict(A),
    "weights": lambda p: predicted(TWO, Y, p(W)),
    "targets": lambda p: predicted(TWO, p(pd.DataFrame({"s": Y, "t": W}))),
    "a search": lambda p: (
        al.MKLRegressorCV(KERNELS, weighting="alignf", cv=2)
        .fit({"a": A, "b": p(B)}, p(Y))
        .predict(TWO)
    ),
    "predict in the order of fit": lambda p: fitted().predict({"b": B, "a": p(A)}),
    "an interval": lambda p: fitted().predict_interval(
        {"a": A, "b": p(B)}, fit=({"a": A, "b": p(B)}, p(Y))
    )[0],
    "score": lambda p: fitted().score(TWO, p(Y)),
    "a table of kernels": lambda p: fitted().kernel_table({"a": A, "b": p(B)}, p(Y))["spread"],
    "contributions": lambda p: fitted().contributions({"a": A, "b": p(B)}, p(Y)).values,
    "a transformer": lambda p: al.TableTransformer().fit_transform({"a": A, "b": p(B)}).joined(),
    "tasks": lambda p: (
        al.MultiTaskMKLRegressor(KERNELS)
        .fit(TWO, Y, p(pd.Series(np.arange(M) % 2, LABELS)))
        .predict(TWO, p(pd.Series(np.arange(M) % 2, LABELS)))
    ),
    "views": lambda p: al.KernelCCA().fit([A, p(B)]).correlations_,
    "statistics": lambda p: al.alignment_statistics({"a": A, "b": p(B)}, p(Y), KERNELS).a,
    "both of a stack": lambda p: of_matrices(al.GramStack({"k": K, "l": p(p(L).T).T})),
    "columns of all": lambda p: of_matrices({"k": p(K.T).T, "l": p(L.T).T}),
    "matrices": lambda p: of_matrices({"k": K, "l": p(L)}),
    "listed matrices": lambda p: of_matrices([p(K.T).T, p(L)], p(Y)),
    "a target of a stack": lambda p: of_matrices(al.GramStack({"k": K, "l": L}), p(Y)),
    "new rows of a part": lambda p: (
        al.MKLRegressor("precomputed")
        .fit(al.GramStack({"k": K, "l": L})[4:], Y[4:])
        .predict(al.GramStack({"k": p(K[:9].T).T, "l": L[:9]}))
    ),
    "new rows in a list": lambda p: (
        al.MKLRegressor("precomputed").fit([K, L], Y).predict([p(K[:9].T).T, L[:9]])
    ),
}


@each("name", CALLS)
def test_rows_in_another_order_are_those_of_the_same_labels(name):
    expected = CALLS[name](lambda rows: rows)
    found = CALLS[name](lambda rows: rows.loc[SHUFFLED] if len(rows) == M else rows)
    np.testing.assert_array_equal(found, expected)


@each("name", CALLS)
def test_other_labels_are_an_error_that_shows_three_and_the_remedy(name):
    def other(rows):
        return rows.rename("new {}".format) if len(rows) == M else rows

    with pytest.raises(ValueError, match=r"only in .*reindex") as caught:
        CALLS[name](other)
    assert "'new p2'" in str(caught.value)
    assert "'new p3'" not in str(caught.value)


def test_unequal_lengths_get_the_same_advice():
    with pytest.raises(ValueError, match=r"24 rows and table 'b' has 20.*'p20'.*reindex"):
        fitted({"a": A, "b": B[:20]})
    with pytest.raises(ValueError, match=r"24 rows and y has 23.*'p23' only in X.*reindex"):
        al.MKLRegressor(["rbf"]).fit(A, Y[:23])
    raises(ValueError, "reindex", al.Tables, {"a": A, "b": B.to_numpy()[:20]})


def test_the_advice_mends_it():
    fewer = B.iloc[ORDER[:20]]
    common = A.index.intersection(fewer.index)
    X = {"a": A.reindex(common), "b": fewer.reindex(common)}
    expected = fitted({"a": A.loc[common], "b": B.loc[common]}, Y.loc[common]).predict(TWO)
    np.testing.assert_array_equal(fitted(X, Y.reindex(common)).predict(TWO), expected)


def test_without_labels_rows_are_matched_by_position():
    model = fitted()
    expected = model.predict(TWO)
    bare = {name: table.reset_index(drop=True) for name, table in TWO.items()}
    np.testing.assert_array_equal(model.predict(bare), expected)
    assert model.score(TWO, Y.to_numpy()) == model.score(TWO, Y)
    al.GramStack({"k": K.iloc[:5], "l": L.iloc[:5]})
    al.GramStack({"k": K.reset_index(drop=True)})


def test_repeated_labels_are_matched_only_where_they_are_in_one_order():
    twice = LABELS[np.arange(M) // 2]
    X, y = {"a": A.set_axis(twice), "b": B.set_axis(twice)}, Y.set_axis(twice)
    np.testing.assert_array_equal(fitted(X, y).predict(TWO), fitted().predict(TWO))
    raises(ValueError, "repeated row labels in different order", fitted, X, y[::-1])


def test_a_default_index_beside_its_numbers_in_another_order_is_a_doubt():
    X = A.set_axis(ORDER)
    with pytest.warns(al.DoubtfulResultWarning, match="matched by label"):
        model = al.MKLRegressor(["rbf"]).fit(X, Y.reset_index(drop=True))
    again = al.MKLRegressor(["rbf"]).fit(X, Y.reset_index(drop=True).loc[ORDER])
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


@each("default", {"samples": True, "target": False})
def test_a_default_index_without_the_other_labels_is_matched_by_position(default):
    X, y = (A.reset_index(drop=True), Y) if default else (A, Y.reset_index(drop=True))
    with pytest.warns(al.DoubtfulResultWarning, match="matched by position.*reset_index") as found:
        model = al.MKLRegressor(["rbf"]).fit(X, y, W.to_numpy())
    assert len(found) == 1
    expected = al.MKLRegressor(["rbf"]).fit(A, Y, W)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    twice = A.set_axis(LABELS[np.arange(M) // 2])
    with pytest.warns(al.DoubtfulResultWarning, match="matched by position"):
        model = al.MKLRegressor(["rbf"]).fit(twice, Y.reset_index(drop=True), W.to_numpy())
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


def test_columns_of_a_matrix_that_are_not_its_rows_are_refused_in_fit():
    with pytest.raises(ValueError, match="columns of X"):
        of_matrices(al.GramStack({"k": K.rename(columns="new {}".format)}))


def test_objects_that_are_frames_have_no_common_rows():
    objects = [pd.DataFrame({"v": [float(k), 1.0]}, [f"{k}a", f"{k}b"]) for k in range(M)]
    kernel = al.FromFunction(lambda s, t: float(s["v"].iloc[0] * t["v"].iloc[0]))
    y = np.arange(M) * 1.0
    assert al.MKLRegressor([kernel]).fit(objects, y).score(objects, y) > 0.99


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_key_column_labels_rows(library):
    frames = pytest.importorskip(library)
    a = frames.DataFrame({"id": list(LABELS), "u": A["u"].tolist()})
    b = frames.DataFrame({"id": list(SHUFFLED), "w": B["w"].loc[SHUFFLED].tolist()})
    X = al.Tables({"a": a, "b": b}, key="id")
    np.testing.assert_array_equal(X.joined(), np.column_stack([A["u"], B["w"]]))
    assert X.columns == ["a__u", "b__w"]
    assert list(X[[3, 1]].row_labels) == ["p3", "p1"]
    expected = (
        al.MKLRegressor(KERNELS).fit({"a": A[["u"]], "b": B}, Y).predict(TWO | {"a": A[["u"]]})
    )
    shuffled = al.MKLRegressor(KERNELS).fit(X, Y.loc[SHUFFLED])
    np.testing.assert_array_equal(shuffled.predict(X), expected)
    raises(ValueError, "table 'a' has no such column", al.Tables, {"a": a, "b": b}, key="name")
    raises(ValueError, r"24 rows and table 'b' has 9", al.Tables, {"a": a, "b": b[:9]}, key="id")


def test_stored_labels_survive_a_file(tmp_path):
    model = al.MKLRegressor("precomputed").fit(al.GramStack({"k": K, "l": L}), Y)
    al.save(model, tmp_path / "model")
    new = al.GramStack({"k": K[:9][SHUFFLED], "l": L[:9][SHUFFLED]})
    expected = model.predict(al.GramStack({"k": K[:9], "l": L[:9]}))
    np.testing.assert_array_equal(al.load(tmp_path / "model").predict(new), expected)


@pytest.mark.parametrize("seed", range(2))
def test_permuted_indexes_of_drawn_types(seed):
    """25 drawn cases per seed: permuted tables, targets and weights give the ordered statistics."""
    rng = np.random.default_rng(seed)
    for _ in range(25):
        m = int(rng.integers(8, 20))
        kind = rng.choice(["numbers", "strings", "dates", "pairs", "gaps"])
        labels = {
            "numbers": lambda m=m: pd.Index(3 * rng.permutation(m) + 7),
            "strings": lambda m=m: pd.Index([f"patient {k}" for k in rng.permutation(m)]),
            "dates": lambda m=m: pd.date_range("2020-01-01", periods=m)[rng.permutation(m)],
            "pairs": lambda m=m: pd.MultiIndex.from_arrays([np.arange(m) % 3, np.arange(m)]),
            "gaps": lambda m=m: pd.Index([np.nan, *np.arange(1.0, m)]),
        }[kind]()
        tables = {n: pd.DataFrame(rng.normal(size=(m, 2)), labels, ["u", "v"]) for n in "abc"}
        y = pd.Series(rng.normal(size=m), labels)
        weight = pd.Series(rng.uniform(0.5, 2.0, m), labels)
        expected = al.alignment_statistics(tables, y, ["rbf"], sample_weight=weight)
        orders = [np.arange(m), *(rng.permutation(m) for _ in range(4))]
        given = [t.iloc[o] for t, o in zip([*tables.values(), y, weight], orders)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = al.alignment_statistics(
                dict(zip("abc", given)), given[3], ["rbf"], sample_weight=given[4]
            )
        np.testing.assert_array_equal(found.a, expected.a)
        np.testing.assert_array_equal(found.M, expected.M)
