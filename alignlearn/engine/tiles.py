"""Evaluate a program on a tile of pairs, and sum products of kernel values: the hot loops.

A tile is ``nr`` rows times ``nc`` columns of pairs, flattened with the row first, so that every
operation is a loop over a contiguous array that LLVM vectorises. ``W`` is the register file of
:mod:`alignlearn.kernels.program`, one register a row. Slices are taken before loops: signed index
arithmetic inside them would bring back a wrap-around check and block vectorisation.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit, jit_sum
from alignlearn.engine import vectormath
from alignlearn.kernels import formulas
from alignlearn.kernels import program as ops

_polynomial = jit(formulas.polynomial)
_binomial = jit(formulas.binomial)
_sigmoid = jit(formulas.sigmoid)
_tl1 = jit(formulas.tl1)
_logarithmic = jit(formulas.logarithmic)


@jit_sum
def _squared_distances(x, start, stop, tile, nr, nc, out):
    """out[r * nc + j] = |x[:, r] - tile[:, j]|^2 over feature rows start..stop, four at a time."""
    for r in range(nr):
        d = out[r * nc : (r + 1) * nc]
        d[:] = 0
        f = start
        while f + 4 <= stop:
            x0, x1, x2, x3 = x[f, r], x[f + 1, r], x[f + 2, r], x[f + 3, r]
            t0, t1, t2, t3 = tile[f, :nc], tile[f + 1, :nc], tile[f + 2, :nc], tile[f + 3, :nc]
            for j in range(nc):
                u0, u1, u2, u3 = x0 - t0[j], x1 - t1[j], x2 - t2[j], x3 - t3[j]
                d[j] += (u0 * u0 + u1 * u1) + (u2 * u2 + u3 * u3)
            f += 4
        while f < stop:
            x0, t0 = x[f, r], tile[f, :nc]
            for j in range(nc):
                u0 = x0 - t0[j]
                d[j] += u0 * u0
            f += 1


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
def fill_primitives(primitives, x, tile, nr, nc, W):
    """Fill the registers of all primitives for rows ``x`` (D, nr) and columns ``tile`` (D, nc)."""
    for q in range(primitives.shape[0]):
        kind, start, stop = primitives[q, 0], primitives[q, 1], primitives[q, 2]
        out = W[primitives[q, 3], : nr * nc]
        if kind == ops.INNER_PRODUCT:
            _inner_products(x, start, stop, tile, nr, nc, out)
        elif kind == ops.L1_DISTANCE:
            _l1_distances(x, start, stop, tile, nr, nc, out)
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
            d[j] = (s[j] + one) * (s[j] + one)
    else:
        for j in range(n):
            d[j] = s[j] * s[j]
    for _ in range(times - 1):
        for j in range(n):
            d[j] = d[j] * d[j]


@jit_sum
def _power(d, n, exponent, base):
    """d <- d^exponent by repeated products; ``base`` is scratch."""
    for j in range(n):
        base[j] = d[j]
        d[j] = 1
    for _ in range(exponent):
        for j in range(n):
            d[j] *= base[j]


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


@jit_sum
def run(code, parameters, rows, columns, external, nr, nc, W):
    """Execute the operations on a tile whose primitives are filled.

    Parameters
    ----------
    code, parameters
        Of the program.
    rows, columns : ndarray, shape (n_factors, nr) and (n_factors, nc)
        Values f(x) for FACTOR.
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
        elif op == ops.EXP_IN_PLACE:
            for j in range(n):
                d[j] = vectormath.exp(g0 * d[j])
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
        elif op == ops.EXTERNAL:
            for r in range(nr):
                e, c = d[r * nc : (r + 1) * nc], external[k, r]
                for j in range(nc):
                    e[j] = c[j]
        else:
            _formula(op, s, d, n, f0, f1, f2)


@jit_sum
def add_products(W, n_values, n, zero, S):
    """S[k, l] += sum_j W[k, j] W[l, j] for k <= l in blocks of four rows.

    ``n_values`` is a multiple of 4 (pad with zero rows); ``zero`` fixes the type of the partial
    sums over n <= a few hundred pairs, which are then added to float64 ``S``. Only the blocks on
    and above the diagonal are filled.
    """
    for k in range(0, n_values, 4):
        a0, a1, a2, a3 = W[k, :n], W[k + 1, :n], W[k + 2, :n], W[k + 3, :n]
        s00 = s01 = s02 = s03 = s11 = s12 = s13 = s22 = s23 = s33 = zero
        for j in range(n):
            s00 += a0[j] * a0[j]
            s01 += a0[j] * a1[j]
            s02 += a0[j] * a2[j]
            s03 += a0[j] * a3[j]
            s11 += a1[j] * a1[j]
            s12 += a1[j] * a2[j]
            s13 += a1[j] * a3[j]
            s22 += a2[j] * a2[j]
            s23 += a2[j] * a3[j]
            s33 += a3[j] * a3[j]
        _add_row(S, k, k, s00, s01, s02, s03)
        _add_row(S, k + 1, k, zero, s11, s12, s13)
        _add_row(S, k + 2, k, zero, zero, s22, s23)
        _add_row(S, k + 3, k, zero, zero, zero, s33)
        for m in range(k + 4, n_values, 4):
            b0, b1, b2, b3 = W[m, :n], W[m + 1, :n], W[m + 2, :n], W[m + 3, :n]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = zero
            for j in range(n):
                s00 += a0[j] * b0[j]
                s01 += a0[j] * b1[j]
                s02 += a0[j] * b2[j]
                s03 += a0[j] * b3[j]
                s10 += a1[j] * b0[j]
                s11 += a1[j] * b1[j]
                s12 += a1[j] * b2[j]
                s13 += a1[j] * b3[j]
                s20 += a2[j] * b0[j]
                s21 += a2[j] * b1[j]
                s22 += a2[j] * b2[j]
                s23 += a2[j] * b3[j]
                s30 += a3[j] * b0[j]
                s31 += a3[j] * b1[j]
                s32 += a3[j] * b2[j]
                s33 += a3[j] * b3[j]
            _add_row(S, k, m, s00, s01, s02, s03)
            _add_row(S, k + 1, m, s10, s11, s12, s13)
            _add_row(S, k + 2, m, s20, s21, s22, s23)
            _add_row(S, k + 3, m, s30, s31, s32, s33)


@jit_sum
def _add_row(S, k, m, v0, v1, v2, v3):
    S[k, m] += v0
    S[k, m + 1] += v1
    S[k, m + 2] += v2
    S[k, m + 3] += v3
