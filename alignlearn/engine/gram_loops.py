"""Compiled passes over symmetric Gram matrices, which read the upper triangle only.

At m = 2000 and p = 100 the matrices fill 3 GB, so a pass costs what reading them costs: half a
matrix, once. Rows go in fours, which keeps four sums in registers for each value of x and of the
output that is loaded.
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit_sum


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


@jit_sum
def permuted_products(thread, K, L, orders, out, stop):
    """out[t] = sum_ij K[i, j] L[order_i, order_j] for the order t; orders dealt out to threads."""
    for t in range(thread[0], orders.shape[0], thread[1]):
        if stop[0]:
            return
        order, total = orders[t], 0.0
        for i in range(K.shape[0]):
            row, other = K[i], L[order[i]]
            part = 0.5 * row[i] * other[order[i]]
            for j in range(i):
                part += row[j] * other[order[j]]
            total += part
        out[t] = 2.0 * total


@jit_sum
def permuted_joint(thread, first, others, orders, rows, out, stop):
    """out[t] = sum_ij first[i, j] prod_k others[k, o_ki, o_kj] for the orders o = orders[t].

    Matrices are symmetric; ``rows`` (threads, m) is room for products, a row for each thread.
    """
    product = rows[thread[0]]
    for t in range(thread[0], orders.shape[0], thread[1]):
        if stop[0]:
            return
        total = 0.0
        for i in range(first.shape[0]):
            row = first[i]
            for j in range(i + 1):
                product[j] = row[j]
            for k in range(others.shape[0]):
                order = orders[t, k]
                other = others[k, order[i]]
                for j in range(i + 1):
                    product[j] *= other[order[j]]
            part = 0.5 * product[i]
            for j in range(i):
                part += product[j]
            total += part
        out[t] = 2.0 * total
