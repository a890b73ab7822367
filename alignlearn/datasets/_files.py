"""Readers of a user's own files: delimited text, npz archives, svmlight / libsvm text."""

from __future__ import annotations

import csv
import difflib
import io
import os
import re

import numpy as np

from ._data import (
    Dataset,
    as_target,
    is_index,
    select_target,
    settle_task,
    unpack,
)

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
_SVMLIGHT = {".svm", ".svmlight", ".libsvm"}
_TABLES = {".csv", ".tsv", ".tab"}
_PACKED = {".gz", ".bz2", ".xz"}
_PAIR = re.compile(r"\d+:\S+")
_DENSE_FROM = 0.25


def read_file(path, *, target=None, task=None, missing="error") -> Dataset:
    """Data set in a file, by its ending (.npz, .csv, .svm, ...) or else by its content.

    gzip, bzip2 and xz are recognised by their first bytes. Incomplete rows are kept as NaN here;
    only a missing target needs ``missing`` (see ``load``).
    """
    path = os.fspath(path)
    name = os.path.basename(path)
    stem, ending = os.path.splitext(name.lower())
    if ending in _PACKED:
        ending = os.path.splitext(stem)[1]
    if ending == ".npz":
        return read_npz_dataset(path, target=target, task=task)
    text = read_text(path)
    if ending in _SVMLIGHT or (ending not in _TABLES and _is_svmlight(text)):
        if target is not None:
            raise ValueError(f"target={target!r} given, but {name} has its target in front.")
        X, y = parse_svmlight(text, name)
        feature_names, target_name = (), ""
    else:
        X, y, feature_names, target_name = parse_table(text, name, target, missing)
    y, task = settle_task(y, task, name)
    classes = _class_names(y) if task == "classification" else (target_name,) * bool(target_name)
    return Dataset(X, y, name, task, feature_names, classes, path)


def _class_names(y) -> tuple:
    return tuple(map(str, np.unique(y)))


def read_text(path) -> str:
    """Text of a possibly compressed file: UTF-8, or Latin-1 where it is not UTF-8."""
    with open(path, "rb") as file:
        raw = file.read()
    try:
        raw = decompress(raw)
    except (OSError, EOFError, ValueError) as exc:
        raise ValueError(f"{path} is compressed but damaged: {exc}.") from exc
    if b"\0" in raw[:4096]:
        raise ValueError(f"{path} is not text; accepted: csv, npz and svmlight files.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def decompress(raw: bytes) -> bytes:
    """The content of gzip, bzip2 or xz bytes; other bytes unchanged."""
    if raw[:2] == b"\x1f\x8b":
        import gzip
        import zlib

        try:
            return gzip.decompress(raw)
        except zlib.error as exc:
            raise ValueError(str(exc)) from exc
    if raw[:3] == b"BZh":
        import bz2

        return bz2.decompress(raw)
    if raw[:6] == b"\xfd7zXZ\0":
        import lzma

        try:
            return lzma.decompress(raw)
        except lzma.LZMAError as exc:
            raise ValueError(str(exc)) from exc
    return raw


# --- npz ------------------------------------------------------------------------------------


def read_npz(path) -> dict:
    """All arrays of an npz file; ValueError when it is damaged or holds Python objects."""
    import struct
    import zipfile
    import zlib

    damage = (ValueError, EOFError, LookupError, OSError, RuntimeError, struct.error)
    damage += (AttributeError, zipfile.BadZipFile, zlib.error)
    with open(path, "rb") as file:
        try:
            if file.read(2) != b"PK":
                raise ValueError("it is not a zip archive")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        except damage as exc:
            raise ValueError(f"{path} is not a readable npz file of plain arrays: {exc}.") from exc


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
    data = Dataset(X, y, name, inferred, feature_names, target_names, os.fspath(path), extra)
    return data if target is None else select_target(data, target, task)


# --- delimited text -------------------------------------------------------------------------


def parse_table(text, where, target=None, missing="error"):
    """(X, y, feature_names, target_name) of delimited text.

    The delimiter (semicolon, tab, comma or white space) is the one that splits the first lines
    most evenly. A first line is a header when it puts words over numbers. Between semicolons a
    comma is a decimal sign. Lines that start with ``#`` are skipped. A first column without a name
    that counts the rows, as some programs write it, is left out. Missing are the empty field, ?,
    NA, N/A, NaN, null and None. A feature column that holds words is refused.
    """
    rows, lines, delimiter = _split(text, where)
    header = _has_header(rows)
    names = [field.strip() for field in rows[0]] if header else []
    if header:
        rows, lines = rows[1:], lines[1:]
    if not rows:
        raise ValueError(f"{where} holds a header but no rows.")
    columns = list(zip(*rows, strict=True))
    if header and names[0] == "" and _counts_rows(columns[0]) and len(columns) > 2:
        names, columns = names[1:], columns[1:]
    at = _target_column(target, names, len(columns), where)
    gaps = np.array([_is_missing(f) for f in columns[at]])
    if gaps.any():
        if missing != "drop" or gaps.all():
            line = lines[int(np.flatnonzero(gaps)[0])]
            raise ValueError(
                f"{where}, line {line}: the target is missing ({int(gaps.sum())} of {gaps.size} "
                "rows); missing='drop' leaves such rows out where others remain."
            )
        columns = [[f for f, gap in zip(c, gaps, strict=True) if not gap] for c in columns]
        lines = [line for line, gap in zip(lines, gaps, strict=True) if not gap]
    comma = delimiter == ";"
    titles = names or [f"number {i + 1}" for i in range(len(columns))]
    features = [i for i in range(len(columns)) if i != at]
    X = np.empty((len(lines), len(features)))
    for j, i in enumerate(features):
        X[:, j] = _numeric_column(columns[i], comma, (where, titles[i], lines))
    y = _target_values(columns[at], comma)
    return X, y, tuple(names[i] for i in features) if names else (), names[at] if names else ""


def _data_lines(text):
    return [s for s in text.splitlines() if s.strip() and not s.lstrip().startswith("#")]


def _fields(lines, delimiter):
    if delimiter is None:
        return [line.split() for line in lines]
    try:
        return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return [[line] for line in lines]


def _split(text, where):
    """Rows of fields, the line number of each, and the delimiter."""
    head = _data_lines(text)[:50]
    if not head:
        raise ValueError(f"{where} is empty.")
    best, delimiter = (0.0, 0), ""
    for candidate in (";", "\t", ",", None):
        widths = [len(fields) for fields in _fields(head, candidate)]
        usual = max(set(widths), key=widths.count)
        score = widths.count(usual) / len(widths)
        if usual > 1 and score > best[0]:
            best, delimiter = (score, usual), candidate
    if delimiter == "":
        raise ValueError(
            f"{where} does not look like a table: its lines do not split into a number of fields "
            "by semicolon, tab, comma or white space (a feature and a target are needed)."
        )
    rows, lines = _all_rows(text, delimiter, where)
    if not rows:
        raise ValueError(f"{where} is empty.")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != best[1]:
            raise ValueError(f"{where}, line {line}: {len(row)} fields instead of {best[1]}.")
    return rows, lines, delimiter


def _all_rows(text, delimiter, where):
    if delimiter is None:
        numbered = [(s.split(), n) for n, s in enumerate(text.splitlines(), 1)]
    else:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
        try:
            numbered = [(row, reader.line_num) for row in reader]
        except csv.Error as exc:
            raise ValueError(f"{where}, line {reader.line_num}: {exc}.") from exc
    kept = [(row, n) for row, n in numbered if any(row) and not row[0].lstrip().startswith("#")]
    return [row for row, _ in kept], [n for _, n in kept]


def _is_missing(field) -> bool:
    return field.strip().lower() in MISSING


def _is_number(field, comma=False) -> bool:
    try:
        float(field.replace(",", ".") if comma else field)
    except ValueError:
        return False
    return True


def _has_header(rows) -> bool:
    def plain(field):
        return _is_missing(field) or _is_number(field, comma=True)

    first, body = rows[0], rows[1:51]
    if any(_is_number(f, comma=True) for f in first) or not body:
        return False
    over_numbers = any(
        not _is_missing(first[j]) and all(plain(row[j]) for row in body) for j in range(len(first))
    )
    return over_numbers or (len(set(first)) == len(first) and not any(map(_is_missing, first)))


def _counts_rows(column) -> bool:
    try:
        numbers = np.array([int(field) for field in column])
    except ValueError:
        return False
    return numbers[0] in (0, 1) and bool(np.all(np.diff(numbers) == 1))


def _target_column(target, names, width, where) -> int:
    if target is None:
        return width - 1
    if is_index(target):
        if not -width <= target < width:
            raise ValueError(f"target={target} is out of range: {where} has {width} columns.")
        return int(target) % width
    if not isinstance(target, str):
        raise TypeError(f"target must be a column name or an integer, got {target!r}.")
    if not names:
        raise ValueError(f"target={target!r}, but {where} has no header; give a column number.")
    if names.count(target) > 1:
        raise ValueError(f"target={target!r} names {names.count(target)} columns of {where}.")
    if target not in names:
        close = difflib.get_close_matches(target, names, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join(map(repr, names[:30])) + (", ..." if len(names) > 30 else "")
        raise ValueError(f"target={target!r} is not a column of {where}: {known}.{hint}")
    return names.index(target)


def _numeric_column(column, comma, place):
    where, title, lines = place
    cleaned = ["nan" if _is_missing(f) else f.replace(",", ".") if comma else f for f in column]
    try:
        values = np.array([float(field) for field in cleaned])
    except ValueError:
        at = next(i for i, field in enumerate(cleaned) if not _is_number(field))
        kinds = len({f.strip() for f in column if not _is_missing(f)})
        raise ValueError(
            f"{where}: column {title!r} holds text such as {column[at].strip()!r} (line "
            f"{lines[at]}; {kinds} distinct values). Features must be numbers: encode the column "
            "(one column of 0 and 1 per value, or an order) or leave it out."
        ) from None
    if np.isinf(values).any():
        line = lines[int(np.flatnonzero(np.isinf(values))[0])]
        raise ValueError(f"{where}, line {line}: column {title!r} is infinite.")
    return values


def _target_values(column, comma):
    stripped = [field.strip() for field in column]
    if all(_is_number(field, comma) for field in stripped):
        numbers = np.array([float(f.replace(",", ".") if comma else f) for f in stripped])
        return as_target(numbers, "the target")
    return as_target(np.array(stripped), "the target")


# --- svmlight -------------------------------------------------------------------------------


def _is_svmlight(text) -> bool:
    pairs = 0
    for line in _data_lines(text)[:50]:
        tokens = [t for t in line.partition("#")[0].split()[1:] if not t.startswith("qid:")]
        if not all(_PAIR.fullmatch(token) for token in tokens):
            return False
        pairs += len(tokens)
    return pairs > 0


def parse_svmlight(text, where, n_features=None):
    """(X, y) of svmlight / libsvm text: ``label index:value index:value ... # comment``.

    Indices count from 1; when an index 0 occurs they count from 0. X is CSR, or a dense array when
    at least a quarter of its entries are stored. ``qid:`` tokens are ignored.
    """
    from scipy.sparse import csr_matrix

    y, data, indices, indptr = [], [], [], [0]
    for number, line in enumerate(text.splitlines(), 1):
        tokens = line.partition("#")[0].split()
        if not tokens:
            continue
        try:
            pairs = [t.split(":") for t in tokens[1:] if not t.startswith("qid:")]
            columns = [int(index) for index, _ in pairs]
            data.extend([float(value) for _, value in pairs])
            y.append(float(tokens[0]))
        except ValueError:
            raise ValueError(
                f"{where}, line {number}: {line.strip()[:60]!r} is not of the form "
                "'label index:value index:value ...'."
            ) from None
        if len(set(columns)) < len(columns) or min(columns, default=0) < 0:
            raise ValueError(f"{where}, line {number}: an index is negative or occurs twice.")
        indices.extend(columns)
        indptr.append(len(indices))
    if not y or not indices:
        raise ValueError(f"{where} holds no labelled feature vectors.")
    columns = np.array(indices) - (min(indices) > 0)
    if n_features is not None and columns.max() >= n_features:
        raise ValueError(f"{where} has more than {n_features} features.")
    shape = (len(y), n_features or int(columns.max()) + 1)
    X = csr_matrix((np.array(data), columns, np.array(indptr)), shape=shape)
    X.sort_indices()
    dense = X.nnz >= _DENSE_FROM * shape[0] * shape[1]
    return (X.toarray() if dense else X), as_target(np.array(y), f"the labels of {where}")
