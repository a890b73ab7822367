"""Loops of matrix-free products with a Gram matrix: ``K V`` and ``K' W (K V - s)``.

A tile of values is used while it is in cache. The result of a row depends only on the columns.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit_sum

from .gram_loops import add_four, four_dots
from .loops import gather
from .tiles import evaluate

_HEIGHT = 512  # rows of a block of a product, whose columns are gathered once


@jit_sum
def _combine(W, weights, n):
    """W[0] = sum_k weights[k] W[k] over the n pairs of a tile; unchanged for one kernel."""
    if weights.shape[0] == 1:
        return
    total, w = W[0, :n], W.dtype.type(weights[0])
    for j in range(n):
        total[j] *= w
    for k in range(1, weights.shape[0]):
        e, w = W[k, :n], W.dtype.type(weights[k])
        for j in range(n):
            total[j] += w * e[j]


@jit_sum
def _add_dots(values, nr, V, first, out):
    """out[r, q] += values[r] . V[q, first:] for the rows r of a tile (nr, nc), in float64.

    Rows are processed in fours; the last four repeat the last row if there are fewer.
    """
    nc, last = values.size // nr, nr - 1
    for r in range(0, nr, 4):
        r1, r2, r3 = min(r + 1, last), min(r + 2, last), min(r + 3, last)
        e0, e1 = values[r * nc : (r + 1) * nc], values[r1 * nc : (r1 + 1) * nc]
        e2, e3 = values[r2 * nc : (r2 + 1) * nc], values[r3 * nc : (r3 + 1) * nc]
        for q in range(V.shape[0]):
            dots = four_dots(e0, e1, e2, e3, V[q, first : first + nc])
            for k in range(min(4, nr - r)):
                out[r + k, q] += dots[k]


@jit_sum
def times(evaluator, program, data, weights, V, shape, scratch, out, stop):
    """out[i, q] = sum_j K(X[i], Z[j]) V[q, j], K the weighted sum of kernels, or one kernel.

    ``evaluator``, ``program``, ``scratch`` and ``stop`` are as in `loops.add_statistics`, ``data``
    as in `loops.weighted_gram`; ``shape`` is (block of columns, rows per tile), ``V`` (c, m) and
    ``out`` (n, c) float64, zero before.
    """
    code, parameters, primitives, features, means, _ = program
    X, Z, FX, FZ, external = data
    block, rows = shape
    W, tile, x = scratch
    n, m = X.shape[0], Z.shape[0]
    for ib in range(0, n, _HEIGHT):
        ie = min(ib + _HEIGHT, n)
        for jb in range(0, m, block):
            if stop[0]:
                return
            nc = min(block, m - jb)
            gather(Z, Z, features, means, jb, jb + nc, tile)
            for i in range(ib, ie, rows):
                nr = min(rows, ie - i)
                gather(X, X, features, means, i, i + nr, x)
                given = x, tile, FX, FZ, external, (i, jb, i, jb), nr, nc, W
                evaluate(evaluator, (code, parameters, primitives, *given))
                _combine(W, weights, nr * nc)
                _add_dots(W[0, : nr * nc], nr, V, jb, out[i : i + nr])


@jit_sum
def gather_blocks(Z, features, means, block, tiles):
    """The columns of all blocks as input of `normal_times`, (number of blocks, D, block)."""
    for b in range(tiles.shape[0]):
        gather(Z, Z, features, means, b * block, min((b + 1) * block, Z.shape[0]), tiles[b])


@jit_sum
def _add_outer(values, nr, U, out):
    """out[q] += sum_r U[r, q] values[r] for the rows r of a strip (nr, m), in float64."""
    r = 0
    while r + 4 <= nr:
        for q in range(U.shape[1]):
            u = U[r : r + 4, q]
            add_four(out[q], values[r], values[r + 1], values[r + 2], values[r + 3], u)
        r += 4
    while r < nr:
        e = values[r]
        for q in range(U.shape[1]):
            o, u = out[q], U[r, q]
            for j in range(e.size):
                o[j] += u * np.float64(e[j])
        r += 1


@jit_sum
def normal_times(evaluator, program, data, weights, columns, shape, scratch, out, stop):
    """out[q, j] += sum_i K_ij row_weight[i] (sum_l K_il V[q, l] - shift[q]).

    The values of a few rows and all columns are kept for the second product. ``data`` is (X, the
    result of `gather_blocks` for Z, factor values of X, those of Z, external values of the pairs),
    ``columns`` (V, shift, row_weight), ``shape`` as in `times`; ``scratch`` has a strip (rows, m)
    and U (rows, c) instead of a tile.
    """
    code, parameters, primitives, features, means, _ = program
    X, tiles, FX, FZ, external = data
    V, shift, row_weight = columns
    block, rows = shape
    n, m = X.shape[0], V.shape[1]
    W, x, strip, U = scratch
    for i in range(0, n, rows):
        if stop[0]:
            return
        nr = min(rows, n - i)
        gather(X, X, features, means, i, i + nr, x)
        for r in range(nr):
            for q in range(V.shape[0]):
                U[r, q] = 0.0
        for b in range(tiles.shape[0]):
            jb = b * block
            nc = min(block, m - jb)
            given = x, tiles[b], FX, FZ, external, (i, jb, i, jb), nr, nc, W
            evaluate(evaluator, (code, parameters, primitives, *given))
            _combine(W, weights, nr * nc)
            _add_dots(W[0, : nr * nc], nr, V, jb, U)
            for r in range(nr):
                e, s = W[0, r * nc : (r + 1) * nc], strip[r, jb : jb + nc]
                for j in range(nc):
                    s[j] = e[j]
        for r in range(nr):
            for q in range(V.shape[0]):
                U[r, q] = row_weight[i + r] * (U[r, q] - shift[q])
        _add_outer(strip, nr, U, out)
