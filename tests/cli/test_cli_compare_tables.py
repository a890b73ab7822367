"""``alignlearn compare`` on a csv file with categories, dates and missing values."""

import json

import numpy as np
import pytest

from alignlearn.cli import main
from alignlearn.cli.raw_tables import read_sample
from alignlearn.comparison import Protocol, compare

HEAD = "amount,color,day,label"


def rows(m=120, seed=0):
    rng = np.random.default_rng(seed)
    x, color = rng.normal(size=m), rng.choice(["red", "green", "blue"], m)
    y = x + 1.5 * (color == "red") + 0.3 * rng.normal(size=m) > 0.5
    amount = ["" if k % 11 == 0 else f"{value:.4f}" for k, value in enumerate(x)]
    return [
        f"{a},{c},2026-01-{1 + k % 28:02d},{'yes' if label else 'no'}"
        for k, (a, c, label) in enumerate(zip(amount, color, y))
    ]


def written(path, lines, head=HEAD):
    path.write_text("\n".join([head, *lines]) + "\n")
    return str(path)


@pytest.fixture
def table(tmp_path):
    return written(tmp_path / "table.csv", rows())


def compared(capsys, *options):
    assert main(["compare", *options, "--no-figure", "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_columns_are_those_of_a_data_frame(table, capsys):
    """The errors are those of `compare` on what `alignlearn fit` reads."""
    found = compared(capsys, table, "--target", "label", "--folds", "3")
    sample = read_sample(table, "label")
    protocol = Protocol(n_folds=3, random_state=0)
    expected = compare(sample.frame, sample.y, protocol=protocol)
    for k, method in enumerate(expected.methods):
        assert found["methods"][method]["error"] == pytest.approx(expected.columns["error"][k])
    assert any("TablePreparer" in note for note in found["notes"])
    assert np.mean(found["methods"]["alignf"]["error"]) < 0.3  # the category alone has more


def test_options_read_numbers_as_before(tmp_path, table, capsys):
    how = "--target", "label", "--folds", "3", "--drop", "day"
    assert any("TablePreparer" in note for note in compared(capsys, table, *how)["notes"])
    asked = compared(capsys, table, *how, "--missing", "drop")
    assert not any("TablePreparer" in note for note in asked["notes"])
    # Numbers without gaps need no preparation.
    lines = [f"{a},{b},{int(a > 0)}" for a, b in np.random.default_rng(0).normal(size=(60, 2))]
    path = written(tmp_path / "numbers.csv", lines, "a,b,y")
    found = compared(capsys, path, "--target", "y", "--folds", "3")
    assert not any("TablePreparer" in note for note in found["notes"])
    assert main(["compare", table, "--target", "nothing", "--no-figure"]) == 2
    assert "nothing" in capsys.readouterr().err
    sample = read_sample(table, drop=["label"])  # a column that is left out is no target
    assert (sample.target, sample.frame.columns) == ("day", ["amount", "color"])


def test_amounts_are_numbers_as_in_fit(tmp_path, capsys):
    """The errors are those of the same table with plain numbers."""
    x = np.random.default_rng(0).uniform(500.0, 5000.0, (60, 2)).round(2)
    plain = [f"{a},{b},{int(a > 2500)}" for a, b in x]
    symbols = [f'"${a:,.2f}",{b}%,{int(a > 2500)}' for a, b in x]
    found = [
        compared(capsys, written(tmp_path / "amounts.csv", lines, "a,b,y"), "--folds", "3")
        for lines in (plain, symbols)
    ]
    assert found[0]["methods"]["uniform"]["error"] == found[1]["methods"]["uniform"]["error"]
    assert any("'$" in note and "are read as numbers" in note for note in found[1]["notes"])


@pytest.mark.parametrize("other", [["red", "blue"], ["0.5", "0.25"]])
def test_the_decimal_sign_is_an_option(tmp_path, capsys, other):
    """The errors are those of the same table with decimal points, prepared or plain."""
    rng = np.random.default_rng(0)
    numbers = [f"{v:.3f}" for v in rng.uniform(1.0, 9.0, 60)]
    tail = [f"{other[k]}\t{int(float(v) > 5)}" for k, v in zip(rng.integers(0, 2, 60), numbers)]
    tables = [[f"{v}\t{t}" for v, t in zip(numbers, tail)]]
    tables.append([line.replace(".", ",") for line in tables[0]])
    paths = [written(tmp_path / f"{k}.tsv", t, "a\tb\ty") for k, t in enumerate(tables)]
    how = "--folds", "3", "--methods", "uniform"
    point, comma = (
        compared(capsys, path, *how, "--decimal", sign)["methods"]["uniform"]["error"]
        for path, sign in zip(paths, ("point", "comma"))
    )
    assert point == comma
    assert max(point) < 0.3
    assert main(["bounds", paths[1], "--decimal", "comma", "--no-figure", "--quiet"]) == 0


def test_the_order_of_dates_is_an_option_that_the_error_names(tmp_path, capsys):
    """The order decides which number is the month, on which the label depends here."""
    rng = np.random.default_rng(0)
    days = rng.integers(1, 13, (120, 2))
    lines = [f"{a}/{b}/2025,{rng.normal():.3f},{int(b > 6)}" for a, b in days]
    path = written(tmp_path / "days.csv", lines, "day,x,y")
    assert main(["compare", path, "--no-figure"]) == 2
    error = capsys.readouterr().err
    assert "'day'" in error
    assert "--dates month-first or --dates day-first" in error
    right = compared(capsys, path, "--folds", "3", "--dates", "day-first")
    wrong = compared(capsys, path, "--folds", "3", "--dates", "month-first")
    errors = [np.mean(found["methods"]["uniform"]["error"]) for found in (right, wrong)]
    assert errors[0] < 0.2 < errors[1]
    # Without this column the file has no dates, and the option is of no use.
    lines = [f"{line},w{k}" for k, line in enumerate(lines)]
    path = written(tmp_path / "names.csv", lines, "day,x,y,name")
    for day in ("day", "0", "-4"):
        assert main(["compare", path, "--target", "y", "--drop", day, "--no-figure"]) == 2
        assert "--dates" not in capsys.readouterr().err
