"""``alignlearn bounds DATA``: its output on data, and cases without a bound."""

import json
import re

import numpy as np
import pytest
from command_lines import assert_one_line
from commands import run

import alignlearn as al
from alignlearn.cli.groups import halves, near_copies, one_of_each
from alignlearn.cli.statement import alignment_statement, risk_statement


def classes(m, seed=0, distance=4.0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], m)
    return rng.standard_normal((m, 2)) + distance / 2 * np.c_[y, np.zeros(m)], y


def regression(m, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (m, 2))
    return X, np.clip(X[:, 0] / 2 + 0.1 * rng.standard_normal(m), -1, 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table with a header, classes; and one of real targets and one of three classes."""
    monkeypatch.chdir(tmp_path)
    X, y = classes(240)
    rows = [f"{a!r},{b!r},{'yes' if c > 0 else 'no'}" for (a, b), c in zip(X.tolist(), y)]
    (tmp_path / "table.csv").write_text("\n".join(["length,width,sold", *rows]) + "\n")
    np.savez("real.npz", X=regression(240)[0], y=regression(240)[1])
    np.savez("three.npz", X=X, y=np.arange(240) % 3)
    return tmp_path


def said(folder, capsys, *words):
    """The results in out.json, and what is printed to stdout and stderr."""
    code, out, err = run(capsys, "bounds", *words)
    assert code == 0, err
    return json.loads((folder / "out.json").read_text()), out, err


def test_a_table_gives_what_the_library_gives(folder, capsys):
    """The halves, the scale, the fit, the interval and the bound, done again by hand."""
    words = ("table.csv", "--target", "sold", "--kernels", "rbf,laplacian", "--gammas", "-2:0")
    found, out, err = said(folder, capsys, *words, "--delta", "0.1", "--json", "out.json")
    assert err == ""

    X, y = classes(240)
    order = np.random.default_rng(0).permutation(240)
    first, second = order[:120], order[120:]
    Z = (X - X[first].mean(0)) / X[first].std(0)
    gammas = [0.25, 0.5, 1.0]
    kernels = [*map(al.Gaussian, gammas), *map(al.Laplacian, gammas)]
    clf = al.MKLClassifierCV(kernels, weighting="alignf", random_state=0).fit(Z[first], y[first])
    np.testing.assert_allclose(list(found["weights"].values()), clf.weights_, atol=1e-9)
    interval = al.alignment_interval(Z[second], y[second], clf.kernel_, 0.1)
    told = found["alignment"]
    value = al.alignment(clf.kernel_(Z[second]), np.outer(y[second], y[second]))
    expected = pytest.approx((interval.low, value, interval.high))
    assert (told["low"], told["value"], told["high"]) == expected
    bound = clf.bound(Z[second], y[second], 0.1, held_out=True)
    assert found["risk"]["value"] == pytest.approx(bound.value)
    assert (found["n_train"], found["n_held_out"], found["delta"]) == (120, 120, 0.1)
    assert "Each statement holds with probability 0.9." in out
    assert f"in [{interval.low:.4f}, {interval.high:.4f}]" in out
    assert "K_k(x, x) <= 1 for every kernel in use, known" in " ".join(out.split())
    assert f"explains at least {interval.low:.1%}" in " ".join(out.split())
    about = re.search(r"half as long takes about ([\d,]+) held-out", " ".join(out.split()))[1]
    assert float(about.replace(",", "")) == pytest.approx(told["needed_for_half"], rel=0.05)
    assert (folder / "alignlearn-bounds-table.png").stat().st_size > 5000


@pytest.mark.parametrize(("task", "m"), [("classes", 400), ("regression", 800)])
def test_the_number_of_samples_for_half_the_length(task, m):
    """With that many samples of the same distribution the interval is about half as long."""
    make = {"classes": classes, "regression": regression}[task]
    kernel, given = al.Gaussian(0.5), {"delta": 0.05}
    if task == "regression":
        given["label_range"] = (-1, 1)
    model = {"classes": al.MKLClassifier, "regression": al.MKLRegressor}[task]([kernel])
    model.fit(*make(60, 9))
    found, silence = alignment_statement(model, *make(m, 1), **given)
    assert silence == ""
    more = al.alignment_interval(*make(found.needed, 2), kernel, **given)
    length = found.interval.high - found.interval.low
    assert 0.35 < (more.high - more.low) / length < 0.65
    assert set(found.intervals) == {m // 8, m // 4, m // 2, m}


def test_real_targets(folder, capsys):
    words = ("real.npz", "--label-range", "-1:1", "--json", "out.json", "--no-figure")
    found, *_ = said(folder, capsys, *words)
    assert 0 < found["alignment"]["low"] < found["alignment"]["value"]
    assert found["risk"]["loss"] == "expected squared error"
    assert 0 < found["risk"]["empirical_risk"] < found["risk"]["value"] < 0.2
    assert found["figure"] is None
    assert "predictions clipped to [-1, 1]" in found["risk"]["hypotheses"]


@pytest.mark.parametrize(
    ("words", "alignment", "risk"),
    [
        (("real.npz",), "give --label-range LOW:HIGH.", "give --label-range LOW:HIGH."),
        (("three.npz",), "two classes or a real-valued target, got 3 classes.", ""),
        (("table.csv", "--kernels", "linear,rbf"), "give --radius2.", ""),
        (("table.csv", "--kernels", "tl1"), "may be indefinite", ""),
    ],
)
def test_where_nothing_can_be_said_a_sentence_says_so(folder, capsys, words, alignment, risk):
    found, out, err = said(folder, capsys, *words, "--json", "out.json")
    assert err == ""
    assert found["alignment"] is None
    assert found["alignment_silence"].endswith(".")
    assert alignment in found["alignment_silence"]
    assert risk in found["risk_silence"]
    assert (found["risk"] is None) == bool(risk)
    assert "no statement" in out
    # Nothing to draw.
    assert not list(folder.glob("*.png"))


def test_too_few_samples_say_so(folder, capsys):
    code, out, _ = run(capsys, "bounds", "table.csv", "--max-samples", "40", "--no-figure")
    assert code == 0
    text = " ".join(out.split())
    assert "no statement: too few samples, the interval is [0.0000, 1.0000]." in text
    assert "an interval of length 1/2 takes about" in text
    assert "no conclusion from theorem 14" in text


def test_a_bound_of_the_diagonal_makes_a_linear_kernel_speak(folder, capsys):
    words = ("bounds", "table.csv", "--kernels", "linear", "--no-figure", "--json", "-")
    found = json.loads(run(capsys, *words, "--radius2", "20")[1])
    assert found["alignment"]["low"] > 0
    assert "K_k(x, x) <= 20 for every kernel in use, as given" in found["alignment"]["hypotheses"]
    wide = json.loads(run(capsys, *words, "--radius2", "200")[1])
    assert wide["alignment"]["low"] < found["alignment"]["low"]
    assert_one_line(capsys, [((*words, "--radius2", "1"), r"radius2=1 is below K\(x, x\)")])


def test_what_was_filled_from_all_samples_is_said(folder, capsys):
    text = (folder / "table.csv").read_text().splitlines()
    text[3] = "," + text[3].partition(",")[2]
    (folder / "gaps.csv").write_text("\n".join(text) + "\n")
    words = ("bounds", "gaps.csv", "--no-figure", "--max-samples", "60", "--kernels", "rbf")
    assert "imputed with all samples" in run(capsys, *words, "--missing", "impute")[1]
    assert "filled" not in run(capsys, *words, "--missing", "drop")[1]
    assert run(capsys, *words)[0] == 2


def test_sparse_data(folder, capsys):
    lines = (f"{1 if i % 2 else -1} {1 + i % 2}:1.0 3:{i % 5}.5\n" for i in range(60))
    (folder / "few.svm").write_text("".join(lines))
    code, out, _ = run(capsys, "bounds", "few.svm", "--radius2", "30", "--no-figure")
    assert code == 0
    assert "(betting, one kernel)" in out or "too few samples" in out
    assert "probability of error" in out


def test_it_refuses(folder, capsys):
    np.savez("rare.npz", X=classes(40)[0], y=np.r_[np.ones(39), 0.0])
    cases = [
        (("table.csv", "--delta", "0"), "0 < delta < 1"),
        (("table.csv", "--delta", "1"), "0 < delta < 1"),
        (("table.csv", "--max-samples", "15"), "at least 16"),
        (("table.csv", "--claim", "p1-theorem-12"), "--claim does not go with DATA"),
        (("table.csv", "--m", "10:100"), "--m does not go with DATA"),
        (("table.csv", "--radius2", "-1"), "radius2"),
        (("real.npz", "--label-range", "-0.1:0.1"), "does not contain the labels"),
        (("no-such.csv",), "no-such.csv"),
        (("table.csv", "--target", "color"), "color"),
        (("--target", "sold"), "--target needs DATA"),
        (("--claim", "p1-theorem-12", "--radius2", "0"), "--radius2 needs DATA"),
        (("table.csv", "--out", "x.txt"), "accepted endings"),
        (("rare.npz", "--task", "classification"), "fewer than 2 samples"),
        *(
            (("real.npz", "--label-range", text), "LOW < HIGH")
            for text in ("1", "1:0", "0:0", "a:b", "0:inf", "nan:1")
        ),
    ]
    assert_one_line(capsys, [(("bounds", *words), re.escape(text)) for words, text in cases])


def test_held_out_samples_of_one_class_have_no_alignment():
    clf = al.MKLClassifier([al.Gaussian(0.5)]).fit(*classes(40))
    X = classes(20, 1)[0]
    found, silence = alignment_statement(clf, X, np.ones(20, dtype=int), 0.05)
    assert found is None
    assert "one class" in silence
    assert risk_statement(clf, X, np.ones(20, dtype=int), 0.05)[0].value <= 1


# Rows that belong together


def noise_table(name, X, y, group=None):
    """Rows of X, a column of groups if there is one, and labels that are noise."""
    rows = [[repr(v) for v in row] + ["ab"[c]] for row, c in zip(X.tolist(), y)]
    heads = [f"x{k}" for k in range(X.shape[1])] + ["label"]
    if group is not None:
        rows, heads = [[f"p{g}", *row] for g, row in zip(group, rows)], ["patient", *heads]
    with open(name, "w") as file:
        file.write("\n".join(",".join(line) for line in [heads, *rows]) + "\n")
    return (name, "--target", "label", "--no-figure", "--json", "out.json")


def pairs(n, seed=0):
    """n pairs of equal rows with labels that are noise, (2n, 3)."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.normal(size=(n, 3)), 2, axis=0), np.repeat(rng.integers(0, 2, n), 2)


def test_copies_of_rows_are_not_in_both_halves(folder, capsys):
    """Every row twice and labels that are noise: the risk is 1/2, and no bound is below it."""
    X, y = pairs(120)
    words = noise_table("twice.csv", X, y)
    found, *_ = said(folder, capsys, *words)
    assert (found["n_train"], found["n_held_out"]) == (60, 60)
    assert found["risk"]["value"] > 0.5
    assert "120 of 240 rows are copies" in " ".join(found["notes"])
    as_samples, *_ = said(folder, capsys, *words, "--groups", "none")
    assert as_samples["n_train"] + as_samples["n_held_out"] == 240
    assert as_samples["risk"]["value"] < found["risk"]["value"] - 0.1  # and that is false
    assert "copies" not in " ".join(as_samples["notes"])


def test_rows_of_few_values_are_equal_by_chance(folder, capsys):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 4)) * 1.0, rng.integers(0, 2, 200)
    found, *_ = said(folder, capsys, *noise_table("few.csv", X, y))
    assert found["n_train"] + found["n_held_out"] == 200


@pytest.mark.parametrize("column", ["patient", "x3"])
def test_groups_are_not_parted_and_one_row_of_each_counts(folder, capsys, column):
    X, y = pairs(120)
    X = X + 1e-3 * np.random.default_rng(1).normal(size=X.shape)
    group = np.arange(240) // 2
    if column == "patient":
        words = noise_table("groups.csv", X, y, group)
    else:
        words = noise_table("groups.csv", np.column_stack([X, group]), y)
    found, *_ = said(folder, capsys, *words, "--groups", column)
    assert (found["n_train"], found["n_held_out"]) == (120, 60)
    assert found["risk"]["value"] > 0.5
    assert "120 groups of rows" in " ".join(found["notes"])
    who = ("bounds", *words, "--groups", "who")
    assert_one_line(capsys, [(who, "--groups who: no such column; accepted: ")])


@pytest.mark.parametrize("copies", [2, 4])
def test_near_copies_are_told(folder, capsys, copies):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    X = X + 1e-3 * rng.normal(size=X.shape)
    found, *_ = said(folder, capsys, *noise_table("near.csv", X, y))
    assert "are much closer to another row" in " ".join(found["notes"])


def test_near_copies_are_none_by_chance():
    """Also of one column, of mixed columns, of clusters, and of few different rows."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        line, plane = rng.normal(size=(300, 1)), rng.normal(size=(300, 5))
        clusters = 0.05 * plane[:, :2] + rng.integers(0, 4, (300, 2))
        mixed = np.hstack([line, rng.integers(0, 2, (300, 2))])
        few = rng.integers(0, 3, (300, 4)) * 1.0
        for X in (line, plane, clusters, mixed, few, np.exp(2.0 * line)):
            assert near_copies(X) == 0.0
        assert near_copies(np.vstack([line, line + 1e-9])) > 0.9


def test_halves_are_of_whole_groups_and_nearly_equal():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 30, 200)
    first, second = halves(groups, rng)
    assert sorted([*first, *second]) == list(range(200))
    assert not set(groups[first]) & set(groups[second])
    assert abs(len(first) - 100) <= np.bincount(groups).max()
    one = one_of_each(second, groups)
    assert sorted(groups[one]) == sorted(set(groups[second]))


def test_a_curve_with_the_numbers_of_the_data(folder, capsys):
    words = ("--data", "table.csv", "--target", "sold", "--curve", "p1-theorem-12")
    found, out, err = said(folder, capsys, *words, "--kernels", "rbf", "--json", "out.json")
    assert err == ""
    assert found["m"] == [15, 30, 60, 120, 240]
    assert all(o <= b for o, b in zip(found["observed"], found["bounds"]["form (iii)"]))
    assert "p1-theorem-12 with the numbers of table.csv, 240 samples" in out
    assert (folder / "alignlearn-bounds-table-p1-theorem-12.png").stat().st_size > 5000
    for more, message in (
        (("table.csv",), "DATA is given twice"),
        (("--kernels", "rank-one"), "needs kernels that are matrices"),
        (("--claim", "p1-interval"), "--claim does not go with DATA"),
    ):
        assert_one_line(capsys, [(("bounds", *words, *more), message)])
    assert_one_line(capsys, [(("bounds", "--curve", "p1-theorem-12"), "--curve needs DATA")])
