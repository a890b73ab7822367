"""Primitives of pairs of sparse samples: the cost is that of the columns that two samples share.

A block of values is computed one row at a time, as in the sparse product of Gustavson (1978): for
every entry of the row, the entries of its column are added to the values of their samples. The
other samples are therefore stored by columns. The columns that a pair does not share enter through
sizes of single samples: ``|x - z|^2 = |x|^2 + |z|^2 - 2 <x, z>``, and likewise for the other
primitives. If these terms nearly cancel, the two rows are merged instead, so that close samples
keep their digits. All values are float64 for any type of samples.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit, jit_sum
from alignlearn._threads import on_threads
from alignlearn.validation import check_sparse, is_sparse
from alignlearn.validation.sparse_rows import COLUMNS_PER_ENTRY

from . import opcodes as ops

# Share of the sizes of two samples: a smaller distance has an error of more than the 32 units of
# rounding that the engine assumes.
_CANCELED = 1.0 / 32.0
_NO_REACH = 2**62
# Columns with entries in a larger share of the samples are added as arrays. This is equally fast at
# the limit, and four times as fast if all samples have an entry.
_FULL = 1.0 / 3.0


class SparsePrimitive:
    """An external primitive; see `alignlearn.engine.program`."""

    def __init__(self, kind, centered=False):
        self.kind = kind
        self._offsets = centered or ops.PRIMITIVES[kind].of_differences

    def fill(self, X, Z, out, reach=None):
        """Write the values of the pairs (X[i], Z[j]) into ``out`` (n, m) with contiguous rows.

        With ``reach``, Z is X, and values with ``j < i - reach`` are not written.
        """
        left, right = _by_rows(X, self._offsets), _by_rows(Z, self._offsets)
        used, columns = _by_columns(Z, self._offsets)
        places = _places(used, X.indices)
        sizes = self._sizes(X, left), self._sizes(Z, right)
        limits = Z.shape[1], _NO_REACH if reach is None else reach
        args = self.kind, (left, places, right), columns, sizes, limits, out
        on_threads(_fill, *args, stoppable=True)

    def own_values(self, X):
        """Values of the pairs (X[i], X[i]), (n,)."""
        if self.kind == ops.MATCHES:
            return np.full(len(X), float(X.shape[1]))
        if self.kind in (ops.INNER_PRODUCT, ops.MINIMA):
            return self._sizes(X, _by_rows(X, self._offsets))
        return np.zeros(len(X))

    def paired(self, X, i, j):
        """Distances of the pairs (X[i], X[j]), two arrays of numbers."""
        out = np.empty(len(i))
        _merge_pairs(self.kind, _by_rows(X, False), i, j, out)
        return out

    def _sizes(self, X, rows):
        out = np.empty(len(X))
        _sizes(self.kind, rows[0], rows[2], out)
        return out


def sparse_rows(X):
    """Checked samples, dense or sparse, as `SparseRows`."""
    if is_sparse(X):
        return check_sparse("X", X)
    from scipy.sparse import csr_array

    return check_sparse("X", csr_array(X))


def entry_sums(X):
    """Sums of the rows of dense or sparse samples."""
    if not is_sparse(X):
        return X.sum(axis=1, dtype=np.float64)
    return SparsePrimitive(ops.MINIMA).own_values(sparse_rows(X))


def squared_norms(X):
    """``|x|^2`` of each row of dense or sparse samples."""
    if not is_sparse(X):
        return np.einsum("ij,ij->i", X, X)
    return SparsePrimitive(ops.INNER_PRODUCT).own_values(sparse_rows(X))


def _by_rows(X, offsets):
    """indptr, indices and float64 data."""
    key = "by rows", offsets
    if key not in X.cache:
        data = X.centered if offsets else X.data
        X.cache[key] = X.indptr, X.indices, data.astype(np.float64, copy=False)
    return X.cache[key]


def _by_columns(Z, offsets):
    """(columns with entries or None for all, (indptr, rows, values) of these and the full ones).

    For full columns there is also an array (n_full, len(Z)), and each column has its row in it, or
    -1.
    """
    key = "by columns", offsets
    if key not in Z.cache:
        indptr, indices, data = _by_rows(Z, offsets)
        used, n_columns = None, Z.shape[1]
        if n_columns > COLUMNS_PER_ENTRY * max(len(data), 1):
            used = np.unique(indices)
            n_columns = len(used)
        starts = np.zeros(n_columns + 1, dtype=np.int64)
        rows, values = np.empty(len(data), dtype=np.int32), np.empty(len(data))
        _transpose(indptr, _places(used, indices), data, starts, rows, values)
        full = np.flatnonzero(np.diff(starts) > _FULL * len(Z))
        numbers, arrays = np.full(n_columns, -1, np.int32), np.zeros((len(full), len(Z)))
        numbers[full] = np.arange(len(full))
        for c, array in zip(full, arrays):
            entries = slice(starts[c], starts[c + 1])
            array[rows[entries]] = values[entries]
        Z.cache[key] = used, (starts, rows, values, numbers, arrays)
    return Z.cache[key]


def _places(used, indices):
    """Columns of entries as indices into ``used``, -1 if they are not in it."""
    if used is None:
        return indices
    if not len(used):
        return np.full_like(indices, -1)
    places = np.minimum(np.searchsorted(used, indices), len(used) - 1)
    return np.where(used[places] == indices, places, -1).astype(indices.dtype)


@jit
def _transpose(indptr, columns, data, starts, rows, values):
    """Entries by columns, those of a column in the order of the rows."""
    for t in range(columns.size):
        starts[columns[t] + 1] += 1
    for c in range(1, starts.size):
        starts[c] += starts[c - 1]
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            place = starts[columns[t]]
            rows[place] = i
            values[place] = data[t]
            starts[columns[t]] = place + 1
    for c in range(starts.size - 1, 0, -1):
        starts[c] = starts[c - 1]
    starts[0] = 0


@jit_sum
def _sizes(kind, indptr, data, out):
    """The size of a sample: |x|^2, |x|_1, its sum or the number of its entries."""
    for i in range(out.size):
        row = data[indptr[i] : indptr[i + 1]]
        total = 0.0
        if kind == ops.MATCHES:
            total = float(row.size)
        elif kind == ops.MINIMA:
            for t in range(row.size):
                total += row[t]
        elif kind == ops.L1_DISTANCE:
            for t in range(row.size):
                total += abs(row[t])
        else:
            for t in range(row.size):
                total += row[t] * row[t]
        out[i] = total


@jit_sum
def _merged(kind, columns, row, others, other):
    """Squared or L1 distance of two rows, given by their columns and values."""
    a, b, total = 0, 0, 0.0
    while a < row.size or b < other.size:
        if b == other.size or (a < row.size and columns[a] < others[b]):
            difference = row[a]
            a += 1
        elif a == row.size or others[b] < columns[a]:
            difference = other[b]
            b += 1
        else:
            difference = row[a] - other[b]
            a += 1
            b += 1
        total += abs(difference) if kind == ops.L1_DISTANCE else difference * difference
    return np.sqrt(total) if kind == ops.DISTANCE else total


@jit_sum
def _merge_pairs(kind, samples, i, j, out):
    indptr, indices, data = samples
    for t in range(out.size):
        b, e = indptr[i[t]], indptr[i[t] + 1]
        c, f = indptr[j[t]], indptr[j[t] + 1]
        out[t] = _merged(kind, indices[b:e], data[b:e], indices[c:f], data[c:f])


@jit_sum
def _add_column(kind, x, rows, values, out):
    """Add to ``out`` the terms of an entry x and the entries of its column."""
    if kind == ops.L1_DISTANCE:
        size = abs(x)
        for t in range(rows.size):
            out[rows[t]] += abs(x - values[t]) - (size + abs(values[t]))
    elif kind == ops.MATCHES:
        for t in range(rows.size):
            out[rows[t]] += 2.0 if x == values[t] else 1.0
    elif kind == ops.MINIMA:
        for t in range(rows.size):
            out[rows[t]] += min(x, values[t])
    else:
        for t in range(rows.size):
            out[rows[t]] += x * values[t]


@jit_sum
def _add_full_column(kind, x, column, out):
    """The same for a column given as an array, with its zeros."""
    if kind == ops.L1_DISTANCE:
        size = abs(x)
        for j in range(out.size):
            out[j] += abs(x - column[j]) - (size + abs(column[j]))
    elif kind == ops.MATCHES:
        for j in range(out.size):
            out[j] += (0.0 if column[j] == 0.0 else 1.0) + (1.0 if x == column[j] else 0.0)
    elif kind == ops.MINIMA:
        for j in range(out.size):
            out[j] += min(x, column[j])
    else:
        for j in range(out.size):
            out[j] += x * column[j]


@jit_sum
def _finish_row(kind, i, left, right, sizes, n_columns, first, out):
    """Sums over shared columns to values of the primitive, for the samples from ``first`` on."""
    size, others = sizes[0][i], sizes[1]
    if kind == ops.INNER_PRODUCT or kind == ops.MINIMA:
        return
    if kind == ops.MATCHES:
        for j in range(first, others.size):
            out[j] += n_columns - (size + others[j])
        return
    squared = ops.SQUARED_DISTANCE if kind == ops.DISTANCE else kind
    factor = 1.0 if kind == ops.L1_DISTANCE else -2.0
    lost = 0.0
    for j in range(first, others.size):
        both = size + others[j]
        out[j] = both + factor * out[j]
        # NaN, the result if sizes overflow, counts as canceled, too.
        lost += 0.0 if out[j] > _CANCELED * both else 1.0
    if lost > 0.0:
        b, e = left[0][i], left[0][i + 1]
        columns, row = left[1][b:e], left[2][b:e]
        for j in range(first, others.size):
            if not out[j] > _CANCELED * (size + others[j]):
                c, f = right[0][j], right[0][j + 1]
                out[j] = _merged(squared, columns, row, right[1][c:f], right[2][c:f])
    if kind == ops.DISTANCE:
        for j in range(first, others.size):
            out[j] = np.sqrt(out[j])


@jit_sum.owning
def _fill(thread, kind, samples, columns, sizes, limits, out, stop):
    """Compute a primitive of all pairs, with rows dealt to threads in turn.

    ``samples`` are the (indptr, indices, data) of X, the positions of its entries' columns in
    ``columns`` (-1 for none), and the (indptr, indices, data) of Z. ``columns`` is the result of
    `_by_columns` for Z, and ``sizes`` that of `_sizes`. ``limits`` is (number of columns, reach):
    entries more than ``reach`` left of the diagonal are not computed. ``stop`` is the flag of
    `on_threads`.
    """
    left, places, right = samples
    starts, rows, values, numbers, arrays = columns
    indptr, data = left[0], left[2]
    n_columns, reach = limits
    # Entries before these belong to samples left of the reach, for this row and all later ones.
    begin = starts[:-1].copy()
    for i in range(thread[0], out.shape[0], thread[1]):
        if stop[0]:
            return
        row, first = out[i], max(0, i - reach)
        row[first:] = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            c = places[t]
            if c < 0:
                continue
            if numbers[c] >= 0:
                _add_full_column(kind, data[t], arrays[numbers[c], first:], row[first:])
                continue
            b, e = begin[c], starts[c + 1]
            while b < e and rows[b] < first:
                b += 1
            begin[c] = b
            _add_column(kind, data[t], rows[b:e], values[b:e], row)
        _finish_row(kind, i, left, right, sizes, n_columns, first, row)
