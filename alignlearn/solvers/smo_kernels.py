"""The compiled loops of the SMO solver; `alignlearn.solvers.smo` drives them.

The state of the active variables is one (7, n) float64 array, a row each for the gradient, the two
one-sided slopes to be added to it, the diagonal of the Gram matrix, the bounds and the variable.
A variable that cannot move up has the slope +inf, one that cannot move down -inf, so that the
selection loops need no index sets and no branches.

Minimum and maximum reductions of floats do not vectorise under IEEE rules, those of integers do.
So scores are compared through their bit patterns, which order as the numbers do, and the lowest
bits carry the position: one pass gives the argument as well. The rounding this means (relative
2^-52 n) only decides between candidates that are equal to that precision.

Steps are along directions conjugate to the last ones (Torres-Barran, Alaiz and Dorronsoro 2021,
"Faster SVM training via conjugate SMO"), which takes a fifth to a half fewer of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._jit import jit, jit_sum

GRADIENT, UP, DOWN, DIAGONAL, LOWER, UPPER, BETA = range(7)
_SIGN_FREE = np.int64(0x7FFFFFFFFFFFFFFF)
_MOST = 24  # variables of a direction; then it starts afresh
_LEAST_CURVED = 1e-4  # of a pair's curvature, for what a conjugate direction leaves of it


class Active(NamedTuple):
    """The rows of the Gram matrix of the active variables that are at hand.

    ``rows`` is ``source`` itself while all variables are active, or what ``buffer`` holds: rows
    gathered from ``source`` when first used or, where ``source`` is empty, put there by a
    `RowCache`. Both are read-only views whatever was given: one array type, hence one compilation,
    and what is not meant to be written cannot be.
    """

    source: np.ndarray  # (m, m), read-only; (0, 0) for rows that are computed elsewhere
    rows: np.ndarray  # (slots, >= n), read-only
    buffer: np.ndarray  # memory of ``rows`` to be filled; unused where no slot is -1
    slot: np.ndarray  # (n,): where in ``rows`` a variable's row is, or -1
    used: np.ndarray  # (slots + 1,): when each row was last used; at the end the time
    index: np.ndarray  # (n,): the active variables


@jit
def one_sided_slopes(b, lower, upper, epsilon):
    """What to add to the gradient for a step up and for a step down from ``b``."""
    up = -epsilon if b < 0.0 else epsilon
    down = epsilon if b > 0.0 else -epsilon
    if b >= upper:
        up = np.inf
    if b <= lower:
        down = -np.inf
    return up, down


@jit
def _ordered(value):
    """The int64 that orders as the float does."""
    bits = np.float64(value).view(np.int64)
    return bits ^ ((bits >> 63) & _SIGN_FREE)


@jit
def _update_and_pick_up(gradient, up, product, rows, step, bend, low_bits):
    """Follow the direction ``bend`` times the last plus the pair's; smallest upward slope.

    ``product`` is the Gram matrix times the direction: ``step`` times it is added to the gradient.
    """
    best = _SIGN_FREE
    row_i, row_j = rows
    for k in range(gradient.size):
        change = bend * product[k] + (np.float64(row_i[k]) - np.float64(row_j[k]))
        product[k] = change
        value = gradient[k] + step * change
        gradient[k] = value
        best = min(best, (_ordered(value + up[k]) & ~low_bits) | k)
    return best & low_bits


@jit
def _pick_down(gradient, down, diagonal, row, diag_i, slope_i, tau, low_bits):
    """Partner of largest guaranteed decrease (Fan, Chen and Lin 2005, WSS 2); worst violation."""
    best = np.int64(0)
    worst = np.int64(0)
    for k in range(gradient.size):
        gap = gradient[k] + down[k] - slope_i
        gap = gap if gap > 0.0 else 0.0
        curvature = diagonal[k] + diag_i - 2.0 * np.float64(row[k])
        curvature = curvature if curvature > tau else tau
        score = gap * gap / curvature
        best = max(best, (np.float64(score).view(np.int64) & ~low_bits) | k)
        worst = max(worst, np.float64(gap).view(np.int64))
    return best & low_bits, np.int64(worst).view(np.float64)


@jit
def _find(active, i):
    """Slot of row ``i``, which is gathered from the source at its first use; -1 if not at hand."""
    index, used = active.index, active.used
    if active.slot[i] < 0:
        if active.source.shape[0] == 0:
            return -1
        full, row = active.source[index[i]], active.buffer[i]
        for k in range(index.size):
            row[k] = full[index[k]]
        active.slot[i] = i
    slot = active.slot[i]
    used[slot] = used[used.size - 1]
    return slot


@jit
def _touch(row):
    """Read one value per cache line; the result only keeps the loop alive.

    These loads overlap, while the loops with arithmetic would wait for memory again and again
    (a step at m = 4000 takes 20 per cent longer without).
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(0, row.size - 31, 32):
        a = max(a, row[k])
        b = max(b, row[k + 8])
        c = max(c, row[k + 16])
        d = max(d, row[k + 24])
    return max(max(a, b), max(c, d))


@jit
def _move(state, i, j, step, epsilon):
    """Take the step, cut where it meets a bound or the kink of epsilon |b| at 0; its length."""
    b_i, b_j = state[BETA, i], state[BETA, j]
    end_i = 0.0 if b_i < 0.0 else state[UPPER, i]
    end_j = 0.0 if b_j > 0.0 else state[LOWER, j]
    step = min(step, end_i - b_i, b_j - end_j)
    state[BETA, i] = end_i if step == end_i - b_i else b_i + step
    state[BETA, j] = end_j if step == b_j - end_j else b_j - step
    for k in (i, j):
        state[UP, k], state[DOWN, k] = one_sided_slopes(
            state[BETA, k], state[LOWER, k], state[UPPER, k], epsilon
        )
    return step


@jit
def _along(place, amount, count, k, weight):
    """Add a variable to a direction of ``count`` variables; how many there are then."""
    for n in range(count):
        if place[n] == k:
            amount[n] += weight
            return count
    place[count], amount[count] = k, weight
    return count + 1


@jit
def _conjugate_move(state, way, count, pair, bend, step, epsilon):
    """Take the step along ``bend`` times the last direction plus that of the pair, or none.

    None where a variable would meet a bound or 0. The number of variables in the new direction, or
    0 if it was not taken.
    """
    place, amount = way
    if count + 2 > place.size:
        return 0
    for n in range(count):
        amount[n] *= bend
    count = _along(place, amount, count, pair[0], 1.0)
    count = _along(place, amount, count, pair[1], -1.0)
    for n in range(count):
        k = place[n]
        b = state[BETA, k]
        new = b + step * amount[n]
        above = b > 0.0 or (b == 0.0 and new > 0.0)
        low, high = (0.0, state[UPPER, k]) if above else (state[LOWER, k], 0.0)
        if not low < new < high:
            return 0
    for n in range(count):
        state[BETA, place[n]] += step * amount[n]
    for k in pair:
        state[UP, k], state[DOWN, k] = one_sided_slopes(
            state[BETA, k], state[LOWER, k], state[UPPER, k], epsilon
        )
    return count


@jit
def _advance(state, product, way, last, pair, slope, epsilon):
    """Take a step along a direction conjugate to the last or, where there is none, the pair's own.

    ``last`` = (number of variables in the direction, its curvature); ``slope`` = (minus that of the
    pair, its curvature). Returns the length of the step, how much of the last direction is in it,
    and the new ``last``.
    """
    (i, j), (count, curved), (gap, curvature) = pair, last, slope
    if count > 0:
        bend = (product[j] - product[i]) / curved
        rest = curvature - bend * bend * curved
        if bend != 0.0 and rest > _LEAST_CURVED * curvature:
            step = gap / rest
            count = _conjugate_move(state, way, count, pair, bend, step, epsilon)
            if count > 0:
                return step, bend, (count, rest)
    count, step = 0, _move(state, i, j, gap / curvature, epsilon)
    if state[UP, i] == state[DOWN, i] and state[UP, j] == state[DOWN, j]:
        count = _along(way[0], way[1], 0, i, 1.0)
        count = _along(way[0], way[1], count, j, -1.0)
    return step, 0.0, (count, curvature)


@jit.owning
def iterate(active, state, epsilon, limits, n_steps):
    """At most ``n_steps`` SMO steps on the active variables.

    ``limits`` = (tol, tau). Returns the steps done, the violation left, and a variable whose row is
    needed to go on and not at hand, else -1; the last number means nothing.
    """
    gradient, up, down, diagonal = state[GRADIENT], state[UP], state[DOWN], state[DIAGONAL]
    low_bits = np.int64(1)
    while low_bits < active.index.size:
        low_bits = 2 * low_bits + 1
    size, time = active.index.size, active.used.size - 1
    product, way = np.zeros(size), (np.empty(_MOST, np.int64), np.empty(_MOST))
    first = active.rows[0][:size]
    i = _update_and_pick_up(gradient, up, product, (first, first), 0.0, 0.0, low_bits)
    sink, violation, last = 0.0, np.inf, (0, 1.0)
    for n in range(n_steps + 1):
        slope_i = gradient[i] + up[i]
        slot = _find(active, i)
        if slot < 0:
            return n, violation, i, sink
        row_i = active.rows[slot][:size]
        sink = max(sink, _touch(row_i))
        j, violation = _pick_down(
            gradient, down, diagonal, row_i, diagonal[i], slope_i, limits[1], low_bits
        )
        if violation <= limits[0] or n == n_steps:
            break
        slot = _find(active, j)
        if slot < 0:
            return n, violation, j, sink
        active.used[time] += 1
        row_j = active.rows[slot][:size]
        sink = max(sink, _touch(row_j))
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * np.float64(row_i[j]), limits[1])
        slope = gradient[j] + down[j] - slope_i, curvature
        step, bend, last = _advance(state, product, way, last, (i, j), slope, epsilon)
        i = _update_and_pick_up(gradient, up, product, (row_i, row_j), step, bend, low_bits)
    return n, violation, -1, sink


@jit
def compact_rows(rows, slot, keep):
    """Move the kept rows and columns of ``rows`` to the front, in place; row i is in slot i."""
    for new in range(keep.size):
        old = keep[new]
        there = slot[old] >= 0
        slot[new] = new if there else -1
        if there:
            for k in range(keep.size):
                rows[new, k] = rows[old, keep[k]]


@jit
def repack_rows(memory, widths, slots, used, keep):
    """Move kept rows, of kept columns only, to the front of a buffer whose rows become narrower.

    Parameters
    ----------
    memory : (n,) array
        The rows one after the other.
    widths : (old, new)
        Length of a row, with padding.
    slots : (n_kept,) int64, increasing
        Of the kept rows.
    used : (n_slots,) int64
        Moves along.
    keep : (width,) int64, increasing
        Columns.
    """
    for new in range(slots.size):
        old = slots[new]
        used[new] = used[old]
        source, target = memory[old * widths[0] :], memory[new * widths[1] :]
        for k in range(keep.size):
            target[k] = source[keep[k]]


@jit_sum
def add_rows(gradient, K, index, weights):
    """gradient += sum_k weights[k] K[index[k]], four rows at a time."""
    n = index.size - index.size % 4
    for s in range(0, n, 4):
        a, b, c, d = weights[s], weights[s + 1], weights[s + 2], weights[s + 3]
        r0, r1, r2, r3 = K[index[s]], K[index[s + 1]], K[index[s + 2]], K[index[s + 3]]
        for k in range(gradient.size):
            gradient[k] += a * r0[k] + b * r1[k] + c * r2[k] + d * r3[k]
    for s in range(n, index.size):
        a, r0 = weights[s], K[index[s]]
        for k in range(gradient.size):
            gradient[k] += a * r0[k]
