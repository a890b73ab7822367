"""Compiled passes over symmetric Gram matrices, which read the upper triangle only.

With m = 2000 and p = 100 the matrices take 3 GB, so the cost of a pass is that of reading half of
each matrix once. Rows are processed in fours, which keeps four sums in registers for each loaded
value of x and of the output.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit, jit_sum


@jit_sum
def _corner(K, first, last, x, out):
    """Add to ``out`` the product with the diagonal block of rows ``first`` to ``last``."""
    for i in range(first, last):
        value = np.float64(K[i, i])
        out[i] += value * x[i]
        for j in range(i + 1, last):
            value = np.float64(K[i, j])
            out[i] += value * x[j]
            out[j] += value * x[i]


@jit_sum
def _four_rows(K, i, last, x, out):
    """Add the parts right of the diagonal block of rows i to i + 3, and their mirror images."""
    r0, r1, r2, r3 = K[i][last:], K[i + 1][last:], K[i + 2][last:], K[i + 3][last:]
    right, below = x[last:], out[last:]
    x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(right.size):
        k0, k1, k2, k3 = np.float64(r0[j]), np.float64(r1[j]), np.float64(r2[j]), np.float64(r3[j])
        s0 += k0 * right[j]
        s1 += k1 * right[j]
        s2 += k2 * right[j]
        s3 += k3 * right[j]
        below[j] += k0 * x0 + k1 * x1 + k2 * x2 + k3 * x3
    out[i] += s0
    out[i + 1] += s1
    out[i + 2] += s2
    out[i + 3] += s3


@jit_sum
def symmetric_product(K, x, out):
    """out = K x for each row of x, shape (c, m); K is (m, m) and symmetric."""
    m = K.shape[0]
    out[:] = 0.0
    for i in range(0, m, 4):
        last = min(i + 4, m)
        for c in range(x.shape[0]):
            _corner(K, i, last, x[c], out[c])
            if last < m:
                _four_rows(K, i, last, x[c], out[c])


@jit_sum
def four_dots(r0, r1, r2, r3, x):
    """Inner products of four rows with x."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(x.size):
        s0 += np.float64(r0[j]) * x[j]
        s1 += np.float64(r1[j]) * x[j]
        s2 += np.float64(r2[j]) * x[j]
        s3 += np.float64(r3[j]) * x[j]
    return s0, s1, s2, s3


@jit_sum
def quadratic_form(K, x):
    """Sum over the rows of x, shape (c, m), of x'Kx."""
    m = K.shape[0]
    total = 0.0
    for i in range(0, m, 4):
        last = min(i + 4, m)
        for c in range(x.shape[0]):
            xc = x[c]
            for s in range(i, last):
                total += np.float64(K[s, s]) * xc[s] * xc[s]
                for t in range(s + 1, last):
                    total += 2.0 * np.float64(K[s, t]) * xc[s] * xc[t]
            if last < m:
                s0, s1, s2, s3 = four_dots(
                    K[i][last:], K[i + 1][last:], K[i + 2][last:], K[i + 3][last:], xc[last:]
                )
                total += 2.0 * (s0 * xc[i] + s1 * xc[i + 1] + s2 * xc[i + 2] + s3 * xc[i + 3])
    return total


@jit_sum
def add_four(row, r0, r1, r2, r3, weights):
    """Add four weighted rows to ``row``."""
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    for j in range(row.size):
        row[j] += (
            w0 * np.float64(r0[j])
            + w1 * np.float64(r1[j])
            + (w2 * np.float64(r2[j]) + w3 * np.float64(r3[j]))
        )


@jit_sum
def add_upper(K0, K1, K2, K3, weights, out, first, last):
    """Add four weighted matrices to rows ``first`` to ``last`` of the upper triangle of out."""
    for i in range(first, last):
        add_four(out[i][i:], K0[i][i:], K1[i][i:], K2[i][i:], K3[i][i:], weights)


@jit_sum
def mirror(A, tile):
    """Copy the upper triangle of A to the lower one, in place."""
    m = A.shape[0]
    for top in range(0, m, tile):
        for left in range(top, m, tile):
            for i in range(top, min(top + tile, m)):
                for j in range(max(left, i + 1), min(left + tile, m)):
                    A[j, i] = A[i, j]


_ROWS, _LINE = 32, 8  # rows taken at once, and numbers in a line of the cache


@jit.owning
def permuted_diagonals(K, orders, first, out):
    """out[b, d, i] = K[o_i, o_(i + first + d)] for the order o = orders[b], written twice.

    Rows are read one by one and then transposed, because writing along diagonals would touch
    another memory page for each number.
    """
    room = np.empty((_ROWS, out.shape[1]))
    for b in range(out.shape[0]):
        order = orders[b]
        for start in range(0, out.shape[2], _ROWS):
            n = min(_ROWS, out.shape[2] - start)
            for i in range(n):
                row, line, columns = K[order[start + i]], room[i], order[start + i + first :]
                for d in range(line.size):
                    line[d] = row[columns[d]]
            for left in range(0, out.shape[1], _LINE):
                for d in range(left, min(left + _LINE, out.shape[1])):
                    line = out[b, d][start : start + n]
                    for i in range(n):
                        line[i] = room[i, d]


@jit_sum
def _times(left, right, out):
    """out = left * right."""
    for i in range(out.size):
        out[i] = left[i] * right[i]


@jit_sum
def _dot(left, right):
    """Sum of left * right."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@jit_sum
def _dot_of_three(left, middle, right):
    """Sum of left * middle * right."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * middle[i] * right[i]
    return total


@jit_sum
def shifted_products(thread, first, others, shifts, room, out, stop):
    """out[b, l, t] = sum_i first[l, i] prod_k others[b, k, l, i + shifts[b, t, k]], i modulo m.

    ``first`` is (lines, m), ``others`` (b, views, lines, m), ``shifts`` (b, t, views) from 0 to
    m - 1; ``room`` (threads, views + 1, 2 m) is for the lines written twice and for products.
    """
    n_views, n_lines, m = others.shape[1:]
    twice, products = room[thread[0]], room[thread[0], n_views][:m]
    for job in range(thread[0], others.shape[0] * n_lines, thread[1]):
        if stop[0]:
            return
        b, line = job // n_lines, job % n_lines
        for k in range(n_views):
            for i in range(m):
                twice[k, i] = twice[k, m + i] = others[b, k, line, i]
        for t in range(shifts.shape[1]):
            left = first[line]
            for k in range(n_views - 2):
                _times(left, twice[k][shifts[b, t, k] :], products)
                left = products
            right = twice[n_views - 1][shifts[b, t, n_views - 1] :]
            if n_views == 1:
                out[b, line, t] = _dot(left, right)
            else:
                middle = twice[n_views - 2][shifts[b, t, n_views - 2] :]
                out[b, line, t] = _dot_of_three(left, middle, right)
