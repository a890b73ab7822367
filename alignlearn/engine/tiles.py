"""Evaluate a program on a tile of pairs: the hot loops.

A tile is ``nr`` rows times ``nc`` columns of pairs, flattened with the row first, so that every
operation is a loop over a contiguous array that LLVM vectorizes. ``W`` is the register file of
:mod:`alignlearn.engine.program`, one register per row. Slices are taken before loops, because
signed index arithmetic inside a loop would add a check for negative values and prevent
vectorization.
"""

from __future__ import annotations

from inspect import signature

import numpy as np
from numba import types

from alignlearn._jit import jit, jit_sum

from . import opcodes as ops
from . import vectormath


@jit_sum
def _four_squares(x, r, start, stop, tile, nc, out):
    """Distances of rows r to r + 3, four features at a time, to the last multiple of four.

    Each value of the tile is loaded once for four rows, and each sum once for four features, which
    is faster than with two rows.
    """
    d0, d1 = out[r * nc : (r + 1) * nc], out[(r + 1) * nc : (r + 2) * nc]
    d2, d3 = out[(r + 2) * nc : (r + 3) * nc], out[(r + 3) * nc : (r + 4) * nc]
    for f in range(start, stop - 3, 4):
        a0, a1, a2, a3 = x[f, r], x[f + 1, r], x[f + 2, r], x[f + 3, r]
        b0, b1, b2, b3 = x[f, r + 1], x[f + 1, r + 1], x[f + 2, r + 1], x[f + 3, r + 1]
        c0, c1, c2, c3 = x[f, r + 2], x[f + 1, r + 2], x[f + 2, r + 2], x[f + 3, r + 2]
        e0, e1, e2, e3 = x[f, r + 3], x[f + 1, r + 3], x[f + 2, r + 3], x[f + 3, r + 3]
        t0, t1, t2, t3 = tile[f, :nc], tile[f + 1, :nc], tile[f + 2, :nc], tile[f + 3, :nc]
        for j in range(nc):
            v0, v1, v2, v3 = t0[j], t1[j], t2[j], t3[j]
            u0, u1, u2, u3 = a0 - v0, a1 - v1, a2 - v2, a3 - v3
            d0[j] += (u0 * u0 + u1 * u1) + (u2 * u2 + u3 * u3)
            u0, u1, u2, u3 = b0 - v0, b1 - v1, b2 - v2, b3 - v3
            d1[j] += (u0 * u0 + u1 * u1) + (u2 * u2 + u3 * u3)
            u0, u1, u2, u3 = c0 - v0, c1 - v1, c2 - v2, c3 - v3
            d2[j] += (u0 * u0 + u1 * u1) + (u2 * u2 + u3 * u3)
            u0, u1, u2, u3 = e0 - v0, e1 - v1, e2 - v2, e3 - v3
            d3[j] += (u0 * u0 + u1 * u1) + (u2 * u2 + u3 * u3)


@jit_sum
def _squared_distances(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = |x[:, r] - tile[:, j]|^2 over feature rows start..stop."""
    out[:] = 0
    fours, rest = nr // 4 * 4, start + (stop - start) // 4 * 4
    for r in range(0, fours, 4):
        _four_squares(x, r, start, stop, tile, nc, out)
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        for f in range(rest if r < fours else start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += (x0 - t0[j]) * (x0 - t0[j])


@jit_sum
def _inner_products(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = <x[:, r], tile[:, j]> over feature rows start..stop."""
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += x0 * t0[j]


@jit_sum
def _l1_distances(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = |x[:, r] - tile[:, j]|_1 over feature rows start..stop."""
    fours = start + (stop - start) // 4 * 4
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, fours, 4):
            x0, x1, x2, x3 = x[f, r], x[f + 1, r], x[f + 2, r], x[f + 3, r]
            t0, t1, t2, t3 = tile[f, :nc], tile[f + 1, :nc], tile[f + 2, :nc], tile[f + 3, :nc]
            for j in range(nc):
                near = abs(x0 - t0[j]) + abs(x1 - t1[j])
                d[j] += near + (abs(x2 - t2[j]) + abs(x3 - t3[j]))
        for f in range(fours, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += abs(x0 - t0[j])


@jit_sum
def _matches(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = number of equal entries of x[:, r] and tile[:, j] in rows start..stop."""
    zero, one = out.dtype.type(0), out.dtype.type(1)
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += one if x0 == t0[j] else zero


@jit_sum
def _minima(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = sum of min(x[f, r], tile[f, j]) over feature rows start..stop."""
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += x0 if x0 < t0[j] else t0[j]


@jit_sum
def _heights(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = sum of x[f, r] + tile[f, j] over feature rows start..stop that differ."""
    zero, rest = out.dtype.type(0), start + (stop - start) // 2 * 2
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, rest, 2):
            x0, x1, t0, t1 = x[f, r], x[f + 1, r], tile[f, :nc], tile[f + 1, :nc]
            for j in range(nc):
                v0, v1 = t0[j], t1[j]
                d[j] += (zero if x0 == v0 else x0 + v0) + (zero if x1 == v1 else x1 + v1)
        for f in range(rest, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += zero if x0 == t0[j] else x0 + t0[j]


@jit_sum
def _four_common_bits(x, r, start, stop, tile, nc, out):
    """Counts for rows r to r + 3, four features at a time, to the last multiple of four."""
    count = vectormath.common_bits
    d0, d1 = out[r * nc : (r + 1) * nc], out[(r + 1) * nc : (r + 2) * nc]
    d2, d3 = out[(r + 2) * nc : (r + 3) * nc], out[(r + 3) * nc : (r + 4) * nc]
    for f in range(start, stop - 3, 4):
        a0, a1, a2, a3 = x[f, r], x[f + 1, r], x[f + 2, r], x[f + 3, r]
        b0, b1, b2, b3 = x[f, r + 1], x[f + 1, r + 1], x[f + 2, r + 1], x[f + 3, r + 1]
        c0, c1, c2, c3 = x[f, r + 2], x[f + 1, r + 2], x[f + 2, r + 2], x[f + 3, r + 2]
        e0, e1, e2, e3 = x[f, r + 3], x[f + 1, r + 3], x[f + 2, r + 3], x[f + 3, r + 3]
        t0, t1, t2, t3 = tile[f, :nc], tile[f + 1, :nc], tile[f + 2, :nc], tile[f + 3, :nc]
        for j in range(nc):
            v0, v1, v2, v3 = t0[j], t1[j], t2[j], t3[j]
            d0[j] += (count(a0, v0) + count(a1, v1)) + (count(a2, v2) + count(a3, v3))
            d1[j] += (count(b0, v0) + count(b1, v1)) + (count(b2, v2) + count(b3, v3))
            d2[j] += (count(c0, v0) + count(c1, v1)) + (count(c2, v2) + count(c3, v3))
            d3[j] += (count(e0, v0) + count(e1, v1)) + (count(e2, v2) + count(e3, v3))


@jit_sum
def _common_bits(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = number of bits of rows start..stop that are 1 in x[:, r] and tile[:, j].

    Four rows at a time are faster than one.
    """
    out[:] = 0
    fours, rest = nr // 4 * 4, start + (stop - start) // 4 * 4
    for r in range(0, fours, 4):
        _four_common_bits(x, r, start, stop, tile, nc, out)
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        for f in range(rest if r < fours else start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += vectormath.common_bits(x0, t0[j])


@jit_sum
def _different_bits(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = number of differing bits of x[:, r], tile[:, j] in rows start..stop."""
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += vectormath.different_bits(x0, t0[j])


@jit_sum
def _fill_common(kind, start, stop, x, tile, nr, nc, out):
    """Fill a register with a primitive that most kernels use; return whether it is one of these."""
    if kind == ops.INNER_PRODUCT:
        _inner_products(x, start, stop, tile, nr, nc, out)
    elif kind == ops.SQUARED_DISTANCE or kind == ops.DISTANCE:
        _squared_distances(x, start, stop, tile, nr, nc, out)
        if kind == ops.DISTANCE:
            for j in range(nr * nc):
                out[j] = np.sqrt(out[j])
    elif kind == ops.L1_DISTANCE:
        _l1_distances(x, start, stop, tile, nr, nc, out)
    elif kind == ops.HEIGHTS:
        _heights(x, start, stop, tile, nr, nc, out)
    else:
        return False
    return True


@jit_sum
def fill_primitives(primitives, x, tile, nr, nc, W):
    """Fill the registers of all primitives for rows ``x`` (D, nr) and columns ``tile`` (D, nc)."""
    for q in range(primitives.shape[0]):
        kind, start, stop = primitives[q, 0], primitives[q, 1], primitives[q, 2]
        out = W[primitives[q, 3], : nr * nc]
        if _fill_common(kind, start, stop, x, tile, nr, nc, out):
            continue
        if kind == ops.MINIMA:
            _minima(x, start, stop, tile, nr, nc, out)
        elif kind == ops.COMMON_BITS:
            _common_bits(x, start, stop, tile, nr, nc, out)
        elif kind == ops.DIFFERENT_BITS:
            _different_bits(x, start, stop, tile, nr, nc, out)
        else:
            _matches(x, start, stop, tile, nr, nc, out)


@jit_sum
def _exponentials(op, s, d, n, rate):
    if op == ops.EXP:
        for j in range(n):
            d[j] = vectormath.exp(rate * s[j])
    else:
        for j in range(n):
            d[j] = vectormath.expm1(rate * s[j])


@jit_sum
def _squares(op, s, d, n, times):
    """One step of a ladder from ``s`` to ``d``, then ``times - 1`` more in place."""
    one, two = d.dtype.type(1), d.dtype.type(2)  # literals would promote float32 to float64
    if op == ops.SQUARE_SHIFTED:
        for j in range(n):
            d[j] = s[j] * (s[j] + two)
        for _ in range(times - 1):
            for j in range(n):
                d[j] = d[j] * (d[j] + two)
        return
    if op == ops.SQUARE_UNSHIFT:
        for j in range(n):
            d[j] = vectormath.flush((s[j] + one) * (s[j] + one))
    else:
        for j in range(n):
            d[j] = vectormath.flush(s[j] * s[j])
    for _ in range(times - 1):
        for j in range(n):
            d[j] = vectormath.flush(d[j] * d[j])


@jit_sum
def _power(d, n, exponent, base):
    """d <- d^exponent by repeated products; ``base`` is scratch."""
    for j in range(n):
        base[j] = d[j]
        d[j] = 1
    for _ in range(exponent):
        for j in range(n):
            d[j] *= base[j]


@jit_sum
def _matern(op, s, d, n, rate):
    zero, one, third = d.dtype.type(0), d.dtype.type(1), d.dtype.type(1.0 / 3.0)
    curvature = third if op == ops.MATERN_52 else zero
    end = d.dtype.type(1000)  # exp(-1000) is 0, and inf * 0 must not become NaN
    for j in range(n):
        u = rate * s[j]
        u = end if u > end else u
        d[j] = (one + u + curvature * u * u) * vectormath.exp(-u)


def _loops_of_formulas():
    """``apply(op, s, d, n, f0, f1, f2)``: a loop for each scalar formula of the table.

    Generated as source, because compiled code cannot call a function chosen by a variable.
    """
    lines = ["def apply(op, s, d, n, f0, f1, f2):"]
    for n, (function, op) in enumerate(ops.FORMULAS.items()):
        numbers = ("f0", "f1", "f2")[: len(signature(function).parameters) - 1]
        lines += [
            f"    {'elif' if n else 'if'} op == {op}:",
            "        for j in range(n):",
            f"            d[j] = {function.__name__}(s[j], {', '.join(numbers)})",
        ]
    names = {"__name__": __name__, **{f.__name__: jit(f) for f in ops.FORMULAS}}
    exec(compile("\n".join(lines), __file__, "exec"), names)
    return jit(names["apply"])


_apply_formula = _loops_of_formulas()


@jit_sum
def _execute_common(op, k, f0, f1, s, d, n, scratch):
    """Execute an operation that most kernels use; return whether it is one of these."""
    g0, g1 = d.dtype.type(f0), d.dtype.type(f1)
    if op == ops.EXP or op == ops.EXPM1:
        _exponentials(op, s, d, n, g0)
    elif op == ops.SQUARE or op == ops.SQUARE_SHIFTED or op == ops.SQUARE_UNSHIFT:
        _squares(op, s, d, n, k)
    elif op == ops.AFFINE:
        for j in range(n):
            d[j] = g0 * s[j] + g1
    elif op == ops.AFFINE_IN_PLACE:
        for j in range(n):
            d[j] = g0 * d[j] + g1
    elif op == ops.POWER_IN_PLACE:
        _power(d, n, k, scratch)
    elif op == ops.FLUSH:
        for j in range(n):
            d[j] = vectormath.flush(d[j])
    elif op == ops.ADD:
        for j in range(n):
            d[j] += g0 * s[j]
    elif op == ops.MULTIPLY:
        for j in range(n):
            d[j] *= s[j]
    elif op == ops.ROOT:
        for j in range(n):
            d[j] = np.sqrt(s[j])
    else:
        return False
    return True


@jit_sum
def _ratio(s, d, n):
    one = d.dtype.type(1)
    for j in range(n):
        d[j] = s[j] / d[j] if s[j] < d[j] else one


@jit_sum
def _clear(s, d, n, unit):
    zero, eps = d.dtype.type(0), 1.1920929e-07 if d.itemsize == 4 else 2.220446049250313e-16
    unit *= d.dtype.type(eps)
    for j in range(n):
        d[j] = zero if abs(d[j]) <= unit * s[j] else d[j]


@jit_sum
def execute(code, parameters, rows, columns, external, at, nr, nc, W):
    """Execute the operations on a tile whose primitives are filled.

    Parameters
    ----------
    code, parameters
        Of the program.
    rows, columns : ndarray, shape (n_factors, n) and (n_factors, m)
        Values f(x) for FACTOR and TERMS.
    external : ndarray, shape (n_external, n', m')
        Values for EXTERNAL.
    at : tuple of four int
        First positions of the tile in ``rows``, in ``columns`` and in the two axes of ``external``.
    W : ndarray, shape (n_rows + 1, >= nr * nc)
        Registers; the last row is scratch.
    """
    n = nr * nc
    for t in range(code.shape[0]):
        op, k = code[t, 0], code[t, 3]
        d, s = W[code[t, 1], :n], W[code[t, 2], :n]
        f0, f1, f2 = parameters[t, 0], parameters[t, 1], parameters[t, 2]
        if _execute_common(op, k, f0, f1, s, d, n, W[W.shape[0] - 1, :n]):
            continue
        if op == ops.MATERN_32 or op == ops.MATERN_52:
            _matern(op, s, d, n, W.dtype.type(f0))
        elif op == ops.RATIO:
            _ratio(s, d, n)
        elif op == ops.CLEAR:
            _clear(s, d, n, W.dtype.type(f0))
        elif op == ops.FACTOR or op == ops.TERMS:
            for r in range(nr):
                e, c = d[r * nc : (r + 1) * nc], columns[k, at[1] : at[1] + nc]
                f = rows[k, at[0] + r]
                if op == ops.FACTOR:
                    for j in range(nc):
                        e[j] *= f * c[j]
                else:
                    for j in range(nc):
                        e[j] += f + c[j]
        elif op == ops.EXTERNAL:
            for r in range(nr):
                e = d[r * nc : (r + 1) * nc]
                c = external[k, at[2] + r, at[3] : at[3] + nc]
                for j in range(nc):
                    e[j] = c[j]
        else:
            _apply_formula(op, s, d, n, f0, f1, f2)


def _evaluate_common(code, parameters, primitives, x, tile, rows, columns, external, at, nr, nc, W):
    """`fill_primitives`, then `execute`, for programs of common primitives and operations."""
    n, last = nr * nc, W.shape[0] - 1
    for q in range(primitives.shape[0]):
        kind, start, stop = primitives[q, 0], primitives[q, 1], primitives[q, 2]
        _fill_common(kind, start, stop, x, tile, nr, nc, W[primitives[q, 3], :n])
    for t in range(code.shape[0]):
        f0, f1, d, s = parameters[t, 0], parameters[t, 1], W[code[t, 1], :n], W[code[t, 2], :n]
        _execute_common(code[t, 0], code[t, 3], f0, f1, s, d, n, W[last, :n])


def _evaluate(code, parameters, primitives, x, tile, rows, columns, external, at, nr, nc, W):
    """`fill_primitives`, then `execute`."""
    fill_primitives(primitives, x, tile, nr, nc, W)
    execute(code, parameters, rows, columns, external, at, nr, nc, W)


def _argument_types(dtype):
    def array(kind, ndim, layout):
        return types.Array(kind, ndim, layout, readonly=True)

    integers, sides = array(types.int64, 2, "C"), array(types.float64, 2, "A")
    program = integers, array(types.float64, 2, "C"), integers
    vectors = array(dtype, 2, "C")
    values = sides, sides, array(types.float64, 3, "A"), types.UniTuple(types.int64, 4)
    return *program, vectors, vectors, *values, types.int64, types.int64, types.Array(dtype, 2, "C")


def _version_of_table():
    """Codes and formulas as a cache key: code that was compiled for others must not run."""
    codes = [(name, code) for name, code in vars(ops).items() if isinstance(code, int)]
    functions = [f.__code__ for f in ops.FORMULAS]
    return repr((codes, [(c.co_name, c.co_code, c.co_consts, c.co_names) for c in functions]))


_version = _version_of_table()
_address_of_common, _ = jit_sum.shared(_evaluate_common, _argument_types, _version)
_address_of_all, evaluate = jit_sum.shared(_evaluate, _argument_types, _version)


def evaluator(program, dtype):
    """The address of the function that loops over pairs call as ``evaluate`` for a program.

    It is half of the code of these loops. Most programs (Gaussians, inner products, and their sums,
    powers and products) need only a part of it, which compiles faster.
    """
    return (_address_of_common if program.is_common else _address_of_all)(np.dtype(dtype))
