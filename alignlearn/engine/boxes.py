"""Boxes of pairs: the pieces of work that targets deal to threads, streams and workers.

A plan depends only on sizes, never on the number of threads or workers, and results are merged in
the order of the boxes. Results are therefore the same to the last bit wherever the boxes run. Only
a CUDA device, whose results differ in rounding anyway, gets fewer and larger boxes.
"""

from __future__ import annotations

import threading
from itertools import pairwise

# Sides of boxes of pairs. With small boxes, few samples can use two threads, but each box costs 30
# us in addition to its pairs: for 4000 samples 6% in boxes of 256, and 2% in boxes of 512. A box of
# 8192 takes half a second for ten kernels, and a million samples have 7500 of them. More samples
# get larger boxes, because each box returns row sums (1.3 MB, which a cluster sends to one
# process).
_SMALLEST, _SMALL, _LARGE, _LARGEST = 256, 1024, 8192, 32768
# Boxes of rows: the minimum number of pairs in one (a millisecond), the number of boxes, and the
# maximum number of rows.
_ROW_PAIRS, _ROW_BOXES, _MOST_ROWS = 2**19, 64, 32768


def pair_side(m, most=_LARGEST, few=False):
    """Rows and columns of a box of the pairs of m samples, at most ``most``.

    With ``few``, the box is as large as possible.
    """
    side = m
    if not few:
        side = min(max(_SMALLEST, min(m // 8, _SMALL), m // 16), max(_LARGE, m // 128))
    return max(1, min(-(-side // 128) * 128, _LARGEST, most))


def cells(starts, side):
    """Boxes (i0, i1, j0, j1) of the pairs of samples, by pairs of cells (g, h) with g <= h.

    Parameters
    ----------
    starts : sequence of int, length n + 1
        Cell g holds samples ``starts[g]`` to ``starts[g + 1]``.
    side : int
        Maximum number of rows or columns of a box.

    Returns
    -------
    owners : list of (g, h)
    boxes : list of (i0, i1, j0, j1)
        Squares on the diagonal, or disjoint ranges with ``i1 <= j0``. Each pair of samples occurs
        once, in one of its orders; pairs in a square occur in both orders.
    """
    parts = [rows(first, last, side) for first, last in pairwise(starts)]
    owners, boxes = [], []
    for g, left in enumerate(parts):
        for h, right in enumerate(parts[g:], start=g):
            found = [(*i, *j) for i in left for j in right if i <= j]
            owners += [(g, h)] * len(found)
            boxes += found
    return owners, boxes


def rows(first, last, height):
    """Ranges (i0, i1) of about equal length, at most ``height``, from ``first`` to ``last``."""
    count = max(1, -(-(last - first) // height))
    step = -(-(last - first) // count)
    step = max(1, min(height, -(-step // 8) * 8))  # whole vectors
    return [(i, min(i + step, last)) for i in range(first, last, step)]


def row_boxes(n, width, unit=4, most=None, few=False):
    """Boxes of the rows of an n x width matrix of pairs, whole multiples of ``unit`` rows.

    With ``most``, each has at most this many rows. With ``few``, there are as few boxes as
    possible.
    """
    count = max(1, -(-n // _MOST_ROWS)) if few else _ROW_BOXES
    share = min(-(-n // count), _MOST_ROWS)
    height = max(512, -(-_ROW_PAIRS // max(width, 1)), share)
    height = -(-min(height, n if most is None else most) // unit) * unit
    return [(i, min(i + height, n)) for i in range(0, n, max(height, 1))]


def into_rows(out, boxes):
    """A callback that writes the rows of each box into ``out``."""

    def take(k, part):
        out[slice(*boxes[k])] = part

    return take


class InOrder:
    """Deals numbers below ``count``, and passes results on in order.

    Parameters
    ----------
    count : int
    take : callable
        ``take(k, result)`` is called for k = 0, 1, ..., never twice at once.
    """

    def __init__(self, count, take):
        self._count, self._take = count, take
        self._next = self._taken = 0
        self._lock, self._waiting = threading.Lock(), {}

    def next(self):
        """The next number, or None when all are dealt."""
        with self._lock:
            if self._next == self._count:
                return None
            self._next += 1
            return self._next - 1

    def put(self, k, result):
        """Set the result of number k."""
        with self._lock:
            self._waiting[k] = result
            while self._taken in self._waiting:
                self._take(self._taken, self._waiting.pop(self._taken))
                self._taken += 1
