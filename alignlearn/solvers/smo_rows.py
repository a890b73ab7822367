"""Rows of the Gram matrix for the SMO solver: from the matrix, or from a cache of limited size.

Both classes keep the set of active variables, to which shrinking reduces rows and columns, and pass
an `Active` to the compiled loops.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation import doubt

from . import smo_kernels as kernels

_WORTH_COPYING = 0.54  # share of rows below which gathering is faster: it takes 0.3 of the time
_WORTH_COMPACTING = 0.7  # the same once they are gathered (both measured)
_LEAST_STEPS = 100  # between shrinks; else m / 2, which read as much memory as undoing one
_GATHERED = 2**16  # values of rows that are summed at a time, so that they stay in the cache
_STEPS = 4  # the same for a cache, in active variables, which were chosen because they will move
_FEWEST = 16  # rows computed at a time, if memory allows; else this number of pairs:
_LOADED, _MULTIPLIED = 2**20, 2**21  # pairs: of rows to keep (some stay unused), of others
_BLOCK_SHARE = 8  # share of the memory for the block of rows being computed
_ROOM = 0.125  # share of a row for variables that are added later
# Computed values, also in units of the Gram matrix, above which a warning about memory is given:
# about 10 s.
_MANY_VALUES, _MANY_MATRICES = 2**31, 10
_ALIGNMENT = 16  # a row is a multiple of this number of values
_NARROW = 1e-20, 1e20  # range of values that float32 holds, with room for smaller and larger ones


class _Gathered:
    """Active variables whose rows are in a matrix ``K``, or gathered from it when first used."""

    @property
    def _whole(self):
        """Whether all variables are active, so that no rows are gathered."""
        return self.active.rows is self.active.source

    def worth_keeping(self, n):
        """Whether it is faster to reduce the active variables to n of them."""
        share = _WORTH_COPYING if self._whole else _WORTH_COMPACTING
        return n < share * self.index.size

    def keep(self, kept):
        """Reduce the active variables to their positions ``kept``."""
        active, self.index = self.active, self.index[kept]
        if self._whole:
            buffer = self._memory(kept.size, self.K.dtype)
            slot = active.slot[kept]
            slot = np.where(slot < 0, slot, -2 - slot)
            active = active._replace(rows=kernels.read_only(buffer), buffer=buffer, slot=slot)
        else:
            active = active._replace(slot=self._compact(active.buffer, active.slot, kept))
        self.active = active._replace(index=active.index[kept])

    @staticmethod
    def _compact(rows, slot, kept):
        """Move kept rows and columns, in place, to the front; row i is in slot i, if gathered."""
        there = slot[kept] >= 0
        for new in np.flatnonzero(there):
            rows[new, : kept.size] = rows[kept[new]].take(kept)
        return np.where(there, np.arange(kept.size), slot[kept])

    @staticmethod
    def _memory(n, dtype):
        # Zeros, because the loops may read (and ignore) a row before it is filled.
        return np.zeros((n, -(-n // 8) * 8), dtype=dtype)


class MatrixRows(_Gathered):
    """The rows of a matrix in memory, or those of some samples.

    Parameters
    ----------
    K : (m, m) C-contiguous float64 or float32
        Not modified.
    part : (n,) intp, optional
        The samples; all by default.
    """

    exact = finest = True
    keeps_all = False

    def __init__(self, K, part=None):
        self.K, diagonal = kernels.read_only(K), K.diagonal()
        self._part = np.arange(len(K)) if part is None else part
        self._all = part is None
        self.diagonal = diagonal[self._part].astype(np.float64)
        self.steps_between_shrinks = max(self._part.size // 2, _LEAST_STEPS)
        self.scale = _scale(self.diagonal, lambda: self.K[self._part[0]])

    def activate(self, index):
        """Make these variables active, or all if they are most; returns the active ones."""
        n = self._part.size
        buffer, used = np.empty((0, 0), dtype=self.K.dtype), np.zeros(len(self.K) + 1, np.int64)
        self.index = np.arange(n)
        self.active = kernels.Active(self.K, self.K, buffer, self._part, used, self._part)
        if self._all and not self.worth_keeping(index.size):
            return self.index
        self.keep(index)
        return index

    def refine(self):
        """The rows are as exact as they can be."""

    def add_products(self, gradient, used, weights):
        """gradient += sum_k weights[k] K[used[k]], for all variables."""
        for some, rows in _gathered(self.K, self._part[used]):
            gradient += weights[some] @ (rows if self._all else rows.take(self._part, axis=1))


class RowCache:
    """Rows of a matrix that is not held: computed in blocks, the last used ones kept in float32.

    Parameters
    ----------
    rows : callable
        ``rows(columns)`` gives a function from an index to these rows of the matrix, restricted to
        the columns: (len(index), len(columns)), float64 or float32; None stands for all columns.
    n_samples : int
    memory : int
        Bytes that the rows may take, with the block being computed and the solver's own arrays.
    times : callable, optional
        ``times(rows, columns, weights)`` gives the product of that part of the matrix with weights
        of the columns, where the weights sum to 0; found from ``rows`` by default.
    diagonal : (m,) float64, optional
        Found from ``rows`` by default.
    single : callable, optional
        As ``rows``, to the precision of float32, for rows that are kept so.

    Raises
    ------
    ValueError
        Where ``memory`` does not hold two rows.

    Notes
    -----
    Rounding of the rows only steers the solver. Unlike in LIBSVM, whose cache holds float32 too,
    the gradient is brought up to date from exact rows before a solution is accepted. Where that
    makes no progress any more, `refine` keeps the rows in float64 from then on.
    """

    exact = keeps_all = False

    def __init__(self, rows, n_samples, memory, *, times=None, diagonal=None, single=None):
        check_cache_memory(n_samples, memory)
        self.single = rows if single is None else single
        self.rows, self.times, self.m, self.memory = rows, times, n_samples, memory
        self.diagonal = self._diagonal() if diagonal is None else diagonal
        self.scale = _scale(self.diagonal, lambda: rows(None)(np.zeros(1, dtype=np.intp)))
        self.n_values = 0  # kernel values
        self._block = (memory - _own_arrays(n_samples)) // _BLOCK_SHARE
        self._set_type(type_of_rows(self.scale))

    def subset(self, index):
        """The same for some of the samples."""

        def taken(some):
            return index if some is None else index[some]

        def part_of(whole):
            def rows(columns):
                compute = whole(taken(columns))
                return lambda some, *out: compute(index[some], *out)

            return rows

        def times(some, columns, weights):
            return self.times(taken(some), index[columns], weights)

        return type(self)(
            part_of(self.rows),
            index.size,
            self.memory,
            times=None if self.times is None else times,
            diagonal=self.diagonal[index],
            single=part_of(self.single),
        )

    def _diagonal(self):
        step, out = 128, np.empty(self.m)
        for first in range(0, self.m, step):
            index = np.arange(first, min(first + step, self.m))
            out[index] = np.diagonal(self.rows(index)(index))
        return out

    def _set_type(self, dtype):
        """Set the type of stored rows, before any is stored."""
        share = self.memory - _own_arrays(self.m) - self._block
        self.dtype = np.dtype(dtype)
        self._size = min(share // self.dtype.itemsize, self.m * _with_room(self.m))
        self._store = None

    @property
    def _kept_rows(self):
        """A function that computes rows to be stored."""
        return self.rows if self.finest else self.single

    @property
    def finest(self):
        """Whether rows are kept in float64."""
        return self.dtype == np.float64

    @property
    def most(self):
        """Number of variables up to which all of their rows fit.

        With more, the steps for a large C pass through more rows in turn than fit, so that every
        step computes a row, which is many times as slow.
        """
        return max(int(np.sqrt(self._size / (1.0 + _ROOM))) - _ALIGNMENT, 2)

    def activate(self, index):
        """Make these variables active; returns them in the order in which they are laid out.

        Rows at hand are kept where the new ones are not wider: missing columns are added.
        """
        if self._store is None or index.size > self.active.buffer.shape[1]:
            if self._store is None:
                # An operating system that commits memory on first write uses no more than needed.
                self._store = np.zeros(self._size, dtype=self.dtype)
            self._lay_out(index, _with_room(index.size))
            return index
        wanted = np.zeros(self.m, dtype=bool)
        wanted[index] = True
        stays = np.flatnonzero(wanted[self.index])
        wanted[self.index] = False
        added = np.flatnonzero(wanted)
        order = np.concatenate([self.index[stays], added])
        n_rows = self._keep_rows(order, stays, self.active.buffer.shape[1])
        if n_rows and added.size:
            compute, owners = self._kept_rows(added), order[self._owner[:n_rows]]
            step = self._rows_in(_LOADED, added.size)
            for first in range(0, n_rows, step):
                block = compute(owners[first : first + step])
                self.active.buffer[first : first + len(block), stays.size : order.size] = block
        return order

    def keep(self, kept):
        """Reduce the active variables to the positions ``kept`` of them, in increasing order."""
        self._keep_rows(self.index[kept], kept, _padded(kept.size))

    def _keep_rows(self, index, stays, width):
        """Lay out ``index``, which begins with the active variables at the positions ``stays``.

        Their rows are kept; return their number.
        """
        old = self.active
        position = np.full(self.index.size, -1)
        position[stays] = np.arange(stays.size)
        slots = np.flatnonzero((self._owner >= 0) & (position[self._owner] >= 0))
        widths = old.buffer.shape[1], width
        self._repack(widths, slots, stays)
        owner = position[self._owner[slots]]
        self._lay_out(index, width)
        self._owner[: slots.size] = owner
        self.active.slot[owner] = np.arange(slots.size)
        self.active.used[: slots.size] = old.used[slots]
        self.active.used[-1] = old.used[-1]
        return slots.size

    def _repack(self, widths, slots, stays):
        """Move the rows in increasing slots to the front, with only the columns that stay.

        ``widths`` are those of a row before and after, with padding; the latter is not larger.
        """
        old, new = widths
        for k, slot in enumerate(slots.tolist()):
            self._store[k * new : k * new + stays.size] = self._store[
                slot * old : slot * old + old
            ].take(stays)

    def _lay_out(self, index, width):
        """An `Active` on these variables, with as many slots for their rows as there is room."""
        n_slots = min(self._store.size // width, index.size)
        buffer = self._store[: n_slots * width].reshape(n_slots, width)
        self._owner, self.index = np.full(n_slots, -1), index
        self.active = kernels.Active(
            source=np.empty((0, 0), dtype=self.dtype),
            rows=kernels.read_only(buffer),
            buffer=buffer,
            slot=np.full(index.size, -1),
            used=np.zeros(n_slots + 1, dtype=np.int64),
            index=index,
        )
        self._compute = self._kept_rows(index)
        self.steps_between_shrinks = max(_STEPS * index.size, _LEAST_STEPS)

    def worth_keeping(self, n):
        """Whether it is faster to reduce the active variables to n of them."""
        return n < _WORTH_COMPACTING * self.index.size

    def load(self, needed, urgency):
        """Compute the row of a variable and of those that are likely to be needed next.

        Parameters
        ----------
        needed : int
            Position among the active variables.
        urgency : (n,) float64
            Of the active variables; where it is 0 a row is not computed in advance.
        """
        active = self.active
        n = min(self._rows_in(_LOADED, self.index.size), max(1, self._owner.size - 1))
        urgency = np.where(active.slot < 0, urgency, 0.0)
        urgency[needed] = np.inf
        wanted = np.flatnonzero(urgency)
        if wanted.size > n:
            wanted = wanted[np.argpartition(-urgency[wanted], n - 1)[:n]]
        self.n_values += wanted.size * self.index.size
        slots = self._free(wanted.size)
        dropped = self._owner[slots]
        active.slot[dropped[dropped >= 0]] = -1
        active.buffer[slots, : self.index.size] = self._compute(self.index[wanted])
        active.slot[wanted] = slots
        self._owner[slots] = wanted
        active.used[slots] = active.used[-1]
        # The time advances first, so that no row of the pair to be moved is dropped.
        active.used[-1] += 1

    def _free(self, n):
        """n slots: empty ones first, in order, then the least recently used."""
        empty = np.flatnonzero(self._owner < 0)[:n]
        if empty.size == n:
            return empty
        when = np.where(self._owner < 0, -1, self.active.used[:-1])
        return np.argpartition(when, n - 1)[:n] if n < when.size else np.arange(n)

    def add_products(self, gradient, used, weights, index=None):
        """gradient += sum_k weights[k] K[used[k], index], for all m variables or some."""
        self.n_values += used.size * gradient.size
        if self.times is not None:
            gradient += self.times(index, used, weights)
            return
        compute = self.rows(index)
        step = self._rows_in(_MULTIPLIED, gradient.size)
        for first in range(0, used.size, step):
            part = slice(first, first + step)
            gradient += weights[part] @ compute(used[part])

    def _rows_in(self, n_pairs, width):
        """The number of rows of a width to compute at a time."""
        return int(min(max(n_pairs // width, _FEWEST), max(self._block // (8 * width), 1)))

    def warn_slow(self):
        """Warn where so little memory made most of the work, with what would do."""
        if self.n_values > max(_MANY_VALUES, _MANY_MATRICES * self.m**2):
            doubt(
                f"memory={self.memory} bytes hold few of the rows that the solver needs: it "
                f"computed as many kernel values as {self.n_values / self.m**2:.0f} Gram matrices "
                f"have; with memory of {12 * self.m**2} bytes it computes one matrix."
            )

    def refine(self):
        """Keep rows in float64 from the next `activate` on."""
        if not self.finest:
            self._set_type(np.float64)


class FullRows(_Gathered, RowCache):
    """Whole rows of a matrix for which there is memory, each computed when it is first needed.

    Arguments are those of `RowCache`; ``memory`` is that of the matrix in float64, of which a part
    is used. Products with rows at hand are to the precision of these rows; `exact_products` are
    what a solution is accepted by.
    """

    keeps_all = True

    def _set_type(self, dtype):
        self.dtype, m = np.dtype(dtype), self.m
        # An operating system that commits memory on first write uses no more than needed.
        self.K = np.empty((m, m), dtype=dtype)
        self.K[:1] = 0.0  # the initial state of the loops; its value does not matter
        self.place, self._n_rows, self._fill = np.full(m, -1), 0, None

    @property
    def most(self):
        """Number of variables up to which rows fit."""
        return self.m

    def activate(self, index):
        """Make these variables active; returns the active ones."""
        self.index = np.arange(self.m)
        used, buffer = np.zeros(self.m + 1, np.int64), np.empty((0, 0), dtype=self.dtype)
        source = kernels.read_only(self.K)
        self.active = kernels.Active(source, source, buffer, self.place.copy(), used, self.index)
        if self.worth_keeping(index.size):
            self.keep(index)
        self.steps_between_shrinks = max(_STEPS * self.index.size, _LEAST_STEPS)
        return self.index

    def load(self, needed, urgency):
        """As `RowCache.load`."""
        slot, n = self.active.slot, self._rows_in(_LOADED, self.m)
        urgency = np.where(slot == -1, urgency, 0.0)
        urgency[needed] = np.inf
        wanted = np.flatnonzero(urgency)
        if wanted.size > n:
            wanted = wanted[np.argpartition(-urgency[wanted], n - 1)[:n]]
        self._compute(self.index[wanted])
        place = self.place[self.index[wanted]]
        slot[wanted] = place if self._whole else -2 - place

    def _compute(self, samples):
        """Compute missing rows."""
        samples = samples[self.place[samples] < 0]
        self._fill, step = self._fill or self._kept_rows(None), self._rows_in(_LOADED, self.m)
        for first in range(0, samples.size, step):
            some = samples[first : first + step]
            last = self._n_rows + some.size
            self._fill(some, self.K[self._n_rows : last])
            self.place[some] = np.arange(self._n_rows, last)
            self._n_rows = last

    def add_products(self, gradient, used, weights):
        """gradient += sum_k weights[k] K[used[k]] to the precision of the rows kept."""
        self._compute(used)
        weights = weights.astype(self.dtype)
        for some, rows in _gathered(self.K, self.place[used]):
            gradient += weights[some] @ rows

    def exact_products(self, gradient, used, weights, index):
        """The same, exactly, for some of the variables."""
        RowCache.add_products(self, gradient, used, weights, index)


def check_cache_memory(n_samples, memory):
    """Refuse memory that does not hold two rows, with what would do."""
    least = least_memory(n_samples)
    if memory < least:
        raise ValueError(
            f"memory={memory} bytes are too few for two rows of the Gram matrix of "
            f"{n_samples} samples and the arrays of the solver; accepted: at least "
            f"{least}."
        )


def least_memory(n_samples):
    """Bytes below which `RowCache` cannot work: its rows are float64 in the end."""
    two_rows = 8 * 2 * _with_room(n_samples)
    return _own_arrays(n_samples) + -(-two_rows * _BLOCK_SHARE // (_BLOCK_SHARE - 1))


def type_of_rows(largest):
    """float32, or float64 for values that it does not hold."""
    return np.float32 if _NARROW[0] <= largest <= _NARROW[1] else np.float64


def _gathered(K, index):
    """Yield slices of an index array with these rows of a matrix, in memory that is used again.

    Workers of Dask return freed memory to the system at once, and the first write to new memory
    took most of the time of a sum.
    """
    step = min(max(_GATHERED // K.shape[1], 1), index.size)
    memory = np.empty((step, K.shape[1]), dtype=K.dtype)
    for first in range(0, index.size, step or 1):
        some = index[first : first + step]
        rows = np.take(K, some, axis=0, out=memory[: some.size], mode="clip")
        yield slice(first, first + some.size), rows


def _scale(diagonal, first_row):
    """Size of the values: from the diagonal or, for kernels without a constant, from a row."""
    largest = np.abs(diagonal).max(initial=0.0)
    return float(largest or np.abs(first_row()).max(initial=0.0)) or 1.0


def _own_arrays(n_samples):
    """Bytes of the solver's state, its copies and the indices."""
    return 8 * 24 * n_samples


def _with_room(n):
    """Width for n variables and some that are added later."""
    return _padded(n + int(_ROOM * n))


def _padded(n):
    return -(-n // _ALIGNMENT) * _ALIGNMENT
