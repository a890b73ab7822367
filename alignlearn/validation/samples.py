"""Checks of samples: matrices with a row per sample, sparse features, sequences of objects."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

import numpy as np

from alignlearn._text import listed

from .devices import lies_on_device, remember
from .sparse_rows import SparseRows

_CPU = 1  # the number of this device in DLPack


_SEVERAL = ". The tables of a dict are prepared by TableTransformer(TablePreparer()) in a pipeline"


def is_sparse(X) -> bool:
    """Whether X is a SciPy sparse matrix or array, or `SparseRows`."""
    return hasattr(X, "tocsr")


def is_sequence(X) -> bool:
    """Whether X has a length and items, and is no dict, string or sparse matrix."""
    one = isinstance(X, (str, bytes, Mapping)) or is_sparse(X)
    return hasattr(X, "__len__") and hasattr(X, "__getitem__") and not one


def check_samples(name: str, X, vectors: bool = True, *, gaps: bool = False):
    """Samples as a finite float32 or float64 matrix, or, without ``vectors``, any sequence.

    Integers become float64; float32, float64 and memmaps are passed through without a copy. With
    ``gaps``, NaN is accepted.
    """
    if is_sparse(X):
        raise TypeError(
            f"{name} is a sparse matrix; accepted here: a dense matrix. Use {name}.toarray()."
        )
    if not vectors:
        foreign = hasattr(X, "__array__") or hasattr(X, "__dlpack__")
        X = as_array(name, X) if foreign else X
        one = isinstance(X, (str, bytes)) or getattr(X, "shape", None) == ()
        if one or not hasattr(X, "__len__") or len(X) == 0:
            raise ValueError(f"{name} must be a non-empty sequence of samples, got {X!r:.80}.")
        return X
    names = frame_names(X)
    X = _real_array(name, X)
    _check_shape(name, X.shape)
    if not gaps:
        check_finite(name, X, names, columns=True)
    elif np.isinf(X).any():
        raise _not_finite(name, np.nan_to_num(X, nan=0.0, posinf=np.inf, neginf=-np.inf), names)
    return X


def _refuse_ragged(name, X):
    """Raise an error for lists of rows of different lengths that names the first such row."""
    if not isinstance(X, (list, tuple)) or not X:
        return
    lengths = [len(row) if is_sequence(row) else None for row in X]
    other = next((i for i, n in enumerate(lengths) if n != lengths[0]), None)
    if other is not None and None not in (lengths[0], lengths[other]):
        raise ValueError(
            f"{name} has rows of different lengths: row 0 has {lengths[0]} values and row {other} "
            f"has {lengths[other]}; accepted: rows of one length, with NaN for missing values "
            "where the estimator takes them."
        )


def _check_shape(name, shape):
    """Check for two dimensions, and at least one row and one column."""
    if len(shape) > 2:
        raise ValueError(
            f"{name} must be a matrix (n_samples, n_features), got shape {shape}. Flatten the "
            f"features of each sample with {name}.reshape(len({name}), -1)."
        )
    if len(shape) < 2:
        raise ValueError(
            f"{name} must be a matrix (n_samples, n_features), got shape {shape}. Reshape your "
            f"data with {name}.reshape(-1, 1) if it has one feature, {name}.reshape(1, -1) if it "
            "is one sample; a column of a data frame is a matrix as frame[[column]]."
        )
    if shape[1] == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if shape[0] == 0:
        raise ValueError(f"{name} has shape {shape}: at least one sample is needed.")


def check_sparse(name: str, X) -> SparseRows:
    """A SciPy sparse matrix of finite real numbers as `SparseRows`; X is not changed.

    float32 and float64 are kept, other numbers become float64. Entries in one place are summed in
    the type that they have, as ``X.toarray()`` does; entries that are 0 are left out.
    """
    if isinstance(X, SparseRows):
        return X
    _check_shape(name, tuple(X.shape))
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    if X.dtype.kind not in "biuf" or X.dtype.itemsize > 8:
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
    indptr, indices, data = _canonical(name, X.tocsr())
    if data.dtype not in (np.float32, np.float64) or not data.dtype.isnative:
        single = data.dtype.kind == "f" and data.dtype.itemsize == 4
        data = data.astype(np.float32 if single else np.float64)
    _check_sparse_finite(name, data, indices)
    kept = data != 0
    if not kept.all():
        indptr = np.concatenate([[0], np.cumsum(kept)])[indptr]
        indices, data = indices[kept], data[kept]
    kind = np.int32 if X.shape[1] <= np.iinfo(np.int32).max else np.int64
    return SparseRows(indptr, indices.astype(kind, copy=False), data, int(X.shape[1]))


def _canonical(name, X):
    """indptr, indices and data of a CSR matrix, columns of a row increasing; checked for range."""
    from scipy.sparse import csr_array

    (m, d), indptr = X.shape, X.indptr.astype(np.int64)
    n = int(indptr[-1])
    indices, data = X.indices[:n], X.data[:n]
    valid = len(indptr) == m + 1 and indptr[0] == 0 and bool(np.all(np.diff(indptr) >= 0))
    if (
        not valid
        or not len(indices) == len(data) == n
        or (n and (indices.min() < 0 or indices.max() >= d))
    ):
        raise ValueError(
            f"{name} is not a valid sparse matrix: its index arrays do not fit its shape {(m, d)}."
        )
    increasing = indices[1:] > indices[:-1]
    starts = indptr[(indptr > 0) & (indptr < n)]
    increasing[starts - 1] = True
    if np.all(increasing):
        return indptr, indices, data
    # SciPy has no sum of float16, and caches attributes of X itself.
    data = data.astype(np.float64 if data.dtype == np.float16 else data.dtype)
    X = csr_array((data, indices.copy(), X.indptr.copy()), shape=(m, d))
    X.sum_duplicates()
    return X.indptr.astype(np.int64), X.indices, X.data


def _real_array(name, X):
    """A float32 or float64 array, or an error for values that are not real numbers."""
    if isinstance(X, dict):
        raise TypeError(
            f"{name} must be a matrix (n_samples, n_features), got a dict with the keys "
            f"{listed(list(X), 5)}. Pass a table as a data frame, such as pandas.DataFrame({name})."
        )
    if X is None or isinstance(X, (str, bytes)):
        raise TypeError(f"{name} must be a matrix (n_samples, n_features), got {X!r:.60}.")
    framed, X = frame_names(X) is not None, as_array(name, X)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        X = X.astype(np.float64)
    remedy = (
        "Pass a table of numbers and strings as a data frame, prepared by TablePreparer where the "
        f"estimator does not prepare it{_SEVERAL}"
    )
    if X.dtype.kind in "biuO" or X.dtype == np.float16:
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            if framed:
                remedy = (
                    "Prepare the columns by TablePreparer, as MKLClassifier, MKLRegressor and "
                    f"their searches do with kernels=None{_SEVERAL}"
                )
            raise type(error)(
                f"{name} must hold real numbers: {str(error).rstrip('.')}. {remedy}."
            ) from None
    if X.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}. {remedy}.")
    return X


def coded(name, X, columns):
    """A matrix of objects with numbers instead of the categories in some columns, else X.

    Numbers stay unchanged; a string (or str() of another object) becomes a 53-bit hash. Missing
    values are NaN.
    """
    A, names = as_array(name, X), frame_names(X)
    if A.ndim != 2 or A.dtype.kind not in "OUST":
        return X
    out, known = np.empty(A.shape), {}
    for c in range(A.shape[1]):
        values = A[:, c].tolist()
        try:
            if c in columns:
                out[:, c] = [known[v] if v in known else _code(v, known) for v in values]
            else:
                out[:, c] = values
        except (TypeError, ValueError) as error:
            shown = c if names is None else repr(names[c])
            raise type(error)(
                f"{name} must hold real numbers in column {shown}, where no kernel is for "
                f"categories alone: {error}."
            ) from None
    check_finite(name, out, names, columns=True)
    return out


def _code(value, known):
    """The number of a category."""
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return float(value)
    if is_missing(value):
        return math.nan
    text = value if isinstance(value, str) else str(value)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    known[value] = code = float(2**52 + int.from_bytes(digest, "little") % 2**52)
    return code


def is_missing(value):
    """Whether a value of any type represents a missing value."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # of pandas.NA
        return True
    except ValueError:  # of an array, which is compared by element
        return False


def check_features(X):
    """A finite real matrix of at least one row and column, dense or SciPy sparse."""
    if not is_sparse(X):
        return check_samples("X", X)
    X = X.tocsr() if isinstance(X, SparseRows) else X
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers.")
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: at least one sample and feature are needed.")
    rows = X.tocsr()
    _check_sparse_finite("X", rows.data, rows.indices)
    return X


def plain(name, A):
    """A in a form that NumPy reads: the one place where arrays of other kinds become arrays.

    Of a masked array the data; values that are missing are an error. Of an array of another
    library (torch, cupy, jax, ...) that has the DLPack protocol its numbers, without a copy where
    they are in the memory of the CPU: of a tensor with a gradient those alone, of bfloat16 as
    float32. Anything else is returned unchanged.

    Raises
    ------
    ValueError, TypeError
        Masked values; an array that its library does not hand over.
    """
    if isinstance(A, np.ma.MaskedArray):
        missing = int(np.ma.count_masked(A))
        if missing:
            raise ValueError(f"{name} has {missing} masked values; fill them, or leave them out.")
        return A.data
    if isinstance(A, np.ndarray) or not hasattr(A, "__dlpack__") or hasattr(A, "to_pylist"):
        return A  # Arrow's arrays have the protocol, but not for strings and missing values
    A = detached(A)
    try:
        return _handed_over(A)
    except Exception as error:  # errors of many kinds, because each library has its own
        for attempt in (lambda: np.asarray(A.__array__()), lambda: _handed_over(_in_single(A))):
            try:
                return attempt()
            except Exception:
                continue
        raise TypeError(
            f"{name} is a {type(A).__name__} that cannot be read as an array: {error}. "
            f"Accepted: real numbers in the memory of the CPU, such as {name}.detach().cpu()."
        ) from None


def detached(A):
    """A tensor detached from its computation graph; anything else unchanged."""
    return A.detach() if hasattr(A, "__dlpack__") and hasattr(A, "detach") else A


def _handed_over(A):
    elsewhere = A.__dlpack_device__()[0] != _CPU
    # Older versions of NumPy have no device, and some libraries accept only their own.
    return np.from_dlpack(A, **({"device": "cpu"} if elsewhere else {}))


def _in_single(A):
    """A tensor of bfloat16, or another floating-point type that NumPy does not have, in float32."""
    if not A.is_floating_point():
        raise TypeError
    return A.float()


def as_array(name, X):
    """X as an array, or an error for rows of different lengths."""
    given, X = detached(X), plain(name, X)
    try:
        found = np.asarray(X)
        if lies_on_device(given, found.dtype):
            remember(found, given)
        return found
    except ValueError as error:
        _refuse_ragged(name, X)
        raise ValueError(f"{name} must be a matrix (n_samples, n_features): {error}.") from None


def take(X, index):
    """Some samples of an array, or of a list of objects."""
    if isinstance(X, np.ndarray) and isinstance(index, np.ndarray) and index.dtype.kind == "i":
        return X.take(index, axis=0)  # faster than X[index]
    return X[index] if hasattr(X, "shape") else [X[i] for i in index]


def varying(X):
    """Whether each feature of checked samples, dense or sparse rows, has two values."""
    if not is_sparse(X):
        return X.min(axis=0) != X.max(axis=0)
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    np.minimum.at(low, X.indices, X.data)
    np.maximum.at(high, X.indices, X.data)
    zeros = np.bincount(X.indices, minlength=X.shape[1]) < len(X)
    low[zeros], high[zeros] = np.minimum(low[zeros], 0.0), np.maximum(high[zeros], 0.0)
    return low != high


def frame_names(X):
    """Names of the columns of a data frame as a list, unchanged in type, else None."""
    names = getattr(X, "columns", None)
    return None if names is None or callable(names) else list(names)


def check_finite(name: str, A, names=None, *, columns=False):
    """Raise a ValueError if an array holds NaN or infinity; reads it in blocks of rows.

    With ``columns``, the columns of a matrix are features, and the message has their ``names``.
    """
    step = max(1, 2**20 // max(1, A[:1].size))
    for i in range(0, A.shape[0], step):
        block = A[i : i + step]
        # A sum is finite if all entries are (unless they overflow), and costs one pass.
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()
        if not np.isfinite(total) and not np.all(np.isfinite(block)):
            if not columns:
                raise ValueError(f"{name} contains NaN or infinity; all values must be finite.")
            raise _not_finite(name, A, names)


def _not_finite(name, A, names):
    """The error for a matrix of samples; it names the values, their columns, and what to do."""
    found, bad = {"NaN": [], "infinity": []}, {"NaN": np.isnan, "infinity": np.isinf}
    step = max(1, 2**20 // max(1, A.shape[1]))
    for what in found:
        inside = np.zeros(A.shape[1], bool)
        for i in range(0, len(A), step):
            inside |= bad[what](A[i : i + step]).any(axis=0)
        found[what] = np.flatnonzero(inside)
    return _error_of(name, found, names)


def _check_sparse_finite(name, data, indices):
    """The same for the entries of a sparse matrix, whose columns are ``indices``."""
    if not np.all(np.isfinite(data)):
        nan, infinite = np.isnan(data), np.isinf(data)
        found = {"NaN": np.unique(indices[nan]), "infinity": np.unique(indices[infinite])}
        raise _error_of(name, found, None)


def _error_of(name, found, names):
    parts = []
    for what, columns in found.items():
        if len(columns):
            shown = listed([c if names is None else names[c] for c in columns.tolist()], 5)
            parts.append(f"{what} in column{'s' * (len(columns) > 1)} {shown}")
    remedy = (
        "Impute missing values, for instance with sklearn.impute.SimpleImputer, or drop their rows "
        "or columns."
    )
    if len(found["infinity"]):
        remedy = (
            f"Drop infinite values, or replace them by {name} = np.where(np.isinf({name}), np.nan, "
            f"{name}) and impute them, for instance with sklearn.impute.SimpleImputer."
        )
    where = " and ".join(parts)
    return ValueError(
        f"{name} contains NaN or infinity; all values must be finite: {where}. {remedy}"
    )
