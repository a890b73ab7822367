"""The command line: files of every kind, the table and figure, and errors on one line."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from command_lines import assert_one_line
from sklearn.datasets import dump_svmlight_file

from alignlearn import datasets
from alignlearn.cli import compare as command
from alignlearn.cli import main
from alignlearn.cli.main import parse
from alignlearn.comparison import METHODS, Protocol, compare, explain
from alignlearn.kernels import (
    Gaussian,
    Hamming,
    Laplacian,
    Linear,
    Matern,
    RankOneKernels,
    RationalQuadratic,
    gaussian_kernels,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1, -1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def csv(folder, table):
    X, y = table
    rows = [",".join([*map(repr, x.tolist()), "yes" if v > 0 else "no"]) for x, v in zip(X, y)]
    (folder / "table.csv").write_text("\n".join(["a,b,c,kind", *rows]))
    return "table.csv"


def errors_in(text):
    """Mean errors by method, read from the printed table."""
    found = re.findall(r"^(\S+) +([0-9.]+) \+- ([0-9.]+)  ", text, flags=re.MULTILINE)
    return {name: (float(mean), float(deviation)) for name, mean, deviation in found}


def test_csv_prints_the_comparison_and_writes_the_figure(csv, table, folder, capsys):
    assert main(["compare", csv]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("table.csv: 40 samples, 3 features, 2 classes, support vector machine; 9")
    found = compare(*table)
    errors = errors_in(out)
    assert list(errors) == ["best-single", "uniform", "align", "alignf"]
    for method, error in zip(found.methods, found.error):
        assert errors[method] == (round(error.mean(), 4), round(error.std(ddof=1), 4))
    assert found.verdict() in " ".join(out.split())
    assert (folder / "alignlearn-compare-table.png").read_bytes()[:4] == b"\x89PNG"
    assert out.rstrip().endswith("figure: alignlearn-compare-table.png")


def test_target_task_and_protocol_options_reach_the_comparison(csv, table, capsys):
    X, y = table
    options = "--target a --task regression --folds 4 --scale minmax --random-state 7 --no-figure"
    np.savetxt("numbers.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    words = [*options.split(), "--methods", "uniform, alignf"]
    assert main(["compare", "numbers.csv", *words]) == 0
    out = capsys.readouterr().out
    protocol = Protocol(4, "minmax", 7)
    Z = np.column_stack([X[:, 1:], y])
    found = compare(Z, X[:, 0], methods=("uniform", "alignf"), protocol=protocol)
    assert errors_in(out)["alignf"][0] == pytest.approx(found.error[1].mean(), abs=1e-3)
    assert "real-valued target, kernel ridge regression" in out
    assert "4 folds (2 for training, 1 for validation, 1 for testing)" in " ".join(out.split())


def test_npz_and_another_target(folder, table, capsys):
    X, y = table
    np.savez("two.npz", X=X, y=y, price=X[:, 0] ** 2)
    assert main(["compare", "two.npz", "--target", "price", "--no-figure"]) == 0
    out = capsys.readouterr().out
    found = compare(X, X[:, 0] ** 2)
    assert errors_in(out)["alignf"][0] == pytest.approx(found.error[3].mean(), rel=1e-3)
    assert not list(folder.glob("*.png"))


def test_sparse_svmlight_takes_rank_one_kernels_or_is_made_dense(folder, capsys):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 12)) < 0.15, 1.0 + rng.random((60, 12)), 0.0)
    X[0] = 1.0
    y = X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=60)
    dump_svmlight_file(X, y, "counts.svm", zero_based=False)
    assert main(["compare", "counts.svm", "--no-figure"]) == 0
    out = capsys.readouterr().out
    data = datasets.load("counts.svm")
    assert not isinstance(data.X, np.ndarray)
    found = compare(data.X, data.y, RankOneKernels(), methods=("uniform", "align", "alignf"))
    assert "one kernel per column" in " ".join(out.split())
    assert errors_in(out)["align"][0] == pytest.approx(found.error[1].mean(), rel=1e-3)
    assert main(["compare", "counts.svm", "--kernels", "linear", "--no-figure"]) == 0
    assert "made dense" in capsys.readouterr().out


def test_kernel_lists_and_ladders():
    X = np.zeros((3, 2))
    assert command.choose_kernels(X, None, None)[1] == gaussian_kernels()
    assert command.choose_kernels(X, None, (-4, 3))[1] == gaussian_kernels(2.0 ** np.arange(-4, 4))
    kernels = command.choose_kernels(X, "laplacian, linear", (0, 1))[1]
    assert kernels == [Laplacian(1.0), Laplacian(2.0), Linear()]
    assert command.choose_kernels(X, "rbf,linear", None)[1][2] == Gaussian("scale", 0.25)
    kernels = command.choose_kernels(X, "matern,rational-quadratic,hamming", (0, 1))[1]
    twice = [Matern(gamma=1.0), Matern(gamma=2.0)]
    assert kernels == [*twice, *(RationalQuadratic(gamma=g) for g in (1.0, 2.0)), Hamming()]
    args = parse(["compare", "x", "--gammas", "-4:3"])
    assert args.gammas == (-4, 3)


def test_large_data_is_subsampled_with_a_note(csv, capsys):
    assert main(["compare", csv, "--max-samples", "30", "--no-figure"]) == 0
    out = capsys.readouterr().out
    assert "30 samples" in out
    assert "random subset of 30 of 40 rows" in out
    assert main(["compare", csv, "--max-samples", "0", "--no-figure"]) == 0
    out = capsys.readouterr().out
    assert "subset" not in out
    assert "note: 40 rows and 4 columns, separated by commas; names in line 1" in out


def test_verbose_reports_on_stderr_and_warnings_become_notes(csv, capsys):
    # The same kernels twice: a singular matrix, of which AlignLinear warns in every fold.
    options = "--methods uniform,alignf-linear --kernels rbf,rbf --verbose --no-figure"
    assert main(["compare", csv, *options.split()]) == 0
    err = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("alignlearn: fold ") for line in err) == 10
    notes = [line for line in err if line.startswith("alignlearn: note: AlignLinear: M is")]
    assert notes
    assert len(set(notes)) == len(notes)
    assert len(err) == 10 + len(notes)


@pytest.mark.parametrize(
    ("out", "written"),
    [("f.svg", "f.svg"), ("g.pdf", "g.pdf"), ("h", "h.png"), (".", "alignlearn-compare-table.png")],
)
def test_out_names_a_file_a_stem_or_a_folder(csv, folder, capsys, out, written):
    options = ["--methods", "uniform,align", "--kernels", "linear", "--out", out]
    assert main(["compare", csv, *options]) == 0
    start = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[written[-3:]]
    assert (folder / written).read_bytes().startswith(start)
    assert written in capsys.readouterr().out


def test_user_mistakes_are_one_line_and_exit_code_2(csv, capsys):
    rows = "".join(f"{i},{i * i},a\n" for i in range(20))
    files = {"one.csv": rows, "gap.csv": rows + "1,,b\n", "rare.csv": rows + "1,1,rare\n"}
    files["words.csv"] = "".join(f"{i},{'ten' if i == 10 else i},{i % 2}\n" for i in range(20))
    for name, text in files.items():
        with open(name, "w") as file:
            file.write(text)
    np.savez("two.npz", X=np.zeros((9, 2)), Y=np.zeros((9, 2)))
    cases = [
        (["missing.csv"], "missing.csv.*no such file"),
        (["brest_cancer"], "Did you mean 'breast_cancer'"),
        (["{csv}", "--target", "kin"], "not a column.*Did you mean 'kind'"),
        (["{csv}", "--target", "9"], "out of range"),
        (["{csv}", "--task", "regression"], "strings"),
        (["{csv}", "--folds", "2"], "--folds 2; accepted: an integer >= 3"),
        (["{csv}", "--kernels", "rfb"], "'rfb' is not known"),
        (["{csv}", "--kernels", "linear", "--gammas", "0:1"], "--gammas needs"),
        (["{csv}", "--kernels", "rank-one,rbf"], "cannot be combined"),
        (["{csv}", "--kernels", "rank-one", "--methods", "best-single"], "best-single"),
        (["{csv}", "--gammas", "3"], "A:B"),
        (["{csv}", "--gammas", "3:1"], "A <= B"),
        (["{csv}", "--methods", "aline"], "--methods aline is not known; accepted"),
        (["{csv}", "--scale", "log"], "--scale"),
        (["{csv}", "--max-samples", "-5"], "--max-samples"),
        (["{csv}", "--random-state", "-3"], "--random-state: '-3'; accepted: an integer >= 0"),
        (["{csv}", "--random-state", "one"], "--random-state: 'one'; accepted"),
        (["{csv}", "--methods", "uniform,lkrr"], "lkrr is for regression, but the task is clas"),
        (["{csv}", "--json", "no/such/x.json"], "does not exist"),
        (["{csv}", "--out", "figure.jpg"], "accepted endings"),
        (["{csv}", "--out", "no/such/figure.png"], "does not exist"),
        (["one.csv"], "single class"),
        (["gap.csv", "--missing", "error"], "missing values.* or --missing impute.$"),
        (["rare.csv"], "class rare has 1 sample"),
        (["words.csv"], "accepted: a column of numbers"),
        (["two.npz"], "several targets.*--target"),
        ([], "DATA"),
        (["{csv}", "--no-such-option"], "unrecognized"),
    ]
    cases = [(("compare", *(a.format(csv=csv) for a in given)), words) for given, words in cases]
    assert_one_line(capsys, cases)


def test_help_teaches_and_lists_the_command(capsys):
    for arguments, words in (([], "compare"), (["compare"], "examples:")):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--help"])
        assert stop.value.code == 0
        text = " ".join(capsys.readouterr().out.split())
        assert words in text
    assert all(re.search(rf"\b{name}[,;.]", text) for name in METHODS)


def test_python_m_and_light_start(csv):
    code = (
        "import sys, runpy; sys.argv = ['alignlearn', '--version']\n"
        "try: runpy.run_module('alignlearn', run_name='__main__')\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'sklearn'} & set(sys.modules); assert not heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    command = [sys.executable, "-m", "alignlearn", "compare", csv, "--target", "none"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_reader_that_stops_early_is_no_error(csv):
    command = [sys.executable, "-m", "alignlearn", "compare", csv, "--methods", "uniform,align"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"40 samples" in process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_explain_prints_the_kernels_of_the_winner(csv, table, folder, capsys):
    options = ["--kernels", "linear,rbf", "--gammas", "-2:0", "--no-figure"]
    assert main(["compare", csv, *options, "--explain"]) == 0
    printed = capsys.readouterr().out
    kernels = [Linear(), *(Gaussian(2.0**k) for k in range(-2, 1))]
    found = compare(*table, kernels)
    _, _, text = explain(found, *table, kernels)
    assert printed.rstrip().endswith(text)
    assert main(["compare", csv, *options]) == 0
    assert "lowest mean error" not in capsys.readouterr().out
    methods = ["--methods", "alignf", "--explain", "--json", "-"]
    assert main(["compare", csv, *options, *methods]) == 0
    explained = json.loads(capsys.readouterr().out)["explained"]
    assert explained["method"] == "alignf"
    assert explained["kernels"]["kernel"] == [str(k) for k in kernels]
    assert len(explained["kernels"]["contribution"]) == 4
