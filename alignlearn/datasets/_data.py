"""The data set object, its fingerprint, and the rules that all sources share."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from alignlearn._limits import MAX_FEATURES
from alignlearn._text import listed

SPARSE_KEYS = ("data", "indices", "indptr", "shape")
_NOT_EXTRA = {"X", "y", "Y", "feature_names", "target_names", *SPARSE_KEYS}


class DatasetError(OSError):
    """A data set could not be read, downloaded or verified; the message names a remedy.

    Examples
    --------
    >>> from alignlearn import DatasetError, datasets
    >>> try:
    ...     data = datasets.load("sonar", data_home="no-such-folder", download=False)
    ... except DatasetError:
    ...     print("not in the cache")
    ...
    not in the cache
    """


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with a target.

    Attributes
    ----------
    X : (n, d) float64 array, or scipy.sparse.csr_matrix of float64 for sparse sets
    y : (n,) int64 or str array of labels, or float64 values; (n, q) float64 for several targets
    name : str
        Registered name, or the file name without its folder.
    task : {"classification", "regression"}
    feature_names, target_names : tuple of str
        Column names, and the names of the classes in the order ``np.unique(y)`` (classification)
        or of the targets (regression); empty where unknown.
    source : str
        The file or package that the numbers were read from.
    extra : dict of arrays
        Other arrays of the data set, such as the task of every row. ``extra["complete"]`` (bool) is
        there when rows had missing values: one entry per row of the source that has a target,
        whether or not the incomplete rows were dropped or filled.
    citation : str
        Origin of the data set; empty for files.
    notes : tuple of str
        How the data were read, one short sentence each: rows, columns, names, and what was dropped,
        encoded or imputed.

    Examples
    --------
    >>> from alignlearn import datasets
    >>> data = datasets.load("iris")
    >>> data.target_names, data.feature_names[0]
    (('setosa', 'versicolor', 'virginica'), 'sepal length (cm)')
    >>> data.X.shape, data.y.dtype.kind
    ((150, 4), 'i')
    """

    X: object
    y: np.ndarray
    name: str
    task: str
    feature_names: tuple = ()
    target_names: tuple = ()
    source: str = ""
    extra: dict = field(default_factory=dict)
    citation: str = ""
    notes: tuple = ()

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.X.shape[1]

    def __repr__(self):
        kind = "" if isinstance(self.X, np.ndarray) else ", sparse"
        extra = f", extra=[{listed(sorted(self.extra), 5)}]" if self.extra else ""
        return (
            f"Dataset({self.name!r}, {self.task}, X {self.X.shape[0]} x {self.X.shape[1]}{kind}, "
            f"y {self.y.dtype}{list(self.y.shape)}{extra})"
        )


@dataclass(frozen=True)
class Fingerprint:
    """Identification of the arrays of a data set, independent of their file.

    Attributes
    ----------
    shape : tuple of int
        Of X.
    classes : tuple of (label, int)
        Labels with their counts; empty for regression.
    X, y : str
        SHA-256 digests of the canonical bytes described in :func:`fingerprint`.
    extra : tuple of (str, str)
        Name and digest of each further array of the data set.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import datasets
    >>> found = datasets.fingerprint(np.eye(3), np.array([0, 1, 1]))
    >>> found.shape, found.classes
    ((3, 3), ((0, 1), (1, 2)))
    """

    shape: tuple
    classes: tuple
    X: str
    y: str
    extra: tuple = ()

    def difference(self, other: Fingerprint) -> str:
        """First respect in which ``other`` differs, in words; empty when they are equal."""
        for what in ("shape", "classes"):
            ours, theirs = getattr(self, what), getattr(other, what)
            if ours != theirs:
                return f"{what} {_words(theirs)} instead of {_words(ours)}"
        if self.X != other.X:
            return "the values of X differ"
        if self.y != other.y:
            return "the values of y differ"
        missing = dict(self.extra).items() - dict(other.extra).items()
        return f"the values of {sorted(k for k, _ in missing)} differ" if missing else ""


def _words(value) -> str:
    if value and isinstance(value[0], tuple):
        return ", ".join(f"{count} times {label}" for label, count in value)
    return " x ".join(map(str, value)) if value else "without classes"


@dataclass(frozen=True)
class Entry:
    """A registered set: its source, its parser, and its expected fingerprint.

    ``sources`` lists alternatives, tried in order; each maps file names to addresses, or to None
    for a file that has no plain address and must be put into the cache by hand. ``parse`` takes
    {file name: bytes} and gives the arrays that the cached npz holds.
    """

    name: str
    task: str
    parse: Callable
    fingerprint: Fingerprint
    sources: tuple
    page: str
    citation: str = ""
    feature_names: tuple = ()
    target_names: tuple = ()
    max_bytes: int = 64 * 2**20


def canonical_digest(values) -> str:
    """SHA-256 of an array in canonical form.

    Numbers: little-endian float64 in C order, -0.0 as 0.0, one bit pattern for NaN. Strings: UTF-8,
    joined by line feeds.
    """
    values = np.asarray(values)
    if values.dtype.kind in "US":
        return hashlib.sha256("\n".join(map(str, values.ravel())).encode()).hexdigest()
    numbers = np.array(values, dtype="<f8", order="C") + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return hashlib.sha256(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).hexdigest()


def fingerprint(X, y, extra: Mapping | None = None) -> Fingerprint:
    """Fingerprint of parsed arrays.

    A sparse X is digested as indptr, indices and data of its CSR form with sorted indices and no
    stored zeros.

    Parameters
    ----------
    X : ndarray or SciPy sparse matrix of shape (n, d)
    y : ndarray of shape (n,) or (n, q)
    extra : dict of ndarray, optional

    Returns
    -------
    Fingerprint

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import datasets
    >>> X, y = np.eye(3), np.array([0, 1, 1])
    >>> datasets.fingerprint(X, y) == datasets.fingerprint(X.copy(), y)
    True
    >>> datasets.fingerprint(X, y) == datasets.fingerprint(X + 1e-12, y)
    False
    """
    if isinstance(X, np.ndarray):
        digest = canonical_digest(X)
    else:
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        digest = canonical_digest(np.concatenate([X.indptr, X.indices, X.data]))
    classes = ()
    if y.dtype.kind in "iub" and y.ndim == 1:
        labels, counts = np.unique(y, return_counts=True)
        classes = tuple(zip(labels.tolist(), counts.tolist(), strict=True))
    digests = tuple(sorted((k, canonical_digest(v)) for k, v in (extra or {}).items()))
    return Fingerprint(tuple(X.shape), classes, digest, canonical_digest(y), digests)


def unpack(arrays: Mapping, where: str):
    """(X, y, feature_names, target_names, extra) of arrays in the npz layout, checked."""
    target = "y" if "y" in arrays else "Y"
    sparse = all(key in arrays for key in SPARSE_KEYS)
    if target not in arrays or not (sparse or "X" in arrays):
        raise ValueError(
            f"{where} holds {listed(sorted(arrays))}; accepted: 'X' (or the CSR parts 'data', "
            "'indices', 'indptr', 'shape') together with 'y' (or 'Y' for several targets)."
        )
    X = _sparse_matrix(arrays, where) if sparse else _dense_matrix(arrays["X"], where)
    if 0 in X.shape:
        empty = "rows" if X.shape[0] == 0 else "columns"
        raise ValueError(f"{where}: X has no {empty}; accepted: at least one.")
    y = as_target(arrays[target], f"{target} of {where}")
    extra = {key: np.asarray(arrays[key]) for key in arrays if key not in _NOT_EXTRA}
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"{where}: X has {X.shape[0]} rows but {target} has {y.shape[0]}.")
    names = [
        tuple(map(str, np.ravel(arrays.get(k, ())))) for k in ("feature_names", "target_names")
    ]
    if y.ndim == 2 and len(names[1]) not in (0, y.shape[1]):
        raise ValueError(f"{where}: {len(names[1])} target_names for {y.shape[1]} targets.")
    if names[0] and len(names[0]) != X.shape[1]:
        raise ValueError(f"{where}: {len(names[0])} feature_names for {X.shape[1]} columns of X.")
    return X, y, *names, extra


def _dense_matrix(X, where):
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"X of {where} must be a two-dimensional array of real numbers, got {X.dtype} of "
            f"shape {X.shape}."
        )
    return np.array(X, dtype=np.float64, order="C")


def _sparse_matrix(arrays, where):
    from scipy.sparse import csr_matrix

    data, indices, indptr, shape = (np.asarray(arrays[key]) for key in SPARSE_KEYS)
    try:
        shape = tuple(int(n) for n in shape)
        if max(shape) > MAX_FEATURES:
            raise ValueError(f"{max(shape)} rows or columns; accepted: at most {MAX_FEATURES}")
        if data.dtype.kind not in "biuf" or {indices.dtype.kind, indptr.dtype.kind} - set("iu"):
            kinds = f"{data.dtype}, {indices.dtype} and {indptr.dtype}"
            raise ValueError(f"the parts are {kinds}; accepted: real numbers and integers")
        # As 64-bit integers, so that no index out of range is wrapped into it.
        parts = (data.astype(np.float64), indices.astype(np.int64), indptr.astype(np.int64))
        X = csr_matrix(parts, shape=shape)
        X.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as exc:
        raise ValueError(f"{where} does not hold a valid CSR matrix: {exc}.") from exc
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.sort_indices()
    return X


def as_target(y, where):
    """Convert labels to int64 or str and values to float64; raise an error otherwise.

    A single column becomes a vector; integers beyond int64 become float64.
    """
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype.kind not in "biufUS" or y.ndim not in (1, 2):
        raise ValueError(
            f"{where} must hold numbers or strings in one or two dimensions, got {y.dtype} of "
            f"shape {y.shape}."
        )
    if y.dtype.kind in "US":
        return y.astype(str)
    real = y.dtype.kind == "f" or y.ndim == 2 or bool(np.any(y > np.iinfo(np.int64).max))
    return y.astype(np.float64 if real else np.int64)


def settle_task(y, task, where):
    """(y, task): the requested task, or the one that the target suggests.

    Strings are labels. Numbers are labels when all are integers, with at most 20 distinct values
    and at least two rows to each on average.
    """
    integral = y.dtype.kind != "U" and bool(np.all(np.abs(y) < 2**53) and np.all(y == np.round(y)))
    if task is None:
        few = y.ndim == 1 and np.unique(y).size <= min(20, y.size / 2)
        task = "classification" if y.dtype.kind == "U" or (integral and few) else "regression"
    if task == "classification" and y.ndim == 2:
        raise ValueError(
            f"{where} has {y.shape[1]} targets; choose one of them as labels with target=...."
        )
    if task == "regression":
        if y.dtype.kind == "U":
            raise ValueError(f"task='regression', but the target of {where} holds strings.")
        return y.astype(np.float64), task
    return (y.astype(np.int64) if integral else y), task


def select_target(data: Dataset, target, task=None) -> Dataset:
    """``data`` with another target: an entry of ``extra``, or one column of a two-dimensional y.

    The full y stays in ``extra["y"]``.
    """
    names = data.target_names if data.y.ndim == 2 else ()
    if isinstance(target, str) and target in data.extra:
        y = as_target(data.extra[target], f"{target!r} of {data.name}")
        if y.shape[0] != data.n_samples:
            raise ValueError(
                f"target={target!r} has {y.shape[0]} entries; accepted: "
                f"{data.n_samples}, one per sample."
            )
    elif isinstance(target, str) and target in names:
        y = data.y[:, names.index(target)].copy()
    elif data.y.ndim == 2 and is_index(target) and -data.y.shape[1] <= target < data.y.shape[1]:
        y = data.y[:, target].copy()
    else:
        known = listed([*names, *data.extra])
        raise ValueError(f"target={target!r} is not a target of {data.name}; accepted: {known}.")
    y, task = settle_task(y, task, data.name)
    rest = {k: v for k, v in data.extra.items() if k != target}
    return replace(data, y=y, task=task, target_names=(), extra={**rest, "y": data.y})


def is_index(value) -> bool:
    """Whether ``value`` is an integer (and not a bool)."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def column_number(option, column, names, width, where) -> int:
    """The number of a column that is given by name, or by a number that may count from the end.

    ``option`` is the argument that errors name.
    """
    if is_index(column):
        if not -width <= column < width:
            raise ValueError(f"{option}={column} is out of range: {where} has {width} columns.")
        return int(column) % width
    if not isinstance(column, str):
        raise TypeError(f"{option} must be a column name or an integer, got {column!r}.")
    if not names:
        raise ValueError(f"{option}={column!r}, but {where} has no header; give a column number.")
    if names.count(column) > 1:
        raise ValueError(f"{option}={column!r} names {names.count(column)} columns of {where}.")
    if column not in names:
        close = difflib.get_close_matches(column, names, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = listed(names)
        raise ValueError(f"{option}={column!r} is not a column of {where}: {known}.{hint}")
    return names.index(column)


def drop_columns(data: Dataset, drop) -> Dataset:
    """``data`` without some columns of X, by name or number."""
    width, names = data.n_features, data.feature_names
    gone = {column_number("drop", one, names, width, data.name) for one in drop}
    kept = [i for i in range(width) if i not in gone]
    if not kept:
        raise ValueError(
            f"drop removes every feature of {data.name}; accepted: all columns but one."
        )
    names = tuple(names[i] for i in kept) if names else ()
    count = f"{len(gone)} column" + "s" * (len(gone) != 1)
    return _noted(replace(data, X=data.X[:, kept], feature_names=names), f"{count} dropped")


def apply_missing(data: Dataset, missing: str) -> Dataset:
    """Reject, drop, fill or keep the rows with NaN in X or y (see ``Dataset.extra``).

    "impute" fills X with the median of the column over all rows that have a target, and leaves out
    the rows without one. Infinite entries raise an error.
    """
    n = data.n_samples
    infinite = _marks(data.X, np.isinf).any(axis=1) | _target_marks(data.y, np.isinf)
    if infinite.any():
        raise ValueError(
            f"{data.name} is infinite in row {int(infinite.argmax()) + 1}; accepted: finite "
            "numbers, NaN where they are missing."
        )
    X_gaps, y_gaps = _marks(data.X, np.isnan), _target_marks(data.y, np.isnan)
    complete = ~(X_gaps.any(axis=1) | y_gaps)
    if complete.all():
        return data
    n_gaps = n - int(complete.sum())
    if missing == "error":
        row = int(np.flatnonzero(~complete)[0])
        gaps = np.flatnonzero(X_gaps[row])
        where = f"column {_column_name(data, gaps[0])}" if gaps.size else "the target"
        raise ValueError(
            f"{data.name} has missing values: {n_gaps} of {n} rows, first in row {row + 1} "
            f"(header not counted), {where}; fill them in, or pass missing='drop' or "
            "missing='impute'."
        )
    data = replace(data, extra={**data.extra, "complete": complete})
    if missing == "keep":
        return _noted(data, f"missing='keep': {n_gaps} of {n} rows have missing values")
    if missing == "drop":
        return _rows(data, complete, f"{n_gaps} of {n} rows with missing values left out", missing)
    if y_gaps.any():
        told = f"{int(y_gaps.sum())} of {n} rows without a target left out"
        data = _rows(data, ~y_gaps, told, missing)
    return _imputed(data)


def _marks(X, test):
    """Mask of entries that pass a test: (n, d) for a dense X; (n, 1) for a sparse one, by rows."""
    if isinstance(X, np.ndarray):
        return test(X)
    marks = np.zeros((X.shape[0], 1), dtype=bool)
    marks[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[test(X.data)]] = True
    return marks


def _target_marks(y, test):
    if y.dtype.kind != "f":
        return np.zeros(y.shape[0], dtype=bool)
    return test(y).reshape(y.shape[0], -1).any(axis=1)


def _noted(data, note) -> Dataset:
    return replace(data, notes=(*data.notes, note))


def _rows(data, stay, told, missing) -> Dataset:
    """``data`` with the remaining rows, also of ``extra`` except for the mask of complete rows."""
    if not stay.any():
        raise ValueError(
            f"missing={missing!r} removes every row of {data.name}, because each has a "
            "missing value."
        )
    extra = {
        key: value[stay] if key != "complete" and np.shape(value)[:1] == stay.shape else value
        for key, value in data.extra.items()
    }
    data = replace(data, X=data.X[stay], y=data.y[stay], extra=extra)
    return _noted(data, f"missing={missing!r}: {told}")


def _imputed(data) -> Dataset:
    """``data`` with the median of each column in place of NaN; absent entries of CSR count as 0."""
    dense = isinstance(data.X, np.ndarray)
    X = data.X.copy() if dense else data.X.tocsc()
    gaps = np.isnan(X if dense else X.data)
    columns = np.flatnonzero(gaps.any(axis=0)) if dense else _gap_columns(X, gaps)
    for j in columns:
        at = (slice(None), j) if dense else slice(X.indptr[j], X.indptr[j + 1])
        values = (X if dense else X.data)[at]
        known = values[~gaps[at]]
        if not dense:
            known = np.concatenate([known, np.zeros(X.shape[0] - values.size)])
        if not known.size:
            raise ValueError(
                f"missing='impute': column {_column_name(data, j)} of {data.name} has "
                "no value from which to compute a median; remove the column."
            )
        values[gaps[at]] = np.median(known)
    n, k = int(gaps.sum()), len(columns)
    told = f"{n} value{'s' * (n != 1)} in {k} column{'s' * (k != 1)} filled with the median"
    data = replace(data, X=X if dense else X.tocsr())
    return _noted(data, f"missing='impute': {told}") if n else data


def _gap_columns(X, gaps):
    """Columns of a CSC matrix with gaps among the stored entries."""
    return np.unique(np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))[gaps])


def _column_name(data, index) -> str:
    if data.feature_names and isinstance(data.X, np.ndarray):
        return repr(data.feature_names[index])
    return f"number {index + 1}"
