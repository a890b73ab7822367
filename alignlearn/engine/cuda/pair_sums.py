"""Alignment statistics as an operation of `alignlearn.engine.cuda`; data are `PairData`."""

from __future__ import annotations

import numpy as np

from .. import external
from . import box_sums, register_sums
from .parts import n_blocks, transposed


class PairSums:
    """`BoxSums` of a box (i0, i1, j0, j1), a square on the diagonal or disjoint ranges."""

    def __init__(self, data):
        self._data, self._program = data, data.program
        self.dtype = np.dtype(data.V.dtype)
        features, means = data.ops[3:5]
        self._n_bound = max(len(features), 1)
        samples = data.V, data.Y, np.ascontiguousarray(data.F.T)
        if len(data.root):
            samples = *samples, data.root
        self.rows = self.columns = samples
        self.whole = features.astype(np.int64), np.asarray(means, dtype=np.float64)

    def ranges(self, box):
        """Both are ranges of the same samples."""
        return slice(*box[:2]), slice(*box[2:])

    def outside(self, rows, columns):
        """Values of the external kernels of these pairs."""
        if not self._program.external:
            return None
        X, Z = self._data.X[rows], self._data.X[columns]
        return external.block(self._program, X, Z, external.buffer(self._program, len(X) * len(Z)))

    def scratch(self, n_rows, n_columns):
        """Bytes of bound features, factors, values from outside, and sums of tiles or values."""
        p, itemsize = self._program.n_kernels, self.dtype.itemsize
        per_sample = 2 * self._n_bound * itemsize + 8 * max(len(self._data.F), 1) + 16 * p
        outside = 8 * len(self._program.external) * n_rows * n_columns
        side = register_sums.REACH * box_sums.WIDTH
        tiles = n_blocks(n_rows, side) * n_blocks(n_columns, side)
        sums = tiles * max(4 * p * (p + 3) + 2 * p * side * itemsize, (p + 1) * side**2 * itemsize)
        return (n_rows + n_columns) * per_sample + outside + min(sums, register_sums.MEMORY)

    def launch(self, box, rows, columns, whole, near, room):
        """All kernels of a box."""
        left = self._side("rows", rows, whole, room)
        right = None if box[0] == box[2] else self._side("columns", columns, whole, room)
        return box_sums.start(self._program, left, right, near, room)

    def _side(self, name, samples, whole, room):
        V, Y, F, *root = samples
        bound = box_sums.bind(room, (name, "bound"), V, Y, *whole)
        factors = transposed(room, (name, "factors"), F, np.float64)
        return box_sums.Side(bound, factors, *root)

    def finish(self, box, *sums):
        """`BoxSums`."""
        return box_sums.finish(self._program, self.dtype, box[0] == box[2], *sums)
