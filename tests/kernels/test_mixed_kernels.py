"""The kernel of categories and numbers: values, columns by a frame's types, strings as numbers."""

import numpy as np
import pandas as pd
import pytest
from cases import each
from numpy.testing import assert_allclose
from refusals import raises

import alignlearn as al
from alignlearn.kernels import Columns, Gower, column_names
from alignlearn.validation import coded

RNG = np.random.default_rng(0)
M = 40
FRAME = pd.DataFrame(
    {
        "color": RNG.choice(["red", "green", "blue"], M),
        "size": RNG.normal(size=M),
        "sold": RNG.random(M) < 0.5,
        "shop": pd.Categorical(RNG.integers(0, 4, M)),
        "price": RNG.uniform(1, 9, M).astype(np.float32),
        "same": np.ones(M),
    }
)
NUMBERS = ["size", "price"]
Y = ((FRAME["color"] == "red") ^ (FRAME["size"] > 0)).to_numpy()


def gower(A, B, train=None, numbers=NUMBERS):
    """The definition, pair by pair."""
    train = A if train is None else train
    total = np.zeros((len(A), len(B)))
    for name in A.columns:
        a, b = (np.asarray(frame[name], dtype=object) for frame in (A, B))
        if name in numbers:
            train = train.astype({name: float})
            apart = np.abs(a[:, None].astype(float) - b.astype(float))
            total += np.maximum(0, 1 - apart / (train[name].max() - train[name].min()))
        else:
            total += [[x == z for z in b] for x in a]
    return total / A.shape[1]


def test_types_of_a_frame_say_which_columns_are_categories():
    kernel = Gower().resolve_names(column_names(FRAME))
    assert kernel.categorical == (0, 2, 3)
    assert_allclose(Gower()(FRAME), gower(FRAME, FRAME), rtol=1e-12)
    assert_allclose(Gower().diag(FRAME), 1.0, rtol=1e-12)
    new = FRAME[:7].assign(color="violet", size=40.0)
    assert_allclose(Gower()(FRAME, new), gower(FRAME, new), rtol=1e-12)
    text = FRAME.astype({"color": "string", "sold": object})
    assert_allclose(Gower()(text), gower(FRAME, FRAME), rtol=1e-12)
    w = np.linalg.eigvalsh(Gower()(FRAME))
    assert w[0] >= -1e-13 * w[-1]
    two = Columns(Gower(), ["price", "color"])(FRAME)
    assert_allclose(two, gower(FRAME[["price", "color"]], FRAME[["price", "color"]]), rtol=1e-12)


def test_other_frames_have_types_too():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: FRAME[name].tolist() for name in FRAME}).with_columns(
        polars.col("color").cast(polars.Categorical)
    )
    shop = {"shop": "float64"}
    expected = gower(FRAME.astype(shop), FRAME.astype(shop), numbers=[*NUMBERS, "shop"])
    assert_allclose(Gower()(frame), expected, rtol=1e-6)


def test_columns_by_number_and_name():
    array = FRAME.astype(object).to_numpy()
    expected = gower(FRAME, FRAME)
    assert Gower(np.int64(1)) == Gower(1) == Gower([1])
    assert Gower([]) == Gower(()) != Gower()
    for kernel, X in (
        (Gower([0, 2, 3]), array),
        (Gower(np.array([3, 2, 0])), array.tolist()),
        (Gower(["shop", "sold", "color"]), FRAME),
    ):
        assert_allclose(kernel(X), expected, rtol=1e-12)
    codes = np.column_stack([RNG.integers(0, 3, 15), RNG.normal(size=15)])
    frame = pd.DataFrame(codes, columns=["code", "size"])
    for dtype in (np.float64, np.float32):
        found = Gower(0)(codes.astype(dtype))
        assert found.dtype == dtype
        assert_allclose(found, gower(frame, frame, numbers=["size"]), rtol=1e-5)
    # By default all columns of an array are numbers.
    expected = gower(frame, frame, numbers=["code", "size"])
    assert_allclose(Gower()(codes), expected, rtol=1e-12)
    assert_allclose(Gower(())(frame), expected, rtol=1e-12)
    assert_allclose(Gower(ranges=np.ptp(codes, axis=0))(codes[:3]), expected[:3, :3], rtol=1e-12)


def test_ranges_are_those_of_samples_that_count():
    X = np.array([[0.0], [1.0], [9.0]])
    assert Gower().resolve(X, np.array([1.0, 2.0, 0.0])).ranges == (1.0,)
    assert Gower().resolve(X.astype(np.float32)).ranges == (9.0,)
    model = al.MKLRegressor(["gower"]).fit(X, [0.0, 1.0, 2.0], sample_weight=[1.0, 1.0, 0.0])
    assert model.kernel_.kernels[0].kernel.ranges == (1.0,)


def test_estimators_on_frames_with_texts():
    """New categories and numbers beyond the range; ranges are those of the training samples."""
    model = al.MKLClassifier(["gower"]).fit(FRAME[:30], Y[:30])
    new = FRAME[30:].assign(color=["violet", *FRAME["color"][31:]])
    everything = pd.concat([FRAME[:30], new])
    K = gower(everything, everything, FRAME[:30])
    naive = al.MKLClassifier([al.kernels.Precomputed(K)])
    rows = np.arange(M, dtype=float)[:, None]
    expected = naive.fit(rows[:30], Y[:30]).decision_function(rows[30:])
    assert_allclose(model.decision_function(new), expected, rtol=1e-6, atol=1e-8)
    raises(ValueError, "feature names", model.predict, new[FRAME.columns[::-1]])


def test_tables_with_texts():
    def tables(frame):
        return {"sales": frame[["color", "sold", "shop"]], "numbers": frame[NUMBERS]}

    model = al.MKLClassifier({"sales": "gower", "numbers": "rbf"}).fit(tables(FRAME), Y)
    own = [Columns(Gower(), ["color", "sold", "shop"]), Columns("rbf", NUMBERS)]
    one = al.MKLClassifier(own).fit(FRAME, Y)
    found = model.decision_function(tables(FRAME[:9]))
    assert_allclose(found, one.decision_function(FRAME[:9]), rtol=1e-6, atol=1e-8)
    model = al.MKLClassifier({"sales": "rbf", "numbers": "rbf"})
    raises(ValueError, "table 'sales' must hold real numbers", model.fit, tables(FRAME), Y)


@each(
    "kernels",
    [["rbf"], ["gower", "rbf"], [Gower([])], [Gower() * al.Gaussian()], ["gower", "tanimoto"],
     [Gower(["shop"])], [Gower().weighted(np.ravel)]],
)  # fmt: skip
def test_kernels_that_read_texts_as_numbers_are_refused(kernels):
    raises(ValueError, "must hold real numbers", al.MKLClassifier(kernels).fit, FRAME, Y)


@each("gap", [None, np.nan, pd.NA, pd.NaT])
def test_gaps_are_refused_with_the_column(gap):
    frame = FRAME.astype({"color": object})
    frame.loc[3, "color"] = gap
    raises(ValueError, r"NaN in column 'color'.*Impute missing values", Gower(), frame)


def test_numbers_of_texts_depend_on_the_text_alone():
    known = coded("X", np.array([["a"], ["b"], ["a"], [2]], dtype=object), [0])[:, 0]
    assert known[0] == known[2] != known[1]
    assert known[3] == 2.0
    assert known[0] == int(known[0]) >= 2**52
    assert known[0] == 5179091575568448.0  # model files contain such numbers


@each(
    ("make", "message"),
    [
        (lambda: Gower([0.5]), "categorical=.*accepted"),
        (lambda: Gower(True), "categorical=.*accepted"),
        (lambda: Gower([-1]), "categorical=.*accepted"),
        (lambda: Gower(slice(None)), "categorical=.*bounds"),
        (lambda: Gower(ranges=[1.0, -1.0]), "ranges: accepted: 0 and numbers above 1e-300"),
        (lambda: Gower()(np.array([[1e-310], [0.0]])), "the range of a column exceeds float64"),
        (lambda: Gower(ranges="x"), "ranges"),
        (lambda: Gower([5])(np.eye(3)), "categorical has column 5, but X has only 3"),
        (lambda: Gower(["a"])(np.eye(3)), "categorical of Gower selects 'a' by name, but X"),
        (lambda: Gower(["a"])(FRAME), "'a', which is not a column of X"),
        (lambda: Gower(ranges=[1.0])(np.eye(3)), "1 ranges, but X has 3 columns"),
        (lambda: Gower()(np.array([[-1.7e308], [1.7e308]])), "exceeds float64"),
    ],
)
def test_bad_input_is_refused(make, message):
    raises((ValueError, TypeError), message, make)
