"""The loops over blocks of pairs: statistics of p kernels, and weighted sums of kernels."""

from __future__ import annotations

from alignlearn._jit import jit_sum

from .kernel_products import add_products
from .tiles import evaluate


@jit_sum
def gather(X, Y, features, means, first, last, tile):
    """tile[f, j] = column features[f] of sample first + j, less its mean; past X's come Y's."""
    d = X.shape[1]
    for f in range(features.shape[0]):
        t, c, mean = tile[f], features[f], means[f]
        if c < d:
            for j in range(first, last):
                t[j - first] = X[j, c] - mean
        else:
            for j in range(first, last):
                t[j - first] = Y[j, c - d]


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

    ``evaluator`` is the address of `tiles.evaluate`; ``program`` is what `binding.compiled` gives;
    ``data`` is (X, Y, factor values F, external values of the box, roots u of the samples' weights
    or an empty array: sums are then those of ``u_i u_j K_ij``, sums by row times u_j); ``box`` is
    (i0, i1, j0, j1), either a square on the diagonal or disjoint ranges; ``shape`` is (block, rows
    per tile), ``scratch`` what `binding.scratch` gives for it; ``sums`` is (S, a, by_row,
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
    """out[i, j] = sum_k weights[k] K_k(X[i], Z[j]), blocks of rows dealt out to threads in turn.

    ``data`` is (X, Z, factor values of X, those of Z, external values of the pairs), ``scratch``
    what `binding.scratch` gives for every thread. With ``symmetric``, Z is X: only blocks on and
    above the diagonal are computed, then mirrored.
    """
    code, parameters, primitives, features, means, n_kernels = program
    X, Z, FX, FZ, external = data
    block, rows = shape
    W, tile, x = scratch[0][thread[0]], scratch[1][thread[0]], scratch[2][thread[0]]
    n, m = X.shape[0], Z.shape[0]
    for ib in range(thread[0] * block, n, thread[1] * block):
        ie = min(ib + block, n)
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
                    o = out[i + r, jb : jb + nc]
                    for j in range(nc):
                        o[j] = 0
                    for k in range(n_kernels):
                        e, w = W[k, r * nc : (r + 1) * nc], weights[k]
                        for j in range(nc):
                            o[j] += w * e[j]
            if symmetric:
                # Also within a block: rounding depends on the place of a row in its tile.
                for i in range(ib, ie):
                    for j in range(max(jb, i + 1), jb + nc):
                        out[j, i] = out[i, j]


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
