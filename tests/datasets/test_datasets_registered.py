"""The registered sets: parsers on hand-written snippets, and the arrays of ALIGNLEARN_DATA."""

import bz2
import functools
import gzip
import io
import os
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from refusals import raises
from scipy.io import savemat
from scipy.sparse import csr_matrix, issparse

from alignlearn import datasets
from alignlearn.datasets import _parsers as parsers
from alignlearn.datasets._registry import REGISTRY

NAMES = tuple(REGISTRY)


def shared(name):
    """Arrays of a real set in ALIGNLEARN_DATA, or a skip with the reason."""
    folder = os.environ.get("ALIGNLEARN_DATA")
    if not folder:
        pytest.skip("ALIGNLEARN_DATA is not set: no real data sets to compare with")
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"ALIGNLEARN_DATA has no {name}.npz")
    with np.load(path, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def tar_of(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# --- snippets in the original formats --------------------------------------------------------


def test_labeled_table_from_text_and_from_zip():
    text = b"1.0 2.5 -3 2\n0 0 1e-2 1\n\n"
    parse = functools.partial(
        parsers.parse_labeled, member="heart.dat", width=3, labels={"2": 1, "1": -1}
    )
    packed = zip_of({"Index": b"x", "old/heart.dat.bak": b"9", "statlog/heart.dat": text})
    for files in ({"heart.dat": text}, {"statlog+heart.zip": packed}):
        arrays = parse(files)
        np.testing.assert_array_equal(arrays["X"], [[1, 2.5, -3], [0, 0, 0.01]])
        assert arrays["y"].tolist() == [1, -1]
        assert arrays["y"].dtype == np.int8
    raises(ValueError, "row 2 does not have 4 fields", parse, {"heart.dat": b"1 2 3 1\n1 2 3\n"})
    raises(ValueError, "no file heart", parse, {"a.zip": zip_of({"other": b""})})


def test_german():
    row = b"   1   6   4" + b"   0" * 21
    arrays = parsers.parse_german({"german.data-numeric": row + b"   1 \n" + row + b"   2 \n"})
    assert arrays["X"].shape == (2, 24)
    assert arrays["y"].tolist() == [1, -1]
    assert arrays["y_original"].tolist() == [1, 2]


def test_wisconsin():
    text = b"77,5,1,1,1,2,?,3,1,1,2\n78,5,4,4,5,7,10,3,2,1,4\n"
    arrays = parsers.parse_wisconsin({"breast-cancer-wisconsin.data": text})
    np.testing.assert_array_equal(arrays["X"][0], [5, 1, 1, 1, 2, np.nan, 3, 1, 1])
    assert arrays["y"].tolist() == [-1, 1]
    assert arrays["sample_id"].tolist() == [77, 78]
    assert arrays["complete"].tolist() == [False, True]


def test_kin():
    rows = b" ".join([b"-1.5e-02"] * 8 + [b"0.5"]) + b"\n" + b"1 2 3 4 5 6 7 8 9\n"
    raw = tar_of({"kin-8nm/Dataset.spec": b"x", "kin-8nm/Dataset.data.gz": gzip.compress(rows)})
    arrays = parsers.parse_kin({"kin-8nm.tar.gz": raw})
    np.testing.assert_array_equal(arrays["X"], [[-0.015] * 8, [1, 2, 3, 4, 5, 6, 7, 8]])
    assert arrays["y"].tolist() == [0.5, 9]
    with pytest.raises(ValueError, match="9 columns"):
        parsers.parse_kin({"kin-8nm.tar.gz": tar_of({"Dataset.data.gz": gzip.compress(b"1 2\n")})})


def test_ijcnn1():
    files = {"ijcnn1.tr.bz2": bz2.compress(b"-1 3:1 22:0.5\n"), "ijcnn1.val.bz2": b"1 1:1\n"}
    arrays = parsers.parse_ijcnn1(files)
    expected = np.zeros((2, 22))
    expected[[0, 0, 1], [2, 21, 0]] = [1, 0.5, 1]
    np.testing.assert_array_equal(arrays["X"], expected)
    assert arrays["y"].tolist() == [-1, 1]
    raises(ValueError, "more than 22", parsers.parse_ijcnn1, {"ijcnn1.tr.bz2": b"1 23:1\n"})


def test_landmine():
    feature = np.empty((1, 2), dtype=object)
    label = np.empty((1, 2), dtype=object)
    feature[0, 0], label[0, 0] = np.ones((2, 9)), np.array([[0], [1]], dtype=np.uint8)
    feature[0, 1], label[0, 1] = np.zeros((1, 9)), np.array([[1]], dtype=np.uint8)
    buffer = io.BytesIO()
    savemat(buffer, {"feature": feature, "label": label})
    for raw in (buffer.getvalue(), zip_of({"LandmineData.mat": buffer.getvalue()})):
        arrays = parsers.parse_landmine({"x": raw})
        np.testing.assert_array_equal(arrays["X"], np.repeat([[1.0], [1.0], [0.0]], 9, axis=1))
        assert arrays["y"].tolist() == [-1, 1, 1]
        assert arrays["task"].tolist() == [0, 0, 1]


def test_gefcom_weeks_are_put_together():
    hours = ",".join(f"h{h}" for h in range(1, 25))
    days = [(2007, 12, 31), (2008, 1, 1)]
    load = ["id,zone_id,year,month,day," + hours + ",weight"]
    # The later day stands first: rows must come out in the order of time.
    for y, m, d in days[::-1]:
        for zone in range(1, 22):
            values = ",".join(f'"1,{zone:03d}"' for _ in range(24))
            load.append(f"7,{zone},{y},{m},{d},{values},1")
    history = ["station_id,year,month,day," + hours]
    history += [f"{s},2007,12,31,{','.join([str(40 + s)] * 24)}" for s in range(1, 12)]
    history += [f"{s},2008,1,1,{','.join([str(60 + s)] * 6 + [''] * 18)}" for s in range(1, 12)]
    wide = ["station_id,year,month,day," + hours]
    wide += [f"{s},2008,1,1,{','.join([str(80 + s)] * 24)}" for s in range(1, 12)]
    long = ["station_id,datetime,date,year,month,day,hour,T0_p1"]
    long += [f"{s},x,x,2008,1,1,{h},{80 + s}" for s in range(1, 12) for h in range(1, 25)]
    for solution in (wide, long):
        tables = ("Load_solution", load), ("temperature_history", history)
        tables = *tables, ("temperature_solution", solution)
        raw = zip_of({f"G/Load/{k}.csv": "\r\n".join(v).encode() for k, v in tables})
        arrays = parsers.parse_gefcom({"GEFCom2012.zip": raw})
        X, Y = arrays["X"], arrays["Y"]
        assert X.shape == (48, 15)
        assert Y.shape == (48, 21)
        np.testing.assert_array_equal(X[:, 3], np.tile(np.arange(1, 25), 2))
        np.testing.assert_array_equal(X[[0, 24], :3], days)
        np.testing.assert_array_equal(X[[0, 29, 30], 4], [41, 61, 81])
        np.testing.assert_array_equal(Y, np.tile(1000.0 + np.arange(1, 22), (48, 1)))


def test_reviews_are_counted():
    def review(stars, text):
        fields = f"<rating>\n{stars}\n</rating>\n<review_text>\n{text}\n</review_text>"
        return f"<review>\n{fields}\n</review>\n"

    texts = ["Don't buy it. Don't BUY!", "buy it, caf\xe9 now", "x"]
    positive = review("4.0", texts[1]) + review("5.0", texts[2])
    files = {
        "all/books/positive.review": positive.encode("latin-1"),
        "all/books/negative.review": review("1.0", texts[0]).encode(),
        "all/books/unlabeled.review": review("3.0", texts[0]).encode(),
        "all/notebooks/positive.review": b"",
    }
    arrays = parsers.parse_reviews({"raw": tar_of(files)}, folder="books", n_columns=4)
    # By hand: buy it 2, don't buy 2, then once each: caf now, it caf, it don't.
    assert arrays["feature_names"].tolist() == ["buy it", "don't buy", "caf now", "it caf"]
    parts = tuple(arrays[key] for key in ("data", "indices", "indptr"))
    X = csr_matrix(parts, shape=arrays["shape"]).toarray()
    assert X.tolist() == [[1, 0, 1, 1], [0, 0, 0, 0], [1, 2, 0, 0]]
    assert arrays["y"].tolist() == [4, 5, 1]
    assert arrays["sign"].tolist() == [1, 1, -1]


# --- the registry ----------------------------------------------------------------------------


def test_registry_is_consistent():
    for entry in REGISTRY.values():
        expected = entry.fingerprint
        assert re.fullmatch("[0-9a-f]{64}", expected.X)
        assert re.fullmatch("[0-9a-f]{64}", expected.y)
        assert (entry.task == "regression") == (expected.classes == ())
        assert sum(count for _, count in expected.classes) in (0, expected.shape[0])
        assert len(entry.feature_names) in (0, expected.shape[1])
        for source in entry.sources:
            for file, address in source.items():
                assert address is None or address.endswith(file)
                assert address is None or address.startswith(("https://", "http://"))
        assert entry.page.startswith("http")


@pytest.mark.parametrize("name", NAMES)
def test_shared_sets_pass_their_fingerprint(name):
    arrays = shared(name)
    data = datasets.load(name, missing="keep", download=False)
    X = data.X
    if issparse(X):
        parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
        assert (csr_matrix(parts, shape=arrays["shape"]) != X).nnz == 0
    else:
        np.testing.assert_array_equal(X, arrays["X"])
    np.testing.assert_array_equal(data.y, arrays.get("y", arrays.get("Y")))
    if "feature_names" in arrays:
        assert data.feature_names == tuple(arrays["feature_names"])
    assert data.citation
    if data.task == "classification":
        assert data.y.dtype == np.int64
        assert np.unique(data.y).tolist() == [-1, 1]


def test_incomplete_rows_of_wisconsin():
    arrays = shared("breast_cancer_wisconsin")
    data = datasets.load("breast_cancer_wisconsin", download=False)
    assert data.X.shape == (683, 9)
    assert data.notes == ("missing='drop': 16 of 699 rows with missing values left out",)
    assert np.unique(data.y, return_counts=True)[1].tolist() == [444, 239]
    np.testing.assert_array_equal(data.extra["complete"], arrays["complete"])
    ids = arrays["sample_id"][arrays["complete"]]
    np.testing.assert_array_equal(data.extra["sample_id"], ids)
    with pytest.raises(ValueError, match=r"16 of 699 rows.*'bare_nuclei'"):
        datasets.load("breast_cancer_wisconsin", missing="error", download=False)


def test_other_targets_of_registered_sets():
    Y = shared("gefcom2012_weeks")["Y"]
    data = datasets.load("gefcom2012_weeks", target="load_zone_21", download=False)
    np.testing.assert_array_equal(data.y, Y[:, :20].sum(axis=1))
    sign = shared("sentiment_bigrams_books")["sign"]
    data = datasets.load("sentiment_bigrams_books", target="sign", download=False)
    np.testing.assert_array_equal(data.y, sign)
    assert data.task == "classification"


def test_short_name():
    shared("ijcnn1_train")
    data = datasets.load("ijcnn1", download=False)
    assert data.name == "ijcnn1_train"
    assert data.X.shape == (49990, 22)
