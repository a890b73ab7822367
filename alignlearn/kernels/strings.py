"""The spectrum kernel on strings: inner products of the counts of their substrings.

Substrings are numbered in lexicographic order, their counts are rows of a sparse matrix, and the
engine multiplies sparse rows. No table of all possible substrings is built.

Source: Leslie, Eskin and Noble (2002), "The spectrum kernel".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from alignlearn.engine import opcodes as ops
from alignlearn.engine.sparse import SparsePrimitive
from alignlearn.validation import SparseRows, check_count, check_flag

from .base import Kernel

_LARGEST = np.iinfo(np.int32).max  # number of a column


@dataclass(frozen=True)
class StringSpectrum(Kernel):
    """``sum_s n_s(x) n_s(x')``: n_s(x) counts the occurrences of the substring s of length k in x.

    Parameters
    ----------
    k : int >= 1, default 3
    normalize : bool, default False
        Divide by ``sqrt(k(x, x) k(x', x'))``; strings shorter than k then have the value 0 with all
        strings.

    Notes
    -----
    X is a list or array of str, or of bytes, of any letters and lengths, or an array with one such
    column. Letters are equal if their code points are equal; there is no case folding or
    normalization. n strings of total length N cost O(N log N). A Gram matrix costs the sum over
    substrings of the product of the numbers of strings on both sides that contain them.

    Examples
    --------
    >>> from alignlearn import StringSpectrum
    >>> peptides = ["GLFDIVKK", "GLFDIIKK", "AAAAAA"]
    >>> StringSpectrum(k=3)(peptides)  # GLF, LFD and FDI are shared; AAA is there four times
    array([[ 6.,  3.,  0.],
           [ 3.,  6.,  0.],
           [ 0.,  0., 16.]])
    >>> StringSpectrum(k=3, normalize=True)(peptides)[0].round(2)
    array([1. , 0.5, 0. ])
    """

    k: int = 3
    normalize: bool = False

    needs_vectors = False
    takes_sparse = False
    is_non_negative = True

    def __post_init__(self):
        object.__setattr__(self, "k", check_count("k", self.k, optional=False))
        object.__setattr__(self, "normalize", check_flag("normalize", self.normalize))

    def __str__(self):
        return f"{'normalized ' * self.normalize}string spectrum(k={self.k})"

    @property
    def largest_value(self):
        """The largest value of the kernel: 1 if normalized, otherwise None (unbounded)."""
        return 1.0 if self.normalize else None

    def unit_form(self):
        return replace(self, normalize=True)

    def diag(self, X):
        """``k(x, x)`` for each string, float64 of shape (n_X,)."""
        return SparsePrimitive(ops.INNER_PRODUCT).own_values(self._rows(self._strings(X)))

    def block(self, X, Y):
        left = self._strings(X)
        rows = self._rows(left if Y is X else left + self._strings(Y))
        one, other = rows[: len(left)], rows if Y is X else rows[len(left) :]
        out = np.empty((len(one), len(other)))
        SparsePrimitive(ops.INNER_PRODUCT).fill(one, other, out)
        return out

    def _strings(self, X):
        """A list of str; bytes are read as letters 0 to 255."""
        shape = getattr(X, "shape", (len(X),))
        if len(shape) > 1 and shape[1:] != (1,):
            raise ValueError(
                f"{self}: X has shape {shape}; accepted: strings (m,), or one column of them "
                "(m, 1), selected with Columns if X has more."
            )
        strings = np.ravel(X).tolist() if hasattr(X, "shape") else list(X)
        kinds = {type(x) for x in strings}
        if all(issubclass(kind, str) for kind in kinds):
            return strings
        if all(issubclass(kind, bytes) for kind in kinds):
            return [x.decode("latin-1") for x in strings]
        wrong = [f"{x!r:.60}" for x in strings if not isinstance(x, (str, bytes))]
        got = wrong[0] if wrong else "both str and bytes"
        raise TypeError(f"{self}: samples must be all str or all bytes, got {got}.")

    def _rows(self, strings):
        """Counts of the substrings, optionally divided by the norms, as `SparseRows`."""
        owner, codes, size = _substrings(strings, self.k)
        keys, counts = np.unique(owner * size + codes, return_counts=True)
        counts = counts.astype(np.float64)
        owner, columns = np.divmod(keys, size)
        starts = np.searchsorted(owner, np.arange(len(strings) + 1))
        if self.normalize:
            squares = np.bincount(owner, counts**2, len(strings))
            counts /= np.sqrt(squares[owner])
        return SparseRows(starts, columns.astype(np.int32), counts, int(size))


def _substrings(strings, k):
    """String and substring numbers of all substrings of length k, and the largest number."""
    lengths = np.array([len(x) for x in strings])
    text = "".join(strings).encode("utf-32-le", "surrogatepass")
    letters, text = np.unique(np.frombuffer(text, dtype=np.uint32), return_inverse=True)
    counts = np.maximum(lengths - k + 1, 0)
    owner = np.repeat(np.arange(len(strings)), counts)
    # Positions in the concatenated strings; the last k - 1 of each string are left out.
    first = np.cumsum(lengths) - lengths - (np.cumsum(counts) - counts)
    place = np.arange(owner.size) + first[owner]
    alphabet = max(letters.size, 1)
    codes, size = text[place], alphabet
    for j in range(1, k):
        # Numbers grow by a factor with every letter; long ones are replaced by ranks.
        if size > _LARGEST // alphabet:
            codes, size = _ranks(codes)
        codes, size = codes * alphabet + text[place + j], size * alphabet
    return (owner, *(_ranks(codes) if size > _LARGEST else (codes, size)))


def _ranks(codes):
    found, ranks = np.unique(codes, return_inverse=True)
    return ranks, max(found.size, 1)
