"""The record of small fits, and the functions that a fit passes."""

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
import fit_path  # noqa: E402
import record_fits  # noqa: E402


def test_two_records_are_equal_and_what_differs_is_found(tmp_path, capsys):
    old, new, other = (tmp_path / f"{name}.npz" for name in ("old", "new", "other"))
    for path in (old, new):
        assert record_fits.main(["record", str(path), "--only", "ridge"]) == 0
    assert record_fits.main(["compare", str(old), str(new)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("0 of ")
    assert "MKLRegressor ridge y: equal" in lines
    with np.load(new) as arrays:
        found = dict(arrays)
    for change, text in (
        (lambda a: np.nextafter(a, np.inf), "differs by at most"),
        (lambda a: a[1:], "has the shape"),
        (lambda a: a.astype(np.float32), "differs by at most"),
        (lambda a: np.where(np.arange(a.size) == 3, np.nan, a), "differs in NaN"),
        (lambda a: np.array("ValueError: no"), "has the shape"),
    ):
        key = "MKLRegressor ridge y|predict"
        np.savez(other, **{**found, key: change(found[key])})
        assert record_fits.main(["compare", str(old), str(other)]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert lines[-1].startswith("1 of ")
        assert any(f"ridge y: predict {text}" in line for line in lines)
    a = np.array([1.0, 0.0])
    assert record_fits.difference(a, np.array([1.0, -0.0])) == "differs in signs of zero"
    assert record_fits.difference(a, None) == "is only in the old record"


def test_a_fit_that_fails_is_its_error_and_there_are_fits_of_every_kind():
    assert _fits.recorded(lambda: {}["what"])["error"].item() == "KeyError: 'what'"
    names = " ".join(_fits.cases())
    for word in ("MKLClassifierCV", "gaps", "sparse", "per target", "Hyper", "KernelCCA"):
        assert word in names


def test_the_functions_that_a_call_passes_are_counted():
    def call():
        for m in (12, 15):
            folds.equal_folds(m, 3)

    found = fit_path.passed(call)
    assert found.deepest[:2] == [folds.equal_folds.__code__, folds.fold_numbers.__code__]
    assert found.calls[None, folds.equal_folds.__code__] == 2
    assert found.calls[folds.equal_folds.__code__, folds.fold_numbers.__code__] == 2
    assert fit_path.place(folds.equal_folds.__code__).startswith("folds.py:")
    assert f"depth {len(found.deepest)}" in str(found)
