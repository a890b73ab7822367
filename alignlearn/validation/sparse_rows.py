"""Samples that are the rows of a sparse matrix, in the one form that the engine reads."""

from __future__ import annotations

import numpy as np

COLUMNS_PER_ENTRY = 2  # number of columns above which work per column is avoided
_LOOKED_AT = 20  # number of rows after which a column without zeros is unlikely by chance


class SparseRows:
    """Rows of a sparse matrix, with a length and slices like an array.

    In every row the columns increase, and no entry is 0. It is immutable, so slices share memory
    with it, and derived values may be stored in ``cache``.

    Parameters
    ----------
    indptr : ndarray of int64 of shape (m + 1,)
        Row i holds the entries ``indptr[i]`` to ``indptr[i + 1]``.
    indices : ndarray of int32 or int64
        Columns of the entries.
    data : ndarray of float32 or float64
    n_columns : int
    centered : ndarray, optional
        The entries minus the means of their columns, for columns without zeros; may contain zeros.
        See `without_offsets`.
    """

    ndim = 2

    def __init__(self, indptr, indices, data, n_columns, centered=None):
        self.indptr, self.indices, self.data = indptr, indices, data
        self.centered = data if centered is None else centered
        self.shape = len(indptr) - 1, n_columns
        self.dtype = data.dtype
        self.cache = {}

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"<{self.shape[0]} x {self.shape[1]} sparse samples, {len(self.data)} entries>"

    def __getstate__(self):
        centered = None if self.centered is self.data else self.centered
        names = "indptr", "indices", "data", "n_columns", "centered"
        return dict(zip(names, (self.indptr, self.indices, self.data, self.shape[1], centered)))

    def __setstate__(self, state):
        self.__init__(**state)

    def check_loaded(self):
        """Raise a ValueError if a loaded state would cause invalid indices in loops."""
        indptr, indices, entries = self.indptr, self.indices, len(self.data)
        n_columns = self.shape[1]
        kinds = (
            indptr.dtype.kind,
            indices.dtype.kind,
            self.data.dtype.kind,
            self.centered.dtype.kind,
        )
        shapes = {a.shape for a in (indices, self.data, self.centered)}
        if kinds != ("i", "i", "f", "f") or shapes != {(entries,)} or indptr.ndim != 1:
            raise ValueError("sparse rows need three arrays of integers and two of numbers")
        if indptr[0] != 0 or indptr[-1] != entries or np.any(np.diff(indptr) < 0):
            raise ValueError("sparse rows need indptr that increases from 0 to their entries")
        rises = np.ones(entries + 1, dtype=bool)
        rises[1:-1] = np.diff(indices) > 0
        rises[indptr] = True
        if not rises.all() or np.any(indices < 0) or np.any(indices >= n_columns):
            raise ValueError("sparse rows need columns that increase, below their number")

    def __getitem__(self, index):
        """Rows by a slice or an array of numbers."""
        rows = range(len(self))[index] if isinstance(index, slice) else None
        if rows and rows.step == 1:
            first, last = self.indptr[rows.start], self.indptr[rows.stop]
            return self._part(self.indptr[rows.start : rows.stop + 1] - first, slice(first, last))
        index = np.arange(len(self))[index]
        counts = np.diff(self.indptr)[index]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        first = np.repeat(self.indptr[index] - indptr[:-1], counts)
        return self._part(indptr, first + np.arange(indptr[-1]))

    def _part(self, indptr, entries):
        data = self.data[entries]
        centered = None if self.centered is self.data else self.centered[entries]
        return SparseRows(indptr, self.indices[entries], data, self.shape[1], centered)

    def columns_at(self, columns):
        """Some columns, in the order of the tuple ``columns``; one may occur several times."""
        from scipy.sparse import csr_array

        if columns not in self.cache:
            indptr, indices, width, numbers = self.indptr, self.indices, self.shape[1], columns
            # The positions of the entries take the place of their values.
            entries = np.arange(len(self.data))
            if width > COLUMNS_PER_ENTRY * len(entries):
                # SciPy allocates counts for all possible columns.
                found = np.unique(columns)
                place = np.minimum(np.searchsorted(found, indices), len(found) - 1)
                entries = np.flatnonzero(found[place] == indices)
                indptr, indices = np.searchsorted(entries, indptr), place[entries]
                width, numbers = len(found), np.searchsorted(found, columns)
            chosen = csr_array((entries, indices, indptr), shape=(len(self), width))
            chosen = chosen[:, list(numbers)]
            chosen.sort_indices()
            part = self._part(chosen.indptr.astype(np.int64), chosen.data)
            part.indices = chosen.indices.astype(self.indices.dtype, copy=False)
            part.shape = len(self), len(columns)
            self.cache[columns] = part
        return self.cache[columns]

    def copy(self):
        """A copy that shares no memory with this."""
        return self[np.arange(len(self))]

    def tocsr(self):
        """As a SciPy CSR array."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def without_offsets(self):
        """The same rows with ``centered`` set, if a column has no zeros.

        Shifting a column does not change distances, and avoids cancellation of digits.
        """
        m = len(self)
        full = self.indices[: self.indptr[1]]
        for i in range(1, min(m, _LOOKED_AT)):
            row = self.indices[self.indptr[i] : self.indptr[i + 1]]
            full = np.intersect1d(full, row, assume_unique=True)
        if not full.size:
            return self
        place = np.minimum(np.searchsorted(full, self.indices), full.size - 1)
        inside = np.flatnonzero(full[place] == self.indices)
        place = place[inside]
        means = np.bincount(place, self.data[inside], full.size) / m
        means[np.bincount(place, minlength=full.size) < m] = 0.0
        centered = self.data.astype(np.float64)
        centered[inside] -= means[place]
        return SparseRows(self.indptr, self.indices, self.data, self.shape[1], centered)
