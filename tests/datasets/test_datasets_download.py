"""Cache and download of a small artificial set, against a server on 127.0.0.1."""

import gc
import hashlib
import struct
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from refusals import raises

from alignlearn import datasets
from alignlearn.datasets import _download
from alignlearn.datasets._data import Entry, canonical_digest
from alignlearn.datasets._parsers import parse_labeled

GOOD = b"1.5,-2,a\n0.25,3,b\n1e-3,7,a\n"


def digest(*numbers):
    return hashlib.sha256(struct.pack(f"<{len(numbers)}d", *numbers)).hexdigest()


PRINT = datasets.Fingerprint(
    shape=(3, 2),
    classes=((-1, 1), (1, 2)),
    X=digest(1.5, -2.0, 0.25, 3.0, 1e-3, 7.0),
    y=digest(1.0, -1.0, 1.0),
)


class Handler(BaseHTTPRequestHandler):
    """Responses by path; ``server.content`` is what /good and /half send."""

    def do_GET(self):
        self.server.hits[self.path] += 1
        content = self.server.content
        if self.path == "/missing":
            return self.send_error(404)
        if self.path == "/broken":
            return self.send_error(500)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/good")
            return self.end_headers()
        self.send_response(200)
        if self.path != "/no-length":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        cut = len(content) // 2 if self.path in ("/half", "/stall") else len(content)
        self.wfile.write(content[:cut])
        self.wfile.flush()
        if self.path == "/stall":
            self.server.release.wait(20)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """The client of a stalled response has gone, which deserves no traceback."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server(("127.0.0.1", 0), Handler) as server:
        server.content, server.hits, server.release = GOOD, Counter(), threading.Event()
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()
    gc.collect()  # an unclosed socket becomes a warning, hence an error, in this test


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Function that registers the set "toy" with given addresses; the cache is tmp_path/cache."""
    monkeypatch.setenv("ALIGNLEARN_DATA", str(tmp_path / "cache"))

    form = {"member": "toy.data", "width": 2, "labels": {"a": 1, "b": -1}, "delimiter": ","}
    parse = partial(parse_labeled, **form)

    def register(*addresses, fingerprint=PRINT, **details):
        sources = tuple({"toy.data": address} for address in addresses)
        given = "toy", "classification", parse, fingerprint, sources, "http://toys.example/page"
        entry = Entry(*given, target_names=("no", "yes"), **details)
        monkeypatch.setitem(datasets.REGISTRY, "toy", entry)
        return tmp_path / "cache"

    return register


def test_download_then_cache(server, toy):
    cache = toy(server.address + "/good")
    first = datasets.load("toy")
    np.testing.assert_array_equal(first.X, [[1.5, -2], [0.25, 3], [1e-3, 7]])
    assert first.y.tolist() == [1, -1, 1]
    assert first.target_names == ("no", "yes")
    assert first.source.endswith("/good")
    assert [p.name for p in cache.iterdir()] == ["toy.npz"]
    second = datasets.load("toy")
    np.testing.assert_array_equal(second.X, first.X)
    assert second.source == str(cache / "toy.npz")
    assert server.hits == {"/good": 1}


@pytest.mark.parametrize("paths", [["/moved"], ["/no-length"], ["/missing", "/good"]])
def test_redirects_answers_without_length_and_a_second_address(server, toy, paths):
    cache = toy(*(server.address + path for path in paths))
    raises(datasets.DatasetError, "download=False", datasets.load, "toy", download=False)
    assert not cache.exists()
    assert not server.hits
    assert datasets.load("toy").n_samples == 3
    assert set(paths) <= {*server.hits}


FAILURES = {"/missing": "404", "/broken": "500", "/half": "ended after 13 of 27 bytes"}


@pytest.mark.parametrize(("path", "words"), [*FAILURES.items(), ("/stall", "no data for 3 s")])
def test_failed_downloads_are_told_and_leave_nothing(server, toy, path, words):
    cache = toy(server.address + path)
    with pytest.raises(datasets.DatasetError, match=words) as error:
        datasets.load("toy", timeout=3 if path == "/stall" else 60)
    server.release.set()
    message = str(error.value)
    for part in (server.address + path, "toys.example", str(cache), "toy.data", "ALIGNLEARN_DATA"):
        assert part in message
    assert list(cache.iterdir()) == []
    assert isinstance(error.value, OSError)


def test_refused_answer_is_closed(server, tmp_path):
    with pytest.raises(datasets.DatasetError, match="404") as error:
        _download.fetch(server.address + "/missing", tmp_path / "x", timeout=60, max_bytes=100)
    assert error.value.__cause__.fp.closed


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD.replace(b"7", b"8"), "values of X differ"),
        (GOOD + GOOD, "shape 6 x 2 instead of 3 x 2"),
        (GOOD.replace(b"b", b"a"), "classes 3 times 1 instead of 1 times -1, 2 times 1"),
        (b"0.25,3,b\n1.5,-2,a\n1e-3,7,a\n", "values of X differ"),
        (b"1.5,-2,b\n0.25,3,a\n1e-3,7,a\n", "values of y differ"),
        (b"<html>moved</html>", "not in the original format"),
        (b"", "not in the original format"),
        (b"PK\x03\x04 no zip", "not in the original format"),
        (b"\x1f\x8b no gzip", "not in the original format"),
        (GOOD.replace(b"a", b"c"), "not one of the labels"),
    ],
)
def test_wrong_content_is_told_and_leaves_nothing(server, toy, content, words):
    cache = toy(server.address + "/good")
    server.content = content
    raises(datasets.DatasetError, words, datasets.load, "toy")
    assert list(cache.iterdir()) == []


def test_size_limit(server, toy):
    for path, words in (("/good", "announced 27 bytes"), ("/no-length", "more than 20 bytes")):
        cache = toy(server.address + path, max_bytes=20)
        raises(datasets.DatasetError, words, datasets.load, "toy")
        assert list(cache.iterdir()) == []


def test_no_network(toy, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    cache = toy(f"http://127.0.0.1:{port}/good")
    with pytest.raises(datasets.DatasetError, match=r"no usable connection \(Connection"):
        datasets.load("toy", timeout=60)
    assert list(cache.iterdir()) == []


def test_cache_that_cannot_be_written(server, toy, tmp_path):
    toy(server.address + "/good")
    (tmp_path / "file").write_text("not a folder")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(datasets.DatasetError, match=r"cannot be written.*data_home"):
            datasets.load("toy", data_home=home)
    assert not server.hits


def test_disk_full_and_interruption_leave_nothing(server, toy, monkeypatch):
    cache = toy(server.address + "/good")

    def full(path, **arrays):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full)
        raises(datasets.DatasetError, "No space left", datasets.load, "toy")
    assert list(cache.iterdir()) == []

    def interrupted(response, file, max_bytes):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(_download, "_copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        datasets.load("toy")
    assert list(cache.iterdir()) == []


def test_simultaneous_downloads_agree(server, toy):
    cache = toy(server.address + "/good")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(datasets.load, ["toy"] * 4))
    assert len({data.X.sum() for data in found}) == 1
    assert [p.name for p in cache.iterdir()] == ["toy.npz"]


def test_cached_file_is_checked_every_time(server, toy):
    cache = toy(server.address + "/good")
    X, y = datasets.load("toy", return_X_y=True)
    path = cache / "toy.npz"
    intact = path.read_bytes()
    for content in (intact[:100], b"", b"no npz"):
        path.write_bytes(content)
        raises(datasets.DatasetError, r"toy\.npz is not a readable.*Delete", datasets.load, "toy")
        assert path.read_bytes() == content
    np.savez(path, X=X + 1e-15, y=y)
    raises(datasets.DatasetError, "not the set toy: the values of X differ", datasets.load, "toy")
    np.savez(path, X=X.astype(np.float32), y=y[:2])
    raises(datasets.DatasetError, r"3 rows but y has 2.*Delete", datasets.load, "toy")
    np.savez(path, X=np.asfortranarray(X), y=y.astype(np.int8))
    np.testing.assert_array_equal(datasets.load("toy").X, X)
    assert server.hits == {"/good": 1}


def test_file_put_there_by_hand(server, toy):
    cache = toy(server.address + "/missing")
    cache.mkdir()
    (cache / "toy.data").write_bytes(GOOD)
    data = datasets.load("toy")
    assert data.n_samples == 3
    assert data.source == str(cache / "toy.data")
    assert [p.name for p in cache.iterdir()] == ["toy.data"]
    assert not server.hits
    (cache / "toy.data").write_bytes(GOOD + GOOD)
    raises(datasets.DatasetError, r"toy\.data: wrong content.*shape 6 x 2", datasets.load, "toy")
    toy(None, max_bytes=20)
    (cache / "toy.data").write_bytes(GOOD)
    limit = r"toy\.data: 27 bytes; accepted: at most 20"
    raises(datasets.DatasetError, limit, datasets.load, "toy")


def test_wrong_calls(toy):
    toy(None)
    raises(datasets.DatasetError, r"no address.*toy\.data.*toys\.example", datasets.load, "toy")
    for timeout in (0, -1, float("nan"), "1"):
        raises((ValueError, TypeError), "timeout", datasets.load, "toy", timeout=timeout)


def test_extra_arrays_are_part_of_the_fingerprint(toy):
    expected = datasets.Fingerprint(
        PRINT.shape, PRINT.classes, PRINT.X, PRINT.y, (("group", digest(0.0, 1.0, 1.0)),)
    )
    cache = toy(None, fingerprint=expected)
    cache.mkdir()
    arrays = {"X": [[1.5, -2], [0.25, 3], [1e-3, 7]], "y": [1, -1, 1]}
    np.savez(cache / "toy.npz", **arrays, group=[0, 1, 1])
    assert datasets.load("toy").extra["group"].tolist() == [0, 1, 1]
    for wrong in ({"group": [0, 1, 0]}, {}):
        np.savez(cache / "toy.npz", **arrays, **wrong)
        raises(datasets.DatasetError, r"values of \['group'\] differ", datasets.load, "toy")


def test_canonical_form():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = digest(1.0, 2.0, 3.0, 4.0)
    for same in (X, np.asfortranarray(X), X.astype(np.int8), X.astype(">f8"), X.astype("f4")):
        assert canonical_digest(same) == expected
    assert canonical_digest([-0.0, 1.0]) == digest(0.0, 1.0)
    odd_nan = np.array([0xFFF8000000000123], dtype=np.uint64).view(np.float64)
    assert canonical_digest(odd_nan) == canonical_digest([np.nan])
    assert canonical_digest(X.T) != expected
    assert canonical_digest(["ab", "c"]) == hashlib.sha256(b"ab\nc").hexdigest()


def test_sparse_fingerprint_ignores_order_and_stored_zeros():
    from scipy.sparse import csr_matrix

    tidy = csr_matrix(np.array([[0, 2.0, 1.0], [0, 0, 0]]))
    messy = csr_matrix(([1.0, 0.5, 1.5, 0.0], [2, 1, 1, 0], [0, 3, 4]), shape=(2, 3))
    y = np.array([0, 1])
    expected = datasets.fingerprint(tidy, y)
    assert datasets.fingerprint(messy, y) == expected
    assert digest(0.0, 2.0, 2.0, 1.0, 2.0, 2.0, 1.0) == expected.X
    assert messy.nnz == 4  # the input is left as it was


def test_cache_folder_follows_the_rules(monkeypatch, tmp_path):
    monkeypatch.setenv("ALIGNLEARN_DATA", str(tmp_path / "env"))
    assert datasets.cache_dir() == tmp_path / "env"
    assert datasets.cache_dir(tmp_path / "given") == tmp_path / "given"
    monkeypatch.delenv("ALIGNLEARN_DATA")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert datasets.cache_dir() == tmp_path / "xdg" / "alignlearn"
    for ignored in ("relative", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert datasets.cache_dir() == tmp_path / ".cache" / "alignlearn"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert datasets.cache_dir() == tmp_path / "Library" / "Caches" / "alignlearn"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert datasets.cache_dir() == tmp_path / "local" / "alignlearn" / "Cache"
    monkeypatch.delenv("LOCALAPPDATA")
    assert datasets.cache_dir() == tmp_path / "AppData" / "Local" / "alignlearn" / "Cache"
