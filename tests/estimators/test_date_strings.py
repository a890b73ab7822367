"""Columns of ISO 8601 strings, such as in files of comma-separated values, are dates."""

import io

import numpy as np
import pandas as pd
import pytest

import alignlearn as al

try:
    import polars
except ImportError:
    polars = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

TEXTS = ["2020-01-05", "2020-03-01", None, "2019-12-31", "2020-02-29", "2020-03-01"]


def features(column):
    return al.TablePreparer().fit_transform(pd.DataFrame({"x": column}))


def test_strings_of_dates_are_prepared_as_dates():
    np.testing.assert_array_equal(features(TEXTS), features(pd.to_datetime(TEXTS)))
    times = ["2020-01-05T12:30", "2020-01-05 06:15:10", "2020-01-07T00:00:00.5Z", "2020-01-06"]
    assert features(times).shape == (4, 1)
    order = np.argsort(features(times)[:, 0])
    np.testing.assert_array_equal(order, [1, 0, 3, 2])
    for make in (polars and polars.DataFrame, pyarrow and pyarrow.table):
        if make is None:  # the library is not installed
            continue
        frame = make({"x": TEXTS})
        found = al.TablePreparer().fit(frame).transform(frame)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(features(TEXTS)))


@pytest.mark.parametrize(
    "other",
    ["unknown", "2020-02-30", "2020-1-5", "2020-01-05x", "2020", "20200105", "٢٠٢٠-01-05", ""],
)
def test_one_string_that_is_no_date_makes_categories(other):
    column = ["2020-01-05", "2020-01-06", other] * 5
    assert features(column).shape == (15, 3)


def test_declared_categories_and_two_dates_stay_categories():
    three = ["2020-01-05", "2020-01-06", "2020-01-07"] * 5
    frames = [pd.DataFrame({"x": pd.Categorical(three)})]
    if polars is not None:
        frames.append(polars.DataFrame({"x": polars.Series(three, dtype=polars.Categorical)}))
    if pyarrow is not None:
        frames.append(pyarrow.table({"x": pyarrow.array(three).dictionary_encode()}))
    for frame in frames:
        assert np.asarray(al.TablePreparer().fit_transform(frame)).shape == (15, 3)
    assert features(three).shape == (15, 1)
    assert features(three[:2] * 5).shape == (10, 1)  # an indicator, of the same two values


def test_later_frames_are_read_as_fit_read_them():
    preparer = al.TablePreparer().fit(pd.DataFrame({"x": TEXTS}))
    new = ["2020-01-06", None]
    as_texts = preparer.transform(pd.DataFrame({"x": new}))
    as_dates = preparer.transform(pd.DataFrame({"x": pd.to_datetime(new)}))
    np.testing.assert_array_equal(as_texts, as_dates)
    assert preparer.transform(pd.DataFrame({"x": [None]})).shape == as_texts[:1].shape
    with pytest.raises(ValueError, match=r"'x' had dates in fit, and has strings"):
        preparer.transform(pd.DataFrame({"x": ["soon", "2020-01-06"]}))
    # If fit had categories, dates alone are levels.
    mixed = ["2020-01-05", "2020-01-06", "unknown"] * 5
    preparer = al.TablePreparer().fit(pd.DataFrame({"x": mixed}))
    levels = preparer.transform(pd.DataFrame({"x": mixed}))
    for k in range(2):
        alone = preparer.transform(pd.DataFrame({"x": [mixed[k]]}))
        np.testing.assert_array_equal(alone, levels[[k]])


def test_a_model_of_a_file_with_dates(tmp_path):
    rng = np.random.default_rng(0)
    day = rng.integers(0, 300, size=120)
    frame = pd.DataFrame({"day": pd.Timestamp("2021-01-01") + pd.to_timedelta(day, "D")})
    frame["kind"] = rng.choice(["a", "b"], size=120)
    y = np.sin(day / 50.0) + (frame["kind"] == "a")
    text = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    assert text["day"].dtype.kind != "M"
    of_dates, of_text = (al.MKLRegressorCV().fit(f[:90], y[:90]) for f in (frame, text))
    found = of_text.predict(text[90:])
    np.testing.assert_array_equal(found, of_dates.predict(frame[90:]))
    assert np.corrcoef(found, y[90:])[0, 1] > 0.95
    al.save(of_text, tmp_path / "model.alignlearn")
    np.testing.assert_array_equal(al.load(tmp_path / "model.alignlearn").predict(text[90:]), found)
