"""Samples written anew for a program: other columns, which its primitives then read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

_LEAST_ROWS = 8  # with fewer, looking at the columns costs as much as it saves


def wide_primitives(program, sides, kinds, least):
    """Yield (kind, start, stop) of primitives of these kinds on ``least`` columns or more.

    Those of centered columns and of targets are left out, and all if a side has few samples.
    """
    if min(map(len, sides)) < _LEAST_ROWS:
        return
    for kind, start, stop, _ in program.primitives.tolist():
        wide = kind in kinds and stop - start >= least
        own = wide and program.features[start:stop].max() < sides[0].shape[1]  # no targets
        if own and not program.centered[start:stop].any():
            yield kind, start, stop


class Layout:
    """New sides of a program, and what it binds of them.

    Parameters
    ----------
    program : Program
    sides : sequence of ndarrays of shape (n, d)
        Samples that are bound to it, each once.
    """

    def __init__(self, program, sides):
        self._program, self._sides = program, sides
        self._width, self._blocks, self._ranges = 0, [], {}
        self._features, self._centered = [], []

    def bind(self, key, blocks, centered=False):
        """The range of bound features of new columns ``blocks``, a block per side."""
        if key not in self._ranges:
            new = range(self._width, self._width + blocks[0].shape[1])
            self._blocks.append(blocks)
            self._width = new.stop
            self._extend(key, new, centered)
        return self._ranges[key]

    def keep(self, start, stop):
        """The new range of features that are bound as before."""
        columns, d = self._program.features[start:stop], self._sides[0].shape[1]
        if columns.max(initial=0) < d:
            blocks = [V[:, columns] for V in self._sides]
            return self.bind((start, stop), blocks, self._program.centered[start:stop].any())
        if (start, stop) not in self._ranges:  # targets, which come after all columns
            self._extend((start, stop), (d - 1 - columns).tolist(), False)
        return self._ranges[start, stop]

    def _extend(self, key, new, centered):
        self._ranges[key] = len(self._features), len(self._features) + len(new)
        self._features.extend(new)
        self._centered.extend([centered] * len(new))

    def finish(self, **changed):
        """The changed program and its sides."""
        features = np.array(self._features, dtype=np.int64)
        features[features < 0] = self._width - 1 - features[features < 0]
        centered = np.array(self._centered, bool)
        program = replace(self._program, features=features, centered=centered, **changed)
        return program, tuple(np.hstack(blocks) for blocks in zip(*self._blocks))
