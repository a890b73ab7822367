"""Hyper-kernels between pairs of points on a CUDA device; see `alignlearn.engine.hyper_values`.

A block of threads takes a few pairs p. Its threads go through the pairs q side by side, so that the
values of q are read once, and contiguously, for all these p. Neighboring q often share a point and
then read neighboring entries of the table. Arithmetic is in the table's type. Sums of products are
in float64, after a few values were added in the table's type.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import cuda, float64, from_dtype

from alignlearn._jit import cuda_device, cuda_kernel

from .. import formulas
from ..hyper_values import CONSTANTS, PRODUCT
from .parts import TARGET_THREADS, THREADS, add_parts, n_blocks

_ROWS = 4  # pairs p of a block
_RUN = 8  # values that are added in the table's type before they are added in float64


@cache
def _value(kind, dtype):
    """Device function ``value(table, i, j, r, s, ...)`` of a form, its constants in one type.

    ``own_p`` and ``own_q`` contain all pairs, (n, n_rungs); the function reads the rows p and q.

    Indices are unsigned, because signed ones are checked for negative values at every use.
    """
    U = np.uint64
    constants = tuple(np.dtype(dtype).type(c) for c in CONSTANTS)
    determinant = cuda_device(formulas.pair_determinant)

    @cuda_device
    def product(near, own_p, p, size_p, own_q, q, size_q, power, squarings):
        t = (near[0] * near[3]) * (near[1] * near[2])
        total = (own_p[p, U(0)] * own_q[q, U(0)]) * t
        for k in range(1, squarings.shape[0]):
            for _ in range(squarings[k] - squarings[k - 1]):
                t *= t
            total += (own_p[p, U(k)] * own_q[q, U(k)]) * t
        return total

    @cuda_device
    def density(near, own_p, p, size_p, own_q, q, size_q, power, squarings):
        one, half = constants[0], constants[1]
        first = one + half * size_p
        ends = near[0] + near[2], near[1] + near[3], near[0] - near[2], near[1] - near[3]
        det = first * determinant(ends, size_p, one / first, size_q, constants)
        return math.exp((own_p[p, U(0)] + own_q[q, U(0)]) - power * math.log(det))

    form = product if kind == PRODUCT else density

    @cuda_device
    def value(table, i, j, r, s, own_p, p, size_p, own_q, q, size_q, power, squarings):
        i, j, r, s = U(i), U(j), U(r), U(s)
        near = table[i, r], table[i, s], table[j, r], table[j, s]
        return form(near, own_p, U(p), size_p, own_q, U(q), size_q, power, squarings)

    return value


@cache
def _gram(kind, dtype):
    value = _value(kind, dtype)

    @cuda_kernel
    def gram(
        table, first_p, second_p, own_p, size_p, first, second, own, size, power, squarings, out
    ):
        q = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
        if q >= first.shape[0]:
            return
        r, s, size_q = first[q], second[q], size[q]
        for k in range(_ROWS):
            p = cuda.blockIdx.x * _ROWS + k
            if p >= first_p.shape[0]:
                return
            out[p, q] = value(
                table, first_p[p], second_p[p], r, s, own_p, p, size_p[p], own, q, size_q, power,
                squarings,
            )  # fmt: skip

    return gram


@cache
def _times(kind, dtype):
    """out[t, p, 0] = sum of coef[q] k(p, q) over the t-th part of the pairs q."""
    value, zero, n_threads = _value(kind, dtype), np.dtype(dtype).type(0), THREADS
    real, U = from_dtype(np.dtype(dtype)), np.uint64
    width, run, rows = U(THREADS), U(_RUN * THREADS), U(_ROWS)

    @cuda_kernel
    def times(
        table, first_p, second_p, own_p, size_p, first, second, own, size, coef, power, squarings,
        step, out,
    ):  # fmt: skip
        sums = cuda.shared.array((_ROWS, n_threads), float64)
        part = cuda.local.array(_ROWS, real)
        total = cuda.local.array(_ROWS, float64)
        thread, top, n = U(cuda.threadIdx.x), U(cuda.blockIdx.x) * rows, U(first_p.shape[0])
        start, m = U(cuda.blockIdx.y) * U(step), U(first.shape[0])
        last = start + U(step) if start + U(step) < m else m
        for k in range(_ROWS):
            total[k] = 0.0
        start += thread
        while start < last:
            for k in range(_ROWS):
                part[k] = zero
            end = start + run
            end = end if end < last else last
            while start < end:
                r, s, c, size_q = first[start], second[start], coef[start], size[start]
                for k in range(_ROWS):
                    p = top + U(k) if top + U(k) < n else top
                    part[k] += c * value(
                        table, first_p[p], second_p[p], r, s, own_p, p, size_p[p], own, start,
                        size_q, power, squarings,
                    )  # fmt: skip
                start += width
            for k in range(_ROWS):
                total[k] += float64(part[k])
        for k in range(_ROWS):
            sums[k, thread] = total[k]
        cuda.syncthreads()
        # For each p one thread adds the sums in the order of the threads.
        if thread < rows and top + thread < n:
            result = 0.0
            for t in range(n_threads):
                result += sums[thread, t]
            out[cuda.blockIdx.y, top + thread, 0] = result

    return times


class _Pairs:
    """The base of both operations; data are `hyper_values.PairTimes`."""

    def __init__(self, data):
        self._form, self.dtype = data.form, np.dtype(data.table.dtype)
        self.rows, self.columns = self._side(data.left), self._side(data.right)
        self.whole = data.table, self._form.squarings
        self._n = data.width

    def _side(self, pairs):
        own = (np.ascontiguousarray(part, self.dtype) for part in (pairs.own.T, pairs.size))
        positions = (part.astype(np.int32) for part in (pairs.first, pairs.second))
        return (*positions, *own)

    def ranges(self, box):
        """All pairs of the right side, for a range of the left one."""
        return slice(*box), slice(0, self._n)

    def outside(self, rows, columns):
        """There are no external values."""
        return None

    def finish(self, box, result):
        """The result in its form on the device."""
        return result


class PairGram(_Pairs):
    """Values between the pairs of a box and all of the right side, (n, m), of the table's type."""

    def scratch(self, n_rows, n_columns):
        """Bytes of the result."""
        return n_rows * n_columns * self.dtype.itemsize

    def launch(self, box, rows, columns, whole, near, room):
        """A thread for each pair q, for a few pairs p."""
        n, m = len(rows[0]), len(columns[0])
        out = room.array("values", (n, m), self.dtype)
        power = self.dtype.type(self._form.power)
        grid = n_blocks(n, _ROWS), n_blocks(m, THREADS)
        kernel = _gram(self._form.kind, self.dtype.name)
        table, squarings = whole
        kernel[grid, THREADS, room.stream](table, *rows, *columns, power, squarings, out)
        return [out]


class PairTimes(_Pairs):
    """``sum_q coef[q] k(p, q)`` for the pairs p of a box, (n,), float64."""

    def __init__(self, data):
        super().__init__(data)
        self.columns = *self.columns, data.coef.astype(self.dtype, copy=False)

    def scratch(self, n_rows, n_columns):
        """Bytes of the sums and the result."""
        return 8 * n_rows * (1 + self._n_parts(n_rows, n_columns))

    def _n_parts(self, n, m):
        """The number of parts of the columns: enough threads, with enough work for each."""
        blocks = n_blocks(n, _ROWS) * THREADS
        return max(1, min(n_blocks(m, 4 * THREADS), TARGET_THREADS // blocks))

    def launch(self, box, rows, columns, whole, near, room):
        """Sums over parts of the pairs q, then the sum of these."""
        n, m = len(rows[0]), len(columns[0])
        n_parts = self._n_parts(n, m)
        parts = room.array("parts", (n_parts, n, 1), np.float64)
        out = room.array("sums", (n, 1), np.float64)
        power = self.dtype.type(self._form.power)
        kernel = _times(self._form.kind, self.dtype.name)
        grid = n_blocks(n, _ROWS), n_parts
        step = n_blocks(m, n_parts)
        table, squarings = whole
        sides = *rows, *columns
        kernel[grid, THREADS, room.stream](table, *sides, power, squarings, step, parts)
        add_parts(parts, out, 0, room.stream)
        return [out]

    def finish(self, box, result):
        """The one column."""
        return result[:, 0]
