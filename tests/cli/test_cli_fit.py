"""``alignlearn fit`` and ``alignlearn predict`` on files of tables."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import alignlearn as al
from alignlearn.cli.main import main

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
