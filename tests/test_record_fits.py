"""The record of small fits, and the functions that a fit passes."""

import numpy as np

from alignlearn import folds


def test_two_records_are_equal_and_what_differs_is_found(script, tmp_path, capsys):
    record_fits = script("lab/record_fits")
    old, new, other = (tmp_path / f"{name}.npz" for name in ("old", "new", "other"))
    for path in (old, new):
        assert record_fits.main(["record", str(path), "--only", "ridge"]) == 0
    assert record_fits.main(["compare", str(old), str(new)]) == 0
    assert "MKLRegressor ridge y: equal" in capsys.readouterr().out.splitlines()
    with np.load(new) as arrays:
        found = dict(arrays)
    key = "MKLRegressor ridge y|predict"
    np.savez(other, **{**found, key: np.nextafter(found[key], np.inf)})
    assert record_fits.main(["compare", str(old), str(other)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("1 of ")
    assert any("ridge y: predict differs by at most" in line for line in lines)
    fits = script("lab/_fits")
    assert fits.recorded(lambda: {}["what"])["error"].item() == "KeyError: 'what'"
    # Models of the tests of files, one or more of each class.
    names = fits.recorded(fits.cases()["every estimator"])
    assert {"HyperKRR.predict", "KernelCCA.transform", "LinearSVM.predict"} <= names.keys()


def test_the_functions_that_a_call_passes_are_counted(script):
    fit_path = script("lab/fit_path")
    found = fit_path.passed(lambda: [folds.equal_folds(m, 3) for m in (12, 15)])
    caller, callee = folds.equal_folds.__code__, folds.fold_numbers.__code__
    assert found.calls[caller, callee] == 2
    assert f"depth {len(found.deepest)}" in str(found)
