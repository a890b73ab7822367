"""The compiled loops of the SMO solver; `alignlearn.solvers.smo` drives them.

The state of the active variables is one (7, n) float64 array: the gradient, two one-sided slopes
that are added to it, the diagonal of the Gram matrix, two bounds and the variable. A variable that
cannot move up has the slope +inf, one that cannot move down -inf, so that the selection loops need
no index sets and no branches.

Under IEEE rules, minimum and maximum reductions vectorize for integers but not for floats. Scores
are therefore compared by their bit patterns, which have the order of the numbers. The lowest bits
contain the position, so that one pass also gives the argument. The rounding (relative 2^-52 n) only
affects the choice between candidates that are equal to that precision.

The first fit compiles these loops, so they are few, have one signature each, use memory of the
caller, and contain each piece of code once.

Steps are along directions conjugate to the last ones (Torres-Barran, Alaiz and Dorronsoro 2021,
"Faster SVM training via conjugate SMO"), which takes a fifth to a half fewer of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._jit import jit

GRADIENT, UP, DOWN, DIAGONAL, LOWER, UPPER, BETA = range(7)
_SIGN_FREE = np.int64(0x7FFFFFFFFFFFFFFF)
_MOST = 24  # variables of a direction; with more, a new direction starts
ROUNDING = 64 * np.finfo(np.float64).eps  # of a variable, relative to the largest
_LEAST_CURVED = 1e-4  # minimum share of a pair's curvature that remains in a conjugate direction
TOL, TAU, LEAST, EPSILON = range(4)


class Active(NamedTuple):
    """The available rows of the Gram matrix of the active variables.

    ``rows`` is ``source`` itself while all variables are active. Otherwise it has the rows of
    ``buffer``, which are gathered from ``source`` at their first use or written by a `RowCache`.
    Both are always read-only views, so that there is one array type, one compilation, and no
    accidental write.
    """

    source: np.ndarray  # (any, m), read-only
    rows: np.ndarray  # (slots, >= n), read-only
    buffer: np.ndarray  # memory from which ``rows`` is filled; unused if no slot is below -1
    slot: np.ndarray  # (n,): where in ``rows`` a row is; -1: nowhere; -2 - k: in row k of source
    used: np.ndarray  # (slots + 1,): time of each row's last use, and the current time
    index: np.ndarray  # (n,): the active variables' columns in ``source``


class Direction(NamedTuple):
    """The last direction, to which the next one is conjugate."""

    product: np.ndarray  # (n,) float64: the Gram matrix times it
    place: np.ndarray  # (_MOST + 1,) int64: its variables; their number is at the end
    amount: np.ndarray  # (_MOST + 1,) float64: their coefficients; its curvature is at the end


def no_direction(n):
    """An empty `Direction` for n variables."""
    return Direction(np.zeros(n), np.zeros(_MOST + 1, np.int64), np.zeros(_MOST + 1))


@jit
def _follow(gradient, up, product, row_i, row_j, step, bend, low_bits):
    """Move along ``bend`` times the last direction plus the pair's; return the next variable.

    ``product`` is the Gram matrix times the direction: ``step`` times it is added to the gradient.
    """
    best = _SIGN_FREE
    for k in range(gradient.size):
        change = bend * product[k] + (np.float64(row_i[k]) - np.float64(row_j[k]))
        product[k] = change
        value = gradient[k] + step * change
        gradient[k] = value
        bits = np.float64(value + up[k]).view(np.int64)
        # The int64 with the same order as the float.
        bits = ((bits ^ ((bits >> 63) & _SIGN_FREE)) & ~low_bits) | k
        best = bits if bits < best else best
    return best & low_bits


@jit
def _partner(gradient, down, diagonal, row, i, slope_i, tau, low_bits):
    """Partner of largest guaranteed decrease (Fan, Chen and Lin 2005, WSS 2); worst violation."""
    best = np.int64(0)
    worst = np.int64(0)
    diag_i = diagonal[i]
    for k in range(gradient.size):
        gap = gradient[k] + down[k] - slope_i
        gap = gap if gap > 0.0 else 0.0
        curvature = diagonal[k] + diag_i - 2.0 * np.float64(row[k])
        curvature = curvature if curvature > tau else tau
        score = (np.float64(gap * gap / curvature).view(np.int64) & ~low_bits) | k
        best = score if score > best else best
        bits = np.float64(gap).view(np.int64)
        worst = bits if bits > worst else worst
    return best & low_bits, np.int64(worst).view(np.float64)


@jit
def _find(active, i):
    """Slot of row ``i``, which is gathered from the source at its first use; -1 if not at hand.

    One value of each cache line is read in advance. These loads overlap, while the loops with
    arithmetic would wait for memory repeatedly (without this, a step at m = 4000 takes 20% longer).
    """
    index, used, slot = active.index, active.used, active.slot[i]
    n = index.size
    if slot == -1:
        return slot
    if slot < 0:
        full, row = active.source[-2 - slot], active.buffer[i]
        for k in range(n):
            row[k] = full[index[k]]
        active.slot[i] = slot = i
    row, time = active.rows[slot], used.size - 1
    a, b, c, d = row[0], row[0], row[0], row[0]
    for k in range(0, n - 31, 32):
        a = row[k] if row[k] > a else a
        b = row[k + 8] if row[k + 8] > b else b
        c = row[k + 16] if row[k + 16] > c else c
        d = row[k + 24] if row[k + 24] > d else d
    # Always true; the comparison keeps the compiler from removing the loop.
    used[slot] = used[time] if a + b + c + d < np.inf else 0
    return slot


@jit
def _end(b, lower, upper, rising):
    """The step at which a moving variable reaches a bound or the kink of epsilon |b| at 0."""
    above = b > 0.0 or (b == 0.0 and rising)
    if rising:
        return upper if above else 0.0
    return 0.0 if above else lower


@jit
def _advance(beta, lower, upper, last, i, j, gap, curvature):
    """Take a step along a direction conjugate to the last one, or else along the pair's own.

    There is none if one of its variables would reach a bound or 0; the step along the pair's own
    direction ends there. Returns the length of the step, and the coefficient of the last direction.
    """
    place, amount, count = last.place, last.amount, last.place[_MOST]
    bend, rest = 0.0, curvature
    if 0 < count <= _MOST - 2:
        share = (last.product[j] - last.product[i]) / amount[_MOST]
        left = curvature - share * share * amount[_MOST]
        if left > _LEAST_CURVED * curvature:
            bend, rest = share, left
    while True:
        if bend == 0.0:
            count, rest = 0, curvature
        for n in range(count):
            amount[n] *= bend
        for s in range(2):
            k, n = (i if s == 0 else j), 0
            while n < count and place[n] != k:
                n += 1
            if n == count:
                place[n], amount[n] = k, 0.0
                count += 1
            amount[n] += 1.0 - 2.0 * s
        step, room = gap / rest, np.inf
        for n in range(count):
            k, rate = place[n], amount[n]
            length = (_end(beta[k], lower[k], upper[k], rate > 0.0) - beta[k]) / rate
            room = length if rate != 0.0 and length < room else room
        if bend == 0.0 or step < room:
            break
        bend = 0.0
    room = step if step < room else room
    for n in range(count):
        k, rate = place[n], amount[n]
        end = _end(beta[k], lower[k], upper[k], rate > 0.0)
        beta[k] = end if (end - beta[k]) / rate == room else beta[k] + room * rate
    place[_MOST], amount[_MOST] = count, rest
    return room, bend


@jit
def _set_slopes(state, k, epsilon):
    """One-sided slopes of epsilon |b| for a variable; whether they are equal (it is free)."""
    b = state[BETA, k]
    up = -epsilon if b < 0.0 else epsilon
    down = epsilon if b > 0.0 else -epsilon
    up = np.inf if b >= state[UPPER, k] else up
    down = -np.inf if b <= state[LOWER, k] else down
    state[UP, k], state[DOWN, k] = up, down
    return up == down


@jit
def iterate(active, state, last, limits, n_steps):
    """At most ``n_steps`` SMO steps on the active variables.

    ``limits`` = (tol, least curvature of a pair in units of its first diagonal entry, and at all,
    epsilon); ``last`` is the `Direction` from the previous call for the same active variables, or
    `no_direction`. Returns the steps done, the violation left, and a variable whose row is needed
    to go on and not at hand, else -1.
    """
    gradient, up, down, diagonal = state[GRADIENT], state[UP], state[DOWN], state[DIAGONAL]
    beta, lower, upper = state[BETA], state[LOWER], state[UPPER]
    size, time = active.index.size, active.used.size - 1
    low_bits, violation = np.int64(1), np.inf
    while low_bits < size:
        low_bits = 2 * low_bits + 1
    row_i = row_j = active.rows[0]
    n, step, bend = 0, 0.0, 1.0
    while True:
        i = _follow(gradient, up, last.product, row_i, row_j, step, bend, low_bits)
        slot = _find(active, i)
        if slot < 0:
            return n, violation, i
        row_i = active.rows[slot]
        slope_i = gradient[i] + up[i]
        tau = max(limits[TAU] * abs(diagonal[i]), limits[LEAST])
        j, violation = _partner(gradient, down, diagonal, row_i, i, slope_i, tau, low_bits)
        if violation <= limits[TOL] or n == n_steps:
            return n, violation, np.int64(-1)
        slot = _find(active, j)
        if slot < 0:
            return n, violation, j
        active.used[time] += 1
        row_j = active.rows[slot]
        curvature = diagonal[i] + diagonal[j] - 2.0 * np.float64(row_i[j])
        curvature = curvature if curvature > tau else tau
        gap = gradient[j] + down[j] - slope_i
        step, bend = _advance(beta, lower, upper, last, i, j, gap, curvature)
        free = True
        for s in range(2):
            free = _set_slopes(state, i if s == 0 else j, limits[EPSILON]) and free
        if not free:
            last.place[_MOST] = 0
        n += 1


@jit
def solve_each(K, rows, problems, work, limits, n_steps, found):
    """Solve small problems one after the other on parts of a matrix; see `smo_listed`.

    ``problems`` = (members, starts, linear, lower, upper, coef): problem p has entries starts[p] to
    starts[p + 1] of members, which are rows of K, and of linear. The others have these entries once
    for each value of C: bounds, and coef, which holds where to start for the first value and gets
    the results. ``rows`` is a read-only view of the buffer in ``work``. ``found`` (any, 5) gets
    multiplier, violation, objective, duality gap and steps, of all problems for each value.
    """
    members, starts, linear, lower, upper, coef = problems
    buffer, memory, product, slot, used, place, amount = work
    least, n_problems, past = limits[LEAST], starts.size - 1, members.size
    for p in range(len(found)):
        first, end = starts[p % n_problems], starts[p % n_problems + 1]
        at = past * (p // n_problems) + first
        n = end - first
        index, beta = members[first:end], coef[at : at + n]
        for i in range(n if p >= n_problems else 0):
            beta[i] = coef[at - past + i]
        state = memory[: 7 * n].reshape((7, n))
        scale = 0.0
        for i in range(n):
            state[DIAGONAL, i] = K[index[i], index[i]]
            size = abs(state[DIAGONAL, i]) + abs(np.float64(K[index[0], index[i]]))
            scale = size if size > scale else scale
            slot[i], product[i] = -2 - index[i], 0.0
            state[LOWER, i], state[UPPER, i] = lower[at + i], upper[at + i]
        _make_feasible(beta, state[LOWER], state[UPPER])
        active = Active(K, rows, buffer, slot[:n], used, index)
        _set_gradient(state, linear[first:end], active, beta)
        for k in range(n):
            _set_slopes(state, k, 0.0)
        place[_MOST], used[used.size - 1] = 0, 0
        limits[LEAST] = least * scale
        last = Direction(product[:n], place, amount)
        found[p, 4], _, _ = iterate(active, state, last, limits, n_steps)
        _snap(state, beta)
        _set_gradient(state, linear[first:end], active, beta)
        _certify(state, linear[first:end], found[p])


@jit
def _make_feasible(beta, lower, upper):
    """Clip a starting point to its bounds, and scale one side so that its sum is 0."""
    excess, size = 0.0, 0.0
    for k in range(beta.size):
        beta[k] = lower[k] if beta[k] < lower[k] else beta[k]
        beta[k] = upper[k] if beta[k] > upper[k] else beta[k]
        excess += beta[k]
        size += abs(beta[k])
    if abs(excess) > ROUNDING * size:
        total = 0.5 * (excess + size) if excess > 0.0 else 0.5 * (excess - size)
        for k in range(beta.size):
            if beta[k] * excess > 0.0:
                beta[k] *= 1.0 - excess / total


@jit
def _set_gradient(state, linear, active, beta):
    """Variables and the gradient at them."""
    gradient = state[GRADIENT]
    for k in range(beta.size):
        state[BETA, k], gradient[k] = beta[k], linear[k]
    for j in range(beta.size):
        b = beta[j]
        if b != 0.0:
            row = active.rows[_find(active, j)]
            for k in range(beta.size):
                gradient[k] += b * np.float64(row[k])


@jit
def _snap(state, beta):
    """Put variables within rounding of a bound, or of 0, exactly there."""
    near = 0.0
    for k in range(beta.size):
        size = ROUNDING * abs(state[BETA, k])
        near = size if size > near else near
    for k in range(beta.size):
        b, lower, upper = state[BETA, k], state[LOWER, k], state[UPPER, k]
        b = 0.0 if abs(b) <= near else b
        b = lower if abs(b - lower) <= near else b
        beta[k] = upper if abs(b - upper) <= near else b


@jit
def _certify(state, linear, found):
    """Multiplier, violation, objective and duality gap at a point and its gradient."""
    n, total, free = linear.size, 0.0, 0
    low, high, objective = -np.inf, np.inf, 0.0
    for k in range(n):
        b, g = state[BETA, k], state[GRADIENT, k]
        rises, falls = b < state[UPPER, k], b > state[LOWER, k]
        high = g if rises and g < high else high
        low = g if falls and g > low else low
        if rises and falls:
            total += g
            free += 1
        objective += 0.5 * b * (g + linear[k])
    middle = 0.5 * (low + high) if low > -np.inf and high < np.inf else 0.0
    middle = low if high == np.inf and low > -np.inf else middle
    middle = high if low == -np.inf and high < np.inf else middle
    multiplier = total / free if free else middle
    gap = 0.0
    for k in range(n):
        slope = state[GRADIENT, k] - multiplier
        least = slope * (state[LOWER, k] if slope > 0.0 else state[UPPER, k])
        gap += slope * state[BETA, k] - least
    found[0], found[1] = multiplier, low - high if low > high else 0.0
    found[2], found[3] = objective, gap


def read_only(K):
    """A read-only view, of the one array type that the loops are compiled for."""
    K = K.view(np.ndarray)
    K.flags.writeable = False
    return K
