"""The record of small fits: the same twice, and a changed number is found."""

import sys
from pathlib import Path

import numpy as np
import pytest

from alignlearn import folds

LAB = Path(__file__).resolve().parents[1] / "scripts" / "lab"
if not LAB.is_dir():
    pytest.skip("needs the source tree", allow_module_level=True)
sys.path.insert(0, str(LAB))
import _fits  # noqa: E402
import measure_structure  # noqa: E402
import record_fits  # noqa: E402


def changed(path, key, value):
    with np.load(path) as arrays:
        found = dict(arrays)
    found[key] = value(found[key]) if callable(value) else value
    other = path.with_name("changed.npz")
    np.savez(other, **found)
    return other


@pytest.fixture
def twice(tmp_path):
    """Two records of the same fits."""
    paths = [tmp_path / "old.npz", tmp_path / "new.npz"]
    for path in paths:
        assert record_fits.main(["record", str(path), "--only", "ridge"]) == 0
    return paths


def test_two_records_are_equal_and_a_changed_number_is_found(twice, capsys):
    old, new = map(str, twice)
    assert record_fits.main(["compare", old, new]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("0 of ")
    assert "MKLRegressor ridge y: equal" in lines
    key = "MKLRegressor ridge y|dual_coef_"
    other = changed(twice[1], key, lambda a: np.nextafter(a, np.inf))
    assert record_fits.main(["compare", old, str(other)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("1 of ")
    assert any("ridge y: dual_coef_ differs by at most" in line for line in lines)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda a: a[1:], "has the shape"),
        (lambda a: a.astype(np.float32), "differs by at most"),
        (lambda a: np.where(np.arange(a.size) == 3, np.nan, a), "differs in NaN"),
        (lambda a: np.array("ValueError: no"), "has the shape"),
    ],
    ids=["shape", "precision", "NaN", "error"],
)
def test_kinds_of_differences(twice, value, text, capsys):
    other = changed(twice[1], "MKLRegressor ridge y|predict", value)
    assert record_fits.compare(twice[0], other) == 1
    assert f"ridge y: predict {text}" in capsys.readouterr().out


def test_differences_in_words():
    a = np.array([1.0, 0.0, np.nan])
    assert record_fits.difference(a, a.copy()) == ""
    assert record_fits.difference(a, np.array([1.0, -0.0, np.nan])) == "differs in signs of zero"
    assert record_fits.difference(a, None) == "is only in the old record"
    assert record_fits.difference(None, a) == "is only in the new record"
    assert "is float32" in record_fits.difference(a, a.astype(np.float32))
    assert "in place of" in record_fits.difference(np.array("a"), np.array("b"))


def test_a_fit_that_fails_is_its_error():
    def fails():
        raise KeyError("what")

    assert _fits.recorded(fails)["error"].item() == "KeyError: 'what'"


def test_there_are_fits_of_every_kind():
    names = list(_fits.cases())
    assert len(names) > 250
    for word in (
        "MKLClassifierCV",
        "gaps",
        "sparse",
        "per target",
        "thorough",
        "Hyper",
        "KernelCCA",
    ):
        assert any(word in name for name in names)


def test_lines_of_code():
    text = '"""Text,\n\nof a module."""\n# why\n\nx = (\n    1\n)\ny = """a\nb"""\n'
    assert measure_structure.code_lines(text) == 5


def test_what_a_call_passes():
    found = measure_structure.passed(lambda: folds.fold_numbers(np.arange(12), 3, False))
    assert len(found.calls) >= len(found.deepest) >= 1
    assert found.deepest[0] is folds.fold_numbers.__code__
    assert found.calls[found.deepest[0]] == 1
    assert "folds.py" in found.tree()
    assert "depth" in str(found)
    assert measure_structure.classes()["MKLClassifier"] > 1
