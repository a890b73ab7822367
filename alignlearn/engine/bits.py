"""Samples of zeros and ones as bits: one operation counts in 52 columns at once.

A number of the samples' type holds the bits of 52 columns: 2^52 plus one bit for each column
(float32: 23 columns and 2^23). Loops gather, slice and move these numbers like any features. Counts
are integers, as are sums over columns of zeros and ones, so values are the same to the last bit.
"""

from __future__ import annotations

import numpy as np

from . import opcodes as ops
from .program import Layout, wide_primitives

_KINDS = {
    ops.INNER_PRODUCT: ops.COMMON_BITS,
    ops.MINIMA: ops.COMMON_BITS,
    ops.SQUARED_DISTANCE: ops.DIFFERENT_BITS,
    ops.L1_DISTANCE: ops.DIFFERENT_BITS,
}
_LEAST_COLUMNS = 64  # with fewer, testing the columns costs as much as it saves
_BLOCK_ENTRIES, _BLOCK_ROWS = 2**16, 8


def counted(program, *sides):
    """A program with counts of bits instead of primitives of columns that contain only 0 and 1.

    Parameters
    ----------
    program : Program
    sides : ndarrays of shape (n, d)
        Samples that are bound to it, without repetition.

    Returns
    -------
    program, sides
        New ones if there is such a primitive; the features are columns of the new sides.
    """
    found = {}
    for _, start, stop in wide_primitives(program, sides, _KINDS, _LEAST_COLUMNS):
        if (start, stop) not in found:
            found[start, stop] = [_packed(V, program.features[start:stop]) for V in sides]
    found = {key: words for key, words in found.items() if all(w is not None for w in words)}
    return _bound(program, sides, found) if found else (program, sides)


def _bound(program, sides, found):
    """The program on other features: words of bits, and the columns of other primitives."""
    layout, primitives = Layout(program, sides), program.primitives.copy()
    for row in primitives:
        kind, start, stop = row[:3].tolist()
        if kind in _KINDS and (start, stop) in found:
            row[0], row[1:3] = _KINDS[kind], layout.bind((start, stop, "bits"), found[start, stop])
        else:
            row[1:3] = layout.keep(start, stop)
    return layout.finish(primitives=primitives)


def _packed(V, columns):
    """Numbers that hold these columns of V as bits, (m, words); None where one is not 0 or 1."""
    whole = np.array_equal(columns, np.arange(V.shape[1]))
    single = V.dtype == np.float32
    bits, kind, one = (23, "<u4", 0x4B000000) if single else (52, "<u8", 0x433 << 52)
    n_bytes, words = -(-bits // 8), -(-len(columns) // bits)
    out = np.zeros((len(V), words, 4 if single else 8), np.uint8)
    step = max(_BLOCK_ROWS, _BLOCK_ENTRIES // len(columns))
    ones = np.zeros((step, words * bits), bool)
    for i in range(0, len(V), step):
        block = V[i : i + step] if whole else V[i : i + step, columns]
        is_one = ones[: len(block), : len(columns)]
        np.equal(block, 1, out=is_one)
        if not np.all(is_one | (block == 0)):
            return None
        parts = ones[: len(block)].reshape(len(block), words, bits)
        out[i : i + step, :, :n_bytes] = np.packbits(parts, axis=2, bitorder="little")
    return (out.view(kind)[:, :, 0] | np.array(one, kind)).view(kind.replace("u", "f"))
