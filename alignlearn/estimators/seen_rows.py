"""Hashes of the training samples, 16 bytes each, and the number of equal rows of a sample.

The hash of a row is that of its numbers in float32, so that a copy in single precision is
recognized; if float32 makes different rows equal, the numbers are not rounded. A row with its label
has another hash: rows of few values repeat by chance, rows with labels less often.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from alignlearn.bounds.binomial import clopper_pearson
from alignlearn.validation import doubt, is_sparse

_BLOCK = 2**16  # numbers converted at once, so that they fit into the cache
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_LEAST_SHARE = 0.05  # share of equal rows from which a warning is given
_RARE = 1e-3  # probability below which more equal rows are not by chance
_COPIES = 0.02  # share of held-out rows that may equal rows of the fit
_RATES = np.geomspace(0.02, 40.0, 20)  # of the exponential inequality


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

    def count(self, X, y=None) -> int:
        """How many rows of X, checked as those of the fit were, with their y are among these."""
        hashes = row_hashes(X, self.single)
        hashes = hashes if y is None else pair_hashes(hashes, y)
        return 0 if hashes is None else self.among(hashes)

    def among(self, hashes) -> int:
        """How many of the hashes of new rows are among these."""
        return int(np.isin(hashes, self.hashes).sum())

    def refuses(self, hashes, cautious=False) -> bool:
        """Whether rows with these hashes, passed as new samples, are training rows.

        They are where more of them were seen than by chance, see `most_by_chance`, and than 2%,
        since parts of real samples often share a copy; or where they repeat the rows that were seen
        more closely than new ones do, see `chance_of_repeats`.
        """
        n = len(hashes)
        if self.among(hashes) > max(self.most_by_chance(n, cautious), _COPIES * n):
            return True
        return chance_of_repeats(self.hashes, hashes) <= _RARE

    def most_by_chance(self, n, cautious=False) -> int:
        """How many of n new rows may be among these where rows of one distribution repeat.

        0 if no two rows of the fit are equal, unless ``cautious``: few rows may be different by
        chance.
        """
        from scipy.special import bdtrik

        if not (self.repeated or cautious):
            return 0
        share = clopper_pearson(self.repeated, len(self.hashes), 0.0, _RARE)[1]
        return n if share >= 1.0 else int(np.ceil(bdtrik(1.0 - _RARE, n, share)))


def chance_of_repeats(seen, new) -> float:
    """Upper bound of the chance that new samples exceed those seen by so little.

    The excess is the number of new samples beyond as many equal ones among those seen: 0 for a part
    of these. Given all samples together, each is a new one alike, so that an atom of N samples has
    a binomial number of new ones, given their sum. The bound is the exponential inequality for the
    sum of the excesses, divided by the probability of that sum; it holds for every distribution.

    Parameters
    ----------
    seen, new : ndarray of shape (m,), (n,)
        Hashes.
    """
    from scipy.stats import binom

    m, n = len(seen), len(new)
    place = np.unique(np.concatenate([seen, new]), return_inverse=True)[1].reshape(-1)
    total = np.bincount(place)
    added = np.bincount(place[m:], minlength=len(total))
    excess, share = np.maximum(2 * added - total, 0).sum(), n / (m + n)
    logs = _RATES * excess - binom.logpmf(n, m + n, share)
    for size, count in zip(*np.unique(total, return_counts=True)):
        number = np.arange(size + 1)
        chance, beyond = binom.pmf(number, size, share), np.maximum(2 * number - size, 0)
        logs += count * np.log([chance @ np.exp(-rate * beyond) for rate in _RATES])
    return float(np.exp(min(logs.min(), 0.0)))


def seen_rows(X) -> SeenRows | None:
    """The `SeenRows` of checked samples; None for objects that cannot be compared."""
    hashes = row_hashes(X)
    if hashes is None:
        return None
    hashes.sort()
    if getattr(X, "dtype", None) == np.float64 and _different(hashes) < len(hashes):
        exact = np.sort(row_hashes(X, single=False))
        if _different(exact) > _different(hashes):
            return SeenRows(exact, single=False)
    return SeenRows(hashes)


def _different(hashes):
    """Number of distinct values of a sorted array."""
    return min(len(hashes), 1) + np.count_nonzero(hashes[1:] != hashes[:-1])


def row_hashes(X, single=True) -> np.ndarray | None:
    """A 64-bit hash of each row; the same in every process, and for sparse rows as for dense ones.

    Parameters
    ----------
    X : ndarray or anything that NumPy indexes by rows (m, d), sparse rows, or m objects
    single : bool, default True
        Whether to take numbers as float32.
    """
    if isinstance(X, list) or X.dtype.kind == "O" or len(X.shape) != 2:
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


def doubt_repeats(rows: SeenRows | None):
    """Warn where so many rows are equal that samples may not be independent."""
    if rows is None:
        return
    repeated, m = rows.repeated, len(rows.hashes)
    if repeated > _LEAST_SHARE * m:
        doubt(
            f"{repeated} of {m} rows ({repeated / m:.0%}) equal another one: the samples may not "
            "be independent, which the guarantee assumes; leave copies out."
        )
