"""Compiled loops of the nonnegative quadratic program: coordinate descent and active set.

Both work on ``min v'Sv - 2 v'b, v >= 0`` with ``S = diag(d) M diag(d)`` of unit diagonal, which is
never formed: rows of ``M`` are read in place and scaled on the fly.

The active-set method is that of Lawson and Hanson (1974, chapter 23) in the normal-equation form of
Bro and de Jong (1997). It starts from any feasible point, and several variables may enter at a
time. It keeps the upper factor ``R`` of ``S_PP + delta I = R'R`` row by row (inner loops are
contiguous), appends a column by a forward substitution and removes one by Givens rotations, which
are backward stable.

Array assignments are written as loops, because ``x[:s] = y[:s]`` compiles error messages for
seconds.
"""

import numpy as np

from alignlearn._jit import jit, jit_sum

from .nnqp_pivot import DONE, EXHAUSTED, INDEFINITE, TINY

_MOST_ENTERING = 16  # variables at once


@jit_sum
def coordinate_descent(M, d, v, g, n_sweeps):
    """Cyclic sweeps from ``v``, keeping ``g = a - S v``; both are updated in place."""
    p = v.shape[0]
    for _ in range(n_sweeps):
        moved = False
        for j in range(p):
            new = max(v[j] + g[j], 0.0)
            step = new - v[j]
            if step == 0.0 or d[j] == 0.0:
                continue
            moved = True
            v[j] = new
            row = M[j]
            step *= d[j]
            for k in range(p):
                g[k] -= step * d[k] * row[k]
        if not moved:
            break


@jit_sum
def gradient(M, d, b, v, g):
    """``g = b - S v`` from the rows of ``M`` where ``v`` is not 0."""
    p = v.shape[0]
    for k in range(p):
        g[k] = 0.0
    for j in range(p):
        if v[j] != 0.0:
            weight = d[j] * v[j]
            row = M[j]
            for k in range(p):
                g[k] += weight * row[k]
    for k in range(p):
        g[k] = b[k] - d[k] * g[k]


@jit_sum
def forward(R, s, x):
    """Solve ``R'x = x`` in place, row by row."""
    for i in range(s):
        x[i] /= R[i, i]
        # Slices, because indices that start at i + 1 would prevent vectorization.
        xi, row, rest = x[i], R[i][i + 1 : s], x[i + 1 : s]
        for k in range(rest.size):
            rest[k] -= xi * row[k]


@jit_sum
def backward(R, s, q, z):
    """Solve ``R z = q``."""
    for i in range(s - 1, -1, -1):
        row, rest = R[i][i + 1 : s], z[i + 1 : s]
        total = 0.0
        for k in range(rest.size):
            total += row[k] * rest[k]
        z[i] = (q[i] - total) / R[i, i]


@jit_sum
def forward_rows(R, s, X):
    """Solve ``R'x = x`` in place for every row x of X: a row of R is read once for all of them."""
    for i in range(s):
        row, pivot = R[i][i + 1 : s], R[i, i]
        for c in range(X.shape[0]):
            X[c, i] /= pivot
            xi, rest = X[c, i], X[c][i + 1 : s]
            for k in range(rest.size):
                rest[k] -= xi * row[k]


@jit_sum
def _dot(x, y, n):
    total = 0.0
    for k in range(n):
        total += x[k] * y[k]
    return total


@jit
def remove(R, s, index, q, k):
    """Drop position ``k`` from the factor, the index list and ``q = R^-T b_P``."""
    for i in range(s):
        first = max(i, k + 1)
        row = R[i]
        for c in range(first, s):
            row[c - 1] = row[c]
    for i in range(k, s - 1):
        index[i] = index[i + 1]
    # Column c of the shifted factor extends to row c + 1: Givens rotations eliminate these entries.
    for i in range(k, s - 1):
        x, y = R[i, i], R[i + 1, i]
        r = np.sqrt(x * x + y * y)  # entries of a factor of unit diagonal: no overflow
        c, t = x / r, y / r
        _rotate(R[i, i : s - 1], R[i + 1, i : s - 1], c, t)
        qi = q[i]
        q[i] = c * qi + t * q[i + 1]
        q[i + 1] = c * q[i + 1] - t * qi
    return s - 1


@jit_sum
def _rotate(upper, lower, c, t):
    for k in range(upper.shape[0]):
        u = upper[k]
        w = lower[k]
        upper[k] = c * u + t * w
        lower[k] = c * w - t * u


@jit
def _feasible_step(R, s, index, q, v, z, leader):
    """Move ``v`` to the minimizer on its face, dropping every variable that reaches 0 on the way.

    Several variables may have entered at 0. Those that would be negative at the minimizer leave
    again before any move, except ``leader`` (the one of largest gradient): alone with the old face
    it is certainly positive, so the objective decreases in every call.

    Returns the size of the face and the number of solves.
    """
    solves = 0
    while s > 0:
        backward(R, s, q, z)
        solves += 1
        alpha, blocker, held, led = np.inf, -1, 0, False
        for i in range(s):
            if z[i] <= 0.0:
                j = index[i]
                if v[j] == 0.0 and j == leader:
                    led = True
                elif v[j] == 0.0:
                    held += 1
                elif v[j] / (v[j] - z[i]) < alpha:
                    alpha = v[j] / (v[j] - z[i])
                    blocker = j
        if held == 0 and not led and blocker < 0:
            for i in range(s):
                v[index[i]] = z[i]
            break
        n_zero = 0
        for i in range(s):
            n_zero += v[index[i]] == 0.0
        # Only other entering variables, or the old face by rounding, can make the leader negative.
        companions = led and held == 0 and n_zero > 1
        leaving = led and n_zero == 1
        for i in range(s - 1, -1, -1):
            j = index[i]
            if v[j] == 0.0:
                drop = leaving if j == leader else companions or z[i] <= 0.0
            elif held > 0 or led:
                drop = False
            else:
                drop = j == blocker or (z[i] <= 0.0 and v[j] <= alpha * (v[j] - z[i]))
            if drop:
                v[j] = 0.0
                s = remove(R, s, index, q, i)
                for k in range(i, s):
                    z[k] = z[k + 1]
            elif held == 0 and not led:
                # Rounding may not push a variable that stays below 0.
                v[j] = max(v[j] + alpha * (z[i] - v[j]), TINY)
    return s, solves


@jit
def _candidates(g, v, allowed, threshold, most, chosen):
    """Variables at 0 whose gradient is at least half the largest: the largest first."""
    best, leader = threshold, -1
    for k in range(g.shape[0]):
        if allowed[k] and v[k] == 0.0 and g[k] > best:
            best = g[k]
            leader = k
    if leader < 0:
        return 0
    chosen[0] = leader
    n = 1
    for k in range(g.shape[0]):
        if n == most:
            break
        if k != leader and allowed[k] and v[k] == 0.0 and g[k] > max(0.5 * best, threshold):
            chosen[n] = k
            n += 1
    return n


@jit
def _enter(problem, delta, face, s, q, chosen, work):
    """Append the chosen variables; return the new size, or -1 if a pivot is not positive.

    The first always enters. Another one enters unless it would leave at once, because it would be
    negative together with those before it. ``work`` is (n, p), a row for every variable.
    """
    M, d, b = problem
    R, index = face
    n_old, n = s, chosen.size
    for c in range(n):
        j = chosen[c]
        for i in range(n_old):
            work[c, i] = d[j] * M[j, index[i]] * d[index[i]]
    forward_rows(R, n_old, work[:n])
    for c in range(n):
        j, x = chosen[c], work[c]
        for i in range(n_old, s):
            # Row i of the factor is an earlier row of ``work``, which was moved there.
            known = _dot(work[i - n_old], x, i)
            x[i] = (d[j] * M[j, index[i]] * d[index[i]] - known) / R[i, i]
        pivot = 1.0 + delta - _dot(x, x, s)
        if not pivot > 0.1 * delta:
            return -1
        root = np.sqrt(pivot)
        value = (b[j] - _dot(x, q, s)) / root
        if c > 0 and value <= 0.0:
            continue
        moved = work[s - n_old]
        for i in range(s):
            R[i, s] = moved[i] = x[i]
        R[s, s], q[s], index[s] = root, value, j
        s += 1
    return s


def exchange(problem, delta, v, usable, face, threshold, max_iter):
    """`active_set` as `alignlearn.solvers.nnqp_pivot.active_set`: the face is ``index, R``."""
    (support, factor), p = face, v.size
    s = support.size
    R, index = np.empty((p, p)), np.zeros(p, dtype=np.int64)
    R[:s, :s], index[:s] = factor, support
    # Work vectors of p variables, because allocation in the loops would also be compiled.
    memory = tuple(np.zeros((3, p))), np.empty((min(_MOST_ENTERING, p), p))
    memory = *memory, np.zeros(p, np.int64), np.zeros(p, bool)
    problem = problem, delta, v, usable, (R, index)
    status, s, n_iter = active_set(*problem, s, threshold, max_iter, memory)
    return status, (index[:s], R[:s, :s]), n_iter


@jit
def active_set(problem, delta, v, usable, face, s, threshold, max_iter, memory):
    """Minimize ``v'(S + delta I)v - 2 v'b`` over ``v >= 0`` from a feasible ``v``, in place.

    ``problem`` is ``M, d, b``; ``face`` is ``R, index``, with the factor in ``R[:s, :s]`` and its
    variables in ``index[:s]`` on entry and on return; ``s`` may be 0 only if ``v`` is 0. Stops when
    no usable variable at 0 has a gradient above ``threshold``. ``memory`` is from `exchange`.

    Returns
    -------
    status, s, n_iter : int
        DONE, INDEFINITE (a pivot is not positive: ``delta`` is too small) or EXHAUSTED.
    """
    M, d, b = problem
    R, index = face
    (q, z, g), work, chosen, allowed = memory
    p = v.shape[0]
    for k in range(p):
        allowed[k] = usable[k]
    for i in range(s):
        q[i] = b[index[i]]
    forward(R, s, q)
    chosen[0] = -1  # an entry of an array: a literal -1 would be another type and compile again
    s, n_iter = _feasible_step(R, s, index, q, v, z, chosen[0])
    gradient(M, d, b, v, g)
    while n_iter < max_iter:
        most = min(min(1 + s // 8, work.shape[0]), p - s)
        n = _candidates(g, v, allowed, threshold, most, chosen)
        if n == 0:
            return DONE, s, n_iter
        s = _enter(problem, delta, face, s, q, chosen[:n], work)
        if s < 0:
            return INDEFINITE, s, n_iter
        s, solves = _feasible_step(R, s, index, q, v, z, chosen[0])
        n_iter += solves
        if v[chosen[0]] == 0.0:
            # The solution contradicts the sign of the gradient, so the leader is 0 up to rounding.
            allowed[chosen[0]] = False
        else:
            for k in range(p):
                allowed[k] = usable[k]
        gradient(M, d, b, v, g)
    return EXHAUSTED, s, n_iter
