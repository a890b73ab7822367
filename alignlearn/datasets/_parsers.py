"""Parsers of the original formats of the registered sets.

They return the arrays of the cached npz file: X with raw values (or CSR parts), y with -1 and +1 as
int8 or with real values, and other arrays of the set. No row is dropped and nothing is scaled.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from itertools import pairwise

import numpy as np

from alignlearn._limits import decompress, read_limited

from ._files import parse_svmlight


def archive_member(raw: bytes, name: str) -> bytes:
    """The file of that base name in a zip or tar archive; other bytes are returned unchanged.

    ValueError when there is no such file, or when it expands beyond the limits.
    """
    import tarfile
    import zipfile

    if raw[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = [n for n in archive.namelist() if _ends_with(n, name)]
            if members:
                info = archive.getinfo(members[0])
                with archive.open(info) as stream:
                    return read_limited(stream, info.compress_size)
    elif raw[:2] == b"\x1f\x8b":
        # Decompressed as a whole within the limits, because a tar reader alone would trust any
        # header.
        with tarfile.open(fileobj=io.BytesIO(decompress(raw)), mode="r:") as archive:
            for member in archive:
                if member.isfile() and _ends_with(member.name, name):
                    return archive.extractfile(member).read()
    else:
        return raw
    raise ValueError(f"the archive has no file {name}")


def _ends_with(path: str, name: str) -> bool:
    return ("/" + path.replace("\\", "/")).endswith("/" + name)


def _only(files: dict) -> bytes:
    (raw,) = files.values()
    return raw


def parse_labeled(files, *, member, width, labels, delimiter=None):
    """Rows of ``width`` numbers and a label, as the UCI sets have them."""
    text = archive_member(_only(files), member).decode("ascii")
    rows = [line.split(delimiter) for line in text.splitlines() if line.strip()]
    ragged = [i for i, row in enumerate(rows, 1) if len(row) != width + 1]
    if ragged or not rows:
        raise ValueError(f"row {(ragged or [0])[0]} does not have {width + 1} fields")
    y = [labels.get(row[-1].strip()) for row in rows]
    if None in y:
        raise ValueError(f"{rows[y.index(None)][-1]!r} is not one of the labels {sorted(labels)}")
    X = np.array([[float(field) for field in row[:-1]] for row in rows])
    return {"X": X, "y": np.array(y, dtype=np.int8)}


def parse_german(files):
    """Numeric Statlog German credit: good (1) is +1; the original label is kept."""
    arrays = parse_labeled(files, member="german.data-numeric", width=24, labels={"1": 1, "2": -1})
    return {**arrays, "y_original": np.where(arrays["y"] > 0, 1, 2).astype(np.int8)}


def parse_wisconsin(files):
    """Original Wisconsin set: sample number, nine features with ? for missing, class 2 or 4."""
    text = archive_member(_only(files), "breast-cancer-wisconsin.data").decode("ascii")
    table = np.array(
        [
            [np.nan if field == "?" else float(field) for field in line.split(",")]
            for line in text.splitlines()
            if line.strip()
        ]
    )
    X = np.ascontiguousarray(table[:, 1:10])
    return {
        "X": X,
        "y": np.where(table[:, 10] == 4, 1, -1).astype(np.int8),
        "y_original": table[:, 10].astype(np.int8),
        "sample_id": table[:, 0].astype(np.int64),
        "complete": ~np.isnan(X).any(axis=1),
    }


def parse_kin(files):
    """Delve kin family: a tar file with Dataset.data.gz, eight inputs and the target per row."""
    text = decompress(archive_member(_only(files), "Dataset.data.gz")).decode("ascii")
    table = np.loadtxt(io.StringIO(text))
    if table.ndim != 2 or table.shape[1] != 9:
        raise ValueError(f"a table with 9 columns is needed, got shape {table.shape}")
    return {"X": np.ascontiguousarray(table[:, :8]), "y": table[:, 8].copy()}


def parse_ijcnn1(files):
    """LIBSVM's two files of the training part, 35,000 and 14,990 rows, one below the other."""
    parts = [
        parse_svmlight(decompress(raw).decode("ascii"), name, n_features=22)[:2]
        for name, raw in files.items()
    ]
    X = [part if isinstance(part, np.ndarray) else part.toarray() for part, _ in parts]
    y = np.concatenate([labels for _, labels in parts])
    return {"X": np.concatenate(X), "y": y.astype(np.int8)}


def parse_landmine(files):
    """MATLAB cells ``feature`` and ``label`` of 29 tasks; the task of every row is kept."""
    from scipy.io import loadmat

    raw = archive_member(_only(files), "LandmineData.mat")
    cells = loadmat(io.BytesIO(raw), variable_names=("feature", "label"))
    X = [np.asarray(part, dtype=np.float64) for part in cells["feature"].ravel()]
    y = [np.asarray(part, dtype=np.float64).ravel() for part in cells["label"].ravel()]
    return {
        "X": np.ascontiguousarray(np.concatenate(X)),
        "y": np.where(np.concatenate(y) > 0, 1, -1).astype(np.int8),
        "task": np.repeat(np.arange(len(y)), [part.size for part in y]).astype(np.int16),
    }


# --- GEFCom2012 -----------------------------------------------------------------------------

_HOURS = range(1, 25)


def parse_gefcom(files):
    """The nine withheld weeks of the load track: Load_solution.csv with the temperatures.

    Temperatures come from temperature_history.csv, and for the last week, which is missing in that
    file, from temperature_solution.csv.
    """
    raw = _only(files)
    loads = _hourly(archive_member(raw, "Load_solution.csv"), "zone_id")
    heat = _hourly(archive_member(raw, "temperature_history.csv"), "station_id")
    for key, value in _hourly(
        archive_member(raw, "temperature_solution.csv"), "station_id"
    ).items():
        heat.setdefault(key, value)
    times = sorted({key[1:] for key in loads})
    X = [[*time, *(heat[(station, *time)] for station in range(1, 12))] for time in times]
    Y = [[loads[(zone, *time)] for zone in range(1, 22)] for time in times]
    stations = [f"temp_station_{i}" for i in range(1, 12)]
    return {
        "X": np.array(X, dtype=np.float64),
        "Y": np.array(Y, dtype=np.float64),
        "feature_names": np.array(["year", "month", "day", "hour", *stations]),
        "target_names": np.array([f"load_zone_{i}" for i in range(1, 22)]),
    }


def _hourly(raw: bytes, place: str) -> dict:
    """{(place, year, month, day, hour): value} of an hourly table; empty fields are left out.

    The table has columns h1..h24, or a column ``hour`` and the value in column T0_p1.
    """
    values = {}
    for row in csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))):
        day = tuple(int(row[key]) for key in (place, "year", "month", "day"))
        if "h1" in row:
            pairs = [(hour, row[f"h{hour}"]) for hour in _HOURS]
        else:
            pairs = [(int(row["hour"]), row["T0_p1"])]
        for hour, value in pairs:
            if value and value.strip():
                values[(*day, hour)] = float(value.replace(",", ""))
    return values


# --- reviews --------------------------------------------------------------------------------

_REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
_RATING = re.compile(r"<rating>\s*([0-9.]+)\s*</rating>")
_REVIEW_TEXT = re.compile(r"<review_text>(.*?)</review_text>", re.DOTALL)
_TOKEN = re.compile(r"[a-z0-9']+")


def parse_reviews(files, *, folder, n_columns=5000):
    """Bigram counts of the labeled reviews of one domain, positives first.

    Tokens are ``[a-z0-9']+`` of the lower-cased review text; the columns are the ``n_columns`` most
    frequent bigrams by total count, ties in alphabetical order. y holds the stars.
    """
    counts, stars, sign = [], [], []
    for label, member in ((1, "positive.review"), (-1, "negative.review")):
        # Latin-1 maps bytes one to one; no other byte than ASCII can become part of a token.
        text = archive_member(_only(files), f"{folder}/{member}").decode("latin-1")
        for review in _REVIEW.findall(text):
            tokens = _TOKEN.findall(_REVIEW_TEXT.search(review).group(1).lower())
            counts.append(Counter(map(" ".join, pairwise(tokens))))
            stars.append(float(_RATING.search(review).group(1)))
            sign.append(label)
    total = Counter()
    for count in counts:
        total.update(count)
    vocabulary = sorted(total, key=lambda bigram: (-total[bigram], bigram))[:n_columns]
    column = {bigram: j for j, bigram in enumerate(vocabulary)}
    rows = [sorted((column[b], n) for b, n in count.items() if b in column) for count in counts]
    pairs = np.array([pair for row in rows for pair in row], dtype=np.int32).reshape(-1, 2)
    return {
        "data": pairs[:, 1].copy(),
        "indices": pairs[:, 0].copy(),
        "indptr": np.cumsum([0] + [len(row) for row in rows]).astype(np.int32),
        "shape": np.array([len(rows), len(vocabulary)]),
        "y": np.array(stars),
        "sign": np.array(sign, dtype=np.int8),
        "feature_names": np.array(vocabulary),
    }
