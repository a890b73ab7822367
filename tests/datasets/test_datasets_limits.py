"""Archives that expand or claim too much raise an error before memory is used."""

import bz2
import gzip
import io
import lzma
import re
import struct
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest
from refusals import raises

from alignlearn import _limits, datasets
from alignlearn.datasets._parsers import archive_member

ZEROS = bytes(1 << 20)


def bomb(pack, mebibytes):
    """Compressed zeros, in streams of 16 MiB one after the other, which are all alike."""
    raw = io.BytesIO()
    with pack(raw, "wb") as stream:
        for _ in range(16):
            stream.write(ZEROS)
    return raw.getvalue() * (mebibytes // 16)


def npy(shape, dtype="<f8", data=b""):
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize("pack", [gzip.open, bz2.open, lzma.open])
def test_text_bombs_are_refused_while_they_expand(tmp_path, pack):
    raw = bomb(pack, 80)
    (tmp_path / "t.csv.gz").write_bytes(raw)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"t\.csv\.gz.*1000 times its size") as error:
            datasets.load(tmp_path / "t.csv.gz")
        # Nothing of the 64 MiB read until then is kept.
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)


def test_limit_of_text(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "MAX_TEXT", 1000)
    lines = "".join(f"{i},{i % 2}\n" for i in range(300))
    for name, content in (("t.csv", lines.encode()), ("t.csv.gz", gzip.compress(lines.encode()))):
        (tmp_path / name).write_bytes(content)
        words = r"t\.csv.*(accepted: at most 1000 bytes|more than 1000 bytes, the largest size)"
        raises(ValueError, words, datasets.load, tmp_path / name)


def test_limit_of_cells(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("1,2\n" * 1000)
    (tmp_path / "t.svm").write_text("1 1:2 2:2\n" * 1000)
    monkeypatch.setattr(_limits, "MAX_BYTES", 150_000)
    for name in ("t.csv", "t.svm"):
        with pytest.raises(ValueError, match=rf"{name}.*about [23]000 fields.*accepted.*npz"):
            datasets.load(tmp_path / name)


@pytest.mark.parametrize(
    "shape",
    [(10**12, 1), (10**6, 10**6), (10**30, 2), (-(10**9), 2), (2**62, 4), (3, 0), (2**33,)],
)
def test_false_shapes_in_an_npz_are_refused(tmp_path, shape):
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy(shape, data=bytes(48)))
        archive.writestr("y.npy", npy((3,), data=bytes(24)))
    with pytest.raises(ValueError, match=r"t\.npz") as error:
        datasets.load(path)
    assert "\n" not in str(error.value)
    assert "not a readable npz" in str(error.value)


def test_npz_that_claims_more_than_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.zeros((1000, 10), dtype=np.int8), y=np.arange(1000) % 2)
    assert datasets.load(path).X.shape == (1000, 10)
    monkeypatch.setattr(_limits, "MAX_BYTES", 80_000)
    raises(ValueError, r"t\.npz.*88000 bytes.*accepted.*80000", datasets.load, path)


@pytest.mark.parametrize(("rows", "words"), [(5 * 2**27, "4294967296"), (3 * 2**27, "EOF")])
def test_an_npz_that_lies_takes_no_memory(tmp_path, rows, words):
    """A member of 1 MiB whose two headers claim 5 GiB, or 3."""
    pytest.importorskip("resource")
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy((rows, 1), data=ZEROS))
        archive.writestr("y.npy", npy((3,), data=bytes(24)))
        archive.getinfo("X.npy").file_size = len(npy((rows, 1))) + 8 * rows
    code = (
        "import resource, sys; from alignlearn import datasets\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: datasets.load(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "assert grown < 100_000, grown\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"t\.npz.*({words})", done.stdout)


def test_zip_and_tar_bombs_are_refused(monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/toy.data", ZEROS * 70)
    raises(ValueError, "1000 times its size", archive_member, packed.getvalue(), "toy.data")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("toy.data")
        entry.size = 70 << 20
        archive.addfile(entry, io.BytesIO(ZEROS * 70))
    raises(ValueError, "1000 times its size", archive_member, packed.getvalue(), "toy.data")
    monkeypatch.setattr(_limits, "MAX_TEXT", 1000)
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        archive_member(gzip.compress(b"x" * 2000), "toy.data")


def test_one_hot_columns_are_counted_before_they_are_made(tmp_path, monkeypatch):
    rows = [f"{chr(97 + i % 26)}{i % 7},{i % 2}" for i in range(2000)]
    (tmp_path / "t.csv").write_text("a,y\n" + "\n".join(rows))
    assert datasets.load(tmp_path / "t.csv").n_features == 182
    monkeypatch.setattr(_limits, "MAX_BYTES", 1_000_000)
    raises(ValueError, r"'a'.*182.*accepted.*1000000", datasets.load, tmp_path / "t.csv")


def test_large_labels_and_column_vectors(tmp_path):
    y = np.array([[1e300], [2e300], [1e300], [2e300]])
    np.savez(tmp_path / "t.npz", X=np.ones((4, 1)), y=y)
    data = datasets.load(tmp_path / "t.npz")
    assert data.y.tolist() == [1e300, 2e300, 1e300, 2e300]
    assert data.n_samples == 4
    np.savez(tmp_path / "u.npz", X=np.ones((2, 1)), y=np.array([2**64 - 1, 1], dtype=np.uint64))
    assert datasets.load(tmp_path / "u.npz", task="regression").y.tolist() == [2.0**64, 1]
