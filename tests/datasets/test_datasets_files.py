"""Readers of csv, npz and svmlight files: against hand-written text, and against scikit-learn."""

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from refusals import raises
from scipy.sparse import csr_matrix, issparse
from sklearn import datasets as bundled
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from alignlearn import datasets
from alignlearn.datasets._files import parse_svmlight
from alignlearn.datasets._table import parse_table

X3 = np.array([[1.5, -2.0], [3.0, 4.25], [0.0, 1e-3]])


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@given(
    values=arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    delimiter=st.sampled_from([",", ";", "\t", "  "]),
    header=st.booleans(),
    at=st.integers(-6, 5),
)
def test_table_round_trip_is_exact(values, delimiter, header, at):
    width = values.shape[1]
    lines = [delimiter.join(repr(float(v)) for v in row) for row in values]
    if header:
        lines.insert(0, delimiter.join(f"c{i}" for i in range(width)))
    if not -width <= at < width:
        raises(ValueError, f"{width} columns", parse_table, "\n".join(lines), "t", at)
        return
    X, y, names, target, _ = parse_table("\n".join(lines), "t", at)
    np.testing.assert_array_equal(X, np.delete(values, at % width, axis=1))
    np.testing.assert_array_equal(y, values[:, at])
    if header:
        assert target == f"c{at % width}"
        assert target not in names
        assert len(names) == width - 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_text_is_recognized_by_its_content(tmp_path, pack):
    raw = pack(b"a,b\n1,2\n3,5.5\n")
    for name in ("t.csv.gz", "t.csv", "t.txt"):
        data = datasets.load(write(tmp_path, name, raw))
        np.testing.assert_array_equal(data.X, [[1], [3]])
    with pytest.raises(ValueError, match="damaged"):
        datasets.load(write(tmp_path, "half.csv.gz", raw[: len(raw) // 2]))


def test_target_by_name_and_number(tmp_path):
    path = write(tmp_path, "t.csv", "size,color class,weight\n1,red,5\n2,blue,6\n3,red,8\n")
    for target in ("color class", 1, -2):
        data = datasets.load(path, target=target)
        assert data.y.tolist() == ["red", "blue", "red"]
        assert data.feature_names == ("size", "weight")
    with pytest.raises(ValueError, match=r"'weigth'.*'size', 'color class'.*mean 'weight'"):
        datasets.load(path, target="weigth")
    raises(ValueError, "3 columns", datasets.load, path, target=3)
    raises(TypeError, "target", datasets.load, path, target=1.5)
    for text, words in (("1,2\n3,4\n", "no header"), ("a,a,b\n1,2,3\n", "names 2 columns")):
        raises(ValueError, words, datasets.load, write(tmp_path, "u.csv", text), target="a")


NAMED = "name,a,b,y\n" + "".join(f"n{i},{i}.5,{-i},{i % 2}\n" for i in range(40))


def test_columns_are_dropped_before_words_are_read(tmp_path):
    path = write(tmp_path, "t.csv", NAMED)
    raises(ValueError, r"leave it out by drop='name'", datasets.load, path)
    for drop in ("name", 0, -4, ["name"], ("name", "name")):
        data = datasets.load(path, drop=drop)
        assert data.feature_names == ("a", "b")
        assert data.notes[1] == "1 column dropped: 'name'"
    # The target is counted in the file; by default it is the last column that remains.
    data = datasets.load(path, drop=["name", "y"])
    np.testing.assert_array_equal(data.y, -np.arange(40.0))
    data = datasets.load(path, drop=["name", "b"], target=1)
    assert (data.feature_names, data.y[3]) == (("y",), 3.5)
    nameless = write(tmp_path, "u.csv", NAMED.partition("\n")[2])
    raises(ValueError, r"leave it out by drop=0", datasets.load, nameless)
    assert datasets.load(nameless, drop=0).X.shape == (40, 2)
    path = write(tmp_path, "v.csv", "a,b,c,y\n1,?,inf,0\n2,4,3,1\n")  # gaps and infinities
    np.testing.assert_array_equal(datasets.load(path, drop=["b", "c"]).X, [[1.0], [2.0]])


def test_columns_of_other_data_are_dropped(tmp_path):
    full = bundled.load_iris()
    data = datasets.load("iris", drop=[0, full.feature_names[2]])
    np.testing.assert_array_equal(data.X, full.data[:, [1, 3]])
    assert data.feature_names == tuple(np.array(full.feature_names)[[1, 3]])
    path = write(tmp_path, "t.svm", "1 1:2 3:4\n-1 2:5 3:1\n")
    np.testing.assert_array_equal(datasets.load(path, drop=1).X, [[2.0, 4.0], [0.0, 1.0]])
    np.savez(tmp_path / "t.npz", X=X3, y=np.array([0, 1, 0]))
    np.testing.assert_array_equal(datasets.load(tmp_path / "t.npz", drop=-1).X, X3[:, :1])


@pytest.mark.parametrize(
    ("drop", "target", "error", "words"),
    [
        ("nam", None, ValueError, "drop='nam' is not a column.*mean 'name'"),
        (4, None, ValueError, "drop=4 is out of range.*4 columns"),
        (1.5, None, TypeError, "drop"),
        ([None], None, TypeError, "drop must be a column name or an integer"),
        ("y", "y", ValueError, "target of t.csv cannot be dropped"),
        (["name", "a", "b"], None, ValueError, "drop removes every feature"),
        (["name", "a", "b", "y"], None, ValueError, "drop"),
    ],
)
def test_what_cannot_be_dropped(tmp_path, drop, target, error, words):
    raises(error, words, datasets.load, write(tmp_path, "t.csv", NAMED), drop=drop, target=target)
    raises(ValueError, "drop removes every feature of iris", datasets.load, "iris", drop=range(4))
    raises(ValueError, "drop='petals' is not a column", datasets.load, "iris", drop="petals")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("size,color,y\n1,red,0\n2,3,1\n", ["'color'", "'red'", "line 2", "encode"]),
        ("a,b,y\n1,2,0\n3,,1\n", ["1 of 2 rows", "row 2", "'b'", "missing='drop'"]),
        ("a,b,y\n1,2,0\n?,4,1\n", ["row 2", "'a'"]),
        ("a,b,y\n1,2,0\n3,4,NA\n", ["line 3", "target is missing"]),
        ('a,b,y\n"1\n",2,0\n3,x,1\n5,4,0\n', ["'b'", "'x'", "line 4"]),  # a break in quotes
        ("just\nwords\n", ["table"]),
        ("# nothing but a remark\n", ["empty"]),
    ],
)
def test_unusable_tables_say_where(tmp_path, text, words):
    with pytest.raises(ValueError, match=r"bad\.csv") as error:
        datasets.load(write(tmp_path, "bad.csv", text))
    for word in words:
        assert word in str(error.value)


def test_missing_rows_are_dropped_or_kept(tmp_path):
    path = write(tmp_path, "t.csv", "a,b,y\n1,2,u\n3,NaN,v\n5,6,u\n7,8,\n")
    dropped = datasets.load(path, missing="drop")
    np.testing.assert_array_equal(dropped.X, [[1, 2], [5, 6]])
    assert dropped.y.tolist() == ["u", "u"]
    assert dropped.extra["complete"].tolist() == [True, False, True]
    path = write(tmp_path, "u.csv", "a,b,y\n1,2,u\n3,NaN,v\n5,6,u\n")
    kept = datasets.load(path, missing="keep")
    np.testing.assert_array_equal(kept.X, [[1, 2], [3, np.nan], [5, 6]])
    assert kept.extra["complete"].tolist() == [True, False, True]
    for text, words in (("?,2,u\n3,?,v", "removes every row"), ("1,2,\n3,4,?", "2 of 2 rows")):
        none = write(tmp_path, "v.csv", f"a,b,y\n{text}\n")
        raises(ValueError, words, datasets.load, none, missing="drop")
    raises(ValueError, "missing='fill'", datasets.load, path, missing="fill")


def test_task_is_inferred_or_told(tmp_path):
    two = write(tmp_path, "two.csv", "".join(f"{i},{i % 2}\n" for i in range(8)))
    real = write(tmp_path, "real.csv", "".join(f"{i},{i / 3}\n" for i in range(8)))
    many = write(tmp_path, "many.csv", "".join(f"{i},{i}\n" for i in range(50)))
    words = write(tmp_path, "words.csv", "1,a\n2,b\n3,a\n")
    for path, inferred in ((two, "classification"), (real, "regression"), (many, "regression")):
        for task in (None, "classification", "regression")[:: 2 if path == real else 1]:
            data = datasets.load(path, task=task)
            assert data.task == (task or inferred)
            assert data.y.dtype == (np.int64 if data.task == "classification" else np.float64)
    raises(ValueError, "strings", datasets.load, words, task="regression")
    raises(ValueError, "task='ranking'", datasets.load, two, task="ranking")


# --- npz ------------------------------------------------------------------------------------


def test_npz_dense_sparse_and_extra(tmp_path):
    y = np.array([-1, 1, 1], dtype=np.int8)
    np.savez(tmp_path / "a.npz", X=X3.astype(np.float32), y=y, group=[4, 5, 6])
    data = datasets.load(tmp_path / "a.npz", task="classification")
    np.testing.assert_array_equal(data.X, X3.astype(np.float32))
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert data.extra["group"].tolist() == [4, 5, 6]
    other = datasets.load(tmp_path / "a.npz", target="group", task="classification")
    assert other.y.tolist() == [4, 5, 6]
    assert other.extra["y"].tolist() == [-1, 1, 1]
    raises(ValueError, "'groop' is not a target", datasets.load, tmp_path / "a.npz", target="groop")

    S = csr_matrix(X3)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    np.savez(tmp_path / "s.npz", **parts, y=y)
    sparse = datasets.load(tmp_path / "s.npz")
    assert issparse(sparse.X)
    assert sparse.X.dtype == np.float64
    np.testing.assert_array_equal(sparse.X.toarray(), X3)
    assert "sparse" in repr(sparse)

    np.savez(tmp_path / "l.npz", X=X3, label=y)
    assert datasets.load(tmp_path / "l.npz", target="label").y.tolist() == [-1, 1, 1]
    assert "y" not in datasets.load(tmp_path / "l.npz", target="label").extra


def test_npz_with_several_targets(tmp_path):
    Y = np.arange(6.0).reshape(3, 2) / 7
    np.savez(tmp_path / "m.npz", X=X3, Y=Y, target_names=["u", "v"])
    data = datasets.load(tmp_path / "m.npz")
    assert data.task == "regression"
    assert data.y.shape == (3, 2)
    for target in ("v", 1, -1):
        np.testing.assert_array_equal(datasets.load(tmp_path / "m.npz", target=target).y, Y[:, 1])
    raises(ValueError, "accepted: 'u', 'v'", datasets.load, tmp_path / "m.npz", target=2)
    raises(ValueError, "2 targets", datasets.load, tmp_path / "m.npz", task="classification")


ONE = {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 2], "y": [1]}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"X": X3}, "accepted: 'X'"),
        ({"X": X3, "y": [1, 2]}, "X has 3 rows but y has 2"),
        ({"X": X3[0], "y": [1, 2]}, "two-dimensional"),
        ({"X": X3.astype(str), "y": [1, 2, 3]}, "real numbers"),
        ({"X": X3, "y": np.array([1, "a", None], dtype=object)}, "plain arrays"),
        ({"X": X3, "y": [1, 2, 3], "feature_names": ["a"]}, "1 feature_names for 2"),
        ({"X": X3, "y": [1j, 2, 3]}, "numbers or strings"),
        ({"X": np.zeros((0, 3)), "y": np.zeros(0)}, "no rows"),
        ({"X": np.zeros((3, 0)), "y": np.zeros(3)}, "no columns"),
        ({"X": [[1.0], [np.inf]], "y": [1, 2]}, "infinite.*row 2"),
        ({"X": [[1.0], [2.0]], "y": [1, np.inf]}, "infinite.*row 2"),
        ({"X": np.eye(2), "Y": np.eye(2), "target_names": ["a", "b", "c"]}, "3 target_names for 2"),
        ({**ONE, "indices": [2**32], "shape": [1, 2**33]}, "8589934592 rows or columns.*accepted"),
        ({**ONE, "indices": [2**32]}, "CSR"),
        ({**ONE, "shape": [1, np.inf]}, "CSR"),
    ],
)
def test_unusable_npz(tmp_path, parts, words):
    np.savez(tmp_path / "bad.npz", **parts)
    place = rf"bad\.npz.*({words})|({words}).*bad\.npz"
    raises(ValueError, place, datasets.load, tmp_path / "bad.npz")


def test_damaged_npz(tmp_path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.random.default_rng(0).normal(size=(50, 4)), y=np.ones(50))
    raw = buffer.getvalue()
    flipped = bytearray(raw)
    flipped[len(raw) // 3] ^= 0xFF
    bare = io.BytesIO()
    np.save(bare, np.ones(3))
    for content in (raw[: len(raw) // 2], b"", b"text", bytes(flipped), bare.getvalue()):
        with pytest.raises(ValueError, match=r"bad\.npz is not a readable npz"):
            datasets.load(write(tmp_path, "bad.npz", content))


# --- svmlight -------------------------------------------------------------------------------


@given(
    values=arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7),
        elements=st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e-300, 0.1]),
    ),
    zero_based=st.booleans(),
)
def test_svmlight_agrees_with_scikit_learn(values, zero_based):
    # Without an entry in the first column, a file that counts from 0 looks like one that counts
    # from 1.
    values = np.concatenate([np.ones((len(values), 1)), values], axis=1)
    buffer = io.BytesIO()
    dump_svmlight_file(values, np.arange(len(values)) % 2, buffer, zero_based=zero_based)
    X, y, _ = parse_svmlight(buffer.getvalue().decode(), "t")
    X = X.toarray() if issparse(X) else X
    expected, labels = load_svmlight_file(io.BytesIO(buffer.getvalue()), zero_based=zero_based)
    np.testing.assert_array_equal(X, expected.toarray())
    np.testing.assert_array_equal(y, labels)


def test_svmlight_file(tmp_path):
    text = "# head\n+1 qid:3 2:0.5 9:1 # note\n-1 1:2\n+1 5:1.5\n-1\n"
    for name in ("a.svm", "a.svmlight", "a.libsvm", "a.txt", "a.dat"):
        data = datasets.load(write(tmp_path, name, text))
        assert issparse(data.X)
        assert data.X.shape == (4, 9)
        expected = np.zeros((4, 9))
        expected[[0, 0, 1, 2], [1, 8, 0, 4]] = [0.5, 1, 2, 1.5]
        np.testing.assert_array_equal(data.X.toarray(), expected)
        assert data.y.tolist() == [1, -1, 1, -1]
        assert data.task == "classification"
    packed = datasets.load(write(tmp_path, "a.svm.bz2", bz2.compress(text.encode())))
    assert packed.X.shape == (4, 9)
    assert isinstance(datasets.load(write(tmp_path, "d.svm", "1 1:2 2:3\n2 1:5\n")).X, np.ndarray)
    path = write(tmp_path, "ok.svm", "1 1:1\n")
    raises(ValueError, "always the first field", datasets.load, path, target="y")


@given(
    text=st.text('12.,;\t \n\r#"ab:-?e', max_size=60), ending=st.sampled_from(["csv", "txt", "svm"])
)
def test_any_text_is_read_or_refused(tmp_path_factory, text, ending):
    path = write(tmp_path_factory.getbasetemp(), f"any.{ending}", text)
    try:
        data = datasets.load(path)
    except ValueError as error:
        refused = str(error)
    else:
        assert data.X.shape[0] == data.y.shape[0] > 0
        return
    assert path.name in refused


@given(at=st.integers(0, 10**6), mask=st.integers(1, 255))
def test_any_flipped_byte_of_an_npz_is_survived(tmp_path_factory, at, mask):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.arange(12.0).reshape(6, 2), y=np.arange(6))
    raw = bytearray(buffer.getvalue())
    raw[at % len(raw)] ^= mask
    path = write(tmp_path_factory.getbasetemp(), "flipped.npz", bytes(raw))
    try:
        data = datasets.load(path, missing="keep")
    except ValueError as error:
        refused = str(error)
    else:
        # Parts that the checksums do not cover, such as dates: the numbers are still right.
        np.testing.assert_array_equal(data.X, np.arange(12.0).reshape(6, 2))
        return
    assert path.name in refused


# --- names and paths ------------------------------------------------------------------------


def test_names_and_unknown_names():
    known = datasets.names()
    assert {"wine", "diabetes", "ionosphere", "gefcom2012_weeks", "ijcnn1_train"} <= set(known)
    assert list(known) == sorted(known)
    words = r"known: .*ionosphere.*Did you mean 'ionosphere'"
    raises(ValueError, words, datasets.load, "ionospere")
    raises(ValueError, "known: ", datasets.load, "qqqqqqq")
    raises(TypeError, "name_or_path", datasets.load, 3)


def test_paths_without_a_file(tmp_path):
    for path in (tmp_path / "no.csv", str(tmp_path / "wine"), "no_such_file.csv", Path("wine")):
        raises(FileNotFoundError, "no such file", datasets.load, path)
    raises(FileNotFoundError, "not a file", datasets.load, tmp_path)
    raises(ValueError, "not text", datasets.load, write(tmp_path, "picture.png", b"\x89PNG\0\0\0"))


def test_a_known_name_wins_over_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "iris", "1,2,0\n3,4,1\n")
    assert datasets.load("iris").n_samples == 150
    assert datasets.load("./iris").n_samples == 2


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes", "digits", "iris", "wine"])
def test_bundled_sets_are_those_of_scikit_learn(name):
    X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
    data = datasets.load(name)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert data.task == ("regression" if name == "diabetes" else "classification")
    assert len(data.feature_names) == data.n_features
    if data.task == "classification":
        assert len(data.target_names) == np.unique(y).size
    np.testing.assert_array_equal(datasets.load(name, return_X_y=True)[0], X)


def test_bundled_set_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    raises(ImportError, "scikit-learn, which is not installed", datasets.load, "wine")


def test_a_declared_decimal_sign(tmp_path):
    """2,125 is 2.125 or 2125, by the option; files without text have no decimal sign."""
    fields = ["2,125", "1,5", "0,25"], ["2,125", "1,500", "9,250"]
    for separator, column, numbers in (
        ("\t", fields[0], {"comma": [2.125, 1.5, 0.25]}),
        ("\t", fields[1], {"comma": [2.125, 1.5, 9.25], "point": [2125.0, 1500.0, 9250.0]}),
        (";", fields[1], {"comma": [2.125, 1.5, 9.25], "point": [2125.0, 1500.0, 9250.0]}),
    ):
        rows = "".join(f"{field}{separator}{k}\n" for k, field in enumerate(column))
        path = write(tmp_path, "t.txt", f"a{separator}y\n{rows}")
        for decimal, expected in numbers.items():
            found = datasets.load(path, decimal=decimal, task="regression")
            np.testing.assert_array_equal(found.X[:, 0], expected)
    np.savez(tmp_path / "t.npz", X=X3, y=np.arange(3.0))
    svm = write(tmp_path, "t.svm", "1 1:2.5\n2 1:1.5\n")
    for name in (tmp_path / "t.npz", svm, "iris"):
        raises(ValueError, "is not delimited text", datasets.load, name, decimal="comma")
    raises(ValueError, "decimal", datasets.load, svm, decimal="dot")
