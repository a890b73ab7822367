"""``alignlearn fit`` and ``alignlearn predict`` on files of tables."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import alignlearn as al
from alignlearn.cli.main import main
from alignlearn.datasets._dates import read_dates
from alignlearn.datasets._raw import read_raw

RNG = np.random.default_rng(0)
M = 80


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of gradient boosting spin while they wait for each other, a second per tree."""
    import sklearn.ensemble  # noqa: F401  # its threads are limited only after they are known

    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame = pd.DataFrame(
        {
            "size": np.where(RNG.random(M) < 0.1, np.nan, RNG.normal(size=M)),
            "city": RNG.choice(["Bern", "Genf", None], M),
            "sold": pd.date_range("2026-01-01", periods=M).strftime("%Y-%m-%d"),
            "flag": RNG.random(M) < 0.5,
        }
    )
    frame["price"] = frame["size"].fillna(0) + 2.0 * (frame["city"] == "Bern")
    frame["price"] += 0.1 * RNG.normal(size=M)
    frame["class"] = np.where(frame["price"] > 1.0, "high", "low")
    frame.loc[3, "price"] = np.nan
    frame.to_csv(folder / "table.csv", index=False)
    frame.drop(columns=["price", "class"]).iloc[:, ::-1].to_csv(folder / "new.csv", index=False)
    return folder, frame


def test_numbers_are_fitted_and_predicted(tables, capsys):
    folder = tables[0]
    model, report = folder / "price.alignlearn", folder / "report.html"
    asked = ["--target", "price", "--drop", "class", "--out", str(model), "--report", str(report)]
    assert main(["fit", str(folder / "table.csv"), *asked, "--json", str(folder / "r.json")]) == 0
    text = capsys.readouterr().out
    assert "79 rows, 4 columns; target 'price' (regression)" in text
    assert "1 rows without a target are left out" in text
    results = json.loads((folder / "r.json").read_text())
    assert results["methods"]["alignlearn"]["R^2"] > 0.7
    assert results["columns"]["city"] > results["columns"]["flag"]
    page = report.read_text()
    assert page.count("<svg") == 2
    assert "gradient boosting" in page
    assert "<script" not in page
    assert "src=" not in page
    found = folder / "predictions.csv"
    assert main(["predict", str(model), str(folder / "new.csv"), "--out", str(found)]) == 0
    lines = list(csv.reader(found.read_text().splitlines()))
    assert lines[0] == ["prediction"]
    X = pd.read_csv(folder / "new.csv", parse_dates=["sold"])
    assert np.allclose([float(v) for (v,) in lines[1:]], al.load(model).predict(X))


def test_classes_have_probabilities(tables, capsys):
    folder, frame = tables
    model = folder / "class.alignlearn"
    asked = ["--target", "class", "--drop", "price", "--out", str(model), "--quiet"]
    assert main(["fit", str(folder / "table.csv"), *asked]) == 0
    assert "always" in capsys.readouterr().out
    assert main(["predict", str(model), str(folder / "new.csv")]) == 0
    lines = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert lines[0] == ["prediction", "probability of high", "probability of low"]
    P = np.array([row[1:] for row in lines[1:]], dtype=float)
    assert np.allclose(P.sum(axis=1), 1.0)
    assert np.mean([row[0] for row in lines[1:]] == frame["class"]) > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "none"], "--target none: there is no such column; accepted: 'size'"),
        (["--target", "price", "--drop", "9"], "--drop 9: there is no such column"),
        (["--target", "class", "--task", "regression"], "holds strings"),
        (["--target", "price", "--out", "/nowhere/model"], "the folder /nowhere does not exist"),
    ],
)
def test_what_cannot_be_fitted(tables, capsys, arguments, message):
    assert main(["fit", str(tables[0] / "table.csv"), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_what_cannot_be_predicted(tables, capsys, tmp_path):
    folder, frame = tables
    file = tmp_path / "array.alignlearn"
    al.save(al.MKLRegressor().fit(RNG.normal(size=(20, 2)), RNG.normal(size=20)), file)
    assert main(["predict", str(file), str(folder / "new.csv")]) == 2
    assert "does not contain a model of a table" in capsys.readouterr().err
    short = tmp_path / "few.csv"
    short.write_text("a,b\n1,2\n3,x\n")
    columns = frame[["size", "city", "sold", "flag"]]
    al.save(al.MKLClassifier().fit(columns, frame["class"]), file)
    assert main(["predict", str(file), str(short)]) == 2
    assert "X has no column 'size', 'city', 'sold', 'flag': 4 of the" in capsys.readouterr().err


def written(path, content, arguments=()):
    """The exit code of ``alignlearn fit`` with a file, and of ``predict`` with its model."""
    path.write_text(content)
    model, found = path.with_suffix(".model"), path.with_suffix(".found")
    fitted = main(["fit", str(path), "--out", str(model), *arguments])
    return fitted or main(["predict", str(model), str(path), "--out", str(found)])


def rows_of(*columns):
    return "".join(f"{','.join(map(str, row))}\n" for row in zip(*columns))


def test_columns_of_the_same_name_keep_their_order(tmp_path, capsys):
    first, second = RNG.integers(0, 9, 60), RNG.normal(size=60).round(3)
    content = "a,a,y\n" + rows_of(first, second, first + 0.1 * second)
    assert written(tmp_path / "t.csv", content) == 0
    assert "that occurred before are called 'a.1'" in capsys.readouterr().out
    found = np.loadtxt(tmp_path / "t.found", skiprows=1)
    assert np.corrcoef(found, first + 0.1 * second)[0, 1] > 0.95


def test_a_class_of_one_row_and_an_empty_column(tmp_path):
    a = RNG.normal(size=60).round(3)
    y = np.where(a > 0, "high", "low").astype("<U4")
    y[0] = "once"
    assert written(tmp_path / "t.csv", "a,empty,y\n" + rows_of(a, [""] * 60, y)) == 0
    found = (tmp_path / "t.found").read_text().split()[1:]
    assert np.mean([line.split(",")[0] for line in found] == y) > 0.9


def test_words_among_numbers_are_missing_values(tmp_path, capsys):
    a = RNG.normal(size=60).round(3)
    gone = np.arange(60) % 10 == 0
    content = "a,c,y\n" + rows_of(np.where(gone, "-", a.astype(str)), gone.astype(int), a)
    assert written(tmp_path / "t.csv", content, ["--target", "y"]) == 0
    assert "column 'a': '-' is read as missing (6 rows)" in capsys.readouterr().out
    few = tmp_path / "few.csv"
    few.write_text("a,c\n0.5,0\n-,1\n")
    assert main(["predict", str(tmp_path / "t.model"), str(few)]) == 0
    assert abs(float(capsys.readouterr().out.split()[1]) - 0.5) < 0.2


def test_targets_that_are_no_classes(tmp_path, capsys):
    a = RNG.normal(size=60).round(3)
    assert written(tmp_path / "t.csv", "a,y\n" + rows_of(a, ["x"] * 60)) == 2
    assert "the target 'y' is 'x' in all rows; accepted: two values" in capsys.readouterr().err
    assert written(tmp_path / "t.csv", "a,y\n" + rows_of(a, [f"k{i}" for i in range(60)])) == 2
    assert "60 classes in 60 rows" in capsys.readouterr().err


def test_few_rows(tmp_path, capsys):
    file = tmp_path / "few.csv"
    file.write_text("a,b\n1,2\n3,4\n5,6\n")
    assert main(["fit", str(file)]) == 2
    assert "3 rows with a target; accepted: at least 10" in capsys.readouterr().err


def _written(folder, dates, form, name="dates.csv"):
    """A file whose target is the day of the year, with dates in a form of `strftime`."""
    frame = pd.DataFrame({"sold": dates.strftime(form), "size": np.arange(len(dates)) % 7})
    frame["price"] = np.cos(dates.day_of_year / 60.0) + 0.01 * frame["size"]
    frame.to_csv(folder / name, index=False)
    return folder / name


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ("%m/%d/%Y", "month first"),
        ("%d/%m/%Y", "day first"),
        ("%d.%m.%Y", "day first"),
        ("%m-%d-%Y %I:%M %p", "month first"),
        ("%m/%d/%Y %H:%M:%S", "month first"),
        ("%m/%d/%y", "month first"),
        ("%d-%b-%y", None),
        ("%Y/%m/%d", None),
        ("%d-%b-%Y", None),
        ("%B %d, %Y %I:%M %p", None),
        ("%Y-%m-%dT%H:%M:%SZ", None),
        ("%Y-%m-%dT%H:%M:%S+05:30", None),
    ],
)
def test_dates_are_those_of_pandas(tmp_path, form, order):
    dates = pd.date_range("2025-02-03 11:59:00", periods=60, freq="37h")
    found = read_raw(_written(tmp_path, dates, form))
    said = [note for note in found.notes if "'sold'" in note]
    assert said == [f"column 'sold' is read as dates, {order}"] * (order is not None)
    assert found.frame.dates == (0,)
    zoned = form.endswith(("Z", "0"))
    given = form.replace("+05:30", "%z").replace("Z", "%z") if zoned else form
    want = pd.to_datetime(pd.Series(dates.strftime(form)), format=given, utc=zoned)
    want = want.dt.tz_localize(None)
    days = (want - pd.Timestamp(0)) / pd.Timedelta(days=1)
    assert np.allclose(found.frame.numbers[:, 0], days, rtol=0, atol=1e-9)


def test_midnight_and_noon_of_twelve_hours():
    fields = ["1/13/2026 12:00 AM", "1/13/2026 12:30 PM", "1/13/2026 1:00 pm", ""]
    days, _ = read_dates(fields, "a", None)
    assert np.allclose((days[:3] - days[0]) * 24.0, [0.0, 12.5, 13.0])
    assert np.isnan(days[3])
    for wrong in ("1/13/2026 13:00 AM", "1/13/2026 0:10 PM", "2/30/2026", "13/13/2026", "1/2-2026"):
        assert read_dates([*fields, wrong], "a", None) == (None, ())


def test_dates_of_unknown_order_need_an_option(tmp_path, capsys):
    days = [d for d in pd.date_range("2025-01-01", "2025-12-12") if d.day <= 12][::2]
    path = _written(tmp_path, pd.DatetimeIndex(days), "%d/%m/%Y")
    found = read_raw(path)
    assert 0 in found.frame.categories
    (note,) = [note for note in found.notes if "'sold'" in note]
    assert "--dates day-first" in note
    assert "2025-01-01" in note
    model = tmp_path / "model.alignlearn"
    asked = ["--target", "price", "--out", str(model), "--dates", "day-first", "--quiet"]
    assert main(["fit", str(path), *asked]) == 0
    assert al.load(model).preparation_.dates == (0,)
    new = _written(tmp_path, pd.DatetimeIndex(days[::5]), "%d/%m/%Y", "new.csv")
    assert main(["predict", str(model), str(new)]) == 2
    assert "--dates day-first" in capsys.readouterr().err
    assert main(["predict", str(model), str(new), "--dates", "day-first"]) == 0
    predicted = [float(line) for line in capsys.readouterr().out.splitlines()[1:]]
    want = pd.read_csv(new)["price"]
    assert np.corrcoef(predicted, want)[0, 1] > 0.9
    # Equal in either order: nothing to declare.
    same = pd.DatetimeIndex([f"2025-{k:02}-{k:02}" for k in range(1, 13)])
    assert read_raw(_written(tmp_path, same, "%d/%m/%Y", "same.csv")).frame.dates == (0,)


def test_a_column_of_words_in_fit_has_words_in_predict(tmp_path, capsys):
    path = tmp_path / "words.csv"
    days = [f"2026-01-{k:02}" if k % 3 else "none" for k in range(1, 28)]
    rows = [f"{day},{k},{(k % 3 == 0) + 0.01 * k}" for k, day in enumerate(days, 1)]
    path.write_text("\n".join(["day,size,price", *rows]) + "\n")
    model = tmp_path / "words.alignlearn"
    assert main(["fit", str(path), "--target", "price", "--out", str(model), "--quiet"]) == 0
    path.write_text("day,size\n2026-01-02,2\n2026-01-04,4\n")
    capsys.readouterr()
    assert main(["predict", str(model), str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_numbers_with_symbols(tmp_path, capsys):
    path = tmp_path / "symbols.csv"
    values = np.round(np.exp(RNG.normal(7.0, 2.0, 60)), 2) * np.where(np.arange(60) % 9, 1, -1)
    rows = [
        f'"{"-" if v < 0 else ""}${abs(v):,.2f}","{v:,.0f}",{v}%,"{"$€"[k % 2]}{k + 1}",{v}'
        for k, v in enumerate(values)
    ]
    path.write_text("\n".join(["money,whole,share,mixed,price", *rows, '"","","","",1\n']))
    frame, notes, _ = read_raw(path)
    assert list(frame.categories) == [3]
    given = dict(zip(frame.columns, [*frame.numbers.T[:3], None, frame.numbers[:, 3]]))
    assert np.allclose(given["money"][:-1], values)
    assert np.allclose(given["whole"][:-1], np.round(values))
    assert np.allclose(given["share"][:-1], values)
    assert np.isnan(given["money"][-1])
    (note,) = [note for note in notes if "'money'" in note]
    assert rows[0].split('"')[1] in note
    # Points separate thousands where commas are decimal signs.
    german = [f"{v:,.2f} €;{v}".translate(str.maketrans(",.", ".,")) for v in np.abs(values) + 1]
    path.write_text("\n".join(["money;price", *german]) + "\n")
    assert np.allclose(read_raw(path).frame.numbers[:, 0], np.round(np.abs(values) + 1, 2))
    # Decimal commas, leading zeros and other separators stay categories.
    for field in ("0,123", "1,23", "1,2345", "007", "$1,23", "1.000.000", "$", "5 %%"):
        path.write_text(f'a,price\n"{field}",1\n"{field}x",2\n"${3}",3\n')
        assert 0 in read_raw(path).frame.categories


def test_a_model_of_numbers_with_symbols_reads_plain_numbers_and_a_single_column(tmp_path, capsys):
    path, model = tmp_path / "one.csv", tmp_path / "one.alignlearn"
    values = np.arange(1.0, 61.0) * 1000.0
    rows = [f'"${v:,.0f}",{v / 1000.0}' for v in values]
    path.write_text("\n".join(["money,price", *rows]) + "\n")
    assert main(["fit", str(path), "--target", "price", "--out", str(model), "--quiet"]) == 0
    for new in ('"$20,000"', "20000"):
        path.write_text(f"money\n{new}\n")
        capsys.readouterr()
        assert main(["predict", str(model), str(path)]) == 0
        assert float(capsys.readouterr().out.split()[1]) == pytest.approx(20.0, abs=0.5)
