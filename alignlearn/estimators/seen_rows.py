"""Which samples a fit has seen, by 8 bytes each, and how many rows of a sample are equal.

A row is known by a hash of its numbers as float32, so that a copy in single precision is known
again; where that makes rows equal that differ, by its numbers as they are.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from alignlearn.bounds.binomial import clopper_pearson
from alignlearn.validation import doubt, is_sparse

_BLOCK = 2**22  # numbers converted at once
_LEAST_SHARE = 0.05  # of equal rows that is warned of
_RARE = 1e-3  # chance at which more coincidences are none


@dataclass(frozen=True)
class SeenRows:
    """Hashes of the rows that a fit has used.

    Attributes
    ----------
    hashes : ndarray of uint64 of shape (m,)
        Sorted.
    single : bool
        Whether of the numbers as float32.
    """

    hashes: np.ndarray
    single: bool = True

    @property
    def repeated(self) -> int:
        """How many rows equal another one."""
        counts = np.unique(self.hashes, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def count(self, X) -> int:
        """How many rows of X, checked as those of the fit were, are among these."""
        hashes = row_hashes(X, self.single)
        return 0 if hashes is None else int(np.isin(hashes, self.hashes).sum())

    def most_by_chance(self, n) -> int:
        """How many of n new rows may be among these where rows of one law repeat by themselves.

        0 if no two rows of the fit are equal.
        """
        from scipy.special import bdtrik

        if not self.repeated:
            return 0
        share = clopper_pearson(self.repeated, len(self.hashes), 0.0, _RARE)[1]
        return n if share >= 1.0 else int(np.ceil(bdtrik(1.0 - _RARE, n, share)))


def seen_rows(X) -> SeenRows | None:
    """The `SeenRows` of checked samples; None for objects that cannot be compared."""
    hashes = row_hashes(X)
    if hashes is None:
        return None
    single, different = True, np.unique(hashes).size
    if different < len(hashes) and getattr(X, "dtype", None) == np.float64:
        exact = row_hashes(X, single=False)
        if np.unique(exact).size > different:
            hashes, single = exact, False
    return SeenRows(np.sort(hashes), single)


def row_hashes(X, single=True) -> np.ndarray | None:
    """A 64-bit hash of each row; the same in every process.

    Parameters
    ----------
    X : ndarray or anything that NumPy indexes by rows (m, d), sparse rows, or m objects
    single : bool, default True
        Whether to take numbers as float32.
    """
    if isinstance(X, list) or X.dtype.kind == "O" or len(X.shape) != 2:
        return _object_hashes(X)
    dtype, found = np.float32 if single else np.float64, []
    rows = X.tocsr() if is_sparse(X) or hasattr(X, "tocsr") else None
    step = max(1, _BLOCK // max(X.shape[1], 1))
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        found += _dense(X[part], dtype) if rows is None else _sparse(rows[part], dtype)
    return _joined(found)


def _numbers(values, dtype):
    with np.errstate(over="ignore"):
        # Adding 0 makes -0 the same as 0.
        return np.ascontiguousarray(np.asarray(values).astype(dtype) + dtype(0))


def _dense(block, dtype):
    return [_hash(row) for row in _numbers(block, dtype)]


def _sparse(block, dtype):
    """Of the entries that are not 0, in the order of their columns."""
    block = block.copy()
    block.sum_duplicates()
    block.eliminate_zeros()
    values, columns = _numbers(block.data, dtype), block.indices.astype(np.int64)
    ends = zip(block.indptr[:-1], block.indptr[1:])
    return [_hash(columns[i:j].tobytes() + values[i:j].tobytes()) for i, j in ends]


def _object_hashes(objects):
    try:
        return _joined([_hash(_of_object(x)) for x in objects])
    except Exception:  # what an object does when it is pickled is its own
        return None


def _of_object(x):
    if isinstance(x, str):
        return x.encode("utf-8", "surrogatepass")
    if isinstance(x, np.ndarray) and x.dtype != object:
        return repr((x.shape, x.dtype.str)).encode() + np.ascontiguousarray(x).tobytes()
    return pickle.dumps(x, protocol=4)


def _hash(data):
    return blake2b(data, digest_size=8).digest()


def _joined(digests):
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def doubt_repeats(rows: SeenRows | None):
    """Warn where so many rows are equal that samples may not be independent."""
    if rows is None:
        return
    repeated, m = rows.repeated, len(rows.hashes)
    if repeated > _LEAST_SHARE * m:
        doubt(
            f"{repeated} of {m} rows ({repeated / m:.0%}) equal another one: the samples may not "
            "be independent, as what is guaranteed here assumes; leave copies out."
        )
