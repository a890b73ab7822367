"""``alignlearn fit`` and ``alignlearn predict`` on files of tables."""

import csv
import json
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import alignlearn as al
from alignlearn.cli.main import main
from alignlearn.cli.raw_tables import read_sample
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
    assert "1 row without a target is left out" in text
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
        (["--target", "price", "--out", "."], "--out . is a folder; accepted: the name of a file"),
        (["--target", "price", "--drop", "price"], "--drop price: the target cannot be dropped"),
        (["--random-state", "-1"], "--random-state -1: accepted: 0 and positive integers"),
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


def fit(path, *asked):
    """The model file of a file of numbers or dates whose target is its last column."""
    model = str(path.with_suffix(".alignlearn"))
    assert main(["fit", str(path), "--out", model, "--quiet", *asked]) == 0
    return model


def predicted(capsys, model, path, *asked):
    """The predictions that are printed."""
    capsys.readouterr()
    assert main(["predict", model, str(path), *asked]) == 0
    return [float(line.split(",")[0]) for line in capsys.readouterr().out.splitlines()[1:]]


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
    assert abs(predicted(capsys, str(tmp_path / "t.model"), few)[0] - 0.5) < 0.2


def test_targets_that_are_no_classes(tmp_path, capsys):
    a = RNG.normal(size=60).round(3)
    assert written(tmp_path / "t.csv", "a,y\n" + rows_of(a, ["x"] * 60)) == 2
    assert "the target 'y' is 'x' in all rows; accepted: two values" in capsys.readouterr().err
    assert written(tmp_path / "t.csv", "a,y\n" + rows_of(a, [f"k{i}" for i in range(60)])) == 2
    assert "60 classes in 60 rows" in capsys.readouterr().err
    assert written(tmp_path / "few.csv", "a,b\n1,2\n3,4\n5,6\n") == 2
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


def test_dates_that_differ_by_the_order_of_day_and_month_are_not_read():
    days, (note,) = read_dates(["1/2/2026", "", "12/4/2026"], "a")
    assert days is None
    assert "'1/2/2026' may have the month or the day first" in note
    days, (note,) = read_dates(["2/2/2026", "", "11/11/2026"], "a")  # of both orders
    assert days[0] == (datetime(2026, 2, 2) - datetime(1970, 1, 1)).days
    assert "is read as dates" in note


def test_parts_of_dates():
    """By hand: midnight and noon of twelve hours, years of two digits, and other time zones."""
    fields = ["1/13/2026 12:00 AM", "1/13/2026 12:30 PM", "1/13/2026 1:00 pm", ""]
    days, _ = read_dates(fields, "a", None)
    assert np.allclose((days - days[0]) * 24.0, [0.0, 12.5, 13.0, np.nan], equal_nan=True)
    for wrong in ("1/13/2026 13:00 AM", "1/13/2026 0:10 PM", "2/30/2026", "13/13/2026", "1/2-2026"):
        assert read_dates([*fields, wrong], "a", None) == (None, ())
    # From 69 years are of the 20th century, as in `strptime`.
    fields = ["01/13/68", "01/13/69", "01/13/99", "01/13/00"]
    days, _ = read_dates(fields, "a", None)
    first = [datetime(year, 1, 13) - datetime(1970, 1, 1) for year in (2068, 1969, 1999, 2000)]
    assert days.tolist() == [since.days for since in first]
    # Noon in Tehran is 3.5 hours before noon in UTC, and noon in Newfoundland 3.5 hours after.
    fields = ["2026-01-02T12:00:00" + zone for zone in ("Z", "+03:30", "-03:30", "-0330")]
    days, _ = read_dates(fields, "a", None)
    np.testing.assert_allclose(24.0 * (days - days[0]), [0.0, -3.5, 3.5, 3.5], atol=1e-6)


def test_dates_of_unknown_order_need_an_option(tmp_path, capsys):
    days = [d for d in pd.date_range("2025-01-01", "2025-12-12") if d.day <= 12][::2]
    path = _written(tmp_path, pd.DatetimeIndex(days), "%d/%m/%Y")
    found = read_raw(path)
    assert 0 in found.frame.categories
    (note,) = [note for note in found.notes if "'sold'" in note]
    assert "--dates day-first" in note
    assert "2025-01-01" in note
    model = fit(path, "--dates", "day-first")
    assert al.load(model).preparation_.dates == (0,)
    new = _written(tmp_path, pd.DatetimeIndex(days[::5]), "%d/%m/%Y", "new.csv")
    assert main(["predict", model, str(new)]) == 2
    assert "--dates day-first" in capsys.readouterr().err
    found = predicted(capsys, model, new, "--dates", "day-first")
    assert np.corrcoef(found, pd.read_csv(new)["price"])[0, 1] > 0.9
    # Equal in either order: nothing to declare.
    same = pd.DatetimeIndex([f"2025-{k:02}-{k:02}" for k in range(1, 13)])
    assert read_raw(_written(tmp_path, same, "%d/%m/%Y", "same.csv")).frame.dates == (0,)


def test_a_column_of_words_in_fit_has_words_in_predict(tmp_path, capsys):
    path = tmp_path / "words.csv"
    days = [f"2026-01-{k:02}" if k % 3 else "none" for k in range(1, 28)]
    rows = [f"{day},{k},{(k % 3 == 0) + 0.01 * k}" for k, day in enumerate(days, 1)]
    path.write_text("\n".join(["day,size,price", *rows]) + "\n")
    model = fit(path)
    path.write_text("day,size\n2026-01-02,2\n2026-01-04,4\n")
    assert len(predicted(capsys, model, path)) == 2


def test_numbers_with_symbols(tmp_path, capsys):
    path = tmp_path / "symbols.csv"
    values = np.round(np.exp(RNG.normal(7.0, 2.0, 60)), 2) * np.where(np.arange(60) % 9, 1, -1)
    rows = [
        f'"{"-" if v < 0 else ""}${abs(v):,.2f}","{v:,.0f}",{v}%,"{"$€"[k % 2]}{k + 1}",{v}'
        for k, v in enumerate(values)
    ]
    path.write_text("\n".join(["money,whole,share,mixed,price", *rows, '"","","","",1\n']))
    frame, notes = read_raw(path)[:2]
    assert list(frame.categories) == [3]
    for found, wanted in zip(frame.numbers.T, (values, np.round(values), values)):
        assert np.allclose(found, [*wanted, np.nan], equal_nan=True)
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
    path = tmp_path / "one.csv"
    values = np.arange(1.0, 61.0) * 1000.0
    rows = [f'"${v:,.0f}",{v / 1000.0}' for v in values]
    path.write_text("\n".join(["money,price", *rows]) + "\n")
    model = fit(path)
    for new in ('"$20,000"', "20000"):
        path.write_text(f"money\n{new}\n")
        assert predicted(capsys, model, path) == pytest.approx([20.0], abs=0.5)


# --- files as spreadsheets and other programs write them ----------------------------------------

A = np.round(np.exp(RNG.normal(8.0, 1.0, 60)), 2)
B = np.round(RNG.normal(size=60), 3)
CITIES = RNG.choice(["Bern", "Genf"], 60).tolist()


def read(folder, text, encoding="utf-8"):
    """The numbers of each column of a file, the names of those with categories, and the notes."""
    (folder / "t.csv").write_bytes(text.encode(encoding))
    frame, notes = read_raw(folder / "t.csv")[:2]
    numbers = {frame.columns[c]: frame.numbers[:, j] for j, c in enumerate(frame.at)}
    return numbers, [frame.columns[c] for c in frame.categories], " | ".join(notes)


@pytest.mark.parametrize("separator", ["'", "\u2019", " ", "\u00a0", "\u202f", ","])
def test_separators_of_thousands(tmp_path, separator):
    fields = [f'"{a:,.2f}"'.replace(",", separator) for a in A]
    numbers, words, notes = read(tmp_path, "a,city,y\n" + rows_of(fields, CITIES, B))
    assert words == ["city"]
    assert np.array_equal(numbers["a"], A)
    assert "column 'a': fields such as" in notes
    if separator != ",":  # with decimal commas
        fields = [f"{a:,.2f}".replace(",", separator).replace(".", ",") for a in A]
        lines = ["a;y", *(f"{a};{b}" for a, b in zip(fields, B))]
        assert np.array_equal(read(tmp_path, "\n".join(lines))[0]["a"], A)
        lines[1] = "1.234,50;1"  # two separators
        assert read(tmp_path, "\n".join(lines))[1] == ["a"]


def test_brackets_are_negative(tmp_path):
    fields = [f'"(${-b:,.3f})"' if b < 0 else f'"${b:,.3f}"' for b in 2000 * B]
    numbers, words, notes = read(tmp_path, "b,y\n" + rows_of(fields, A))
    assert not words
    assert np.allclose(numbers["b"], 2000 * B, atol=1e-3)
    assert "are read as numbers, -" in notes
    all_of_them = [f"({k})" for k in range(60)]
    assert read(tmp_path, "b,y\n" + rows_of(all_of_them, A))[1] == ["b"]


@pytest.mark.parametrize("delimiter", [",", "\t", "|"])
def test_decimal_commas_without_semicolons(tmp_path, delimiter):
    def text(*columns):
        rows = [delimiter.join(f'"{field}"' for field in row) for row in zip(*columns)]
        return "\n".join([delimiter.join("acby"[: len(columns)]), *rows]) + "\n"

    a, b = ([f"{v:.3f}".replace(".", ",") for v in values] for values in (A, B))
    numbers, words, notes = read(tmp_path, text(a, CITIES, b))
    assert words == ["c"]
    assert np.array_equal(numbers["a"], A)
    assert np.array_equal(numbers["b"], B)
    assert "commas in numbers are read as decimal signs" in notes
    # Without a number such as 0,5 commas separate thousands, as next to 1,234.50.
    thousands = [f"{v:,.0f}" for v in 1000 * A]
    assert np.array_equal(read(tmp_path, text(thousands, CITIES))[0]["a"], np.round(1000 * A))
    american = [f"{v:,.2f}" for v in A]
    assert read(tmp_path, text(american, b))[1] == ["c"]


def test_errors_of_spreadsheets_are_missing(tmp_path):
    gone = np.arange(60) % 5 == 0
    errors = RNG.choice(["#N/A", "#DIV/0!", "#VALUE!", "#NV"], 60)
    few = np.arange(60) % 3
    columns = [np.where(gone, errors, np.array(values).astype(str)) for values in (B, few, CITIES)]
    numbers, words, notes = read(tmp_path, "b,few,city,y\n" + rows_of(*columns, A))
    assert words == ["city"]
    assert np.array_equal(numbers["b"], np.where(gone, np.nan, B), equal_nan=True)
    assert np.array_equal(numbers["few"], np.where(gone, np.nan, few), equal_nan=True)
    assert "#" not in notes
    remarks = "# of 2026\nb,y\n1,2\n#3,4\n#N/A,5\n#NASA\n# end\n5,6\n"
    assert len(read(tmp_path, remarks)[0]["b"]) == 3
    (tmp_path / "t.csv").write_text("b,y\n" + rows_of(B, np.where(gone, "#N/A", CITIES)))
    assert set(read_sample(tmp_path / "t.csv").y) == set(CITIES)


def test_prices_among_words(tmp_path, capsys):
    gone = np.arange(60) % 10 == 0
    fields = np.where(gone, "n.v.", [f'"${a:,.2f}"' for a in A])
    content = "a,g,y\n" + rows_of(fields, gone.astype(int), A / 1000)
    numbers, words, notes = read(tmp_path, content)
    assert not words
    assert np.array_equal(numbers["a"], np.where(gone, np.nan, A), equal_nan=True)
    assert "'n.v.' is read as missing (6 rows)" in notes
    assert written(tmp_path / "t.csv", content) == 0
    few = tmp_path / "few.csv"  # the words do not make the prices missing
    few.write_text(f'a,g\n"${A[1]:,.2f}",0\nn.v.,1\n')
    found = predicted(capsys, str(tmp_path / "t.model"), few)
    fitted = np.loadtxt(tmp_path / "t.found", skiprows=1)
    assert np.allclose(found, fitted[[1, 0]])


@pytest.mark.parametrize("padding", ["", ",,"])
def test_titles_above_the_names(tmp_path, padding):
    titles = f"Sales of 2026{padding}\nprinted today{padding}\n\n"
    numbers, words, notes = read(tmp_path, titles + "a,city,y\n" + rows_of(A, CITIES, B))
    assert (list(numbers), words) == (["a", "y"], ["city"])
    assert np.array_equal(numbers["y"], B)
    assert "the lines above the names are left out: 'Sales of 2026', 'printed today'" in notes
    rows = "x,,\n" + rows_of(CITIES, A, B)  # without names, the first row is one
    assert len(read(tmp_path, rows)[0]["number 3"]) == 61


def test_a_title_is_a_word_alone_above_names_and_a_row(tmp_path):
    """Only in tables of three columns or more: rows of two may have a missing target."""
    names = "a,b,y\n1,2,3\n"
    assert read(tmp_path, "t,,\n" + names)[0] == {"a": [1.0], "b": [2.0], "y": [3.0]}
    for text in ("t,x,\n" + names, "t,,x\n" + names, "5,,\n" + names, "t,,\na,,\nb,u,v\n"):
        assert "3 rows, 3 columns" in read(tmp_path, text)[2]
    assert "4 rows, 2 columns" in read(tmp_path, "red,\nblue,w\nred,v\ngreen,u\n")[2]


def test_signs_of_windows_and_of_numbers_and_empty_columns(tmp_path):
    text = "Betrag €,Ort,y\n" + rows_of(A, ["Köln – West", "Bonn"] * 30, B)
    numbers, words, notes = read(tmp_path, text, "cp1252")
    assert (list(numbers), words) == (["Betrag €", "y"], ["Ort"])
    assert "read as Windows-1252" in notes
    assert "read as Latin-1" in read(tmp_path, text.replace("€", "").replace("–", ""), "cp1252")[2]
    undefined = "a\x81,y\n1,2\n3,4\n"  # not in Windows-1252
    assert "read as Latin-1" in read(tmp_path, undefined, "latin-1")[2]
    numbers, words, notes = read(tmp_path, "a,y,,\n" + rows_of(A, B, [""] * 60, [""] * 60))
    assert (list(numbers), words) == (["a", "y"], [])
    assert "the last 2 columns are empty and left out" in notes
    with pytest.raises(ValueError, match=r"no rows; 18 lines that start with # skipped"):
        read(tmp_path, "color,y\n" + rows_of(["#ff0000", "#00ff00"] * 9, range(18)))


def test_doubtful_targets_and_columns_are_noted(tmp_path):
    path = tmp_path / "t.csv"
    classes = np.where(np.arange(60) % 10 == 0, "NA", CITIES)
    path.write_text("id,a,y\n" + rows_of(range(1, 61), A, classes))
    notes = " | ".join(read_sample(path).notes)
    assert "'NA' is a class of the target 'y' (6 rows); if it stands for a missing value" in notes
    assert "consecutive numbers in 'id': if they only count the rows, set --drop id" in notes
    notes = " | ".join(read_sample(path, drop=["id"]).notes)
    assert "consecutive" not in notes


def test_the_decimal_sign_of_new_rows(tmp_path, capsys):
    """A new file may be too short to show what its commas mean."""
    commas = [[f"{v:.3f}".replace(".", ",") for v in values] for values in (B, B)]
    rows = ["\t".join([a, str(k % 3), y]) for k, (a, y) in enumerate(zip(*commas))]
    path, new = tmp_path / "t.txt", tmp_path / "new.txt"
    path.write_text("\n".join(["a\tk\ty", *rows]) + "\n")
    model = fit(path)
    new.write_text("a\tk\n1,125\t1\n")
    for asked in (["--decimal", "comma"], []):
        assert predicted(capsys, model, new, *asked) == pytest.approx([1.125], abs=0.1)
    thousands = [f"{a:,.0f}" for a in 1000.0 + A]
    text = "a,y\n" + rows_of([f'"{field}"' for field in thousands], B)
    assert np.array_equal(read(tmp_path, text)[0]["a"], np.round(1000.0 + A))
    (tmp_path / "t.csv").write_text(text)
    numbers = read_raw(tmp_path / "t.csv", decimal="comma").frame
    assert np.array_equal(numbers.numbers[:, 0], [float(f.replace(",", ".")) for f in thousands])
    # A number of two commas shows that they separate thousands; without it, 1,125 is an error.
    new.write_text('a,k\n"1,125",0\n"1,234,567",1\n')
    found = read_raw(new, numbers={"a", "k"}).frame.numbers[:, 0]
    assert found.tolist() == [1125.0, 1234567.0]


def test_the_decimal_sign_of_the_fit_is_that_of_new_rows(tmp_path, capsys):
    """Thousands, decimal points or neither in the file of the fit; 1,125 in that of predict."""
    new = tmp_path / "new.csv"
    new.write_text('a\n"1,125"\n')
    a = np.round(1000.0 + 100.0 * B)
    for fields, expected in (
        ([f'"{v:,.0f}"' for v in a], 1125.0),
        ([f"{v:.1f}" for v in a], 1125.0),
        ([f"{v:.0f}" for v in a], None),
    ):
        (tmp_path / "t.csv").write_text("a,y\n" + rows_of(fields, a.astype(int)))
        model = fit(tmp_path / "t.csv")
        if expected is not None:
            assert predicted(capsys, model, new) == pytest.approx([expected], abs=5.0)
            continue
        assert main(["predict", model, str(new)]) == 2
        words = "'1,125', whose comma may separate thousands or be the decimal sign"
        assert words in capsys.readouterr().err
