"""Readers of a user's own files: npz archives, svmlight / libsvm text, and text tables."""

from __future__ import annotations

import math
import os
import re

import numpy as np

from alignlearn import _limits

from ._data import Dataset, drop_columns, select_target, settle_task, unpack
from ._table import parse_table

_SVMLIGHT = {".svm", ".svmlight", ".libsvm"}
_TABLES = {".csv", ".tsv", ".tab"}
_PACKED = {".gz", ".bz2", ".xz"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_PAIR = re.compile(r"\d+:\S+")
_DENSE_FROM = 0.25


def is_named_table(path) -> bool:
    """Whether a path is of a text table by its ending, such as .csv or .csv.gz."""
    stem, ending = os.path.splitext(os.fspath(path).lower())
    return (os.path.splitext(stem)[1] if ending in _PACKED else ending) in _TABLES


def check_decimal(decimal, name):
    """Raise a `ValueError` if a decimal sign is given for data that are not delimited text."""
    if decimal is not None:
        raise ValueError(f"decimal={decimal!r} is given, but {name} is not delimited text.")


def read_file(path, *, target=None, task=None, missing="error", drop=(), decimal=None) -> Dataset:
    """Data set in a file, by its ending (.npz, .csv, .svm, ...) or else by its content.

    gzip, bzip2 and xz are recognized by their first bytes. Incomplete rows are kept as NaN here;
    only a missing target and missing words need ``missing`` (see ``load``).
    """
    path = os.fspath(path)
    name = os.path.basename(path)
    try:
        return _read_file(path, name, target, task, missing, drop, decimal)
    except MemoryError as exc:
        raise ValueError(f"{name} needs more memory than is available.") from exc


def _read_file(path, name, target, task, missing, drop, decimal):
    stem, ending = os.path.splitext(name.lower())
    if ending in _PACKED:
        ending = os.path.splitext(stem)[1]
    if ending == ".npz":
        check_decimal(decimal, name)
        data = read_npz_dataset(path, target=target, task=task)
        return drop_columns(data, drop) if drop else data
    text, notes = read_text(path)
    if ending in _SVMLIGHT or (ending not in _TABLES and _is_svmlight(text)):
        if target is not None:
            raise ValueError(
                f"target={target!r} is given, but the target of {name} is always the first "
                "field of a line."
            )
        check_decimal(decimal, name)
        X, y, told = parse_svmlight(text, name)
        feature_names, target_name = (), ""
    else:
        how = (target, missing, drop, decimal)
        X, y, feature_names, target_name, told = parse_table(text, name, *how)
        drop = ()
    y, task = settle_task(y, task, name)
    classes = _class_names(y) if task == "classification" else (target_name,) * bool(target_name)
    notes = (*told, *notes)
    data = Dataset(X, y, name, task, feature_names, classes, path, notes=notes)
    return drop_columns(data, drop) if drop else data


def _class_names(y) -> tuple:
    return tuple(map(str, np.unique(y)))


def read_text(path):
    """(text, notes) of a possibly compressed file, with line feeds at the ends of lines.

    The encoding is UTF-8, UTF-16 with a byte order mark, or otherwise Windows-1252 or Latin-1 with
    a note.
    """
    size = os.path.getsize(path)
    if size > _limits.MAX_TEXT:
        raise ValueError(
            f"{path} has {size} bytes; accepted: at most {_limits.MAX_TEXT} bytes of text; keep "
            "larger data in an npz file."
        )
    with open(path, "rb") as file:
        raw = file.read()
    try:
        raw = _limits.decompress(raw)
    except ValueError as exc:
        raise ValueError(f"{path}: {exc}.") from exc
    notes = ()
    try:
        text = raw.decode("utf-16" if raw[:2] in _UTF_16 else "utf-8-sig")
    except UnicodeDecodeError:
        text, encoding = _of_one_byte(raw)
        notes = (f"the text is not UTF-8 and is read as {encoding}",)
    if "\0" in text:
        raise ValueError(f"{path} is not text; accepted: csv, npz and svmlight files.")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _of_one_byte(raw):
    """The text and the encoding. Only signs such as that of the euro differ."""
    text = raw.decode("latin-1")
    if any("\x80" <= sign <= "\x9f" for sign in set(text)):
        try:
            return raw.decode("cp1252"), "Windows-1252"
        except UnicodeDecodeError:
            pass
    return text, "Latin-1"


# --- npz ------------------------------------------------------------------------------------


def read_npz(path) -> dict:
    """All arrays of an npz file; ValueError when it is damaged or holds Python objects.

    The sizes that the headers claim are compared with the sizes of the members, and their sum with
    the limit of memory, before an array is allocated.
    """
    import zipfile

    with open(path, "rb") as file:
        try:
            if file.read(2) != b"PK":
                raise ValueError("it is not a zip archive")
            _limits.check_directory(file)
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                claimed = sum(_limits.claimed_bytes(archive, m) for m in members)
                _limits.check_bytes(claimed, "its arrays")
                read = {m.filename.removesuffix(".npy"): m for m in members}
                return {name: _limits.read_array(archive, m) for name, m in read.items()}
        except _limits.damages() as exc:
            why = " ".join(str(exc).split())
            raise ValueError(f"{path} is not a readable npz file of plain arrays: {why}.") from exc


def read_npz_dataset(path, *, target=None, task=None) -> Dataset:
    """Data set in an npz file with X, or the parts of a CSR matrix, and y."""
    name = os.path.basename(path)
    arrays = read_npz(path)
    if isinstance(target, str) and target in arrays and not {"y", "Y"} & set(arrays):
        arrays["y"] = arrays.pop(target)
        target = None
    X, y, feature_names, target_names, extra = unpack(arrays, name)
    y, inferred = settle_task(y, task, name)
    if not target_names and inferred == "classification":
        target_names = _class_names(y)
    notes = (f"X {X.shape[0]} x {X.shape[1]}, y {y.dtype} {' x '.join(map(str, y.shape))}",)
    source = os.fspath(path)
    data = Dataset(X, y, name, inferred, feature_names, target_names, source, extra, notes=notes)
    return data if target is None else select_target(data, target, task)


# --- svmlight -------------------------------------------------------------------------------


def _is_svmlight(text) -> bool:
    pairs = 0
    for line in text.split("\n", 200)[:200]:
        tokens = [t for t in line.partition("#")[0].split()[1:] if not t.startswith("qid:")]
        if not all(_PAIR.fullmatch(token) for token in tokens):
            return False
        pairs += len(tokens)
    return pairs > 0


def parse_svmlight(text, where, n_features=None):
    """(X, y, notes) of svmlight / libsvm text: ``label index:value index:value ... # comment``.

    Indices count from 1; when an index 0 occurs they count from 0. Their order is free. X is CSR,
    or a dense array when at least a quarter of its entries are stored. ``qid:`` tokens are ignored.
    """
    from scipy.sparse import csr_matrix

    _limits.check_fields(text.count(":") + text.count("\n"), where)
    y, data, indices, indptr = [], [], [], [0]
    for number, line in enumerate(text.split("\n"), 1):
        body = line.partition("#")[0]
        if not body.strip():
            continue
        try:
            label, columns, values = _labeled_pairs(body)
        except ValueError as exc:
            raise ValueError(
                f"{where}, line {number}: {exc}; accepted: lines 'label index:value index:value "
                f"...' of finite numbers, with distinct indices up to {_limits.MAX_FEATURES}."
            ) from None
        y.append(label)
        data.extend(values)
        indices.extend(columns)
        indptr.append(len(indices))
    if not y or not indices:
        raise ValueError(f"{where} holds no labeled feature vectors.")
    base = int(min(indices) > 0)
    columns = np.array(indices) - base
    if n_features is not None and columns.max() >= n_features:
        raise ValueError(f"{where} has more than {n_features} features.")
    shape = (len(y), n_features or int(columns.max()) + 1)
    X = csr_matrix((np.array(data), columns, np.array(indptr)), shape=shape)
    X.sort_indices()
    notes = (f"{shape[0]} rows and {shape[1]} columns, counted from {base}",)
    dense = X.nnz >= _DENSE_FROM * shape[0] * shape[1]
    return (X.toarray() if dense else X), np.array(y), notes


def _labeled_pairs(body):
    """(label, indices, values) of a line; ValueError for an invalid line."""
    label, *tokens = body.split()
    try:
        if "_" in body or not body.isascii():
            raise ValueError("Python reads 1_0 and digits of other scripts as numbers")
        pairs = [token.split(":") for token in tokens if not token.startswith("qid:")]
        columns = [int(index) for index, _ in pairs]
        numbers = [float(label), *(float(value) for _, value in pairs)]
    except ValueError:
        raise ValueError(f"{body.strip()[:60]!r} cannot be read") from None
    if columns and not 0 <= min(columns) <= max(columns) <= _limits.MAX_FEATURES:
        raise ValueError(f"index {min(columns) if min(columns) < 0 else max(columns)} out of range")
    if len(set(columns)) < len(columns):
        raise ValueError("an index occurs twice")
    if any(map(math.isinf, numbers)):
        raise ValueError("a number is infinite")
    return numbers[0], columns, numbers[1:]
