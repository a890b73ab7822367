"""Sums over pairs of many kernels on a CUDA device: values in memory, products in blocks.

If registers cannot hold the products of all kernels (`register_sums`), kernel values are written to
memory, a part of the box at a time, as a matrix of kernels by pairs. Its product with its own
transpose is summed in blocks of kernels, like a matrix product. The target is the last row.

A thread sums 8 x 8 products of a pair from 16 values in shared memory; 64 of the 91 instructions of
this loop are arithmetic (machine code for compute capability 9.0), about half with the copies to
shared memory. Speed is not measured.

This module imports `numba.cuda`: import it inside functions.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
from numba import config, cuda, from_dtype

from alignlearn._jit import cuda_kernel

from .parts import n_blocks
from .program import device_function, indented, names_of, pair_functions
from .register_sums import MEMORY, merge_rows

# Pairs whose products a block of threads sums in the samples' precision. The number is reduced if
# there were fewer blocks than 15 for each of 132 multiprocessors.
_FEW, _MOST, _WANTED = (8, 32, 3) if config.ENABLE_CUDASIM else (256, 1024, 2048)
# Products of a thread in each direction: the smaller number if it covers all kernels, because fewer
# rows are empty then. Threads of a block in each direction. Pairs in shared memory, a divisor of
# the number of threads. (The simulator runs a Python thread for each thread.)
_BLOCKS, THREADS, _DEPTH = ((6, 4), 2, 4) if config.ENABLE_CUDASIM else ((4, 8), 8, 16)


@lru_cache(maxsize=64)
def values_kernel(pair, weighted):
    """The kernel that writes the values of a part of the box, a thread for each pair."""
    one = pair.dtype.type(1)

    @cuda_kernel
    def kernel(
        X, Z, FX, FZ, external, root_x, root_z, numbers, ranges, first_row, first_column, out
    ):  # fmt: skip
        c, r = cuda.grid(2)
        if r < out.shape[1] and c < out.shape[2]:
            i, j = first_row + r, first_column + c
            scale = root_x[i] * root_z[j] if weighted else one
            q = pair.primitives(X, i, Z, j, ranges)
            pair.store(q, i, j, FX, FZ, external, numbers, scale, out, r, c)

    return kernel


@lru_cache
def sides_kernel(dtype, weighted):
    """The kernel that sums the rows and the columns of a square of the values, read once.

    ``by_row[column, k, r]`` and ``by_column[row, k, c]`` are the sums in the squares of this column
    and row of the grid, whose sides are the threads of a block.
    """
    number, zero = from_dtype(dtype), dtype.type(0)

    @cuda_kernel
    def kernel(values, root_x, root_z, first_row, first_column, by_row, by_column):
        memory = cuda.shared.array(0, number)
        t, width, k = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.z
        top, r = cuda.blockIdx.y * width, cuda.blockIdx.y * width + t
        c, total = cuda.blockIdx.x * width + t, zero
        for s in range(width):
            v = values[k, top + s, c] if top + s < values.shape[1] and c < values.shape[2] else zero
            # One more column, so that a warp reads from different banks.
            memory[s * (width + 1) + t] = v
            if weighted and top + s < values.shape[1]:
                v = v * root_x[first_row + top + s]
            total += v
        if c < values.shape[2]:
            by_column[cuda.blockIdx.y, k, c] = total
        cuda.syncthreads()
        if r < values.shape[1]:
            total = zero
            for s in range(width):
                v = memory[t * (width + 1) + s]
                if weighted and cuda.blockIdx.x * width + s < values.shape[2]:
                    v = v * root_z[first_column + cuda.blockIdx.x * width + s]
                total += v
            by_row[cuda.blockIdx.x, k, r] = total

    return kernel


@cuda_kernel
def _copy_diagonal(values, first, out):
    """out[k, 0, first + i] = values of the pair (i, i)."""
    i, k = cuda.grid(2)
    if i < values.shape[1] and k < values.shape[0]:
        out[k, 0, first + i] = values[k, i, i]


def _block_functions(dtype, block, threads):
    """Device functions on the block x block products of a thread, with stride ``threads``."""
    n = range(block)
    bodies = {
        "none()": ["return (" + "zero, " * block**2 + ")"],
        "take(tile, f, first)": [
            f"return ({''.join(f'tile[f, first + U({u * threads})], ' for u in n)})"
        ],
        "add(s, x, y)": [
            f"return ({''.join(f's[{u * block + v}] + x[{u}] * y[{v}], ' for u in n for v in n)})"
        ],
        "put(s, out, part, tile, r, c)": [
            f"out[part, tile, r + U({u * threads}), c + U({v * threads})] = s[{u * block + v}]"
            for u in n
            for v in n
        ],
    }
    return [
        device_function(head.partition("(")[0], f"def {head}:\n{indented(body)}", names_of(dtype))
        for head, body in bodies.items()
    ]


@lru_cache
def products_kernel(dtype, block, threads):
    """The kernel that sums products of blocks of kernels over slices of the pairs."""
    none, take, add, put = _block_functions(dtype, block, threads)
    side, number, zero = block * threads, from_dtype(dtype), dtype.type(0)
    shape = _DEPTH, side + 1  # one more column, so that a warp writes to different banks
    U, n_loading = np.uint64, threads**2 // _DEPTH

    @cuda_kernel
    def kernel(values, length, out):
        part, tile = cuda.blockIdx.x, cuda.blockIdx.y
        # Tile (a, b) of the upper triangle, counted by rows.
        a, b, wide = 0, tile, (values.shape[0] + side - 1) // side
        while b >= wide - a:
            b -= wide - a
            a += 1
        b += a
        t, u = U(cuda.threadIdx.x), U(cuda.threadIdx.y)
        f, k0 = (u * U(threads) + t) % U(_DEPTH), (u * U(threads) + t) // U(_DEPTH)
        left = cuda.shared.array(shape, number)
        right = cuda.shared.array(shape, number)
        sums, height = none(), U(values.shape[0])
        start, end = U(part * length), U((part + 1) * length)
        end = end if end < U(values.shape[1]) else U(values.shape[1])
        while start < end:
            k = k0
            while k < U(side):
                row, column, j = U(a * side) + k, U(b * side) + k, start + f
                left[f, k] = values[row, j] if row < height and j < end else zero
                right[f, k] = values[column, j] if column < height and j < end else zero
                k += U(n_loading)
            cuda.syncthreads()
            g = U(0)
            while g < U(_DEPTH):
                sums = add(sums, take(left, g, u), take(right, g, t))
                g += U(1)
            cuda.syncthreads()
            start += U(_DEPTH)
        put(sums, out, part, tile, u, t)

    return kernel


@cuda_kernel
def _merge(parts, orders, out):
    """out += orders times the sum of the parts."""
    column, row, tile = cuda.grid(3)
    if column < out.shape[2] and row < out.shape[1]:
        total = 0.0
        for part in range(parts.shape[0]):
            total += parts[part, tile, row, column]
        out[tile, row, column] += orders * total


def shape_of_products(p):
    """Shape of the array that `add` adds to: blocks above the diagonal, with the target."""
    side = THREADS * (_BLOCKS[0] if p < _BLOCKS[0] * THREADS else _BLOCKS[1])
    wide = n_blocks(p + 1, side)
    return wide * (wide + 1) // 2, side, side


def unpacked(products, p):
    """S (p, p), upper triangle, and a (p,)."""
    side = products.shape[1]
    wide = n_blocks(p + 1, side)
    whole = np.zeros((wide * side, wide * side))
    for block, a, b in zip(products, *np.triu_indices(wide)):
        whole[a * side : (a + 1) * side, b * side : (b + 1) * side] = block
    return np.triu(whole[:p, :p]), whole[:p, p]


def add(program, box, sums, width, memory=MEMORY):
    """Add the pairs of a box to its sums, with the arguments of `register_sums.add`.

    ``memory`` is for kernel values, enough that the kernels take longer than their launches.
    """
    pair = pair_functions(program, box.dtype, target=True)
    fill, p, (n, m) = values_kernel(pair, box.weighted), program.n_kernels, box.shape
    side = max(1, min(isqrt(memory // ((p + 1) * box.dtype.itemsize)), max(n, m)))
    room, size = box.room, (p + 1) * min(side, n) * min(side, m)
    flat = room.array("values", (size,), box.dtype)
    for i in range(0, n, side):
        for j in range(i if box.symmetric else 0, m, side):
            high, wide = min(side, n - i), min(side, m - j)
            once = box.symmetric and i == j
            values = flat[: (p + 1) * high * wide].reshape(p + 1, high, wide)
            grid = n_blocks(wide, width), n_blocks(high, 4)
            fill[grid, (width, 4), room.stream](*box.inputs, i, j, values)
            _add_sides(values, box, i, j, sums, width)
            if once:
                grid = n_blocks(high, width), n_blocks(p + 1, 4)
                _copy_diagonal[grid, (width, 4), room.stream](values, i, sums.diagonal)
            orders = 2.0 if box.symmetric and not once else 1.0
            _add_products(values.reshape(p + 1, high * wide), orders, sums.products, room)


def _add_sides(values, box, i, j, sums, width):
    """Add the sums of rows and, but on the diagonal, of columns."""
    room, p, (high, wide) = box.room, len(values) - 1, values.shape[1:]
    across, down = n_blocks(wide, width), n_blocks(high, width)
    by_row = room.array("sums of rows", (across, p, high), box.dtype)
    by_column = room.array("sums of columns", (down, p, wide), box.dtype)
    kernel, shared = sides_kernel(box.dtype, box.weighted), box.dtype.itemsize * width * (width + 1)
    work = values, *box.inputs[5:7], i, j, by_row, by_column
    kernel[(across, down, p), width, room.stream, shared](*work)
    both = (by_row, i, sums.by_row), (by_column, j, sums.by_column)
    for part, first, out in both[: 1 if box.symmetric and i == j else 2]:
        grid = n_blocks(part.shape[2], width), n_blocks(p, 4)
        merge_rows[grid, (width, 4), room.stream](part, width, False, first, out)


def _slice(n_pairs, n_tiles):
    """The number of pairs for a block of threads."""
    count = max(n_blocks(n_pairs, _MOST), min(n_blocks(n_pairs, _FEW), _WANTED // n_tiles))
    return n_blocks(n_blocks(n_pairs, count), _DEPTH) * _DEPTH


def _add_products(values, orders, out, room):
    """Add ``orders`` times the products of all rows of the values, in blocks."""
    kernel = products_kernel(values.dtype, out.shape[1] // THREADS, THREADS)
    length = _slice(values.shape[1], out.shape[0])
    grid = n_blocks(values.shape[1], length), out.shape[0]
    parts = room.array("parts of products", (grid[0], *out.shape), values.dtype)
    kernel[grid, (THREADS, THREADS), room.stream](values, length, parts)
    side = n_blocks(out.shape[1], 8)
    _merge[(side, side, out.shape[0]), (8, 8, 1), room.stream](parts, orders, out)
