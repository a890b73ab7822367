"""Files that are no models, damaged files, and malicious files: a ModelFileError, no more."""

import io
import json
import os
import pickle
import stat
import struct
import sys
import tracemalloc
import warnings
import zipfile
from contextlib import contextmanager
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import persistence_models as models
import pytest
from model_files import edited, packed, unpacked, written
from refusals import not_refused, raises

import alignlearn as al
from alignlearn import _limits
from alignlearn.persistence import _files, _writing

HEAD = {"format": "alignlearn model", "version": 1, "library": al.__version__}
MODEL = al.MKLClassifier([*models.KERNELS, al.StringSpectrum(2)])


@pytest.fixture(scope="module")
def fitted():
    """Bytes of a model of each kind: sparse samples, an expansion, a generator, members."""
    sparse = al.MKLClassifier([al.Linear(), al.Gaussian(0.3)])
    X = models.csr_matrix(models.X * (models.X > 0))
    ridge = al.NystromRidge(al.Gaussian(0.3), n_centers=20, random_state=np.random.default_rng(0))
    chosen = [
        sparse.fit(X, models.LABELS),
        al.KernelSGDClassifier().fit(models.X, models.LABELS),
        ridge.fit(np.repeat(models.X, 4, axis=1), models.SIGNAL),
        al.HyperKRR().fit(models.X[:, :2], models.LABELS),
        al.MKLClassifierCV(models.KERNELS, weighting="alignf", Cs=[1.0], cv=2).fit(
            models.X, models.LABELS
        ),
    ]
    return [written(model) for model in chosen]


def described(*values, **head):
    """A file with this description."""
    return packed([("model.json", json.dumps({**HEAD, **head, "values": list(values)}))])


def refused(raw, match=None):
    """Check that a file is rejected, with little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(al.ModelFileError, match=match) as error:
            al.load(io.BytesIO(raw))
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700


# --- what is no data --------------------------------------------------------------------------


def similarity(x, y):
    return float(x[0] * y[0])


class Rule(al.AlignF):
    pass


REFUSED = {
    "a kernel of a function": (al.FromFunction(similarity), r"FromFunction.*function"),
    "a weighted kernel": (al.Linear().weighted(lambda X: X[:, 0]), r"Weighted.*function \(f\)"),
    "a function": ([similarity], r"model\[0\].*'similarity'"),
    "a lambda": ({"a": lambda x: x}, r"model\['a'\].*lambda"),
    "a method": ([MODEL.fit], r"function.*fit"),
    "a ufunc": ([np.add], "function.*add"),
    "a class": ([al.Gaussian], "class 'Gaussian'"),
    "a rule of one's own": (al.MKLClassifier(weighting=Rule()), r"model\.weighting.*\.Rule"),
    "an object": ([SimpleNamespace(a=1)], r"model\[0\].*SimpleNamespace"),
    "a set": ([{1, 2}], "builtins.set"),
    "a str of another class": ([type("Name", (str,), {})("a")], "Name"),
    "a record array": ([np.zeros(3, dtype=[("a", float)])], r"model\[0\].*\('a', '<f8'\)"),
    "a matrix of old": ([np.ma.masked_array([1.0])], "MaskedArray"),
    "objects in an array": ([np.array([1, similarity], dtype=object)], r"model\[0\]\[1\]"),
    "an array of parts": (np.array([similarity, None]), r"model\[0\].*similarity"),
    "a scoring": (al.MKLClassifierCV(scoring=similarity), r"^model\.scoring is"),
    "a splitter": (al.MKLClassifierCV(cv=iter([])), r"^model\.cv is"),
    "a number": (3.0, "not a model"),
}


def test_what_is_no_data_is_refused_by_name(tmp_path):
    cases = [
        (name, partial(al.save, model, tmp_path / "m.model"), match)
        for name, (model, match) in REFUSED.items()
    ]
    assert not_refused(cases, TypeError) == []
    more = [(name, call, "holds data and no code") for name, call, _ in cases if name != "a number"]
    assert not_refused(more, TypeError) == []
    assert list(tmp_path.iterdir()) == []


def test_what_holds_itself_and_what_is_too_deep(tmp_path):
    circle = [1]
    circle.append(circle)
    raises(ValueError, r"model\[1\] refers to itself", al.save, circle, tmp_path / "m.model")
    deep = al.Gaussian(1.0)
    for _ in range(_writing.MAX_DEPTH):
        deep = (deep,)
    raises(ValueError, "deeper than 100 levels", al.save, deep, tmp_path / "m.model")
    assert al.load(io.BytesIO(written(deep[0]))) == deep[0]


def test_what_would_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "MAX_BYTES", 10_000)
    raises(ValueError, "10000", al.save, [np.zeros(2000)], tmp_path / "m.model")
    monkeypatch.setattr(_files, "MAX_DESCRIPTION", 1000)
    raises(ValueError, "1000", al.save, ["a" * 1000], tmp_path / "m.model")
    for value, match in (
        ([10**1000], r"model\[0\] has more than 1000 digits"),
        ({k: 0 for k in range(10_001)}, "model has more than 10000 keys"),
    ):
        raises(ValueError, match, al.save, value, tmp_path / "m.model")
    monkeypatch.setattr(_writing, "MAX_VALUES", 100)
    raises(ValueError, "100 nested values", al.save, [[1] * 60] * 2, tmp_path / "m.model")
    assert list(tmp_path.iterdir()) == []


# --- paths ------------------------------------------------------------------------------------


def test_what_is_not_there_or_not_a_file(tmp_path):
    raises(FileNotFoundError, r"none\.model", al.load, tmp_path / "none.model")
    with pytest.raises(IsADirectoryError):
        al.load(tmp_path)
    with pytest.raises(IsADirectoryError):
        al.save(MODEL, tmp_path)
    below = tmp_path / "none" / "a.model"
    raises(FileNotFoundError, r"folder .*none does not exist", al.save, MODEL, below)
    raises(TypeError, "text", al.save, MODEL, io.StringIO())
    raises(TypeError, "text", al.load, io.StringIO("PK"))


def test_what_is_no_model_file(tmp_path):
    files = [
        *(b"", b"PK", b"a,y\n1,2\n", bytes(1000), packed([]), packed([("a.npy", b"")])),
        *(packed([("model.json", text)]) for text in ("{}", "[1, 2]", "{", b"\xff\xfe")),
        described(),
        described(format="a model"),
        described({"list": []}, version=0),
        described({"list": []}, version="1"),
        described({"list": []}, library=3),
        described({"list": []}, library="1.0\n1"),
        described({"list": []}, library="9" * 1000),
        described({"list": []}, more=1),
    ]
    for raw in files:
        refused(raw, "^the file is not a readable model file: .+")
        (tmp_path / "a.model").write_bytes(raw)
        with pytest.raises(al.ModelFileError, match=r"a\.model is not a readable model file"):
            al.load(tmp_path / "a.model")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.model"
    al.save(al.Gaussian(1.0), path)
    linked = tmp_path / "linked.model"
    linked.symlink_to(path)

    def broken(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", broken)
        with pytest.raises(KeyboardInterrupt):
            al.save([np.zeros(1000)], path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.model", "linked.model"]
    assert al.load(path) == al.Gaussian(1.0)
    al.save(al.Gaussian(2.0), linked)
    assert linked.is_symlink()
    assert al.load(str(path)) == al.Gaussian(2.0)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o777])
def test_a_file_that_is_replaced_keeps_its_permissions(mode, tmp_path, monkeypatch):
    path = tmp_path / "a.model"
    path.write_bytes(b"")
    path.chmod(mode)
    modes = []
    write = _files._write

    def watched(file, *args):
        modes.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))
        write(file, *args)

    monkeypatch.setattr(_files, "_write", watched)
    mask = os.umask(0o022)
    try:
        al.save(al.Gaussian(1.0), path)
    finally:
        os.umask(mask)
    assert modes == [mode]  # also of the part that is still incomplete
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert al.load(path) == al.Gaussian(1.0)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="a device without end")
def test_devices_and_pipes_are_refused_and_not_read(tmp_path):
    with pytest.raises(al.ModelFileError, match="/dev/zero is a device or pipe; accepted: a reg"):
        al.load("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(al.ModelFileError, match="pipe is a device or pipe"):
        al.load(tmp_path / "pipe")  # opening it would wait for a writer
    with open("/dev/zero", "rb") as file, pytest.raises(al.ModelFileError, match="zip archive"):
        al.load(file)

    class Endless(io.RawIOBase):
        def read(self, size):
            return bytes(size)

    raises(al.ModelFileError, "not a zip archive", al.load, Endless())


def test_another_format_is_refused_before_its_values_are_parsed(monkeypatch):
    def parsed(text):
        raise AssertionError("the whole description is parsed")

    monkeypatch.setattr(_files, "_parsed", parsed)
    values = [{"list": [0] * 1000}] * 100
    refused(described(*values, format="another model"), "does not start with the format")
    later = rf"format 2 of alignlearn 9\.0\.0.*{al.__version__} reads up to 1; update"
    refused(described(*values, version=2, library="9.0.0"), later)
    text = json.dumps({"values": values, "format": "alignlearn model"})
    refused(packed([("model.json", text)]), "does not start with the format")


def test_streams():
    """Files without random access, that give few bytes at once, and that are not regular."""

    class Stream(io.RawIOBase):
        def __init__(self, raw=b""):
            self.inner = io.BytesIO(raw)

        def writable(self):
            return True

        def read(self, size):
            return self.inner.read(min(size, 3))

        def write(self, data):
            return self.inner.write(data)

    stream = Stream()
    al.save(MODEL, stream)
    assert repr(al.load(Stream(stream.inner.getvalue()))) == repr(MODEL)
    al.save(MODEL, os.devnull)


# --- names ------------------------------------------------------------------------------------

EXECUTED = ("exec", "os.exec", "os.system", "pickle.find_class", "subprocess.Popen")
_watched = []


@cache
def _watch():
    sys.addaudithook(lambda event, args: [seen.append((event, args)) for seen in _watched])


@contextmanager
def executed():
    """Code that the interpreter executes, or finds in pickles, meanwhile."""
    _watch()
    seen, found = [], []
    _watched.append(seen)
    try:
        yield found
    finally:
        _watched.remove(seen)
        found += [(event, args) for event, args in seen if event in EXECUTED]


def test_nothing_that_a_file_names_is_found_or_called():
    names = (
        *("os.system", "builtins.eval", "posix.system", "subprocess.Popen", "numpy.load"),
        *("kernels.FromFunction", "kernels.Kernel", "kernels.as_kernel", "datasets.load"),
        *("estimators.base.Estimator", "alignlearn.kernels.stationary.Gaussian"),
        *("kernels.stationary.Gaussian", "engine.Cluster", "kernels.Gaussian.__init__"),
        *("__main__.Gaussian", "", None, 7, ["kernels.Gaussian"]),
    )
    for name in names:
        with executed() as events:
            refused(described({"object": name, "state": {}}), "not a class that model files may")
            refused(described({"record": name, "state": {}}), "not a class that model files may")
        assert events == [], name


def test_reading_executes_nothing_and_unpickles_nothing(fitted):
    for raw in fitted:
        al.load(io.BytesIO(raw))  # Numba reads its cache of compiled code, which is pickled
        with executed() as events:
            al.load(io.BytesIO(raw))
        assert events == []
    with executed() as events:  # what is executed is noticed
        exec("1")
        pickle.loads(pickle.dumps(al.Gaussian(1.0)))
    assert {"exec", "pickle.find_class"} <= {event for event, _ in events}


def cosine(**state):
    return {"object": "kernels.Cosine", "state": state}


def csr(kind):
    return {"sparse": kind, "shape": [1, 1], "data": [0], "indices": [0], "indptr": [0]}


G = {"object": "kernels.Gaussian", "state": {"gamma": 0.5, "multiple": 1.0}}
WRONG = {
    "a parameter is a word": {**G, "state": {"gamma": "x", "multiple": 1}},
    "a field is missing": {"object": "kernels.Scaled", "state": {"scale": 0.5}},
    "a parameter is negative": {**G, "state": {"gamma": -1, "multiple": 1}},
    "a state is a list": {"object": "kernels.Gaussian", "state": [1]},
    "an attribute is a method": cosine(lower=3),
    "an attribute is computed": {"object": "kernels.Sum", "state": {"kernels": [1], "is_psd": 1}},
    "an attribute is magic": cosine(__class__=3),
    "an attribute is the version": cosine(_alignlearn_version="9.9"),
    "an order of no array": {"list": [], "order": "F"},
    "an order that is none": {"array": "<f8", "shape": [1], "entries": [1.0], "order": "C"},
    "an attribute has no name": cosine(**{"a b": 3}),
    "no parts": {"object": "kernels.Cosine"},
    "more parts": {"object": "kernels.Cosine", "state": {}, "module": "os"},
    "two kinds": {"list": [], "tuple": []},
    "no known kind": {"state": {}},
    "nothing": {},
    "not a dict": 3,
    "a later value": {"list": [[5]]},
    "itself": {"list": [[1]]},
    "a negative number": {"list": [[-1]]},
    "a reference of two": {"list": [[0, 0]]},
    "a reference that is true": {"list": [[True]]},
    "a value inside": {"list": [{"list": []}]},
    "a tuple of a number": {"tuple": 3},
    "a dict without pairs": {"dict": [[1]]},
    "a dict with a key twice": {"dict": [[1, 2], [1.0, 3]]},
    "a record with other fields": {"record": "online.Rule", "state": {"a": 1}},
    "a class as a record": {"record": "kernels.Cosine", "state": {}},
    "a record as a class": {"object": "online.Rule", "state": {}},
    "a float that is none": {"float": "none"},
    "complex parts": {"complex": [1]},
    "bytes that are none": {"bytes": "%%%"},
    "a dtype of objects": {"dtype": "O"},
    "a dtype of parts": {"dtype": "<f8,<f8"},
    "a dtype that is long": {"dtype": "U" * 100_000},
    "a range of words": {"range": ["a", 1, 1]},
    "an engine that is none": {"engine": "cuda"},
    "a member that is none": {"member": 0},
    "an array of other words": {"array": "<f8", "shape": [1], "entries": ["one"]},
    "an array of too few": {"array": "<f8", "shape": [3], "entries": [1.0]},
    "an array of a long type": {"array": "<U999999999", "shape": [1], "entries": ["a"]},
    "an array of many axes": {"array": "<f8", "shape": [1] * 99, "entries": [1.0]},
    "an array of negative shape": {"array": "<f8", "shape": [-1, -1], "entries": [1.0]},
    "an array of a huge shape": {"array": "<f8", "shape": [2**40, 2**40], "entries": [1.0]},
    "an array of bools that are not": {"array": "|b1", "shape": [1], "entries": [1]},
    "an array of large numbers": {"array": "|i1", "shape": [1], "entries": [1000]},
    "packed bytes of another size": {"packed": "<f8", "shape": [2], "base64": "AAAA"},
    "packed words": {"packed": "<U1", "shape": [1], "base64": "AAAAAA=="},
    "an unknown generator": {"generator": "SystemRandom", "state": [0]},
    "a generator without state": {"generator": "PCG64", "state": [0]},
    "a sparse matrix of a kernel": csr("csr_array"),
    "a sparse matrix of another form": csr("csgraph"),
}


def test_wrong_values_and_those_of_the_right_form():
    """Each invalid file is rejected for its own fault."""
    for wrong in WRONG.values():
        refused(described(G, wrong))
    refused(described({"list": []}, {"dict": [[[0], 1]]}), "unhashable")
    assert al.load(io.BytesIO(described(G))) == al.Gaussian(0.5)
    assert al.load(io.BytesIO(described(G, {"list": [[0], 1]}))) == [al.Gaussian(0.5), 1]
    array = {"entries": [1.0, "nan"], "shape": [2], "array": "<f8"}
    np.testing.assert_array_equal(al.load(io.BytesIO(described(array))), [1.0, np.nan])


# --- attributes -------------------------------------------------------------------------------


def test_attributes_of_a_wrong_kind(fitted):
    wrong = {"classes_": 3, "n_features_in_": "three", "weights_": "all", "_predictor": 1.0}
    for attribute, value in {**wrong, "scale_": None, "predict": 1}.items():

        def change(head, attribute=attribute, value=value):
            head["values"][-1]["state"][attribute] = value

        refused(edited(fitted[0], change), attribute)


def test_sparse_rows_lead_no_loop_astray(fitted):
    """Compiled loops read at these indices, without another check before the memory access."""
    changes = (
        *(("indptr", lambda a: a[::-1].copy()), ("indptr", lambda a: a + 100)),
        *(("indptr", lambda a: a - 1), ("indices", lambda a: a + 100)),
        *(("indices", lambda a: a - 5), ("indices", lambda a: a[::-1].copy())),
        *(("indices", lambda a: a.astype(float)), ("data", lambda a: a[:-1])),
        ("data", lambda a: a.astype(str)),
    )
    for part, change in changes:
        model = al.load(io.BytesIO(fitted[0]))
        rows = model._predictor.support_samples
        setattr(rows, part, change(getattr(rows, part)))
        if part == "data":
            rows.centered = rows.data
        refused(written(model), "SparseRows")


def test_coefficients_of_pairs_and_classes_lead_no_product_astray():
    rows, classes = np.random.default_rng(0).normal(size=(64, 3)), np.arange(64) % 32
    changes = (
        *(("starts", lambda a: a[::-1].copy()), ("starts", lambda a: a + 100)),
        *(("samples", lambda a: a + 100), ("samples", lambda a: a - 100)),
        *(("samples", lambda a: a.astype(float)), ("values", lambda a: a[:-1])),
        *(("values", lambda a: a.astype(str)), ("n_samples", lambda n: n - 5)),
        ("columns", lambda a: a[:, 0]),
    )
    raw = {
        machine: written(al.MKLClassifier([al.Gaussian(0.3)], machine=machine).fit(rows, classes))
        for machine in ("svm", "krr")
    }
    for part, change in changes:
        model = al.load(io.BytesIO(raw["krr" if part == "columns" else "svm"]))
        coef = model._predictor.coef
        object.__setattr__(coef, part, change(getattr(coef, part)))
        refused(written(model), "ClassCoefficients" if part == "columns" else "PairCoefficients")


def test_expansions_and_widths_lead_no_loop_astray(fitted):
    model = al.load(io.BytesIO(fitted[1]))
    model._expansion.age = model._expansion.age[:-1]
    refused(written(model), "Expansion")
    model = al.load(io.BytesIO(fitted[2]))
    wide = np.ones((5, 17))
    model.n_features_in_ = 17
    model = al.load(io.BytesIO(written(model)))
    raises(ValueError, "17 columns", model.predict, wide)


def test_scales_of_features_fit_the_features():
    wrong = (
        # Names of that many features took seconds and gigabytes.
        *(("n_features_in_", n) for n in (10**8, 4, 0, -3, 10**30)),
        *(("scales_", scales) for scales in (1.0, np.ones((3, 3)), np.array(["a", "b", "c"]))),
        *(("scales_", np.array([1.0, value, 1.0])) for value in (-1.0, np.nan)),
        *(("matrix_", matrix) for matrix in (np.eye(2), np.full((3, 3), np.inf), None)),
        ("feature_names_in_", np.array(["a", "b"], dtype=object)),
    )
    options = {"alpha": 0.1, "kernel": al.Gaussian(0.5)}
    plain, full = (
        written(al.FeatureScales(full=f, **options).fit(models.X, models.SIGNAL))
        for f in (False, True)
    )
    for attribute, value in wrong:
        model = al.load(io.BytesIO(full if attribute == "matrix_" else plain))
        setattr(model, attribute, value)
        refused(written(model), f"FeatureScales: {attribute}|FeatureScales: scales_")


def test_generators_read_no_memory_that_is_not_theirs():
    for name, part, place in (("MT19937", "pos", 10**6), ("Philox", "buffer_pos", -(10**6))):
        raw = written(np.random.Generator(getattr(np.random, name)(0)))

        def change(head, part=part, place=place):
            for value in head["values"]:
                for pair in value.get("dict", []):
                    pair[1] = place if pair[0] == part else pair[1]

        refused(edited(raw, change), "state of .* is not valid")


# --- sizes ------------------------------------------------------------------------------------


def npy(shape, dtype="<f8", data=b""):
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def with_arrays(*arrays, method=zipfile.ZIP_DEFLATED, values=None):
    members = [{"member": k} for k in range(len(arrays))]
    members.append({"list": [[k] for k in range(len(arrays))]})
    text = json.dumps({**HEAD, "values": values or members})
    names = [f"{k}.npy" for k in range(len(arrays))]
    return packed([("model.json", text), *zip(names, arrays)], method)


def test_arrays_that_claim_too_much():
    refused(with_arrays(npy((10**12,))), "header says")
    refused(with_arrays(npy((2**40, 2**40))), "header says")
    refused(with_arrays(npy((10**15,), "<U0")), "memory")
    refused(with_arrays(npy((10,), "<f8", bytes(79))), "header says")
    refused(with_arrays(b"\x93NUMPY\x09\x00" + bytes(100)))
    refused(with_arrays(npy((1,), "|O", bytes(8))), "Python objects")
    found = al.load(io.BytesIO(with_arrays(npy((10,), "<f8", bytes(80)))))
    np.testing.assert_array_equal(found, [np.zeros(10)])


def test_bombs(monkeypatch):
    monkeypatch.setattr(_limits, "MAX_BYTES", 10**6)
    refused(with_arrays(npy((200_000,), "<f8", bytes(1_600_000))), "1000000")
    small = npy((50_000,), "<f8", bytes(400_000))
    refused(with_arrays(small, small, small), "1000000")
    blank = f'{{"format": "alignlearn model",{" " * (_files.MAX_DESCRIPTION)} "version": 1}}'
    refused(packed([("model.json", blank)]), "description has more than")
    # One array, and many kernels that would each read all of it.
    gram = {"member": 0}
    kernel = {"object": "kernels.Precomputed", "state": {"gram": [0], "is_psd": True, "name": None}}
    content = npy((200, 200), "<f8", bytes(320_000))
    refused(with_arrays(content, values=[gram, *[kernel] * 9]), "looked at")
    al.load(io.BytesIO(with_arrays(content, values=[gram, kernel])))


def test_lists_of_many_members(monkeypatch, tmp_path):
    """They are rejected by the end record of the zip, before the list is read."""
    monkeypatch.setattr(_limits, "MAX_MEMBERS", 1000)
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for k in range(3000):
            archive.writestr(zipfile.ZipInfo(f"{k}.npy"), b"")
    opened = []
    with monkeypatch.context() as patch:
        patch.setattr(zipfile, "ZipFile", lambda *args: opened.append(args))
        refused(many.getvalue(), "has more than 1000 members")
        # With more than 65535 members, or 4 GiB, another record before the end contains the
        # numbers.
        size = struct.pack("<Q", 2**40)
        record = b"PK\6\6" + struct.pack("<Q", 44) + bytes(28) + size + bytes(8)
        locator = b"PK\6\7" + bytes(16)
        end = b"PK\5\6" + bytes(8) + b"\xff" * 8 + bytes(2)
        refused(record + locator + end, "has more than 1000 members")
    assert opened == []
    refused(record + locator + end[:12])
    # The reader of npz files rejects them, too.
    (tmp_path / "many.npz").write_bytes(many.getvalue())
    raises(ValueError, "more than 1000 members", al.datasets.load, tmp_path / "many.npz")


def test_values_that_multiply():
    """Lists of ten of the list before: 10^n numbers in a few bytes."""
    levels = [{"list": [1] * 10}, *({"list": [[k]] * 10} for k in range(90))]
    refused(described(*levels), "nested values")
    sums = [{"tuple": [[0], [0]]}, {"object": "kernels.Sum", "state": {"kernels": [1]}}]
    for k in range(2, 80, 2):
        sums += [{"tuple": [[k], [k]]}, {"object": "kernels.Sum", "state": {"kernels": [k + 1]}}]
    refused(described(G, *sums), "nested values")
    deep = [{"list": []}, *({"list": [[k]]} for k in range(1000))]
    refused(described(*deep), "100 levels")
    al.load(io.BytesIO(described(*deep[:90])))
    refused(packed([("model.json", "[" * 10**6)]))
    long = {"object": "kernels.Power", "state": {"kernel": [0], "exponent": 0}}
    text = unpacked(described(G, long))["model.json"].decode()
    refused(packed([("model.json", text.replace('"exponent": 0', f'"exponent": {"9" * 5000}'))]))
    refused(packed([("model.json", text.replace("0.5", "NaN"))]), "not a number")
    refused(packed([("model.json", text.replace('"version": 1', '"version": 1, "version": 1'))]))


def test_many_keys_that_are_slow_to_compare():
    pairs = [[k * (2**61 - 1), 0] for k in range(_writing.MAX_KEYS + 1)]
    refused(described({"dict": pairs}), "keys that are not strings")
    words = [[f"{k}", 0] for k in range(_writing.MAX_KEYS + 1)]
    assert len(al.load(io.BytesIO(described({"dict": words})))) == len(words)


def test_members_that_no_model_file_has(fitted):
    members = unpacked(fitted[2])
    assert len(members) > 1
    for extra in ("../../x.npy", "/etc/x.npy", "a/../0.npy", "x.py", "99.npy", "00.npy"):
        refused(packed([*members.items(), (extra, b"")]), "members other than")
    refused(packed([*members.items(), *members.items()]))
    refused(packed([*members.items(), ("0.npy", members["0.npy"])]), "members other than")
    refused(packed([*members.items(), ("model.json", members["model.json"])]), "several")
    refused(packed([("model.json", members["model.json"])]), "not an array of the file")
    more = {**members, f"{len(members) - 1}.npy": npy((0,))}
    refused(packed(more.items()), "arrays that no value refers to")
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        refused(packed(members.items(), method), "deflate")
    again = packed(members.items(), zipfile.ZIP_STORED)
    assert al.load(io.BytesIO(again)).predict(np.ones((2, 12))).shape == (2,)


# --- chance -----------------------------------------------------------------------------------


def tried(raw):
    """Whether a file is read; any error but ModelFileError fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.VersionWarning)
        try:
            al.load(io.BytesIO(raw))
        except al.ModelFileError:
            return False
    return True


def test_truncated_files(fitted):
    for raw in fitted:
        for end in range(0, len(raw), max(1, len(raw) // 50)):
            assert not tried(raw[:end])


def test_files_with_bytes_changed(fitted):
    rng = np.random.default_rng(0)
    read = 0
    for _ in range(600):
        raw = bytearray(fitted[rng.integers(len(fitted))])
        for _ in range(rng.integers(1, 4)):
            raw[rng.integers(len(raw))] = rng.integers(256)
        read += tried(bytes(raw))
    assert read < 100  # of dates, attributes of files and unchanged parts


def mutated(value, rng):
    """JSON with one part changed, somewhere."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.95:
        value, k, choice = value.copy(), rng.integers(len(value)), rng.integers(20)
        key = list(value)[k] if isinstance(value, dict) else k
        if choice == 0:
            del value[key]
        elif choice > 1:
            value[key] = mutated(value[key], rng)
        elif isinstance(value, dict):
            value[f"{key}_"] = value.pop(key)
        else:
            value.insert(k, value[k])
        return value
    strange = [None, True, -1, 0, 10**30, 1e308, "", "nan", "<f8", "O", [], [0], [3], {}, "AAAA"]
    if isinstance(value, int) and rng.random() < 0.5:
        return value + int(rng.integers(-3, 4))
    return strange[rng.integers(len(strange))]


def test_files_with_descriptions_changed(fitted):
    """For any content: a model or a ModelFileError, within the memory limit."""
    rng = np.random.default_rng(1)
    heads = [json.loads(unpacked(raw)["model.json"]) for raw in fitted]
    read = 0
    tracemalloc.start()
    try:
        for _ in range(250):
            k = rng.integers(len(fitted))
            head = {**heads[k], "values": mutated(heads[k]["values"], rng)}
            members = {**unpacked(fitted[k]), "model.json": json.dumps(head)}
            read += tried(packed(members.items(), zipfile.ZIP_STORED))
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()
    assert 20 < read < 240
