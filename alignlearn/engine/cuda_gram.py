"""Weighted sums of kernels on a CUDA device, and products with them that store none.

A block of 16 x 8 threads takes a tile of 64 columns and 32 rows, each thread 4 x 4 pairs of it (of
long programs fewer): the features of these samples are staged in shared memory, and every value
that a thread reads from there serves four pairs. In the machine code for compute capability 9.0 the
loop takes 92 instructions for two features, 64 of them arithmetic of the distances; a product with
a Gaussian of 20 features takes about 92 instructions a pair in all and 50 registers in float32, 36
of 64 warps. (Speed is not measured.) Neighbouring threads take neighbouring columns: they read
shared memory without conflicts and write whole lines. Samples with too many features for shared
memory are read through the first level cache by the same loop.

Sums over columns are taken in the type of the samples over the 4 columns of a thread, and in
float64 from there: across tiles, across the threads of a row, and across parts of the columns, in
this order. The transposed product of ``normal_times`` evaluates the kernels a second time: storing
the values would take 8 bytes of traffic a pair, which at 20 features costs about the same (92
instructions on 132 multiprocessors against 3.35 TB/s), and memory would bound the size of a box.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import config, cuda, float64, from_dtype

from alignlearn._jit import cuda_device, cuda_kernel

from . import external
from .cuda_parts import TARGET_THREADS, add_parts, n_blocks, transpose, transposed
from .cuda_program import device_function, pair_functions
from .cuda_sums import bind

# Threads of a block side by side, and in the direction of the rows.
_ACROSS, _DOWN = (4, 4) if config.ENABLE_CUDASIM else (16, 8)
_SHARED_BYTES = 40_000  # of the 48 kB a kernel may have without asking for more
# Pairs of a thread, (rows, columns), for programs up to so many operations: their instructions are
# written out for each pair.
_PAIRS = ((24, (4, 4)), (96, (2, 2)), (None, (1, 2)))
_WHOLE = 4 * max(_ACROSS, _DOWN)  # samples that make whole tiles of any size
_MOST_WEIGHTS = 32  # more are passed in an array: arguments of a kernel are limited to 4 kB
_COLUMNS = (1, 2, 4)  # columns of V of one launch: of 8 the sums would not stay in registers
_FEW_TILES = 1 if config.ENABLE_CUDASIM else 4  # columns are not split into parts of fewer


@lru_cache(maxsize=64)
def _tile(pair, rows, columns, n_bound):
    """What both kernels are made of: (stage, numbers, places, block).

    ``stage`` copies the features of a tile's samples, which `bind` leaves in whole tiles, to shared
    memory. ``numbers`` and ``places`` are functions ``(first, step, n)`` for the rows and for the
    columns of a thread: their numbers, the last sample for those past it, and their places in the
    tile. ``block`` makes the weighted sums of all pairs of a thread.
    """
    U = np.uint64
    across, n_threads = U(_ACROSS), _ACROSS * _DOWN

    @cuda_device
    def stage(A, first, width, tile):
        thread = U(cuda.threadIdx.y) * across + U(cuda.threadIdx.x)
        place, f, step = thread % width, thread // width, U(n_threads) // width
        while f < U(A.shape[0]):
            tile[f, place] = A[f, first + place]
            f += step

    def places(n_places, term):
        terms = ", ".join(term.format(f"first + U({k}) * step") for k in range(n_places))
        source = f"def places(first, step, n):\n    return ({terms},)\n"
        return device_function("places", source, {"U": U, "clip": clip})

    @cuda_device
    def clip(i, n):
        return i if i < n else n - U(1)

    pairs = [(r, c) for r in range(rows) for c in range(columns)]
    terms = ", ".join(
        f"weighted(values(q[{n}], i[{r}], j[{c}], FX, FZ, near, numbers), weights)"
        for n, (r, c) in enumerate(pairs)
    )
    source = f"def block(q, i, j, FX, FZ, near, numbers, weights):\n    return ({terms},)\n"
    block = device_function("block", source, {"values": pair.values, "weighted": pair.weighted})
    in_tile = places(rows, "{}"), places(columns, "{}")
    return stage, (places(rows, "clip({}, n)"), places(columns, "clip({}, n)")), in_tile, block


def _is_staged(n_bound, rows, columns, dtype):
    """Whether the features of a tile fit shared memory."""
    return n_bound * (rows * _DOWN + columns * _ACROSS) * dtype.itemsize <= _SHARED_BYTES


@lru_cache(maxsize=64)
def _gram_kernel(pair, rows, columns, n_bound):
    """out[i, j] = the weighted sum for the pair (X[:, i], Z[:, j])."""
    U = np.uint64
    stage, (row_numbers, column_numbers), (row_places, column_places), block = _tile(
        pair, rows, columns, n_bound
    )
    primitives, real = pair.primitives, from_dtype(pair.dtype)
    staged = _is_staged(n_bound, rows, columns, pair.dtype)
    height, width = rows * _DOWN, columns * _ACROSS
    down, across, tall, wide = U(_DOWN), U(_ACROSS), U(height), U(width)
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
            stage(X, top, tall, x)
            stage(Z, left, wide, z)
            cuda.syncthreads()
            p, q = row_places(row, down, tall), column_places(column, across, wide)
            found = primitives(x, p, z, q, ranges)
        else:
            found = primitives(X, i, Z, j, ranges)
        values = block(found, i, j, FX, FZ, near, numbers, weights)
        for r in range(rows):
            for c in range(columns):
                # Past the end the last pair is computed again; it has one place to be written to.
                if top + row + U(r) * down < n and left + column + U(c) * across < m:
                    out[i[r], j[c]] = values[r * columns + c]

    return gram


@lru_cache(maxsize=64)
def _times_kernel(pair, rows, columns, n_bound, n_sums):
    """out[t, i, s] = sum over the t-th part of the columns j of K_ij V[s, j], s < n_sums."""
    U = np.uint64
    stage, (row_numbers, column_numbers), (row_places, column_places), block = _tile(
        pair, rows, columns, n_bound
    )
    primitives, real, zero = pair.primitives, from_dtype(pair.dtype), pair.dtype.type(0)
    staged = _is_staged(n_bound, rows, columns, pair.dtype)
    height, width, n_across, n_down = rows * _DOWN, columns * _ACROSS, _ACROSS, _DOWN
    down, across, tall, wide = U(_DOWN), U(_ACROSS), U(height), U(width)
    depth = n_bound if staged else 1

    @cuda_kernel
    def times(X, Z, FX, FZ, near, numbers, ranges, weights, V, step, out):
        x = cuda.shared.array((depth, height), real)
        z = cuda.shared.array((depth, width), real)
        sums = cuda.shared.array((n_down, n_across), float64)
        part = cuda.local.array(rows, real)
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
            stage(X, top, tall, x)
        while left < last:
            j = column_numbers(left + column, across, m)
            if staged:
                cuda.syncthreads()
                stage(Z, left, wide, z)
                cuda.syncthreads()
                found = primitives(x, p, z, q, ranges)
            else:
                found = primitives(X, i, Z, j, ranges)
            values = block(found, i, j, FX, FZ, near, numbers, weights)
            for s in range(n_sums):
                for r in range(rows):
                    part[r] = zero
                for c in range(columns):
                    v = V[s, j[c]] if left + column + U(c) * across < last else zero
                    for r in range(rows):
                        part[r] += values[r * columns + c] * v
                for r in range(rows):
                    total[r, s] += float64(part[r])
            left += wide
        for r in range(rows):
            for s in range(n_sums):
                sums[row, column] = total[r, s]
                cuda.syncthreads()
                if column == 0 and top + row + U(r) * down < n:
                    result = 0.0
                    for t in range(n_across):
                        result += sums[row, t]
                    out[cuda.blockIdx.y, i[r], s] = result
                cuda.syncthreads()

    return times


@cuda_kernel
def _residual(product, shift, row_weight, out):
    """out[q, i] = row_weight[i] (product[i, q] - shift[q])."""
    i = cuda.grid(1)
    if i < product.shape[0]:
        for q in range(product.shape[1]):
            out[q, i] = row_weight[i, 0] * (product[i, q] - shift[q])


class _Cross:
    """What the operations have in common; data are `CrossData`."""

    def __init__(self, data):
        self._data, self._program = data, data.program
        self.dtype = np.dtype(data.VX.dtype)
        n_ops = len(self._program.code)
        self._pairs = next(p for most, p in _PAIRS if most is None or n_ops <= most)
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
        """The result as the device has it."""
        return result

    def _scratch(self, n_rows, n_columns):
        """Bytes of bound features, factors and values from outside."""
        per_sample = self._n_bound * self.dtype.itemsize + 8 * max(self._data.FX.shape[0], 1)
        outside = len(self._program.external) * n_rows * n_columns * self.dtype.itemsize
        return (n_rows + n_columns) * per_sample + outside

    def _bound(self, rows, columns, whole, near, room):
        """What the kernels take first: features, factors, values from outside, and numbers."""
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

    def scratch(self, n_rows, n_columns):
        """Bytes of the result, and of what every operation needs."""
        return n_rows * n_columns * self.dtype.itemsize + self._scratch(n_rows, n_columns)

    def launch(self, box, rows, columns, whole, near, room):
        """A block of threads for each tile."""
        n, m = len(rows[0]), len(columns[0])
        bound = self._bound(rows, columns, whole, near, room)
        out = room.array("values", (n, m), self.dtype)
        grid = n_blocks(m, self._pairs[1] * _ACROSS), n_blocks(n, self._pairs[0] * _DOWN)
        kernel = _gram_kernel(self._pair, *self._pairs, self._n_bound)
        kernel[grid, (_ACROSS, _DOWN), room.stream](*bound, out)
        return [out]


class Times(_Cross):
    """``K V`` for a range of rows, (n, c), float64; four columns for each evaluation of K."""

    def __init__(self, data):
        super().__init__(data)
        V = np.asarray(data.columns, dtype=np.float64)
        # By powers of two: in float32 columns of any size keep their digits.
        self._unit = np.frexp(np.abs(V).max(axis=1, initial=0.0))[1]
        scaled = np.ldexp(V, -self._unit[:, None]).T
        self.columns = *self.columns, np.ascontiguousarray(scaled)

    def _weights(self):
        """Of one kernel the values are taken as they are, as on the CPU."""
        weights = super()._weights()
        return np.ones(1) if len(weights) == 1 else weights

    def scratch(self, n_rows, n_columns):
        """Bytes of the columns, of partial sums and of the result."""
        c = len(self._unit)
        sums = 8 * c * n_rows * (2 + self._n_parts(n_rows, n_columns))
        columns = c * (n_rows + n_columns) * self.dtype.itemsize
        return sums + columns + self._scratch(n_rows, n_columns)

    def _n_parts(self, n, m):
        """In how many parts the columns are taken: enough threads, and a few tiles for each."""
        blocks = n_blocks(n, self._pairs[0] * _DOWN) * _ACROSS * _DOWN
        tiles = n_blocks(m, self._pairs[1] * _ACROSS)
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
        width = self._pairs[1] * _ACROSS
        step = n_blocks(n_blocks(m, width), self._n_parts(n, m)) * width
        n_parts = n_blocks(m, step)
        grid = n_blocks(n, self._pairs[0] * _DOWN), n_parts
        first = 0
        while first < c:
            some = max(k for k in _COLUMNS if k <= c - first)
            kernel = _times_kernel(self._pair, *self._pairs, self._n_bound, some)
            sums = room.array((name, some), (n_parts, n, some), np.float64)
            columns = V[first : first + some]
            kernel[grid, (_ACROSS, _DOWN), room.stream](*bound, columns, step, sums)
            add_parts(sums, out, first, room.stream)
            first += some
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
        blocks = n_blocks(n, _ACROSS * _DOWN)
        _residual[blocks, _ACROSS * _DOWN, room.stream](product, whole[4], rows[2], U)
        X, Z, FX, FZ, near, *numbers = bound
        turned = Z, X, FZ, FX, self._turned(near, room), *numbers
        return [self._times(turned, U, "turned", room)]

    def _turned(self, near, room):
        """Values from outside with rows and columns exchanged."""
        k, n, m = near.shape
        out = room.array("turned values", (k, m, n), near.dtype)
        for q in range(len(self._program.external)):
            transpose(near[q], out[q], room.stream)
        return out

    def finish(self, box, product):
        """Units of columns and weights."""
        return np.ascontiguousarray(np.ldexp(product, self._unit + self._weight_unit).T)
