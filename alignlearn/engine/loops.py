"""The loops over blocks of pairs: statistics of p kernels, and weighted sums of kernels."""

from __future__ import annotations

import platform

from numba import config
from numba.core.codegen import get_host_cpu_features

from alignlearn._jit import jit_sum

from .tiles import evaluate

_STRIP = 256  # number of rows that share a gathered block of columns


@jit_sum
def gather(X, Y, features, means, first, last, tile):
    """tile[f, j] = column features[f] of sample first + j minus its mean; Y follows X."""
    d = X.shape[1]
    for f in range(features.shape[0]):
        t, c, mean = tile[f], features[f], means[f]
        if c < d:
            for j in range(first, last):
                t[j - first] = X[j, c] - mean
        else:
            for j in range(first, last):
                t[j - first] = Y[j, c - d]


def _registers():
    """Vector registers of the processor that Numba compiles for."""
    if platform.machine().lower() not in ("x86_64", "amd64", "i386", "i686"):
        return 32
    given = config.CPU_FEATURES
    return 32 if "+avx512f" in (get_host_cpu_features() if given is None else given) else 16


@jit_sum
def _by_fives(W, n_values, n, zero, S, a):
    """`add_products` by blocks of five rows by five."""
    t = W[n_values, :n]
    for k in range(0, n_values, 5):
        _add_diagonal_block(W, k, t, n, zero, S, a)
        for m in range(k + 5, n_values, 5):
            _add_block(W, k, m, n, zero, S)


@jit_sum
def _by_pairs(W, n_values, n, zero, S, a):
    """`add_products` by five rows and two: the target is the last of the others."""
    for k in range(0, n_values, 5):
        a0, a1, a2 = W[k, :n], W[k + 1, :n], W[k + 2, :n]
        a3, a4 = W[k + 3, :n], W[k + 4, :n]
        for m in range(k, n_values + 1, 2):
            b, c = W[m, :n], W[min(m + 1, n_values), :n]
            s0 = s1 = s2 = s3 = s4 = zero
            t0 = t1 = t2 = t3 = t4 = zero
            for j in range(n):
                y, z = b[j], c[j]
                x = a0[j]
                s0 += x * y
                t0 += x * z
                x = a1[j]
                s1 += x * y
                t1 += x * z
                x = a2[j]
                s2 += x * y
                t2 += x * z
                x = a3[j]
                s3 += x * y
                t3 += x * z
                x = a4[j]
                s4 += x * y
                t4 += x * z
            if m == n_values:
                _add_row(a[k : k + 5], s0, s1, s2, s3, s4)
                continue
            _add_row(S[k : k + 5, m], s0, s1, s2, s3, s4)
            if m + 1 == n_values:
                _add_row(a[k : k + 5], t0, t1, t2, t3, t4)
            else:
                _add_row(S[k : k + 5, m + 1], t0, t1, t2, t3, t4)


# The sums of a block of five by five rows need 25 vector registers, which AVX-512 and NEON have.
# Other x86 processors have 16, enough for blocks of five by two. Measured for 200 kernels and 256
# pairs, in float64, one thread: 25e9 multiply-adds a second (BLAS 21e9); with AVX2 19e9 (BLAS
# 19e9), where blocks of five by five reach 14e9.
_blocks = _by_fives if _registers() == 32 else _by_pairs


@jit_sum
def add_products(W, n_values, n, zero, S, a):
    """Products of kernels with each other and with the target.

    S[k, l] += sum_j W[k, j] W[l, j] for k <= l, and a[k] += sum_j W[k, j] W[n_values, j], the
    target being row ``n_values``, a multiple of 5 (pad with zero rows). ``zero`` fixes the type of
    the partial sums over the n pairs of a tile, which are then added to float64. Only blocks of S
    on and above the diagonal are filled. Five by five is the largest block whose sums fit 32
    vector registers, and faster than four by four.
    """
    _blocks(W, n_values, n, zero, S, a)


@jit_sum
def _add_block(W, k, m, n, zero, S):
    """Products of the five rows from k on with those from m on."""
    a0, a1, a2, a3, a4 = W[k, :n], W[k + 1, :n], W[k + 2, :n], W[k + 3, :n], W[k + 4, :n]
    b0, b1, b2, b3, b4 = W[m, :n], W[m + 1, :n], W[m + 2, :n], W[m + 3, :n], W[m + 4, :n]
    s00 = s01 = s02 = s03 = s04 = zero
    s10 = s11 = s12 = s13 = s14 = zero
    s20 = s21 = s22 = s23 = s24 = zero
    s30 = s31 = s32 = s33 = s34 = zero
    s40 = s41 = s42 = s43 = s44 = zero
    for j in range(n):
        y0, y1, y2, y3, y4 = b0[j], b1[j], b2[j], b3[j], b4[j]
        x = a0[j]
        s00 += x * y0
        s01 += x * y1
        s02 += x * y2
        s03 += x * y3
        s04 += x * y4
        x = a1[j]
        s10 += x * y0
        s11 += x * y1
        s12 += x * y2
        s13 += x * y3
        s14 += x * y4
        x = a2[j]
        s20 += x * y0
        s21 += x * y1
        s22 += x * y2
        s23 += x * y3
        s24 += x * y4
        x = a3[j]
        s30 += x * y0
        s31 += x * y1
        s32 += x * y2
        s33 += x * y3
        s34 += x * y4
        x = a4[j]
        s40 += x * y0
        s41 += x * y1
        s42 += x * y2
        s43 += x * y3
        s44 += x * y4
    _add_row(S[k, m : m + 5], s00, s01, s02, s03, s04)
    _add_row(S[k + 1, m : m + 5], s10, s11, s12, s13, s14)
    _add_row(S[k + 2, m : m + 5], s20, s21, s22, s23, s24)
    _add_row(S[k + 3, m : m + 5], s30, s31, s32, s33, s34)
    _add_row(S[k + 4, m : m + 5], s40, s41, s42, s43, s44)


@jit_sum
def _add_diagonal_block(W, k, t, n, zero, S, a):
    """Products of five rows with each other and with the target ``t``; see `add_products`."""
    a0, a1, a2, a3, a4 = W[k, :n], W[k + 1, :n], W[k + 2, :n], W[k + 3, :n], W[k + 4, :n]
    u0 = u1 = u2 = u3 = u4 = zero
    s00 = s01 = s02 = s03 = s04 = zero
    s11 = s12 = s13 = s14 = zero
    s22 = s23 = s24 = zero
    s33 = s34 = zero
    s44 = zero
    for j in range(n):
        x0, x1, x2, x3, x4, y = a0[j], a1[j], a2[j], a3[j], a4[j], t[j]
        u0 += x0 * y
        u1 += x1 * y
        u2 += x2 * y
        u3 += x3 * y
        u4 += x4 * y
        s00 += x0 * x0
        s01 += x0 * x1
        s02 += x0 * x2
        s03 += x0 * x3
        s04 += x0 * x4
        s11 += x1 * x1
        s12 += x1 * x2
        s13 += x1 * x3
        s14 += x1 * x4
        s22 += x2 * x2
        s23 += x2 * x3
        s24 += x2 * x4
        s33 += x3 * x3
        s34 += x3 * x4
        s44 += x4 * x4
    _add_row(a[k : k + 5], u0, u1, u2, u3, u4)
    _add_row(S[k, k : k + 5], s00, s01, s02, s03, s04)
    _add_row(S[k + 1, k : k + 5], zero, s11, s12, s13, s14)
    _add_row(S[k + 2, k : k + 5], zero, zero, s22, s23, s24)
    _add_row(S[k + 3, k : k + 5], zero, zero, zero, s33, s34)
    _add_row(S[k + 4, k : k + 5], zero, zero, zero, zero, s44)


@jit_sum
def _add_row(row, v0, v1, v2, v3, v4):
    row[0] += v0
    row[1] += v1
    row[2] += v2
    row[3] += v3
    row[4] += v4


@jit_sum
def _add_sums(W, n_kernels, i, nr, nc, zero, row_sums, column_sums):
    """Row sums of a tile into ``row_sums[:, i + r]`` and column sums into ``column_sums``."""
    for k in range(n_kernels):
        c, total = column_sums[k, :nc], row_sums[k]
        r = 0
        while r + 4 <= nr:
            e0, e1 = W[k, r * nc : (r + 1) * nc], W[k, (r + 1) * nc : (r + 2) * nc]
            e2, e3 = W[k, (r + 2) * nc : (r + 3) * nc], W[k, (r + 3) * nc : (r + 4) * nc]
            s0 = s1 = s2 = s3 = zero
            for j in range(nc):
                x0, x1, x2, x3 = e0[j], e1[j], e2[j], e3[j]
                c[j] += (x0 + x1) + (x2 + x3)
                s0 += x0
                s1 += x1
                s2 += x2
                s3 += x3
            total[i + r] += s0
            total[i + r + 1] += s1
            total[i + r + 2] += s2
            total[i + r + 3] += s3
            r += 4
        while r < nr:
            e0 = W[k, r * nc : (r + 1) * nc]
            s0 = zero
            for j in range(nc):
                c[j] += e0[j]
                s0 += e0[j]
            total[i + r] += s0
            r += 1


@jit_sum
def _add_weighted_sums(W, n_kernels, i, nr, left, right, zero, row_sums, column_sums):
    """As `_add_sums`, of values that become ``u_i u_j K_ij``, for the sums ``sum_j u_j (...)``.

    ``left`` and ``right`` are the roots u of the weights of the tile's rows and columns.
    """
    nc = right.size
    for k in range(n_kernels):
        c, total = column_sums[k, :nc], row_sums[k]
        for r in range(nr):
            e, u, s = W[k, r * nc : (r + 1) * nc], left[r], zero
            for j in range(nc):
                x = e[j] * (u * right[j])
                e[j] = x
                c[j] += u * x
                s += x * right[j]
            total[i + r] += s


@jit_sum
def add_statistics(evaluator, program, data, box, shape, scratch, sums, stop):
    """Add the pairs of a rectangle (or, on the diagonal, of its upper triangle) to the sums.

    ``evaluator`` is the address of `tiles.evaluate`; ``program`` is the result of
    `binding.compiled`;
    ``data`` is (X, Y, factor values F, external values of the box, roots u of the samples' weights
    or an empty array: sums are then those of ``u_i u_j K_ij``, sums by row times u_j); ``box`` is
    (i0, i1, j0, j1), either a square on the diagonal or disjoint ranges; ``shape`` is (block, rows
    per tile), ``scratch`` the result of `binding.scratch` for it; ``sums`` is (S, a, by_row,
    by_column, diagonal), the last three with the rows and columns of the box; on the diagonal
    ``by_column`` is ``by_row``. ``stop`` is the flag of `on_threads`, here and below.

    Off-diagonal blocks are visited once and their products go to ``S[1]`` and ``a[1]`` (to be
    doubled on the diagonal); blocks on the diagonal are visited in full, both orders of a pair, and
    go to index 0. The target is the register after the padded outputs.
    """
    code, parameters, primitives, features, means, n_kernels = program
    X, Y, F, external, root = data
    i0, i1, j0, j1 = box
    block, rows = shape
    W, tile, x, column_sums = scratch
    S, a, by_row, by_column, diagonal = sums
    n_values = S.shape[1]
    zero = X.dtype.type(0)
    for ib in range(i0, i1, block):
        ie = min(ib + block, i1)
        for i in range(ib, ie, rows):
            gather(X, Y, features, means, i, min(i + rows, ie), x[(i - ib) // rows])
        for jb in range(ib if i0 == j0 else j0, j1, block):
            if stop[0]:
                return
            nc = min(jb + block, j1) - jb
            on_diagonal = ib == jb
            gather(X, Y, features, means, jb, jb + nc, tile)
            for k in range(n_kernels):
                for j in range(nc):
                    column_sums[k, j] = zero
            for i in range(ib, ie, rows):
                nr = min(rows, ie - i)
                at, left = (i, jb, i - i0, jb - j0), x[(i - ib) // rows]
                given = code, parameters, primitives, left, tile, F, F, external, at, nr, nc, W
                evaluate(evaluator, given)
                if root.size:
                    u, v = root[i : i + nr], root[jb : jb + nc]
                    _add_weighted_sums(W, n_kernels, i - i0, nr, u, v, zero, by_row, column_sums)
                else:
                    _add_sums(W, n_kernels, i - i0, nr, nc, zero, by_row, column_sums)
                once = 0 if on_diagonal else 1
                add_products(W, n_values, nr * nc, zero, S[once], a[once])
                if on_diagonal:
                    for k in range(n_kernels):
                        for r in range(nr):
                            diagonal[k, i - i0 + r] = W[k, r * nc + i - ib + r]
            if not on_diagonal:
                for k in range(n_kernels):
                    for j in range(nc):
                        by_column[k, jb - j0 + j] += column_sums[k, j]


@jit_sum
def weighted_gram(thread, evaluator, program, data, weights, shape, scratch, symmetric, out, stop):
    """out[i, j] = sum_k weights[k] K_k(X[i], Z[j]), with blocks of rows dealt to threads in turn.

    ``data`` is (X, Z, factor values of X, those of Z, external values of the pairs), ``scratch``
    the result of `binding.scratch` for every thread. With ``symmetric``, Z is X: only blocks on and
    above the diagonal are computed, then mirrored. Otherwise blocks have fewer rows than columns.
    Each thread leaves the sum of its values in ``W[0, 0]``. It is finite if all values are finite
    and none is huge, and has no cost while the values are in registers.
    """
    code, parameters, primitives, features, means, n_kernels = program
    X, Z, FX, FZ, external = data
    block, rows = shape
    W, tile, x = scratch[0][thread[0]], scratch[1][thread[0]], scratch[2][thread[0]]
    n, m = X.shape[0], Z.shape[0]
    high = block if symmetric else min(_STRIP, max(-(-n // (thread[1] * rows)), 1) * rows)
    total = out.dtype.type(0)
    for ib in range(thread[0] * high, n, thread[1] * high):
        ie = min(ib + high, n)
        for jb in range(ib if symmetric else 0, m, block):
            if stop[0]:
                return
            nc = min(block, m - jb)
            gather(Z, Z, features, means, jb, jb + nc, tile)
            for i in range(ib, ie, rows):
                nr = min(rows, ie - i)
                gather(X, X, features, means, i, i + nr, x)
                given = x, tile, FX, FZ, external, (i, jb, i, jb), nr, nc, W
                evaluate(evaluator, (code, parameters, primitives, *given))
                for r in range(nr):
                    o, e = out[i + r, jb : jb + nc], W[0, r * nc : (r + 1) * nc]
                    w = o.dtype.type(weights[0])
                    for j in range(nc):
                        o[j] = w * e[j]
                    for k in range(1, n_kernels):
                        e, w = W[k, r * nc : (r + 1) * nc], o.dtype.type(weights[k])
                        for j in range(nc):
                            o[j] += w * e[j]
                    for j in range(nc):
                        total += o[j]
            if symmetric:
                # Also within a block, because rounding depends on the position of a row in its
                # tile.
                for i in range(ib, ie):
                    for j in range(max(jb, i + 1), jb + nc):
                        out[j, i] = out[i, j]
    W[0, 0] = total


@jit_sum
def diagonals(evaluator, program, data, scratch, out):
    """out[k, i] = K_k(X[i], X[i]), on tiles of few rows against themselves.

    ``data`` is (X, factor values, external values of the pairs (i, i), shape (n_external, 1, n)).
    """
    code, parameters, primitives, features, means, n_kernels = program
    X, F, external = data
    W, tile, x, near = scratch
    rows = x.shape[1]
    for i in range(0, X.shape[0], rows):
        n = min(rows, X.shape[0] - i)
        gather(X, X, features, means, i, i + n, x)
        gather(X, X, features, means, i, i + n, tile)
        for q in range(external.shape[0]):
            for r in range(n):
                near[q, r, r] = external[q, 0, i + r]
        given = x, tile, F, F, near, (i, i, 0, 0), n, n, W
        evaluate(evaluator, (code, parameters, primitives, *given))
        for k in range(n_kernels):
            for r in range(n):
                out[k, i + r] = W[k, r * n + r]
