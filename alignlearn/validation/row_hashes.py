"""Hashes of rows of samples, by which equal rows are found."""

from __future__ import annotations

import pickle
from hashlib import blake2b

import numpy as np

from .samples import is_sparse

_BLOCK = 2**16  # numbers converted at once, so that they fit into the cache
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_LOOKED_AT = 32  # columns that are hashed first, which often suffice to see that rows differ


def row_hashes(X, single=True) -> np.ndarray | None:
    """A 64-bit hash of each row; the same in every process, and for sparse rows as for dense ones.

    Parameters
    ----------
    X : ndarray or anything that NumPy indexes by rows (m, d), sparse rows, or m objects
    single : bool, default True
        Whether to take numbers as float32.
    """
    if isinstance(X, list) or X.dtype.kind not in "biuf" or len(X.shape) != 2:
        return _object_hashes(X)
    dtype = np.float32 if single else np.float64
    rows = X.tocsr() if is_sparse(X) or hasattr(X, "tocsr") else None
    found = np.empty(X.shape[0], dtype=np.uint64)
    step = max(1, _BLOCK // max(X.shape[1], 1))
    factors = None if rows is not None else _factors(np.arange(X.shape[1]))
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        if rows is None:
            found[part] = _mixed(_bits(X[part], dtype) * factors).sum(axis=1, dtype=np.uint64)
        else:
            found[part] = _sparse(rows[part], dtype)
    return found


def pair_hashes(rows, y) -> np.ndarray | None:
    """A hash of each row with its label, from the hashes of the rows (m,); None for None.

    Parameters
    ----------
    rows : ndarray of uint64 of shape (m,), or None
    y : ndarray of shape (m,) or (m, c)
        Labels or targets, checked.
    """
    if rows is None:
        return None
    if y.dtype.kind in "biuf":
        labels = row_hashes(y.reshape(len(y), -1).astype(np.float64))
    else:
        labels = _object_hashes([str(label) for label in y.tolist()])
    return _mixed((rows + _SECOND) * _GOLDEN + labels)


def _bits(values, dtype):
    """The bits of numbers, as uint64; 0 for 0."""
    with np.errstate(over="ignore"):
        # Adding 0 makes -0 the same as 0.
        numbers = np.ascontiguousarray(np.asarray(values).astype(dtype) + dtype(0))
    if dtype is np.float32:
        return numbers.view(np.uint32).astype(np.uint64)
    bits = numbers.view(np.uint64)
    # Round numbers have only high bits, of which a product keeps few.
    return bits ^ (bits >> np.uint64(32))


def _mixed(bits):
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014), in place: 0 stays 0."""
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        bits ^= bits >> np.uint64(shift)
        bits *= factor
    bits ^= bits >> np.uint64(31)
    return bits


def _factors(columns):
    """An odd number for each column."""
    return _mixed(_GOLDEN * (columns.astype(np.uint64) + np.uint64(1))) | np.uint64(1)


def _sparse(block, dtype):
    """Hashes from the stored entries, equal to those of dense rows, because zeros add nothing."""
    block = block.copy()
    block.sum_duplicates()
    sums = np.zeros(block.nnz + 1, dtype=np.uint64)
    np.cumsum(_mixed(_bits(block.data, dtype) * _factors(block.indices)), out=sums[1:])
    return sums[block.indptr[1:]] - sums[block.indptr[:-1]]


def _object_hashes(objects):
    try:
        digests = [blake2b(_of_object(x), digest_size=8).digest() for x in objects]
    except Exception:  # pickling may run arbitrary code of an object
        return None
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _of_object(x):
    if isinstance(x, str):
        return x.encode("utf-8", "surrogatepass")
    if isinstance(x, np.ndarray) and x.dtype != object:
        return repr((x.shape, x.dtype.str)).encode() + np.ascontiguousarray(x).tobytes()
    return pickle.dumps(x, protocol=4)


def first_copies(X, most=1.0):
    """The position of the first row that equals each row of X, (m,).

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Numbers; rows with NaN are equal to none.
    most : float, default 1.0
        None is returned if more than this share of the rows are different.
    """
    looked_at = X[:, :_LOOKED_AT], X
    for part in looked_at if X.shape[1] > _LOOKED_AT else looked_at[1:]:
        hashes = row_hashes(part, single=X.dtype == np.float32)
        _, first, number = np.unique(hashes, return_index=True, return_inverse=True)
        if len(first) > most * len(X):
            return None
    copies = first[number.reshape(-1)]
    step = max(1, _BLOCK // max(X.shape[1], 1))
    for start in range(0, len(X), step):  # equal hashes need not be equal rows
        part = slice(start, start + step)
        if not np.array_equal(X[part], X[copies[part]]):
            return None
    return copies
