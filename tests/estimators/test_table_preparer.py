"""`TablePreparer` against the recipe written out, properties of the maps, and raw tables."""

import datetime
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import not_refused
from sklearn.pipeline import make_pipeline

import alignlearn as al

RNG = np.random.default_rng(0)
M = 80
FRAME = pd.DataFrame(
    {
        "normal": RNG.normal(size=M),
        "skewed": np.exp(2.0 * RNG.normal(size=M)),
        "tails": RNG.standard_t(1.5, size=M),
        "binary": RNG.integers(0, 2, M),
        "gaps": np.where(RNG.random(M) < 0.3, np.nan, RNG.normal(size=M)),
        "city": RNG.choice(["a", "b", "c", None], M),
        "flag": RNG.random(M) < 0.3,
    }
)


def _scaled(x):
    """The recipe for a column of numbers, one value at a time."""
    seen = x[~np.isnan(x)]
    skewness = np.mean((seen - seen.mean()) ** 3) / seen.std() ** 3
    if len(set(seen)) > 2 and abs(skewness) > 1.0:
        if seen.min() >= 0.0:
            x = np.log1p(x / np.median(seen[seen > 0.0]))
        else:
            first, third = np.quantile(seen, [0.25, 0.75], method="averaged_inverted_cdf")
            x = np.arcsinh((x - np.median(seen)) / ((third - first) / 1.349))
    x = (x - np.nanmean(x)) / np.nanstd(x)
    return np.where(np.isnan(x), 0.0, np.clip(x, -4.0, 4.0))


def _indicators(x):
    """The recipe for a category whose levels have five rows or more."""
    levels = sorted({v for v in x if isinstance(v, str)})
    Z = np.array([[v == level for level in levels] + [not isinstance(v, str)] for v in x], float)
    p = Z.mean(axis=0)
    return (Z - p) / np.sqrt(np.sum(p * (1.0 - p)))


def test_values_are_those_of_the_recipe():
    prepared = al.TablePreparer().fit(FRAME)
    Z = pd.DataFrame(prepared.transform(FRAME), columns=prepared.get_feature_names_out())
    for name in ("normal", "skewed", "tails", "binary", "gaps"):
        np.testing.assert_allclose(Z[name], _scaled(FRAME[name].to_numpy(float)), atol=1e-12)
    city = Z[["city=a", "city=b", "city=c", "city=<missing>"]]
    np.testing.assert_allclose(city, _indicators(FRAME["city"]), atol=1e-12)
    missing = FRAME["gaps"].isna().to_numpy(float)
    np.testing.assert_allclose(Z["gaps=<missing>"], (missing - missing.mean()) / missing.std())
    flag = FRAME["flag"].to_numpy(float)
    np.testing.assert_allclose(Z["flag=True"], (flag - flag.mean()) / flag.std())


@given(seed=st.integers(0, 10**6), shift=st.sampled_from([0.0, 3.0]))
def test_a_weight_of_2_is_a_row_given_twice(seed, shift):
    rng = np.random.default_rng(seed)
    x = np.round(rng.standard_t(2, 30), 1) + shift
    frame = pd.DataFrame({"x": x, "c": rng.choice(list("ab"), 30)})
    w = rng.integers(0, 4, 30)
    frame = frame.assign(g=np.where(rng.random(30) < 0.4, np.nan, x))
    weighted = al.TablePreparer(min_count=1).fit(frame, sample_weight=w).transform(frame)
    again = frame.loc[np.repeat(np.arange(30), w)]
    repeated = al.TablePreparer(min_count=1).fit(again).transform(frame)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def _listed(column):
    return [None if pd.isna(value) else value for value in column.tolist()]


class _Chunked:
    """A column with the interface of Arrow's."""

    def __init__(self, values, kind):
        self.values, self.type = values, kind

    def to_pylist(self):
        return self.values

    def to_numpy(self):
        return np.array([np.nan if v is None else v for v in self.values], dtype=float)


class _Arrow:
    """A table with the interface of Arrow's, for environments without Arrow."""

    def __init__(self, frame):
        kinds = {"f": "double", "i": "int64"}
        self.column_names = list(frame.columns)
        self.columns = [
            _Chunked(_listed(frame[name]), kinds.get(frame[name].dtype.kind, "string"))
            for name in frame
        ]
        self.schema, self.shape = None, frame.shape

    def column(self, c):
        return self.columns[c]


def test_containers_of_the_same_values_give_the_same_features():
    expected = al.TablePreparer().fit_transform(FRAME)
    others = [
        pl.DataFrame({name: _listed(FRAME[name]) for name in FRAME}),
        _Arrow(FRAME),
        FRAME.astype({"city": "category", "flag": "category", "binary": "Int64"}),
        FRAME.astype({"city": "string", "flag": "boolean", "gaps": "Float64"}),
        FRAME.astype(object).set_axis(np.arange(M)[::-1]),
    ]
    for frame in others:
        found = al.TablePreparer().fit(frame)
        np.testing.assert_allclose(found.transform(frame), expected, atol=1e-12)
        np.testing.assert_allclose(found.transform(FRAME), expected, atol=1e-12)
        assert found.feature_names_in_.tolist() == list(FRAME.columns)


@pytest.mark.parametrize(
    ("values", "same"),
    [
        (pd.to_datetime(["2020-01-05", None, "2020-01-03", "2020-01-06"]), [2.0, None, 0.0, 3.0]),
        (pd.to_timedelta([24, 12, 36, 0], unit="h"), [1.0, 0.5, 1.5, 0.0]),
        ([Decimal("1.5"), 2, None, np.float32(3)], [1.5, 2.0, None, 3.0]),
        ([datetime.date(2020, 1, d) for d in (1, 2, 5, 9)], [0.0, 1.0, 4.0, 8.0]),
        (["x", None, float("nan"), pd.NA], ["x", None, None, None]),
        ([1, "1", 1.0, "2"], ["1", "1", "1", "2"]),
        ([b"u", "u", "v", "v"], ["u", "u", "v", "v"]),
        (pd.Categorical([3, 1, 1, 3], [1, 2, 3]), ["3", "1", "1", "3"]),
        (pd.date_range("2020-01-01", periods=4, tz="Europe/Zurich"), [0.0, 1.0, 2.0, 3.0]),
    ],
)
def test_what_values_of_a_type_are(values, same):
    found, expected = (
        al.TablePreparer(min_count=1).fit_transform(pd.DataFrame({"x": list_, "y": range(4)}))
        for list_ in (values, same)
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_missing_and_rare_levels_have_an_indicator_each_where_both_are_frequent():
    frame = pd.DataFrame({"x": ["a"] * 20 + ["b"] * 20 + [None] * 10 + ["c"] * 4 + ["d"] * 4})
    prepared = al.TablePreparer().fit(frame)
    names = ["x=a", "x=b", "x=<missing>", "x=<other>"]
    assert prepared.get_feature_names_out().tolist() == names
    rows = prepared.transform(pd.DataFrame({"x": ["a", "b", None, "c", "new"]}))
    # A centered indicator is largest where its level is.
    assert rows.argmax(axis=0).tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(rows[3], rows[4])


def test_kinds_of_columns_are_compared():
    prepared = al.TablePreparer().fit(FRAME)
    with pytest.raises(ValueError, match=r"'normal' had numbers in fit, and has strings"):
        prepared.transform(FRAME.assign(normal="text"))
    empty = prepared.transform(FRAME.assign(normal=None, gaps=np.nan))
    assert (empty[:, prepared.groups_["normal"]] == 0.0).all()
    numbers = pd.DataFrame({"x": ["1", "2"] * 10})
    coded = al.TablePreparer().fit(numbers)
    assert np.array_equal(coded.transform(numbers), coded.transform(numbers.astype(float)))
    dates = pd.DataFrame({"x": pd.date_range("2020-01-01", periods=9)})
    with pytest.raises(ValueError, match=r"'x' had dates in fit, and has numbers"):
        al.TablePreparer().fit(dates).transform(pd.DataFrame({"x": [1.0]}))
    # A column without features may hold anything later.
    frame = FRAME.assign(empty=None, same=1.0)
    prepared = al.TablePreparer().fit(frame)
    later = frame.assign(empty="text", same=pd.Timestamp("2020-01-01"))
    assert np.array_equal(prepared.transform(later), prepared.transform(frame))
    assert prepared.groups_["empty"].size == prepared.groups_["same"].size == 0


class DataFrame:
    """A frame that is not computed yet."""

    columns = ("a",)

    def compute(self):
        raise AssertionError


def test_frames_that_are_refused():
    cases = (
        (pd.DataFrame({"x": [1.0, np.inf], "y": [1, 2]}), "infinity in the columns 'x'"),
        (pd.DataFrame(np.eye(3), columns=list("aba")), "the same name: 'a'"),
        (pd.DataFrame({"x": [[1], [2]], "y": [0, 1]}), "'x'.* list; accepted"),
        *(
            (pd.DataFrame({"x": [value] * 2}), f"'x'.*type {type(value).__name__}; accepted")
            for value in (np.zeros(2), pd.Series([1.0, 2.0]))
        ),
        (pd.DataFrame({"x": [1j, 2j]}), "complex"),
        (pd.DataFrame({"x": [1.0]})[:0], "0 rows"),
        (pd.DataFrame(index=[0, 1]), "0 columns"),
        (pd.DataFrame({"x": [1, 1], "y": [None, None]}), "every column is constant"),
        (
            pd.DataFrame({"a": [f"{i},5" for i in range(M)], "b": 1}),
            "numbers that are strings: 'a'",
        ),
        (pl.DataFrame({"x": [datetime.time(1), None]}), "time"),
        (pl.DataFrame({"x": [1.0, 2.0]}).lazy(), r"X\.collect\(\)"),
        (DataFrame(), r"not computed yet.*X\.compute\(\)"),
        (np.array([["a", "b"], ["c", "d"]], dtype=object), "data frame"),
    )
    fit = al.TablePreparer().fit
    assert not_refused((words, partial(fit, frame), words) for frame, words in cases) == []


def test_an_identifier_is_left_out_with_a_warning():
    with pytest.warns(al.DoubtfulResultWarning, match="a different string in every row.*'key'"):
        prepared = al.TablePreparer().fit(FRAME.assign(key=[f"k{i}" for i in range(M)]))
    assert prepared.groups_["key"].size == 0
    for number in ("{}", "{}.5", "${},000", "{}%"):
        key = ["?" if i % 9 == 0 else number.format(i // 2) for i in range(M)]
        with pytest.warns(al.DoubtfulResultWarning, match="numbers as strings.*'key'.*to_numeric"):
            al.TablePreparer().fit(FRAME.assign(key=key))
    # Strings of numbers that repeat are categories, without a warning.
    assert (
        al.TablePreparer().fit(FRAME.assign(key=[f"{i % 5}" for i in range(M)])).groups_["key"].size
    )


def test_many_levels_and_extreme_numbers():
    # Rare and unseen levels are one, and missing ones too where rare.
    few = pd.DataFrame({"x": ["a"] * 20 + ["b"] * 20 + ["c"] * 4 + [None] * 3})
    prepared = al.TablePreparer().fit(few)
    assert prepared.get_feature_names_out().tolist() == ["x=a", "x=b", "x=<other>"]
    rows = prepared.transform(pd.DataFrame({"x": ["c", "new", None, "d"]}))
    assert (rows == rows[0]).all()
    known = al.TablePreparer().fit(few[:40])
    assert (known.transform(pd.DataFrame({"x": ["new", None]})) == 0.0).all()
    # The most frequent 1000 of many levels are kept.
    counts = np.where(np.arange(1500) % 3 == 0, 6, 7)
    many = pd.DataFrame({"x": np.repeat([f"k{i}" for i in range(1500)], counts)})
    names = al.TablePreparer().fit(many).get_feature_names_out().tolist()
    assert names[-1] == "x=<other>"
    assert set(names[:-1]) == {f"x=k{i}" for i in range(1500) if i % 3}
    large = pd.DataFrame({"x": [1e300, -1e300, 5.0, 1e-300] * 5, "y": [1e-300, 0.0, 2e-300, 0] * 5})
    prepared = al.TablePreparer().fit(large)
    assert np.isfinite(prepared.transform(large)).all()
    far = prepared.transform(pd.DataFrame({"x": [1e308, -1e308], "y": [1e308, -1e308]}))
    assert np.abs(far).max() <= 4.0


def _ordered(values, levels=("low", "middle", "high", "top")):
    return pd.DataFrame({"x": pd.Categorical(values, categories=list(levels), ordered=True)})


def test_ordered_categories_are_their_positions():
    values = np.array(["low", "middle", "high", None])[RNG.integers(0, 4, 200)]
    frame = _ordered(values)
    place = {"low": 0.0, "middle": 1.0, "high": 2.0, None: np.nan}
    numbers = pd.DataFrame({"x": [place[v] for v in values]})
    prepared, same = al.TablePreparer().fit(frame), al.TablePreparer().fit(numbers)
    assert prepared.get_feature_names_out().tolist() == ["x", "x=<missing>"]
    assert np.array_equal(prepared.transform(frame), same.transform(numbers))
    # New samples are matched by text, not by codes; undeclared levels are missing.
    new = np.array(["high", "low", "huge", "top"], dtype=object)
    expected = same.transform(pd.DataFrame({"x": [2.0, 0.0, np.nan, 3.0]}))
    for other in (_ordered(new, ["top", "huge", "high", "low"]), pd.DataFrame({"x": new})):
        assert np.array_equal(prepared.transform(other), expected)
    # Two levels, and categories without an order, are indicators.
    two = al.TablePreparer().fit(_ordered(["low", "high"] * 20))
    assert two.get_feature_names_out().tolist() == ["x=low"]
    plain = pd.DataFrame({"x": pd.Categorical(values)})
    assert al.TablePreparer().fit(plain).transform(plain).shape == (200, 4)


def test_ordered_categories_and_dates_of_arrow():
    pa = pytest.importorskip("pyarrow")
    frame = _ordered(np.array(["low", "middle", "high", None])[RNG.integers(0, 4, 200)])
    dates = [datetime.date(2020, 1, 1), None, datetime.date(2021, 3, 5)] * 7
    days = pd.array(dates, dtype=pd.ArrowDtype(pa.date32()))
    table = pa.concat_tables([pa.Table.from_pandas(frame[:70]), pa.Table.from_pandas(frame[70:])])
    of_arrow, of_lists = pd.DataFrame({"x": days}), pd.DataFrame({"x": dates})
    for one, other in ((table, frame), (of_arrow, of_lists)):
        found, expected = (al.TablePreparer().fit_transform(each) for each in (one, other))
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("column", ["levels", "text", "day"])
def test_mixed_frames_of_a_dict_are_prepared_by_a_transformer_that_the_error_names(column):
    levels, days = ["u", "v"] * (M // 2), pd.date_range("2026-01-01", periods=M)
    mixed = FRAME[["normal"]].assign(levels=pd.Categorical(levels), day=days, text=levels)
    tables, y = {"a": mixed[["normal", column]], "b": FRAME[["skewed"]]}, np.arange(M) % 2
    with pytest.raises(
        (ValueError, TypeError), match=r"'a' .* TableTransformer\(TablePreparer\(\)"
    ):
        al.MKLClassifierCV().fit(tables, y)
    model = make_pipeline(al.TableTransformer(al.TablePreparer()), al.MKLClassifier())
    prepared = {name: al.TablePreparer().fit_transform(table) for name, table in tables.items()}
    want = al.MKLClassifier().fit(prepared, y).decision_function(prepared)
    np.testing.assert_array_equal(model.fit(tables, y).decision_function(tables), want)


def test_names_are_unique():
    frame = pd.DataFrame({"a": ["b=c", "x"] * 5 + ["y", "y"] * 5, "a=b": ["c", "d", "e", "f"] * 5})
    names = al.TablePreparer(min_count=1).fit(frame).get_feature_names_out()
    assert len(set(names)) == len(names)
    assert "a=b=c (2)" in names


def test_matrices_of_numbers():
    X = FRAME[["normal", "gaps"]].to_numpy()
    prepared = al.TablePreparer().fit(X)
    assert prepared.get_feature_names_out().tolist() == ["x0", "x1", "x1=<missing>"]
    of_frame = al.TablePreparer().fit(FRAME[["normal", "gaps"]])
    assert np.array_equal(prepared.transform(X), of_frame.transform(FRAME))
    with pytest.raises(ValueError, match="3 features, but TablePreparer is expecting 2"):
        prepared.transform(np.eye(3))
