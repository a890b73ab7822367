"""The operations of an engine on the CPU: one box of pairs at a time in each thread.

An *engine* runs an operation on boxes of some data. Every operation is a function ``(data, box,
stop)`` of a named tuple of arrays, a box of `alignlearn.engine.boxes` and the flag of `on_threads`;
it runs on one thread. The results of boxes are passed on in their order, see `Cpu.run_boxes`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._threads import on_threads

from . import external, hyper_values, loops, times_loops
from .base import Engine
from .binding import (
    FEW_PAIRS,
    PRODUCT_BLOCK,
    SHORT,
    few_pairs,
    on_cache_lines,
    scratch,
    tile_shape,
)
from .boxes import InOrder
from .program import padded
from .tiles import evaluator


class BoxSums(NamedTuple):
    """Sums over a box of pairs, all in float64.

    On the diagonal both orders of every pair count, and otherwise each pair once. With weights
    values are
    ``u_i u_j K_ij``, u the roots, and the sums by row and column have one more u.

    Attributes
    ----------
    S : ndarray of shape (p, p)
        Products of kernels, above and on the diagonal only.
    a : ndarray of shape (p,)
        Products with the target.
    by_row, by_column : ndarray of shape (p, rows) and (p, columns)
        Sums of kernel values; ``by_column`` has no columns for a square on the diagonal.
    diagonal : ndarray of shape (p, rows)
        Values of pairs (i, i); no columns off the diagonal.
    """

    S: np.ndarray
    a: np.ndarray
    by_row: np.ndarray
    by_column: np.ndarray
    diagonal: np.ndarray


def pair_sums(data, box, stop):
    """`BoxSums` of a box (i0, i1, j0, j1), a square on the diagonal or disjoint ranges."""
    i0, i1, j0, j1 = box
    program, dtype, square = data.program, data.V.dtype, i0 == j0
    p, d = program.n_kernels, len(program.features)
    S, a = np.zeros((2, padded(p), padded(p))), np.zeros((2, padded(p)))
    by_row = np.zeros((p, i1 - i0))
    by_column = by_row if square else np.zeros((p, j1 - j0))
    diagonal = np.zeros((p, i1 - i0 if square else 0))
    near = _outside(program, data.X, data.X, box, stop, external.BLOCK - 1 if square else None)
    block, rows = shape = tile_shape(program, dtype.itemsize, j1 - j0)
    W = on_cache_lines((program.n_rows + 1, rows * block), dtype)
    W[p : padded(p)] = 0.0  # for products of whole blocks of rows
    x = np.empty((-(-block // rows), d, rows), dtype)  # of all tiles of a block
    memory = W, on_cache_lines((d, block), dtype), x, on_cache_lines((p, block), dtype)
    work = (data.V, data.Y, data.F, near, data.root), box, shape, memory
    sums = S, a, by_row, by_column, diagonal
    loops.add_statistics(evaluator(program, dtype), data.ops, *work, sums, stop)
    S, a = (v[0] + 2.0 * v[1] if square else v[1] for v in (S, a))
    return BoxSums(S[:p, :p], a[:p], by_row, by_column[:, : 0 if square else None], diagonal)


def times(data, box, stop):
    """Rows (i0, i1) of K V, (i1 - i0, c) in float64."""
    out = np.zeros((box[1] - box[0], len(data.columns)))
    rows, near = _rows(data, box, stop)
    shape, dtype = _product_shape(data), data.VZ.dtype
    work = (rows[0], data.VZ, rows[1], data.FZ, near), data.weights, data.columns
    memory = scratch(data.program, dtype, shape)
    times_loops.times(evaluator(data.program, dtype), data.ops, *work, shape, memory, out, stop)
    return out


def normal_times(data, box, stop):
    """``K' diag(row_weight) (K V - 1 shift')`` for K of the rows (i0, i1), (c, m) in float64."""
    out = np.zeros(data.columns.shape)
    rows, near = _rows(data, box, stop)
    shape, (features, means), dtype = _product_shape(data), data.ops[3:5], data.VZ.dtype
    tiles = on_cache_lines((-(-data.width // shape[0]), len(features), shape[0]), dtype)
    times_loops.gather_blocks(data.VZ, features, means, shape[0], tiles)
    work = (rows[0], tiles, rows[1], data.FZ, near), data.weights
    given = data.columns, data.shift, data.row_weight[box[0] : box[1]]
    W, _, x = scratch(data.program, dtype, shape)
    strip, U = on_cache_lines((shape[1], data.width), dtype), np.empty((shape[1], len(out)))
    memory = W, x, strip, U
    work = data.ops, *work, given, shape, memory, out, stop
    times_loops.normal_times(evaluator(data.program, dtype), *work)
    return out


def _product_shape(data):
    """Columns per block, rows per tile."""
    return tile_shape(data.program, data.VX.itemsize, len(data.VZ), PRODUCT_BLOCK)


def _rows(data, box, stop):
    """Vectors and factors of rows of X, and the external values of these rows and all of Z."""
    part = slice(*box)
    near = _outside(data.program, data.X, data.Z, (*box, 0, len(data.VZ)), stop)
    return (data.VX[part], np.ascontiguousarray(data.FX[:, part])), near


def _outside(program, X, Z, box, stop, reach=None):
    """External values of the pairs of a box; ``reach`` as in `external.block`."""
    i0, i1, j0, j1 = box
    if not program.external or stop[0]:
        return np.empty((len(program.external), i1 - i0, j1 - j0))
    memory = external.buffer(program, (i1 - i0) * (j1 - j0))
    return external.block(program, X[i0:i1], Z[j0:j1], memory, reach)


OPERATIONS = {
    "pair_sums": pair_sums,
    "times": times,
    "normal_times": normal_times,
    "pair_times": hyper_values.times_box,
    "product_sums": hyper_values.product_box,
}


class Cpu(Engine):
    """Boxes run on the threads of this process."""

    # Loops that fill a matrix may write into it, because no result comes from another process.
    in_place = True
    operations = frozenset(OPERATIONS)

    def __reduce__(self):
        return "CPU"  # in another process, its own flag

    def run_boxes(self, operation, data, boxes, take, watch=None):
        """Run an operation on every box, and pass the results on in the order of the boxes.

        Parameters
        ----------
        operation : str
            A name in `OPERATIONS`.
        data : named tuple
            The input of the operation.
        boxes : list of tuple
        take : callable
            ``take(k, result)`` is called once for each box, k = 0, 1, ..., never twice at once.
        watch : callable, optional
            Called without arguments, several times a second, in this thread, where ``take`` is
            called in others.
        """
        function, stop = OPERATIONS[operation], np.zeros(1, dtype=np.bool_)
        n = n_pairs(data, boxes) if boxes else 0
        # The cost of other operations does not depend on the program alone.
        if few_pairs(n, data.program) if operation == "times" else n <= FEW_PAIRS:
            for k, box in enumerate(boxes):
                take(k, function(data, box, stop))
        else:
            function(data, boxes[0], np.ones(1, dtype=np.bool_))  # compiles, and does nothing
            work = function, data, boxes, InOrder(len(boxes), take)
            how = {"watch": watch, "short": _is_short(operation, data, boxes)}
            on_threads(self._deal, *work, stoppable=True, compiled=True, **how)

    def _deal(self, thread, function, data, boxes, results, stop):
        while not stop[0] and (k := results.next()) is not None:
            result = function(data, boxes[k], stop)
            if not stop[0]:
                results.put(k, result)


def _is_short(operation, data, boxes):
    """Whether Ctrl-C may wait for a box, see `on_threads`."""
    if operation not in ("times", "pair_sums"):
        return False
    extra = len(data.columns) if operation == "times" else data.program.n_kernels**2
    return few_pairs(max(n_pairs(data, [box]) for box in boxes), data.program, SHORT, extra)


def n_pairs(data, boxes):
    """Number of pairs of the boxes."""
    if len(boxes[0]) == 4:
        return sum((i1 - i0) * (j1 - j0) for i0, i1, j0, j1 in boxes)
    return data.width * sum(i1 - i0 for i0, i1 in boxes)


CPU = Cpu()
