"""Tiles of pairs, as unrolled source: the parts of the kernels of `alignlearn.engine.cuda.gram`.

This module imports `numba.cuda`: import it inside functions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import config, cuda, float64

from alignlearn._jit import cuda_device

from .program import device_function, indented

# Threads of a block in the direction of the columns, and of the rows.
ACROSS, DOWN = (4, 4) if config.ENABLE_CUDASIM else (16, 8)
_SHARED_BYTES = 40_000  # of the 48 kB that a kernel may use without a special attribute


@lru_cache(maxsize=64)
def tile_functions(pair, rows, columns, n_bound):
    """The parts of both kernels: (stage, numbers, places, block), all but block for both sides.

    ``stage`` copies the features of a tile's samples, which `bind` pads to whole tiles, to shared
    memory. ``numbers`` and ``places`` are functions ``(first, step, n)`` for the rows and for the
    columns of a thread: their sample numbers (the last sample for those past the end), and their
    positions in the tile. ``block`` computes the weighted sums of all pairs of a thread.
    """
    U = np.uint64
    across, n_threads = U(ACROSS), ACROSS * DOWN

    def stage_of(width):
        at_once, step = min(width, n_threads), max(1, n_threads // width)

        @cuda_device
        def stage(A, first, tile):
            thread = U(cuda.threadIdx.y) * across + U(cuda.threadIdx.x)
            f = thread // U(at_once)
            while f < U(A.shape[0]):
                for k in range(0, width, at_once):
                    place = thread % U(at_once) + U(k)
                    tile[f, place] = A[f, first + place]
                f += U(step)

        return stage

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
    stage = stage_of(rows * DOWN), stage_of(columns * ACROSS)
    return stage, (places(rows, "clip({}, n)"), places(columns, "clip({}, n)")), in_tile, block


def is_staged(n_bound, rows, columns, dtype):
    """Whether the features of a tile fit shared memory."""
    return n_bound * (rows * DOWN + columns * ACROSS) * dtype.itemsize <= _SHARED_BYTES


@lru_cache(maxsize=64)
def sum_functions(dtype, rows, columns, n_sums):
    """Device functions that add products of a thread's pairs to its sums, and write these.

    They are unrolled, because variable indices would put the sums into memory.
    """
    U, wide, n_across = np.uint64, float64, ACROSS
    lines = [f"v{s}{c} = V[{s}, j[{c}]] if first + U({c * ACROSS}) < last else zero"
             for s in range(n_sums) for c in range(columns)]  # fmt: skip
    for r in range(rows):
        for s in range(n_sums):
            terms = [f"values[{r * columns + c}] * v{s}{c}" for c in range(columns)]
            lines.append(f"total[{r}, {s}] += wide({' + '.join(terms)})")
    add = "def add(values, V, j, first, last, total):\n" + indented(lines)
    lines = [
        f"put(total[{r}, {s}], sums, row, column, first + U({r * DOWN}), n, {s}, out)"
        for r in range(rows)
        for s in range(n_sums)
    ]
    write = "def write(total, sums, row, column, first, n, out):\n" + indented(lines)

    @cuda_device
    def put(total, sums, row, column, i, n, s, out):
        sums[row, column] = total
        cuda.syncthreads()
        if column == 0 and i < n:
            result = 0.0
            for t in range(n_across):
                result += sums[row, t]
            out[cuda.blockIdx.y, i, s] = result
        cuda.syncthreads()

    known = {"U": U, "wide": wide, "zero": np.dtype(dtype).type(0), "put": put}
    return device_function("add", add, known), device_function("write", write, known)
