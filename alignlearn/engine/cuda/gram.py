"""Weighted sums of kernels on a CUDA device, and matrix-free products with them.

A block of 16 x 8 threads takes a tile of 64 columns and 64 rows, and each thread 8 x 4 pairs of it
(fewer for long programs and if values are stored). The features of these samples are staged in
shared memory, and a thread uses every value that it reads there for four or eight pairs. In the
machine code for compute capability 9.0 the loop takes 84 instructions for a feature, 64 of them
arithmetic of distances; a product with a Gaussian of 20 features takes about 79 instructions a pair
in all, and 64 registers in float32: 32 of 64 warps. With 4 x 4 pairs it is 94. (Speed is not
measured.) Neighboring threads take neighboring columns: they read shared memory without conflicts
and write whole lines. Where more than two columns are multiplied, threads take 4 x 4 pairs and up
to six columns for one evaluation of the kernels. Samples with too many features for shared memory
are read through the first level cache by the same loop.

Sums over columns are taken in the type of the samples over the 4 columns of a thread, and in
float64 from there: across tiles, across the threads of a row, and across parts of the columns, in
this order. The transposed product of ``normal_times`` evaluates the kernels a second time. Storing
the values instead would need 8 bytes of traffic a pair, which costs about the same for 20 features
(79 instructions on 132 multiprocessors against 3.35 TB/s), and memory would limit the size of a
box.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numba import config, cuda, float64, from_dtype

from alignlearn._jit import cuda_kernel

from .. import external
from .gram_tiles import ACROSS, DOWN, is_staged, sum_functions, tile_functions
from .pair_sums import bind
from .parts import TARGET_THREADS, add_parts, n_blocks, residual, transpose, transposed
from .program import pair_functions

# Pairs of a thread (rows, columns) for programs up to this number of operations, whose instructions
# are written out for each pair.
_PAIRS = ((8, (8, 4)), (24, (4, 4)), (96, (2, 2)), (None, (1, 2)))
_WHOLE = max(4 * ACROSS, 8 * DOWN)  # samples that make whole tiles of any size
_MOST_WEIGHTS = 32  # more are passed in an array: arguments of a kernel are limited to 4 kB
# Columns of V per evaluation of K: the maximum for this number of rows of a thread. (With four
# rows, five columns take 96 registers in float32 and 128 in float64; eight take 164 and 196.)
_COLUMNS = {8: 2, 4: 6, 2: 8, 1: 8}
_FEW_TILES = 1 if config.ENABLE_CUDASIM else 4  # minimum number of columns in a part


@lru_cache(maxsize=64)
def _gram_kernel(pair, rows, columns, n_bound):
    """out[i, j] = the weighted sum for the pair (X[:, i], Z[:, j])."""
    U = np.uint64
    stage, numbers_of, places_of, block = tile_functions(pair, rows, columns, n_bound)
    stage_x, stage_z = stage
    (row_numbers, column_numbers), (row_places, column_places) = numbers_of, places_of
    primitives, real = pair.primitives, from_dtype(pair.dtype)
    staged = is_staged(n_bound, rows, columns, pair.dtype)
    height, width = rows * DOWN, columns * ACROSS
    down, across, tall, wide = U(DOWN), U(ACROSS), U(height), U(width)
    depth = n_bound if staged else 1

    @cuda_kernel
    def gram(X, Z, FX, FZ, near, numbers, ranges, weights, out):
        x = cuda.shared.array((depth, height), real)
        z = cuda.shared.array((depth, width), real)
        n, m = U(FX.shape[1]), U(FZ.shape[1])
        top, left = U(cuda.blockIdx.y) * tall, U(cuda.blockIdx.x) * wide
        row, column = U(cuda.threadIdx.y), U(cuda.threadIdx.x)
        i, j = row_numbers(top + row, down, n), column_numbers(left + column, across, m)
        if staged:
            stage_x(X, top, x)
            stage_z(Z, left, z)
            cuda.syncthreads()
            p, q = row_places(row, down, tall), column_places(column, across, wide)
            found = primitives(x, p, z, q, ranges)
        else:
            found = primitives(X, i, Z, j, ranges)
        values = block(found, i, j, FX, FZ, near, numbers, weights)
        for r in range(rows):
            for c in range(columns):
                # Past the end, threads compute the last pair again and do not store it.
                if top + row + U(r) * down < n and left + column + U(c) * across < m:
                    out[i[r], j[c]] = values[r * columns + c]

    return gram


@lru_cache(maxsize=64)
def _times_kernel(pair, rows, columns, n_bound, n_sums):
    """out[t, i, s] = sum over the t-th part of the columns j of K_ij V[s, j], s < n_sums."""
    U = np.uint64
    stage, numbers_of, places_of, block = tile_functions(pair, rows, columns, n_bound)
    stage_x, stage_z = stage
    (row_numbers, column_numbers), (row_places, column_places) = numbers_of, places_of
    add, write = sum_functions(pair.dtype, rows, columns, n_sums)
    primitives, real = pair.primitives, from_dtype(pair.dtype)
    staged = is_staged(n_bound, rows, columns, pair.dtype)
    height, width, n_across, n_down = rows * DOWN, columns * ACROSS, ACROSS, DOWN
    down, across, tall, wide = U(DOWN), U(ACROSS), U(height), U(width)
    depth = n_bound if staged else 1

    @cuda_kernel
    def times(X, Z, FX, FZ, near, numbers, ranges, weights, V, step, out):
        x = cuda.shared.array((depth, height), real)
        z = cuda.shared.array((depth, width), real)
        sums = cuda.shared.array((n_down, n_across), float64)
        total = cuda.local.array((rows, n_sums), float64)
        n, m = U(FX.shape[1]), U(FZ.shape[1])
        top, left = U(cuda.blockIdx.x) * tall, U(cuda.blockIdx.y) * U(step)
        last = left + U(step)
        last = last if last < m else m
        row, column = U(cuda.threadIdx.y), U(cuda.threadIdx.x)
        i = row_numbers(top + row, down, n)
        p, q = row_places(row, down, tall), column_places(column, across, wide)
        for r in range(rows):
            for s in range(n_sums):
                total[r, s] = 0.0
        if staged:
            stage_x(X, top, x)
        while left < last:
            j = column_numbers(left + column, across, m)
            if staged:
                cuda.syncthreads()
                stage_z(Z, left, z)
                cuda.syncthreads()
                found = primitives(x, p, z, q, ranges)
            else:
                found = primitives(X, i, Z, j, ranges)
            values = block(found, i, j, FX, FZ, near, numbers, weights)
            add(values, V, j, left + column, last, total)
            left += wide
        write(total, sums, row, column, top + row, n, out)

    return times


class _Cross:
    """The base of the operations; data are `CrossData`."""

    _most_rows = 8  # of a thread

    def __init__(self, data):
        self._data, self._program = data, data.program
        self.dtype = np.dtype(data.VX.dtype)
        n_ops = len(self._program.code)
        rows, columns = next(p for most, p in _PAIRS if most is None or n_ops <= most)
        self._pairs = min(rows, self._most_rows), columns
        self._pair = pair_functions(
            self._program, self.dtype, rows=self._pairs[0], columns=self._pairs[1]
        )
        features, means = data.ops[3:5]
        self._n_bound = max(len(features), 1)
        numbers, self._ranges = self._pair.arguments(self._program)
        weights = self._weights().astype(self.dtype)
        self._tuples = [
            tuple(values) if isinstance(values, tuple) or len(values) <= _MOST_WEIGHTS else None
            for values in (numbers, weights)
        ]
        self.rows = data.VX, np.ascontiguousarray(data.FX.T)
        self.columns = data.VZ, np.ascontiguousarray(data.FZ.T)
        self.whole = (
            features.astype(np.int64),
            np.asarray(means, dtype=np.float64),
            np.asarray(numbers, dtype=self.dtype),
            weights,
        )

    def _weights(self):
        return np.asarray(self._data.weights, dtype=np.float64)

    def ranges(self, box):
        """All columns, for a range of rows."""
        return slice(*box), slice(0, len(self._data.VZ))

    def outside(self, rows, columns):
        """Values of the external kernels of these pairs, in the samples' type."""
        if not self._program.external:
            return None
        X, Z = self._data.X[rows], self._data.Z[columns]
        memory = external.buffer(self._program, len(X) * len(Z))
        return external.block(self._program, X, Z, memory).astype(self.dtype, copy=False)

    def finish(self, box, result):
        """The result in its form on the device."""
        return result

    def _scratch(self, n_rows, n_columns):
        """Bytes of bound features, factors and external values."""
        per_sample = self._n_bound * self.dtype.itemsize + 8 * max(self._data.FX.shape[0], 1)
        outside = len(self._program.external) * n_rows * n_columns * self.dtype.itemsize
        return (n_rows + n_columns) * per_sample + outside

    def _bound(self, rows, columns, whole, near, room):
        """The first arguments of the kernels: features, factors, external values, and numbers."""
        features, means, numbers, weights = whole
        sides = [
            bind(room, name, arrays[0], arrays[0], features, means, _WHOLE)
            for name, arrays in (("X", rows), ("Z", columns))
        ]
        factors = [
            transposed(room, name, arrays[1], np.float64)
            for name, arrays in (("FX", rows), ("FZ", columns))
        ]
        near = room.array("no values", (1, 1, 1), self.dtype) if near is None else near
        values = [
            array if given is None else given
            for given, array in zip(self._tuples, (numbers, weights))
        ]
        ranges = self._ranges
        if not isinstance(ranges, tuple):
            ranges = cuda.to_device(ranges, room.stream)
        return *sides, *factors, near, values[0], ranges, values[1]


class Gram(_Cross):
    """``sum_k weights_k K_k`` for a range of rows, (n, m), of the samples' type."""

    _most_rows = 4  # with more values, the compiler does not unroll the loop that stores them

    def scratch(self, n_rows, n_columns):
        """Bytes of the result, and of what every operation needs."""
        return n_rows * n_columns * self.dtype.itemsize + self._scratch(n_rows, n_columns)

    def launch(self, box, rows, columns, whole, near, room):
        """A block of threads for each tile."""
        n, m = len(rows[0]), len(columns[0])
        bound = self._bound(rows, columns, whole, near, room)
        out = room.array("values", (n, m), self.dtype)
        grid = n_blocks(m, self._pairs[1] * ACROSS), n_blocks(n, self._pairs[0] * DOWN)
        kernel = _gram_kernel(self._pair, *self._pairs, self._n_bound)
        kernel[grid, (ACROSS, DOWN), room.stream](*bound, out)
        return [out]


class Times(_Cross):
    """``K V`` for a range of rows, (n, c), float64; a few columns for each evaluation of K."""

    def __init__(self, data):
        # With more rows, a thread needs fewer instructions per pair; with fewer, it has more
        # registers for sums.
        self._most_rows = 8 if len(data.columns) <= _COLUMNS[8] else 4
        super().__init__(data)
        V = np.asarray(data.columns, dtype=np.float64)
        # Scaled by powers of two, so that float32 columns of any magnitude keep their digits.
        self._unit = np.frexp(np.abs(V).max(axis=1, initial=0.0))[1]
        scaled = np.ldexp(V, -self._unit[:, None]).T
        self.columns = *self.columns, np.ascontiguousarray(scaled)

    def _weights(self):
        """The weights; a single kernel is not multiplied by its weight, as on the CPU."""
        weights = super()._weights()
        return np.ones(1) if len(weights) == 1 else weights

    def scratch(self, n_rows, n_columns):
        """Bytes of the columns, of partial sums and of the result."""
        c = len(self._unit)
        sums = 8 * c * n_rows * (2 + self._n_parts(n_rows, n_columns))
        columns = c * (n_rows + n_columns) * self.dtype.itemsize
        return sums + columns + self._scratch(n_rows, n_columns)

    def _n_parts(self, n, m):
        """The number of parts of the columns: enough threads, with a few tiles for each."""
        blocks = n_blocks(n, self._pairs[0] * DOWN) * ACROSS * DOWN
        tiles = n_blocks(m, self._pairs[1] * ACROSS)
        return max(1, min(n_blocks(tiles, _FEW_TILES), TARGET_THREADS // blocks))

    def launch(self, box, rows, columns, whole, near, room):
        """Products of a few columns of V at a time."""
        bound = self._bound(rows, columns[:2], whole, near, room)
        V = transposed(room, "V", columns[2], self.dtype)
        return [self._times(bound, V, "product", room)]

    def _times(self, bound, V, name, room):
        """The product of V (c, m), an array (n, c) on the device."""
        n, m, c = bound[2].shape[1], bound[3].shape[1], V.shape[0]
        out = room.array(name, (n, c), np.float64)
        width = self._pairs[1] * ACROSS
        step = n_blocks(n_blocks(m, width), self._n_parts(n, m)) * width
        n_parts = n_blocks(m, step)
        grid = n_blocks(n, self._pairs[0] * DOWN), n_parts
        count = n_blocks(c, _COLUMNS[self._pairs[0]])
        for first, last in pairwise(c * k // count for k in range(count + 1)):
            some = last - first
            kernel = _times_kernel(self._pair, *self._pairs, self._n_bound, some)
            sums = room.array((name, some), (n_parts, n, some), np.float64)
            kernel[grid, (ACROSS, DOWN), room.stream](*bound, V[first:last], step, sums)
            add_parts(sums, out, first, room.stream)
        return out

    def finish(self, box, product):
        """Units of the columns."""
        return np.ldexp(product, self._unit)


class NormalTimes(Times):
    """``K' diag(row_weight) (K V - 1 shift')`` of a range of rows of K, (c, m), float64."""

    def __init__(self, data):
        super().__init__(data)
        weight = np.asarray(data.row_weight, dtype=np.float64)
        self._weight_unit = np.frexp(np.abs(weight).max(initial=0.0))[1]
        self.rows = *self.rows, np.ldexp(weight, -self._weight_unit)[:, None]
        shift = np.asarray(data.shift, dtype=np.float64)
        self.whole = *self.whole, np.ldexp(shift, -self._unit)

    def scratch(self, n_rows, n_columns):
        """As for one product, and the same with rows and columns exchanged."""
        both = self._n_parts(n_rows, n_columns) * n_rows + self._n_parts(n_columns, n_rows)
        both = both + (self._n_parts(n_columns, n_rows) + 2) * n_columns
        return super().scratch(n_rows, n_columns) + 8 * len(self._unit) * both

    def launch(self, box, rows, columns, whole, near, room):
        """The product, the residual, and the product with the transposed matrix."""
        bound = self._bound(rows[:2], columns[:2], whole[:4], near, room)
        V = transposed(room, "V", columns[2], self.dtype)
        product = self._times(bound, V, "product", room)
        n, c = product.shape
        U = room.array("residual", (c, n), self.dtype)
        blocks = n_blocks(n, ACROSS * DOWN)
        residual[blocks, ACROSS * DOWN, room.stream](product, whole[4], rows[2], U)
        X, Z, FX, FZ, near, *numbers = bound
        turned = Z, X, FZ, FX, self._turned(near, room), *numbers
        return [self._times(turned, U, "turned", room)]

    def _turned(self, near, room):
        """External values with rows and columns exchanged."""
        k, n, m = near.shape
        out = room.array("turned values", (k, m, n), near.dtype)
        for q in range(len(self._program.external)):
            transpose(near[q], out[q], room.stream)
        return out

    def finish(self, box, product):
        """Units of columns and weights."""
        return np.ascontiguousarray(np.ldexp(product, self._unit + self._weight_unit).T)
