"""Destinations of JSON, notes, progress and the table, which precedes the figure."""

import io
import json
import os
import sys

import numpy as np
import pytest
from alignlearn.theory import CLAIMS
from alignlearn.theory.figures.curves import find_curve
from commands import run

from alignlearn import _progress
from alignlearn.cli import main
from alignlearn.comparison import Protocol, compare


@pytest.fixture
def table(tmp_path, monkeypatch):
    """(X, y), written to table.npz in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1, -1)
    np.savez("table.npz", X=X, y=y)
    return X, y


COMPARE = ("compare", "table.npz", "--kernels", "linear,poly,cosine", "--methods", "uniform,alignf")
KERNELS = ["linear", "poly", "cosine"]
BOUNDS = ("bounds", "--claim", "p1-theorem-17")


@pytest.mark.parametrize("where", ["-", "out.json"])
def test_compare_as_json(table, tmp_path, capsys, where):
    code, out, err = run(capsys, *COMPARE, "--no-figure", "--folds", "4", "--json", where)
    assert (code, err) == (0, "")
    text = out if where == "-" else (tmp_path / where).read_text()
    assert ("+-" in out) == (where != "-")
    result = json.loads(text)
    protocol = Protocol(n_folds=4)
    found = compare(*table, KERNELS, methods=("uniform", "alignf"), protocol=protocol)
    assert list(result["methods"]) == ["uniform", "alignf"]
    for i, numbers in enumerate(result["methods"].values()):
        for name in ("error", "validation_error", "alignment", "test_alignment", "weights"):
            np.testing.assert_array_equal(numbers[name], getattr(found, name)[i])
    assert result["methods"]["alignf"]["p_value"] == found.p_value("alignf")
    assert result["kernels"] == list(found.kernel_names)
    expected = {"n_folds": 4, "scale": "standard", "random_state": 0, "grid": None}
    assert result["protocol"] == {**expected, "test": "corrected-t"}
    assert (result["data"], result["n_samples"], result["n_features"]) == ("table.npz", 40, 3)
    assert result["verdict"] == found.verdict()
    assert any("40 x 3" in note for note in result["notes"])


def test_compare_prequentially(table, capsys):
    words = (*COMPARE, "--no-figure", "--folds", "3", "--test", "prequential")
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert "3 test blocks in the second half" in " ".join(out.split())
    assert "its type I error rate is proved" in " ".join(out.split())
    _, out, _ = run(capsys, *words, "--json", "-")
    found = json.loads(out)["methods"]["alignf"]
    assert found["prequential"]["n_samples"] == 20
    assert found["p_value"] == found["prequential"]["p_value"]


def test_what_is_not_a_number_is_null_in_json(table, capsys):
    """An ensemble has no combined kernel, so it has no alignment."""
    options = ("--methods", "ensemble", "--kernels", "linear", "--no-figure", "--json", "-")
    code, out, _ = run(capsys, "compare", "table.npz", *options)
    assert code == 0
    assert json.loads(out)["methods"]["ensemble"]["alignment"] == [None] * 5


def test_bounds_as_json(capsys):
    words = ("bounds", "--claim", "p1-theorem-17", "--no-figure", "--m", "10:1000", "--json", "-")
    code, out, _ = run(capsys, *words)
    assert code == 0
    result, curve = json.loads(out), find_curve("p1-theorem-17")
    assert result["m"] == [10, 20, 50, 100, 200, 500, 1000]
    for name, bound in curve.values(result["m"]).items():
        np.testing.assert_array_equal(result["bounds"][name], bound)
    assert result["smallest_m_not_vacuous"]["corrected"] == 633
    assert result["status"] == CLAIMS["p1-theorem-17"].status == "false"
    code, out, _ = run(capsys, "bounds", "--json", "-")
    assert json.loads(out)["claims"]["p1-theorem-12"]["status"] == "true, proof wrong"


def test_verify_as_json(capsys):
    words = ("verify", "--claims", "p1-lemma-6", "--examples", "5", "--json", "-")
    code, out, _ = run(capsys, *words)
    assert code == 0
    result = json.loads(out)
    assert result["examples"] == 5
    printed, corrected = (result["claims"][n] for n in ("p1-lemma-6", "p1-lemma-6-corrected"))
    assert (printed["found"], corrected["found"]) == ("violated", "holds")
    assert printed["as_recorded"]
    assert corrected["as_recorded"]
    assert sum(corrected["outcomes"].values()) >= 5


def test_quiet_leaves_out_notes_and_progress(table, capsys):
    # The same kernel twice is a singular matrix, of which AlignLinear warns.
    options = ("--kernels", "rbf,rbf", "--methods", "uniform,alignf-linear", "--no-figure")
    code, out, err = run(capsys, "compare", "table.npz", *options)
    assert code == 0
    assert "note: " in out
    assert "note: AlignLinear" in err
    code, out, err = run(capsys, "compare", "table.npz", *options, "--quiet", "--verbose")
    assert (code, err) == (0, "")
    assert "note: " not in out
    assert "+-" in out


def test_the_figure_is_announced_also_when_quiet(table, tmp_path, capsys):
    before = set(tmp_path.iterdir())
    code, out, err = run(capsys, *COMPARE, "--out", "NAME", "--quiet")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "figure: NAME.png"
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"NAME.png"}
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert ".png is added to other names" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="devices and pipes of POSIX")
@pytest.mark.parametrize("command", [COMPARE, BOUNDS], ids=["compare", "bounds"])
def test_no_figure_goes_beside_a_device(command, table, capsys):
    os.mkfifo("pipe")
    devices = "/dev/null", "/dev/stdout", "/dev/stdout.png", "/dev/fd/1", "/proc/self/fd/1"
    for out in (*devices, "pipe"):
        code, printed, err = run(capsys, *command, "--out", out)
        assert (code, printed) == (2, "")
        assert err == (
            f"alignlearn: error: --out {out} is a device or pipe; accepted: a file or folder for "
            "the figure, or --no-figure.\n"
        )
        assert not os.path.exists(f"{out}.png")


def test_a_terminal_gets_a_line_for_each_fold_of_long_work(table, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run(capsys, *COMPARE, "--no-figure")[2] == ""
    monkeypatch.setattr(_progress, "_EVERY", 0.0)
    monkeypatch.setattr(_progress, "_OFTEN", 0.0)
    lines = run(capsys, *COMPARE, "--no-figure")[2].splitlines()
    start = [line.partition(",")[0] for line in lines]
    assert start == [f"alignlearn: folds: {k}% done" for k in range(20, 101, 20)]
    assert run(capsys, *COMPARE, "--no-figure", "--quiet")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert run(capsys, *COMPARE, "--no-figure")[2] == ""


def test_the_table_is_printed_before_the_figure_is_made(table, capsys, monkeypatch):
    """A figure that fails must not discard the result of hours."""

    def fail(*args, **kwargs):
        raise OSError("no room for the figure")

    monkeypatch.setattr("alignlearn.comparison.plot_comparison", fail)
    code, out, err = run(capsys, *COMPARE)
    assert code == 2
    assert "alignf " in out
    assert err == "alignlearn: error: no room for the figure\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "not enough memory: fewer rows"),
        (MemoryError("Unable to allocate 27 GiB"), "not enough memory: Unable to allocate 27 GiB"),
        (OverflowError("cannot fit"), "too large: cannot fit"),
    ],
)
def test_memory_that_runs_out_is_one_line(table, capsys, monkeypatch, error, words):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("alignlearn.comparison.compare", fail)
    code, _, err = run(capsys, *COMPARE, "--no-figure")
    assert code == 2
    assert words in err
    assert err.count("\n") == 1


def test_columns_are_dropped(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"n{i},{i % 7},{i % 5},{i % 2}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["name,a,b,y", *rows]))
    words = ("t.csv", "--kernels", "linear", "--no-figure", "--drop", "name")
    for command in ("compare", "bounds"):
        code, out, _ = run(capsys, command, *words, "--drop", "2")
        assert (code, "2 columns dropped: 'name', 'b'" in out) == (0, True)
        code, _, err = run(capsys, command, *words[:-2])
        assert (code, "leave it out by --drop name" in err) == (2, True)
    code, _, err = run(capsys, "bounds", "--drop", "a")
    assert (code, err) == (2, "alignlearn: error: --drop needs DATA.\n")


@pytest.mark.parametrize(
    ("words", "expected"), [(["bounds", "--claim", "p1-theorem-17"], 0), (["bounds", "--oops"], 2)]
)
def test_closed_streams(words, expected, tmp_path, monkeypatch):
    """Closed by the shell (>&- 2>&-) they are None."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    try:
        code = main([*words, "--no-figure", "--json", str(tmp_path / "out.json")])
    except SystemExit as end:
        code = end.code
    assert (code, sys.stdout, sys.stderr) == (expected, None, None)
    assert (tmp_path / "out.json").exists() == (expected == 0)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_of_another_encoding(encoding, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("名前,y\n1,2.5\n2,3\n3,7.5\n4,1\n5,0\n6,2", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    terminal = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    options = ("--target", "名前", "--kernels", "linear", "--folds", "3", "--no-figure")
    assert main(["compare", "t.csv", *options]) == 0
    assert r"'\u540d\u524d'" in terminal.buffer.getvalue().decode(encoding)
    assert terminal.errors == "strict"
