"""Hostile tables: each is read correctly, or raises an error with file, line and accepted input."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse

from alignlearn import datasets
from alignlearn.datasets._table import parse_table

nan = np.nan

# name: (content, X, y, feature names)
READ = {
    "names 0,1,2": ("0,1,2\n5,6,a\n7,8,b\n", [[5, 6], [7, 8]], ["a", "b"], ("0", "1")),
    "names 0,1 over decimals": ("0,1\n.5,1.5\n2.5,2.0\n", [[0.5], [2.5]], [1.5, 2.0], ("0",)),
    "a row 0,1 over integers": ("0,1\n1,2\n2,5\n", [[0], [1], [2]], [1, 2, 5], ()),
    "a row 1,2,3": ("1,2,3\n4,5,6\n", [[1, 2], [4, 5]], [3, 6], ()),
    "names 0,1,label": ("0,1,kind\n5,6,a\n7,8,b\n", [[5, 6], [7, 8]], ["a", "b"], ("0", "1")),
    "a row 0,1,label": ("0,1,a\n5,6,a\n7,8,b\n", [[0, 1], [5, 6], [7, 8]], ["a", "a", "b"], ()),
    "names with years": ("y,2001,2002\n5,6,9\n7,8,9\n", [[5, 6], [7, 8]], [9, 9], ("y", "2001")),
    "index and names 0,1": (",0,1\n5,6,a\n3,8,b\n", [[6], [8]], ["a", "b"], ("0",)),
    "after an empty field": (",3,4\n5,6,a\n", [[nan, 3], [5, 6]], ["4", "a"], ()),
    "a row 0,1 over no index": (
        ",0,1\n5,6,a\n5,8,b\n",
        [[nan, 0], [5, 6], [5, 8]],
        ["1", *"ab"],
        (),
    ),
    "shuffled index": (",a,y\n17,6,1\n3,8,2\n", [[6], [8]], [1, 2], ("a",)),
    "index of words": (",a,y\nmazda,6,1\nfiat,8,2\n", [[6], [8]], [1, 2], ("a",)),
    "index written twice": ("Unnamed: 0,a,y\n4,6,1\n9,8,2\n", [[6], [8]], [1, 2], ("a",)),
    "row names without a title": ('"a" "y"\n"r 1" 6 1\n"r 2" 8 2\n', [[6], [8]], [1, 2], ("a",)),
    "missing in the first row": ("NA,2,u\n3,4,v\n", [[nan, 2], [3, 4]], ["u", "v"], ()),
    "byte order mark": (b"\xef\xbb\xbfa,y\n1,2\n3,4\n", [[1], [3]], [2, 4], ("a",)),
    "utf-16": ("a\ty\n1\t2\n3\t4\n".encode("utf-16"), [[1], [3]], [2, 4], ("a",)),
    "latin-1": ("größe,y\n1,ä\n3,b\n".encode("latin-1"), [[1], [3]], ["ä", "b"], ("größe",)),
    "carriage returns": ("a,y\r1,2\r3,4\r", [[1], [3]], [2, 4], ("a",)),
    "mixed line ends": ("a,y\r\n1,2\n3,4\r", [[1], [3]], [2, 4], ("a",)),
    "separator lines": ("a,y\n1,u\x85\n3,v\u2028\n", [[1], [3]], ["u", "v"], ("a",)),
    "quoted": ('"a,b",y\n1,"u,v"\n3,"say ""w"""\n', [[1], [3]], ["u,v", 'say "w"'], None),
    "a field of lines": ('a,y\n1,"u\nv, w"\n3,w\n', [[1], [3]], ["u v, w", "w"], ("a",)),
    "decimal commas": ("a;b;y\n1,5;2;0,5\n3;4;1,5\n", [[1.5, 2], [3, 4]], [0.5, 1.5], ("a", "b")),
    "bars": ("a|b|y\n1|2|u\n3|4|v\n", [[1, 2], [3, 4]], ["u", "v"], ("a", "b")),
    "tabs and spaces": ("a\tb c\ty\n 1 \t2\t u\n3\t 4\tv \n", [[1, 2], [3, 4]], ["u", "v"], None),
    "columns of spaces": ("  1    2  u\n 13   14  v\n", [[1, 2], [13, 14]], ["u", "v"], ()),
    "separator named in front": ("sep=;\na;y\n1;2\n3;4\n", [[1], [3]], [2, 4], ("a",)),
    "separators at the ends": ("a,y,\n1,2,\n3,4,\n", [[1], [3]], [2, 4], ("a",)),
    "separators at the ends of rows": ("a,y\n1,2,\n3,4,\n", [[1], [3]], [2, 4], ("a",)),
    "empty rows": ("a,y\n\n1,2\n,\n   \n3,4\n,\n", [[1], [3]], [2, 4], ("a",)),
    "remarks": ("# x\na,y\n1,2\n#3,4\n5,6\n# end", [[1], [5]], [2, 6], ("a",)),
    "quoted number sign": ('a,y\n"#1",2\n"#2",4\n', [[1, 0], [0, 1]], [2, 4], ("a=#1", "a=#2")),
    "names twice": ("a,a,y\n1,2,3\n3,4,5\n", [[1, 2], [3, 4]], [3, 5], ("a", "a")),
    "exponents": ("a,y\n1E3,2\n+.5e-2,4\n-4.,5\n", [[1000], [0.005], [-4]], [2, 4, 5], ("a",)),
    "large numbers": ("a,y\n1,1e300\n3,1.0e300\n", [[1], [3]], [1e300, 1e300], ("a",)),
    "booleans": ("a,y\nTrue,2\nFALSE,4\ntrue,5\n", [[1], [0], [1]], [2, 4, 5], ("a",)),
    "words": (
        "color,a,y\nred,1,u\nblue,2,v\nred,3,u\n",
        [[0, 1, 1], [1, 0, 2], [0, 1, 3]],
        ["u", "v", "u"],
        ("color=blue", "color=red", "a"),
    ),
    "words without names": ("red,1,u\nblue,2,v\n", [[0, 1, 1], [1, 0, 2]], ["u", "v"], None),
    "only words": ("red,u\nblue,v\nred,u\n", [[0, 1], [1, 0], [0, 1]], ["u", "v", "u"], None),
    "ages": ("age,y\n20-29,u\n30-39,v\n", [[1, 0], [0, 1]], ["u", "v"], ("age=20-29", "age=30-39")),
    "a value none": (
        "d,y\nnone,1\nw,2\n?,3\n",
        [[1, 0], [0, 1], [nan, nan]],
        [1, 2, 3],
        ("d=none", "d=w"),
    ),
    "labels with underscores": ("a,y\n1,1_1\n3,11\n5,1_1\n", None, ["1_1", "11", "1_1"], ("a",)),
    "labels in other digits": ("a,y\n1,١\n3,1\n5,١\n", None, ["١", "1", "١"], ("a",)),
    "a class called none": ("a,y\n1,none\n3,NA\n5,mild\n", None, ["none", "NA", "mild"], ("a",)),
    "hexadecimal labels": ("a,y\n1,0x1F\n3,0xA0\n5,0x1F\n", None, ["0x1F", "0xA0", "0x1F"], None),
    "a wide table": (",".join(["7"] * 70_000) + "\n", [[7] * 69_999], [7], ()),
}


@pytest.mark.parametrize("name", READ)
def test_read_right(tmp_path, name):
    content, X, y, names = READ[name]
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    data = datasets.load(path, missing="keep")
    if X is not None:
        np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == y
    if names is not None:
        assert data.feature_names == names
    assert data.notes[0].startswith(f"{len(y)} row")
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous


@given(
    words=st.lists(st.text('ab,|"# .1\u00e4', max_size=4), min_size=2, max_size=8),
    delimiter=st.sampled_from([";", "\t"]),
)
def test_words_become_columns(words, delimiter):
    words = [f"w{word.strip()}" for word in words]
    text = io.StringIO()
    rows = [(i, word, i % 2) for i, word in enumerate(words)]
    csv.writer(text, delimiter=delimiter).writerows([("a", "b", "y"), *rows])
    table = parse_table(text.getvalue().replace("\r\n", "\n"), "t")
    levels = sorted(set(words))
    assert table.feature_names == ("a", *(f"b={level}" for level in levels))
    expected = [[i, *(float(word == level) for level in levels)] for i, word, _ in rows]
    np.testing.assert_array_equal(table.X, expected)


# name: (content, line, words of the message)
TEXT = "".join(f"{i},word {i}\n" for i in range(30))
REAL = "".join(f"{i},{i}.5\n" for i in range(30))
REFUSED = {
    "nothing": ("", None, ["empty"]),
    "only names": ("a,b,y\n", None, ["no rows"]),
    "one column": ("1\n2\n3\n", None, ["semicolon"]),
    "only an index": (",y\n0,1\n1,2\n", None, ["first column", "feature"]),
    "a short row": ("a,b,y\n1,2,3\n4,5\n6,7,8\n", 3, ["2 fields instead of 3"]),
    "a long row": ("a,b,y\n1,2,3\n4,5,6,7\n6,7,8\n", 3, ["4 fields instead of 3"]),
    "an open quote": ('a,y\n1,"2\n3,4\n5,6\n', 2, ["quote"]),
    "a quote that ends in a later line": ('a,b,y\n1,"u,2\n3,"v",4\n', 2, ["quote"]),
    "a field of lines and a short row": ('a,y\n1,"u\nv"\n3\n5,w\n7,x\n', 2, ["quote"]),
    "a field too long": ("a,y\n1," + "z" * 140_000 + "\n", 2, ["field"]),
    "NUL": (b"a,y\n1,2\n" + b"3,4\n" * 2000 + b"5,\x006\n", None, ["not text"]),
    "beyond double precision": ("a,y\n1,2\n1e400,4\n", 3, ["'a'", "infinite", "1.8e308"]),
    "infinite target": ("a,y\n1,2\n3,-inf\n", 3, ["'y'", "infinite"]),
    "a word among numbers": ("a,y\n1,2\nten,4\n5,6\n7,8\n", 3, ["'a'", "'ten'", "numbers"]),
    "names in the middle": ("a,y\n1,2\n3,4\na,y\n5,6\n7,8\n", 1, ["'y'", "numbers"]),
    "underscores": ("a,y\n1_000,2\n2_000,4\n", 2, ["'1_000'", "numbers"]),
    "points and two decimals": ("a;y\n10.00;2\n2,5;4\n", 3, ["'2,5'", "numbers"]),
    "exponents of Fortran": ("a,y\n1D3,2\n3.5D+1,4\n", 2, ["'1D3'", "numbers"]),
    "names of decimals": ("0.1,0.2,y\n1,2,3\n4,5,6\n", 1, ["'y'", "numbers"]),
    "large identifiers": (f"a,y\n1,{2**53}\n2,{2**53 + 1}\n", None, ["'y'", "2**53"]),
    "two currencies": ("a,y\n$10,2\n€20,4\n", 2, ["'$10'", "numbers"]),
    "dates": ("a,y\n2024-01-01,2\n2024-01-02,4\n", 2, ["'2024-01-01'", "numbers"]),
    "names of rows": ("a,y\n" + "".join(f"r{i},{i}\n" for i in range(30)), 2, ["30 distinct"]),
    "free text as the target": ("a,y\n" + TEXT, 2, ["target", "30 distinct"]),
    "a typing error in the target": ("a,y\n" + REAL + "30,3.o\n", 32, ["target", "'3.o'"]),
    "no target": ("a,y\n1,2\n3,\n", 3, ["target is missing", "missing='drop'"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_place(tmp_path, name):
    content, line, words = REFUSED[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"bad\.csv") as error:
        datasets.load(path, missing="error")
    message = str(error.value)
    for word in [*words, *([f"line {line}"] if line else [])]:
        assert word in message
    assert "\n" not in message


AMOUNTS = {
    "thousands and decimal commas": ("a;y\n1.000,5;2\n2,5;4\n", [1000.5, 2.5]),
    "minus signs of print": ("a,y\n\u22121,2\n\u22122,4\n", [-1.0, -2.0]),
    "money": ('a,y\n"$1,234.50",2\n-$20,4\n', [1234.5, -20.0]),
    "shares": ("a,y\n12%,2\n0.5%,4\n", [12.0, 0.5]),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_are_numbers(tmp_path, name):
    content, values = AMOUNTS[name]
    path = tmp_path / "amounts.csv"
    path.write_text(content, encoding="utf-8")
    data = datasets.load(path)
    assert data.X[:, 0].tolist() == values
    assert any("are read as numbers" in note for note in data.notes)


def test_amounts_as_the_target(tmp_path):
    path = tmp_path / "amounts.csv"
    path.write_text('a,y\n1,"$1,000"\n2,"$2,000"\n3,NA\n')
    data = datasets.load(path, missing="drop")
    assert data.y.tolist() == [1000.0, 2000.0]
    assert data.task == "regression"


SPARSE = {
    "from zero": ("1 0:5 2:6\n-1 1:7\n", [[5, 0, 6], [0, 7, 0]]),
    "from one": ("1 1:5 3:6\n-1 2:7\n", [[5, 0, 6], [0, 7, 0]]),
    "descending": ("1 3:6 1:5\n-1 2:7\n", [[5, 0, 6], [0, 7, 0]]),
    "remarks": ("# x\n1 1:5 3:6 # y 4:4\n\n-1 2:7\n", [[5, 0, 6], [0, 7, 0]]),
    "queries": ("1 qid:4 1:5 3:6\n-1 qid:5 2:7\n", [[5, 0, 6], [0, 7, 0]]),
    "carriage returns": ("1 1:5 3:6\r-1 2:7\r", [[5, 0, 6], [0, 7, 0]]),
    "tabs": ("1\t1:5\t3:6\n-1\t2:7\n", [[5, 0, 6], [0, 7, 0]]),
    "an empty row": ("1 1:5 3:6\n-1\n", [[5, 0, 6], [0, 0, 0]]),
    "one missing": ("1 1:5 3:nan\n-1 2:7\n", [[5, 0, nan], [0, 7, 0]]),
}


@pytest.mark.parametrize("name", SPARSE)
def test_svmlight_read_right(tmp_path, name):
    content, X = SPARSE[name]
    (tmp_path / "t.svm").write_bytes(content.encode())
    data = datasets.load(tmp_path / "t.svm", missing="keep")
    np.testing.assert_array_equal(data.X.toarray() if issparse(data.X) else data.X, X)
    assert data.y.tolist() == [1, -1]
    assert f"counted from {int('0:5' not in content)}" in data.notes[0]


BAD_SPARSE = {
    "huge index": ("1 1:1 1000000000000:1", "1000000000000"),
    "larger than 64 bits": (f"1 {10**30}:1", "index"),
    "negative index": ("1 -3:1", "index"),
    "index with underscore": ("1 1_0:1", "index"),
    "index with a point": ("1 1.0:1", "index"),
    "index twice": ("1 2:1 2:3", "twice"),
    "not finite": ("1 2:1e400", "infinite"),
    "label not finite": ("inf 2:1", "infinite"),
    "label with underscore": ("1_1 2:1", "label"),
    "several labels": ("1,2 2:1", "label"),
    "not a label": ("1:1 2:1", "label"),
    "no colon": ("1 2", "index:value"),
    "two colons": ("1 2:3:4", "index:value"),
    "a word": ("1 2:x", "index:value"),
}


def test_svmlight_refused_with_the_place(tmp_path):
    for name, (line, word) in BAD_SPARSE.items():
        (tmp_path / "bad.svm").write_text(f"1 1:1\n{line}\n")
        with pytest.raises(ValueError, match=r"bad\.svm, line 2: ") as error:
            datasets.load(tmp_path / "bad.svm")
        assert word in str(error.value), name
        assert "label index:value" in str(error.value), name


# --- reports of what was read -----------------------------------------------------------------


def notes(folder, text, **options):
    (folder / "t.csv").write_text(text)
    return " | ".join(datasets.load(folder / "t.csv", **options).notes)


def test_notes_say_what_was_read(tmp_path):
    text = ",size,color,y\n4,1,red,u\n9,2,none,v\n5,,red,u\n#7\n6,4,red,\n"
    said = notes(tmp_path, text, missing="drop")
    for words in (
        "4 rows and 3 columns, separated by commas; names in line 1",
        "the first column has no name and is left out",
        "target 'y': text, 2 values",
        "1 column of numbers",
        "'color' (2 values)",
        "2 columns of 0 and 1",
        "'none' in column 'color' is read as a value",
        "1 line that starts with #",
        "missing='drop': 1 of 4 rows without a target left out",
        "missing='drop': 1 of 3 rows with missing values left out",
    ):
        assert words in said
    assert "no line of names" in notes(tmp_path, "1,2\n3,4\n")
    assert "0, 1 is read as a row" in notes(tmp_path, "0,1\n1,2\n")


def test_imputation(tmp_path):
    text = "a,color,y\n1,red,u\n,red,v\n3,?,u\n10,blue,v\n4,blue,\n"
    (tmp_path / "t.csv").write_text(text)
    data = datasets.load(tmp_path / "t.csv", missing="impute")
    # Rows with a target: the median of 1, 3, 10 is 3; red occurs twice, blue once.
    expected = [[1, 0, 1], [3, 0, 1], [3, 0, 1], [10, 1, 0]]
    np.testing.assert_array_equal(data.X, expected)
    assert data.y.tolist() == ["u", "v", "u", "v"]
    said = " | ".join(data.notes)
    assert "missing='impute': 1 of 5 rows without a target left out" in said
    assert (
        "missing='impute': 1 value of column 'color' filled with 'red', the most frequent" in said
    )
    assert "missing='impute': 1 value in 1 column filled with the median" in said
    with pytest.raises(ValueError, match=r"'b'.*no value"):
        notes(tmp_path, "a,b,y\n1,,2\n3,,4\n", missing="impute")


def test_imputation_of_arrays(tmp_path):
    X = np.array([[1.0, nan], [2.0, 5.0], [9.0, 7.0]])
    np.savez(tmp_path / "t.npz", X=X, y=[1.5, 2.5, nan])
    data = datasets.load(tmp_path / "t.npz", missing="impute")
    np.testing.assert_array_equal(data.X, [[1, 5], [2, 5]])
    assert data.y.tolist() == [1.5, 2.5]
    (tmp_path / "t.svm").write_text("1 1:nan\n2 1:4 8:1\n3 8:nan\n4 1:6\n5 1:1\n")
    sparse = datasets.load(tmp_path / "t.svm", missing="impute")
    # Stored or not, every entry counts: 4, 0, 6, 1 in the first column and 0, 1, 0, 0 in the last.
    np.testing.assert_array_equal(sparse.X[:, 0].toarray().ravel(), [2.5, 4, 0, 6, 1])
    np.testing.assert_array_equal(sparse.X[:, 7].toarray().ravel(), [0, 1, 0, 0, 0])
