"""Sums over pairs of few kernels on a CUDA device: all products of kernels stay in registers.

A block of threads takes a tile of pairs. Each thread owns some columns of the tile; at every step
the threads take different rows, so that the sums of rows, in shared memory, need no atomic
operations. Sums of a tile leave it in float64 and are added in a fixed order: two runs give the
same bits.

In the machine code for compute capability 9.0 ten Gaussians with d = 20 take 146 registers in
float32, 13 warps a multiprocessor, and 315 to 320 instructions a pair, 160 of them arithmetic. In
float64 they take 250 registers, 8 warps and about 390 instructions.

This module imports `numba.cuda`: import it inside functions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import cuda, float64, from_dtype

from alignlearn._jit import cuda_kernel

from .parts import n_blocks
from .program import device_function, indented, names_of, pair_functions

REACH = 2  # rows and columns of a thread at a step
MEMORY = 256_000_000  # bytes for the sums of tiles, or for kernel values
MOST_KERNELS = {
    4: 16,
    8: 10,
}  # maximum number of kernels whose products stay in registers, by the size of a number
_MOST_BLOCKS = 65535  # maximum size of a grid in its second direction


def _tuple_functions(p, width, dtype):
    """Device functions on tuples of the values of p kernels, and the target as the last."""
    n, side = range(p), REACH * width
    pairs = [(k, other) for k in n for other in range(k, p + 1)]
    products = [f"s[{i}] + v[{k}] * v[{other}]" for i, (k, other) in enumerate(pairs)]
    returned = {
        "add(t, v)": [f"t[{k}] + v[{k}]" for k in n],
        "add_scaled(t, v, x)": [f"t[{k}] + v[{k}] * x" for k in n],
        "scaled(v, x)": [f"v[{k}] * x" for k in n] + [f"v[{p}]"],
        "add_products(s, v)": products,
        "zeros()": ["zero" for _ in n],
        "no_columns()": [f"({'zero, ' * p})"] * REACH,
        "no_products()": ["zero" for _ in pairs],
    }
    stored = {
        "add_to(rows, at, t)": [f"rows[at + U({k * side})] += t[{k}]" for k in n],
        "put_column(out, tile, j, t)": [f"out[tile, {k}, j] = t[{k}]" for k in n],
        "put_products(memory, lane, s)": [
            f"memory[lane + U({i * (width + 1)})] = s[{i}]" for i in range(len(pairs))
        ],
    }
    bodies = {head: [f"return ({', '.join(found)},)"] for head, found in returned.items()} | stored
    found = {}
    for head, lines in bodies.items():
        name = head.partition("(")[0]
        found[name] = device_function(name, f"def {head}:\n{indented(lines)}", names_of(dtype))
    return found


def _step_source(width, weighted):
    """Source of ``step``: the pairs of a thread at a step, added to its sums.

    Rows i, i + width, ... and columns j, j + width, ...; those past the end are omitted.
    """
    n = range(REACH)
    lines = [f"i{r}, j{r} = i + U({r * width}), j + U({r * width})" for r in n]
    near_i, near_j = ("".join(f"{name}{r}, " for r in n) for name in "ij")
    lines.append(f"q = primitives(X, ({near_i}), Z, ({near_j}), ranges)")
    lines.append("".join(f"c{c}, " for c in n) + "= columns")
    for r in n:
        lines.append("t = zeros()")
        for c in n:
            lines.append(f"if i{r} < U(FX.shape[1]) and j{c} < U(FZ.shape[1]):")
            found = [f"v = values(q[{r * REACH + c}], i{r}, j{c}, FX, FZ, external, numbers)"]
            if weighted:
                found += [f"u, w = root_x[i{r}], root_z[j{c}]", "v = scaled(v, u * w)"]
                found += ["t = add_scaled(t, v, w)", f"c{c} = add_scaled(c{c}, v, u)"]
            else:
                found += ["t = add(t, v)", f"c{c} = add(c{c}, v)"]
            lines += [f"    {line}" for line in [*found, "sums = add_products(sums, v)"]]
        lines.append(f"add_to(rows, at + U({r * width}), t)")
    lines.append(f"return sums, ({''.join(f'c{c}, ' for c in n)})")
    arguments = "X, i, Z, j, FX, FZ, external, root_x, root_z, numbers, ranges"
    return f"def step({arguments}, rows, at, sums, columns):\n" + indented(lines)


def _columns_source(width):
    """Source of ``put_columns``: the sums of a thread's columns."""
    lines = []
    for c in range(REACH):
        lines.append(f"if j + U({c * width}) < U(out.shape[2]):")
        lines.append(f"    put_column(out, tile, j + U({c * width}), columns[{c}])")
    return "def put_columns(out, tile, j, columns):\n" + indented(lines)


def _functions(pair, p, width, weighted):
    """(no_products, no_columns, step, put_columns, put_products) of the kernel below."""
    known = _tuple_functions(p, width, pair.dtype)
    names = {"U": np.uint64, "primitives": pair.primitives, "values": pair.values, **known}
    step = device_function("step", _step_source(width, weighted), names)
    put_columns = device_function("put_columns", _columns_source(width), names)
    return known["no_products"], known["no_columns"], step, put_columns, known["put_products"]


@lru_cache(maxsize=64)
def tile_kernel(pair, p, width, weighted):
    """The kernel that adds up the pairs of a tile for each block of threads."""
    functions = _functions(pair, p, width, weighted)
    no_products, no_columns, step, put_columns, put_products = functions
    U, side = np.uint64, REACH * width
    number, zero, n_products = from_dtype(pair.dtype), pair.dtype.type(0), p * (p + 3) // 2

    @cuda_kernel
    def kernel(
        X, Z, FX, FZ, external, root_x, root_z, numbers, ranges, symmetric, first, products, by_row,
        by_column,
    ):  # fmt: skip
        lane, row, column = cuda.threadIdx.x, cuda.blockIdx.y, cuda.blockIdx.x
        tile = row * cuda.gridDim.x + column
        # On the diagonal the columns of the grid begin where its rows do.
        i0, j0 = (first + row) * side, (first * symmetric + column) * side
        if symmetric and column < row:
            for n in range(lane, n_products, width):
                products[n, tile] = 0.0
            return
        memory = cuda.shared.array(0, number)
        for n in range(lane, p * side, width):
            memory[n] = zero
        cuda.syncthreads()
        sums, columns = no_products(), no_columns()
        for s in range(width):
            at = lane + s if lane + s < width else lane + s - width
            sums, columns = step(
                X, U(i0 + at), Z, U(j0 + lane), FX, FZ, external, root_x, root_z, numbers, ranges,
                memory, U(at), sums, columns,
            )  # fmt: skip
            cuda.syncthreads()
        put_columns(by_column, row, U(j0 + lane), columns)
        for i in range(lane, side, width):
            for k in range(p):
                by_row[column, k, row * side + i] = memory[k * side + i]
        cuda.syncthreads()
        put_products(memory, U(lane), sums)
        cuda.syncthreads()
        orders = 2.0 if symmetric and column > row else 1.0
        for n in range(lane, n_products, width):
            total = 0.0
            for t in range(width):
                total += memory[n * (width + 1) + t]
            products[n, tile] = orders * total

    return kernel


@cuda_kernel
def _merge_products(products, out):
    """out[n] += the sum of products[n], in an order that depends only on the number of threads."""
    memory = cuda.shared.array(0, float64)
    n, t, width = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    total = 0.0
    for tile in range(t, products.shape[1], width):
        total += products[n, tile]
    memory[t] = total
    cuda.syncthreads()
    if t == 0:
        total = 0.0
        for other in range(width):
            total += memory[other]
        out[n] += total


@cuda_kernel
def merge_rows(by_row, side, symmetric, first, out):
    """out[k, first + i] += the sums of row i in the tiles of its row."""
    i, k = cuda.grid(2)
    if i < by_row.shape[2] and first + i < out.shape[1] and k < out.shape[0]:
        total = 0.0
        for column in range(i // side if symmetric else 0, by_row.shape[0]):
            total += by_row[column, k, i]
        out[k, first + i] += total


@cuda_kernel
def _merge_columns(by_column, side, symmetric, first, out):
    """out[k, j] += the sums of column j; on the diagonal, of tiles above it."""
    j, k = cuda.grid(2)
    if j < by_column.shape[2] and k < out.shape[0]:
        rows = by_column.shape[0]
        if symmetric:
            above = (j - first) // side if j >= first else 0
            rows = above if above < rows else rows
        total = 0.0
        for row in range(rows):
            total += by_column[row, k, j]
        out[k, j] += total


@lru_cache(maxsize=64)
def diagonal_kernel(pair, weighted):
    """The kernel that writes the values of the pairs (i, i) to ``out[:, 0, i]``."""
    one = pair.dtype.type(1)

    @cuda_kernel
    def kernel(X, Z, FX, FZ, external, root_x, root_z, numbers, ranges, out):
        i = cuda.grid(1)
        if i < FX.shape[1]:
            scale = root_x[i] * root_z[i] if weighted else one
            q = pair.primitives(X, i, Z, i, ranges)
            pair.store(q, i, i, FX, FZ, external, numbers, scale, out, 0, i)

    return kernel


def shared_bytes(p, width, itemsize):
    """Shared memory of a block: sums of rows, then the products of all threads."""
    return itemsize * max(p * REACH * width, p * (p + 3) // 2 * (width + 1))


def shape_of_products(p):
    """Shape of the array that `add` adds to."""
    return (p * (p + 3) // 2,)


def unpacked(products, p):
    """S (p, p), upper triangle, and a (p,)."""
    whole = np.zeros((p, p + 1))
    whole[np.triu_indices(p, 0, p + 1)] = products
    return whole[:, :p], whole[:, p]


def add(program, box, sums, width, memory=MEMORY):
    """Add the pairs of a box to its sums.

    Parameters
    ----------
    program : Program
    box : pair_sums.Box
    sums : pair_sums.DeviceSums
    width : int
        Threads of a block.
    memory : int
        Bytes for the sums of tiles, or more if one row of tiles needs more.
    """
    pair = pair_functions(program, box.dtype, target=True, rows=REACH, columns=REACH)
    p, side, room, symmetric = program.n_kernels, REACH * width, box.room, box.symmetric
    kernel, n_products = tile_kernel(pair, p, width, box.weighted), sums.products.shape[0]
    rows, columns = (n_blocks(size, side) for size in box.shape)
    bytes_of_tile = 8 * n_products + 2 * p * side * box.dtype.itemsize
    height = min(max(1, memory // (columns * bytes_of_tile)), _MOST_BLOCKS)
    shared = shared_bytes(p, width, box.dtype.itemsize)
    for first in range(0, rows, height):
        high, wide = min(height, rows - first), columns - first * symmetric
        products = room.array("products of tiles", (n_products, high * wide), np.float64)
        by_row = room.array("rows of tiles", (wide, p, high * side), box.dtype)
        by_column = room.array("columns of tiles", (high, p, box.shape[1]), box.dtype)
        work = symmetric, first, products, by_row, by_column
        kernel[(wide, high), width, room.stream, shared](*box.inputs, *work)
        _merge_products[n_products, width, room.stream, 8 * width](products, sums.products)
        for part, out, merge in (
            (by_row, sums.by_row, merge_rows),
            (by_column, sums.by_column, _merge_columns),
        ):
            grid = n_blocks(part.shape[2], width), n_blocks(p, 4)
            merge[grid, (width, 4), room.stream](part, side, symmetric, first * side, out)
    if symmetric:
        pair = pair_functions(program, box.dtype, target=True)
        grid = n_blocks(box.shape[0], width)
        diagonal = diagonal_kernel(pair, box.weighted)
        diagonal[grid, width, room.stream](*box.inputs, sums.diagonal)
