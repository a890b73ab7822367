"""Columns that exclude each other, bundled: distances of one-hot columns at the cost of one column.

In the columns of a category, a sample has the higher of two values in the column of its level and
the lower one in the others, so two samples differ in two of these columns or in none. A bundle of
them keeps one number for a sample, the *height* of its level: what the level adds to the distance
from a sample that has no level. The distance between two samples is 0 if their heights are equal
and the sum of the heights if not. Bundles are found greedily, in the order of the columns, as in
exclusive feature bundling (Ke et al. 2017, LightGBM, section 4), here without conflicts.

Different levels must have different heights. Equal heights are raised by units of rounding, by
fewer units than the bundle has columns; the sum that is replaced has an error of that size, too.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit

from . import opcodes as ops
from .program import Layout, wide_primitives

_SQUARED = ops.SQUARED_DISTANCE, ops.DISTANCE
_KINDS = (*_SQUARED, ops.L1_DISTANCE)
_LEAST_COLUMNS = 16  # with fewer, testing the columns costs as much as it saves
_LEAST_SAVED = 0.25  # share of the columns, for the cost of one more register


def bundled(program, *sides):
    """A program with bundles instead of columns that exclude each other.

    Parameters
    ----------
    program : Program
    sides : ndarrays of shape (n, d)
        Samples that are bound to it, without repetition.

    Returns
    -------
    program, sides
        New ones if a distance has such columns; the features are columns of the new sides.
    """
    found = {}
    for kind, start, stop in wide_primitives(program, sides, _KINDS, _LEAST_COLUMNS):
        key = start, stop, kind in _SQUARED
        if key not in found:
            found[key] = _of_sides(sides, program.features[start:stop], key[2])
    found = {key: parts for key, parts in found.items() if parts is not None}
    return _bound(program, sides, found) if found else (program, sides)


def _bound(program, sides, found):
    """The program on new sides; bundles have their own registers and are added first."""
    layout, row = Layout(program, sides), program.n_rows
    primitives, code, rows = [], [], {}
    for kind, start, stop, out in program.primitives.tolist():
        key = start, stop, kind in _SQUARED
        if kind not in _KINDS or key not in found:
            primitives.append((kind, *layout.keep(start, stop), out))
            continue
        rest, heights = found[key]
        plain = ops.SQUARED_DISTANCE if key[2] else kind
        primitives.append((plain, *layout.bind((key, "rest"), rest), out))
        if key not in rows:
            rows[key], row = row, row + 1
            primitives.append((ops.HEIGHTS, *layout.bind(key, heights), rows[key]))
        code.append((ops.ADD, out, rows[key], 0))
        if kind == ops.DISTANCE:
            code.append((ops.ROOT, out, out, 0))
    numbers = np.zeros((len(code), 3))
    numbers[:, 0] = 1.0
    return layout.finish(
        primitives=np.array(primitives, dtype=np.int64),
        code=np.concatenate([np.array(code, dtype=np.int64), program.code]),
        parameters=np.concatenate([numbers, program.parameters]),
        n_rows=row,
    )


def _of_sides(sides, columns, squared):
    """`_bundles` of these sides; two that are the same samples are read once."""
    places = {(V.__array_interface__["data"][0], V.shape, V.strides) for V in sides}
    found = _bundles(sides[: len(places)], columns, squared)
    if found is None or len(places) == len(sides):
        return found
    return [part * len(sides) for part in found]


def _bundles(sides, columns, squared):
    """Other columns and heights, one matrix of each per side; None if it saves too little."""
    two, low, high = _two_values(sides, columns)
    with np.errstate(over="ignore"):
        steps = np.square(high - low) if squared else high - low
    two, low, high, steps = (a[np.isfinite(steps)] for a in (two, low, high, steps))
    least = _LEAST_SAVED * len(columns)
    if len(two) < least:
        return None
    high[low == high] = np.nan  # a constant adds nothing
    before = np.full(len(two), -1)
    for V in sides:
        _find_before(V, columns[two], high, before)
    starts = _starts(before)
    if len(two) - len(starts) < least:
        return None
    members = [m for m in np.split(np.arange(len(two)), starts[1:]) if len(m) > 1]
    height, number = np.zeros(len(two), sides[0].dtype), np.full(len(two), -1)
    for k, m in enumerate(members):
        height[m], number[m] = _apart(steps[m]), k
    heights = [np.zeros((len(V), len(members)), V.dtype) for V in sides]
    for V, out in zip(sides, heights):
        _fill(V, columns[two], high, height, number, out)
    rest = np.delete(columns, two[number >= 0])
    return [V[:, rest] for V in sides], heights


def _two_values(sides, columns):
    """A mask of columns with at most two values, and their lower and higher values."""
    values, counts = np.zeros((2, len(columns)), sides[0].dtype), np.zeros(len(columns), np.int64)
    for V in sides:
        _look(V, columns, np.flatnonzero(counts <= 2), values, counts)
    values[1, counts == 1] = values[0, counts == 1]
    two = np.flatnonzero(counts <= 2)
    return two, values[:, two].min(axis=0), values[:, two].max(axis=0)


@jit
def _look(V, columns, left, values, counts):
    """Record up to two values of the columns ``left``; a count of 3 means more than two."""
    n = len(left)
    for i in range(len(V)):
        k = 0
        while k < n:
            c = left[k]
            value = V[i, columns[c]]
            known = counts[c]
            if known > 0 and (value == values[0, c] or (known == 2 and value == values[1, c])):
                k += 1
            elif known < 2:
                values[known, c] = value
                counts[c] += 1
                k += 1
            else:
                counts[c] = 3
                n -= 1
                left[k] = left[n]


@jit
def _find_before(V, columns, high, before):
    """before[c] = the last column before c that is high, as c is, in a sample; -1 if in none."""
    for i in range(len(V)):
        last = -1
        for c in range(len(columns)):
            if V[i, columns[c]] == high[c]:
                before[c] = max(before[c], last)
                last = c


def _starts(before):
    """First columns of consecutive columns of which at most one is high in each sample.

    A column joins those before it or starts new ones, because levels of a category are adjacent.
    """
    starts = [0]
    for c, last in enumerate(before.tolist()):
        if last >= starts[-1]:
            starts.append(c)
    return starts


@jit
def _fill(V, columns, high, height, number, out):
    """out[i, number[c]] = height[c] where V[i, columns[c]] equals high[c] and number[c] >= 0."""
    for i in range(len(V)):
        for c in range(len(columns)):
            if number[c] >= 0 and V[i, columns[c]] == high[c]:
                out[i, number[c]] = height[c]


def _apart(heights):
    """The heights, with equal ones raised by units of rounding."""
    order = np.argsort(heights, kind="stable")
    # The next larger number has the next larger bits, because heights are not negative.
    bits = heights[order].view(np.int32 if heights.dtype == np.float32 else np.int64)
    places = np.arange(len(bits), dtype=bits.dtype)
    apart = np.empty_like(heights)
    apart[order] = (np.maximum.accumulate(bits - places) + places).view(heights.dtype)
    return apart
