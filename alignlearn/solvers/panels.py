"""Products with a matrix of few columns by panels of rows, with checks for Ctrl-C."""

from __future__ import annotations

from functools import partial

import numpy as np

from alignlearn._jit import jit_sum
from alignlearn._threads import in_phases, on_threads

ROWS = 2**14  # of a panel; its product stays in cache (measured)
_FLOPS = 4e9  # of a panel: 0.2 s on one core
# BLAS multiplies 2 to 8 vectors together more slowly than one after the other, with panels of so
# many numbers (1000 columns: 0.2 to 0.6 of the time, four kinds of processors of OpenBLAS).
_FEW, _CACHED = 8, 2**18
# Shares of a matrix, if the product takes at least so many multiplications (a millisecond).
_SHARES, _DIVIDED = 4, 2**23
_GROUP = 32  # rows in the first-level cache, by which each vector is multiplied


def panels(n, flops=1):
    """Slices of n rows, each with a bounded number of operations."""
    return _slices(0, n, _height(flops))


def _height(flops):
    return int(np.clip(_FLOPS / max(flops, 1), 1, ROWS))


def _slices(start, stop, height):
    return [slice(i, min(i + height, stop)) for i in range(start, stop, height)]


def _shares(Z, height, width):
    """Lists of panels of at most so many rows; threads share those of a long product.

    ``width``: columns of the product. The number of panels does not depend on that of threads,
    because sums are rounded.
    """
    share = max(1, -(-len(Z) // (_SHARES if Z.size * width >= _DIVIDED else 1)))
    return [_slices(one.start, one.stop, height) for one in _slices(0, len(Z), share)] or [[]]


def times(Z, v):
    """``Zv`` for Z of shape (m, q) and v of shape (q,) or (q, c), of Z's dtype."""
    v, few = v.astype(Z.dtype, copy=False), _is_few(v)
    out = np.empty((len(Z), *v.shape[1:]), Z.dtype, order="F" if few else "C")

    def put(share):
        for part in share:
            if few:
                for column, one in zip(out.T, v.T):
                    column[part] = Z[part] @ one
            else:
                out[part] = Z[part] @ v

    shares = _shares(Z, _height_of_few(Z) if few else _height(2 * v.size), v[:1].size)
    in_phases([[partial(put, share) for share in shares]])
    return out


def transposed_times(Z, v):
    """``Z'v`` for Z of shape (m, q) and v of shape (m,) or (m, c), float64."""
    v, few = v.astype(Z.dtype, copy=False), _is_few(v)
    flops = 2 * Z.shape[1] * (v.size // max(len(v), 1))
    shares = _shares(Z, _height_of_few(Z) if few else _height(flops), v[:1].size)
    sums = [np.zeros((Z.shape[1], *v.shape[1:]), order="F" if few else "C") for _ in shares]

    def add(out, share):
        for part in share:
            if few:
                for column, one in zip(out.T, v.T):
                    column += Z[part].T @ one[part]
            else:
                out += Z[part].T @ v[part]

    in_phases([[partial(add, *given) for given in zip(sums, shares)]])
    return sum(sums[1:], start=sums[0])


def double_times(L, v):
    """``Lv`` for L (m, r) in float32, and v (r, c) and the product in float64.

    Takes half the time of L in float64, because its numbers are half as many bytes.
    """
    out = np.empty((v.shape[1], len(L)))
    _on_threads(_multiply_rows, L, np.ascontiguousarray(v.T), out)
    return out.T


def double_transposed_times(L, v):
    """``L'v`` for L (m, r) in float32, and v (m, c) and the product in float64."""
    sums = np.zeros((_SHARES, v.shape[1], L.shape[1]))
    _on_threads(_add_rows, L, np.ascontiguousarray(v.T), sums)
    return sums.sum(axis=0).T


def _on_threads(loop, L, right, out):
    count = None if L.size * len(right) >= _DIVIDED else 1
    on_threads(loop, L, right, out, count=count, stoppable=True, short=True)


@jit_sum
def _multiply_rows(thread, L, right, out, stop):
    """Every count-th group of rows of L, times each of ``right`` (c, r)."""
    number, count = thread
    for first in range(number * _GROUP, len(L), count * _GROUP):
        if stop[0]:
            return
        last = min(first + _GROUP, len(L))
        for k in range(len(right)):
            v, i = right[k], first
            while i + 4 <= last:
                row0, row1, row2, row3 = L[i], L[i + 1], L[i + 2], L[i + 3]
                s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                for j in range(len(v)):
                    s0 += row0[j] * v[j]
                    s1 += row1[j] * v[j]
                    s2 += row2[j] * v[j]
                    s3 += row3[j] * v[j]
                out[k, i], out[k, i + 1], out[k, i + 2], out[k, i + 3] = s0, s1, s2, s3
                i += 4
            while i < last:
                row, total = L[i], 0.0
                for j in range(len(v)):
                    total += row[j] * v[j]
                out[k, i] = total
                i += 1


@jit_sum
def _add_rows(thread, L, right, sums, stop):
    """Add the rows of L times each of ``right`` (c, m); ``sums`` (n, c, r) has n shares of rows."""
    number, count = thread
    step = -(-len(L) // len(sums))
    for share in range(number, len(sums), count):
        for first in range(share * step, min((share + 1) * step, len(L)), _GROUP):
            if stop[0]:
                return
            last = min(first + _GROUP, (share + 1) * step, len(L))
            for k in range(len(right)):
                v, out, i = right[k], sums[share, k], first
                while i + 4 <= last:
                    row0, row1, row2, row3 = L[i], L[i + 1], L[i + 2], L[i + 3]
                    v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
                    for j in range(len(out)):
                        out[j] += (v0 * row0[j] + v1 * row1[j]) + (v2 * row2[j] + v3 * row3[j])
                    i += 4
                while i < last:
                    row = L[i]
                    for j in range(len(out)):
                        out[j] += v[i] * row[j]
                    i += 1


def _is_few(v):
    return v.ndim > 1 and 1 < v.shape[1] <= _FEW


def _height_of_few(Z):
    """Rows of panels that stay in the cache while each column is multiplied."""
    return max(1, _CACHED // max(1, Z.shape[1]))


def weighted_gram(Z, weight=None, center=None):
    """``(Z - 1 center')' diag(weight) (Z - 1 center')``, (q, q), without a copy of Z.

    Parameters
    ----------
    Z : (m, q) float64 or float32
        In either order. Sums of panels are taken in float64.
    weight : (m,) float64, optional
        At least 0; 1 by default.
    center : (q,) float64, optional
        0 by default.
    """
    shares = _shares(Z, _height(Z.shape[1] ** 2), Z.shape[1])
    sums = [np.zeros(2 * Z.shape[1:]) for _ in shares]

    def add(out, share):
        for part in share:
            panel = Z[part] if center is None else Z[part] - center
            if weight is not None:
                panel = panel * np.sqrt(weight[part])[:, None]
            # NumPy recognizes that both are one array, and computes half of the product.
            out += panel.T @ panel

    in_phases([[partial(add, *given) for given in zip(sums, shares)]])
    return sum(sums[1:], start=sums[0])
