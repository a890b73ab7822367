"""Evaluate a program on a tile of pairs: the hot loops.

A tile is ``nr`` rows times ``nc`` columns of pairs, flattened with the row first, so that every
operation is a loop over a contiguous array that LLVM vectorises. ``W`` is the register file of
:mod:`alignlearn.engine.program`, one register per row. Slices are taken before loops: signed index
arithmetic inside them would bring back a wrap-around check and block vectorisation.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit, jit_sum

from . import formulas, vectormath
from . import program as ops

_polynomial = jit(formulas.polynomial)
_binomial = jit(formulas.binomial)
_sigmoid = jit(formulas.sigmoid)
_tl1 = jit(formulas.tl1)
_logarithmic = jit(formulas.logarithmic)
_rational_quadratic = jit(formulas.rational_quadratic)


@jit_sum
def _four_squares(x, r, start, stop, tile, nc, out):
    """Distances of rows r to r + 3, four features at a time, to the last multiple of four.

    Each value of the tile is loaded once for four rows, each sum once for four features (measured:
    0.95 ns a pair for 20 features, with two rows 1.25).
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
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += abs(x0 - t0[j])


@jit_sum
def _matches(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = on how many of the rows start..stop x[:, r] and tile[:, j] agree."""
    zero, one = out.dtype.type(0), out.dtype.type(1)
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        for f in range(start, stop):
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                d[j] += one if x0 == t0[j] else zero


@jit_sum
def fill_primitives(primitives, x, tile, nr, nc, W):
    """Fill the registers of all primitives for rows ``x`` (D, nr) and columns ``tile`` (D, nc)."""
    for q in range(primitives.shape[0]):
        kind, start, stop = primitives[q, 0], primitives[q, 1], primitives[q, 2]
        out = W[primitives[q, 3], : nr * nc]
        if kind == ops.INNER_PRODUCT:
            _inner_products(x, start, stop, tile, nr, nc, out)
        elif kind == ops.L1_DISTANCE:
            _l1_distances(x, start, stop, tile, nr, nc, out)
        elif kind == ops.MATCHES:
            _matches(x, start, stop, tile, nr, nc, out)
        else:
            _squared_distances(x, start, stop, tile, nr, nc, out)
            if kind == ops.DISTANCE:
                for j in range(nr * nc):
                    out[j] = np.sqrt(out[j])


@jit_sum
def fill_primitives_paired(primitives, x, y, W):
    """The same for the n pairs (x[:, j], y[:, j])."""
    n = x.shape[1]
    for q in range(primitives.shape[0]):
        kind, out = primitives[q, 0], W[primitives[q, 3], :n]
        out[:] = 0
        for f in range(primitives[q, 1], primitives[q, 2]):
            s, t = x[f], y[f]
            for j in range(n):
                if kind == ops.INNER_PRODUCT:
                    out[j] += s[j] * t[j]
                elif kind == ops.L1_DISTANCE:
                    out[j] += abs(s[j] - t[j])
                elif kind == ops.MATCHES:
                    out[j] += s[j] == t[j]
                else:
                    out[j] += (s[j] - t[j]) * (s[j] - t[j])
        if kind == ops.DISTANCE:
            for j in range(n):
                out[j] = np.sqrt(out[j])


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


@jit
def _formula(op, s, d, n, f0, f1, f2):
    """Formulas that call the math library."""
    if op == ops.POLYNOMIAL:
        for j in range(n):
            d[j] = _polynomial(s[j], f0, f1, f2)
    elif op == ops.BINOMIAL:
        for j in range(n):
            d[j] = _binomial(s[j], f0, f1)
    elif op == ops.SIGMOID:
        for j in range(n):
            d[j] = _sigmoid(s[j], f0, f1)
    elif op == ops.LOGARITHMIC:
        for j in range(n):
            d[j] = _logarithmic(s[j], f0)
    elif op == ops.RATIONAL_QUADRATIC:
        for j in range(n):
            d[j] = _rational_quadratic(s[j], f0, f1, f2)


@jit_sum
def run(code, parameters, rows, columns, external, nr, nc, W):
    """Execute the operations on a tile whose primitives are filled.

    Parameters
    ----------
    code, parameters
        Of the program.
    rows, columns : ndarray, shape (n_factors, nr) and (n_factors, nc)
        Values f(x) for FACTOR and TERMS.
    external : ndarray, shape (n_external, nr, nc)
        Values for EXTERNAL.
    W : ndarray, shape (n_rows + 1, >= nr * nc)
        Registers; the last row is scratch.
    """
    n = nr * nc
    for t in range(code.shape[0]):
        op, k = code[t, 0], code[t, 3]
        d, s = W[code[t, 1], :n], W[code[t, 2], :n]
        f0, f1, f2 = parameters[t, 0], parameters[t, 1], parameters[t, 2]
        g0, g1 = W.dtype.type(f0), W.dtype.type(f1)
        if op <= ops.EXPM1:
            _exponentials(op, s, d, n, g0)
        elif op <= ops.SQUARE_UNSHIFT:
            _squares(op, s, d, n, k)
        elif op == ops.AFFINE:
            for j in range(n):
                d[j] = g0 * s[j] + g1
        elif op == ops.AFFINE_IN_PLACE:
            for j in range(n):
                d[j] = g0 * d[j] + g1
        elif op == ops.POWER_IN_PLACE:
            _power(d, n, k, W[W.shape[0] - 1, :n])
        elif op == ops.MATERN_32 or op == ops.MATERN_52:
            _matern(op, s, d, n, g0)
        elif op == ops.FLUSH:
            for j in range(n):
                d[j] = vectormath.flush(d[j])
        elif op == ops.CLEAR:
            unit = g0 * W.dtype.type(1.1920929e-07 if W.itemsize == 4 else 2.220446049250313e-16)
            for j in range(n):
                d[j] = W.dtype.type(0) if abs(d[j]) <= unit * s[j] else d[j]
        elif op == ops.TL1:
            for j in range(n):
                d[j] = _tl1(s[j], f0)
        elif op == ops.ADD:
            for j in range(n):
                d[j] += g0 * s[j]
        elif op == ops.MULTIPLY:
            for j in range(n):
                d[j] *= s[j]
        elif op == ops.FACTOR:
            for r in range(nr):
                e, c, f = d[r * nc : (r + 1) * nc], columns[k], rows[k, r]
                for j in range(nc):
                    e[j] *= f * c[j]
        elif op == ops.TERMS:
            for r in range(nr):
                e, c, f = d[r * nc : (r + 1) * nc], columns[k], rows[k, r]
                for j in range(nc):
                    e[j] += f + c[j]
        elif op == ops.EXTERNAL:
            for r in range(nr):
                e, c = d[r * nc : (r + 1) * nc], external[k, r]
                for j in range(nc):
                    e[j] = c[j]
        else:
            _formula(op, s, d, n, f0, f1, f2)
