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


def test_options_read_numbers_as_before(table, capsys):
    how = "--target", "label", "--folds", "3", "--drop", "day"
    assert any("TablePreparer" in note for note in compared(capsys, table, *how)["notes"])
    asked = compared(capsys, table, *how, "--missing", "drop")
    assert not any("TablePreparer" in note for note in asked["notes"])


def test_numbers_without_gaps_are_scaled_as_before(tmp_path, capsys):
    lines = [f"{a},{b},{int(a > 0)}" for a, b in np.random.default_rng(0).normal(size=(60, 2))]
    path = written(tmp_path / "numbers.csv", lines, "a,b,y")
    found = compared(capsys, path, "--target", "y", "--folds", "3")
    assert not any("TablePreparer" in note for note in found["notes"])


def test_a_column_that_is_left_out_is_no_target(tmp_path):
    path = written(tmp_path / "table.csv", rows())
    sample = read_sample(path, drop=["label"])
    assert sample.target == "day"
    assert sample.frame.columns == ["amount", "color"]


def test_columns_that_do_not_exist(table, capsys):
    assert main(["compare", table, "--target", "nothing", "--no-figure"]) == 2
    assert "nothing" in capsys.readouterr().err
