"""Products of the kernel values of a tile with each other and with the target: p x p of a pair.

The sums of a block of five rows by five need 25 vector registers, which AVX-512 and NEON have.
Other x86 processors have 16, which do for blocks of five by two. Measured for 200 kernels and 256
pairs, in float64, one thread: 25e9 multiply-adds a second (BLAS 21e9); with AVX2 19e9 (BLAS 19e9),
where blocks of five by five reach 14e9.
"""

from __future__ import annotations

import platform

from numba import config
from numba.core.codegen import get_host_cpu_features

from alignlearn._jit import jit_sum


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


_blocks = _by_fives if _registers() == 32 else _by_pairs


@jit_sum
def add_products(W, n_values, n, zero, S, a):
    """Products of kernels with each other and with the target.

    S[k, l] += sum_j W[k, j] W[l, j] for k <= l, and a[k] += sum_j W[k, j] W[n_values, j], the
    target being row ``n_values``, a multiple of 5 (pad with zero rows). ``zero`` fixes the type of
    the partial sums over the n pairs of a tile, which are then added to float64. Only blocks of S
    on and above the diagonal are filled. Five by five is the largest block whose sums fit 32
    vector registers: 2.3 ns a pair for ten kernels against 3.4 ns with four by four.
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
