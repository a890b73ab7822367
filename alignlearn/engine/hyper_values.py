"""Hyper-kernels between pairs of points: functions of the six distances of four points.

A pair p = (u, u') has numbers of its own and, with a pair q = (v, v'), four from a table between
points: T[u, v], T[u, v'], T[u', v], T[u', v']. So a value costs the same for any number of
features. A *form* is the function of these numbers:

``PRODUCT``
    ``sum_k own_kp own_kq t^(2^s_k)``, ``t = T[u, v] T[u, v'] T[u', v] T[u', v']``, for a table of
    Gaussians: a sum of hyper-kernels, the *rungs*, of any widths of the differences, which are in
    ``own``, and of widths of the midpoints that halve s_k times, by squarings. No rung costs an
    exponential.
``DETERMINANT``
    ``exp(own_0p + own_0q - power log det(I + B'B))``, for a table of squared distances, with
    ``B = [delta_p, delta_q, mu_p - mu_q]``, ``delta = (u - u') / sqrt 2``, ``mu = (u + u') / 2``.
    The entries of B'B are sums of squared distances: ``4 delta_p'delta_q = |u - v'|^2 + |u' - v|^2
    - |u - v|^2 - |u' - v'|^2``, and so on. They depend on p only through the sum and the difference
    of the distances of u and u' to each point. Products with vectors compute these once for a block
    of pairs p, and then combine each pair q with the block, without gathering from the table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._jit import jit_fma

from . import formulas, vectormath
from .binding import over_pairs
from .boxes import into_rows, row_boxes, rows

PRODUCT, DETERMINANT = range(2)
CONSTANTS = 1.0, 0.5, 0.25, 32.0**-0.5  # arguments of `formulas.pair_determinant`
_BLOCK = 512  # pairs whose table values are gathered at once: 16 KB
_LANES = 128  # pairs in a block that one pair is combined with, by determinants
_MOST_HALVES = 510  # maximum exponent computed by products; larger ones have larger rounding errors
LARGEST = 300.0  # maximum exponent of the factor of a pair: the product of two is in range


_ONE_RUNG = np.zeros(1, dtype=np.int64)


class Form(NamedTuple):
    """The function of the table.

    Attributes
    ----------
    kind : {PRODUCT, DETERMINANT}
    power : float
        Of the determinant.
    squarings : ndarray of shape (n_rungs,), int64
        s_k of each rung, ascending from 0.
    """

    kind: int
    power: float = 0.0
    squarings: np.ndarray = _ONE_RUNG


class Pairs(NamedTuple):
    """n pairs of points.

    Attributes
    ----------
    first, second : ndarray of shape (n,), int64
        Positions of the two points in the table.
    own : ndarray of shape (n_rungs, n), float64 in C order
        The factors (`PRODUCT`) or the term (`DETERMINANT`) of the pair alone.
    size : ndarray of shape (n,)
        Squared distance of its two points.
    """

    first: np.ndarray
    second: np.ndarray
    own: np.ndarray
    size: np.ndarray

    def take(self, index):
        """The pairs at these positions."""
        own = np.ascontiguousarray(self.own[:, index])
        return Pairs(self.first[index], self.second[index], own, self.size[index])

    @property
    def n_pairs(self):
        """Number of pairs."""
        return self.first.size


class PairTimes(NamedTuple):
    """The arguments of ``pair_times``, and of ``pair_gram``, which has no ``coef``."""

    form: Form
    table: np.ndarray
    left: Pairs
    right: Pairs
    coef: np.ndarray = None

    @property
    def width(self):
        """Number of values of a row."""
        return self.right.n_pairs


class GridSums(NamedTuple):
    """The arguments of `product_sums`."""

    A: np.ndarray
    M: np.ndarray

    @property
    def width(self):
        """Multiplications for a row, half of those for all columns."""
        return len(self.A) ** 3 // 2


_determinant = jit_fma(formulas.pair_determinant)


@jit_fma
def _products(table, squarings, left, p, right, q0, out):
    c00, c01, c10, c11 = table[0], table[1], table[2], table[3]
    own_p, own = left[0, p], right[0][q0 : q0 + out.size]
    for q in range(out.size):
        t = (c00[q] * c11[q]) * (c01[q] * c10[q])
        c00[q] = t
        out[q] = (own_p * own[q]) * t
    for k in range(1, squarings.size):
        for _ in range(squarings[k] - squarings[k - 1]):
            for q in range(out.size):
                c00[q] *= c00[q]
        own_p, own = left[k, p], right[k][q0 : q0 + out.size]
        for q in range(out.size):
            out[q] += (own_p * own[q]) * c00[q]


@jit_fma
def _determinants(table, own_p, size_p, own, size, power, out):
    c00, c01, c10, c11 = table[0], table[1], table[2], table[3]
    inverse = 1.0 / (1.0 + 0.5 * size_p)
    own_p += power * vectormath.log(inverse)
    for q in range(out.size):
        ends = c00[q] + c10[q], c01[q] + c11[q], c00[q] - c10[q], c01[q] - c11[q]
        det = _determinant(ends, size_p, inverse, size[q], CONSTANTS)
        out[q] = vectormath.exp((own_p + own[q]) - power * vectormath.log(det))


@jit_fma
def _values(form, table, left, right, p, q0, q1, near, out):
    """Values of the pair p of ``left`` with the pairs q0 to q1 - 1 of ``right``."""
    kind, power, squarings = form
    i, j = table[left[0][p]], table[left[1][p]]
    first, second = right[0][q0:q1], right[1][q0:q1]
    c00, c01, c10, c11 = near[0], near[1], near[2], near[3]
    for q in range(first.size):
        r, s = np.uint64(first[q]), np.uint64(second[q])
        c00[q], c01[q], c10[q], c11[q] = i[r], i[s], j[r], j[s]
    if kind == PRODUCT:
        _products(near, squarings, left[2], p, right[2], q0, out)
    else:
        own, size = left[2][0, p], left[3][p]
        _determinants(near, own, size, right[2][0, q0:q1], right[3][q0:q1], power, out)


@jit_fma.owning
def _fill(thread, form, table, left, right, symmetric, out, stop):
    """out[p, q] for all pairs, with rows dealt to threads in turn; only q >= p if symmetric."""
    near = np.empty((4, _BLOCK))
    n = right[0].size
    for p in range(thread[0], left[0].size, thread[1]):
        if stop[0]:
            return
        for q in range(p if symmetric else 0, n, _BLOCK):
            last = min(q + _BLOCK, n)
            _values(form, table, left, right, p, q, last, near, out[p, q:last])


@jit_fma.owning
def _add(form, table, left, right, coef, first, out, stop):
    """out[p - first] = sum_q coef[q] k(p, q)."""
    near, values = np.empty((4, _BLOCK)), np.empty(_BLOCK)
    n = right[0].size
    for p in range(first, first + out.size):
        if stop[0]:
            return
        total = 0.0
        for q in range(0, n, _BLOCK):
            last = min(q + _BLOCK, n)
            part = values[: last - q]
            _values(form, table, left, right, p, q, last, near, part)
            for t in range(part.size):
                total += coef[q + t] * part[t]
        out[p - first] = total


def pair_gram(form, table, left, right, engine):
    """Values of a hyper-kernel between pairs.

    Parameters
    ----------
    form : Form
    table : ndarray of shape (n_left_points, n_right_points), float64 in C order
    left, right : Pairs
        With points that are rows, and columns, of the table; ``right`` is None for ``left``
        itself (the table is then symmetric, and half of the work is done).
    engine : Cpu, Cuda or Cluster
        What it runs on, here and below.

    Returns
    -------
    ndarray of shape (n_left, n_right), float64
    """
    symmetric = right is None
    right = left if symmetric else right
    out = np.empty((left.n_pairs, right.n_pairs))
    if not engine.in_place:
        boxes = row_boxes(*out.shape, 1)
        data = PairTimes(form, table, left, right)
        engine.run_boxes("pair_gram", data, boxes, into_rows(out, boxes))
        return np.triu(out) + np.triu(out, 1).T if symmetric else out
    work = tuple(form), table, tuple(left), tuple(right), symmetric, out
    over_pairs(_fill, work, out.size)
    return mirror(out) if symmetric else out


def mirror(out):
    """A square matrix, with the lower triangle copied from the upper one."""
    for i in range(0, len(out), _BLOCK):
        rows = slice(i, i + _BLOCK)
        square = out[rows, rows]
        square[:] = np.triu(square) + np.triu(square, 1).T
        out[i + _BLOCK :, rows] = out[rows, i + _BLOCK :].T
    return out


@jit_fma
def _four_bits(x, x2, x4, x8, bits):
    """``x^(bits % 16)``."""
    low = (x if bits & 1 else 1.0) * (x2 if bits & 2 else 1.0)
    return low * ((x4 if bits & 4 else 1.0) * (x8 if bits & 8 else 1.0))


@jit_fma
def _inverse_roots(x, halves, out):
    """``out = x^(-halves / 2)``; x is overwritten."""
    bits, odd = halves >> 1, halves & 1
    for p in range(x.size):
        y = 1.0 / x[p]
        y2 = y * y
        y4 = y2 * y2
        y8 = y4 * y4
        value = _four_bits(y, y2, y4, y8, bits)
        out[p] = value * np.sqrt(y) if odd else value
        x[p] = y8 * y8
    bits >>= 4
    while bits:
        for p in range(x.size):
            y = x[p]
            y2 = y * y
            y4 = y2 * y2
            y8 = y4 * y4
            out[p] *= _four_bits(y, y2, y4, y8, bits)
            x[p] = y8 * y8
        bits >>= 4


@jit_fma
def _sums_of_rows(table, first, second, sums, differences):
    """Sums and differences of pairs of rows, by columns: one value for a pair and a point."""
    for v in range(table.shape[1]):
        for p in range(first.size):
            a, b = table[first[p], v], table[second[p], v]
            sums[v, p] = a + b
            differences[v, p] = a - b


@jit_fma.owning
def _add_determinants(form, halves, table, left, right, coef, start, out, stop):
    """As `_add`, for determinants: each pair of ``right`` against a block of those of ``left``.

    If twice the exponent is an integer, it is passed as ``halves``, and the power is computed by
    products and a root. Otherwise ``halves`` is 0, and the power is computed by a logarithm and an
    exponential.
    """
    power, n = form[1], right[0].size
    sums = np.empty((table.shape[1], _LANES))
    differences, det, values = np.empty_like(sums), np.empty(_LANES), np.empty(_LANES)
    inverse, own_p = np.empty(_LANES), np.empty(_LANES)
    for p0 in range(start, start + out.size, _LANES):
        if stop[0]:
            return
        p1 = min(p0 + _LANES, start + out.size)
        size_p, total = left[3][p0:p1], out[p0 - start : p1 - start]
        m = total.size
        _sums_of_rows(table, left[0][p0:p1], left[1][p0:p1], sums, differences)
        for p in range(m):
            inverse[p] = 1.0 / (1.0 + 0.5 * size_p[p])
            own_p[p] = left[2][0, p0 + p] + power * vectormath.log(inverse[p])
            total[p] = 0.0
        x, y = det[:m], values[:m]
        for q in range(n):
            u, v = np.uint64(right[0][q]), np.uint64(right[1][q])
            s0, s1, d0, d1 = sums[u], sums[v], differences[u], differences[v]
            own, size = right[2][0, q], right[3][q]
            for p in range(m):
                ends = s0[p], s1[p], d0[p], d1[p]
                x[p] = _determinant(ends, size_p[p], inverse[p], size, CONSTANTS)
            if halves:
                factor = coef[q] * vectormath.exp(own)
                _inverse_roots(x, halves, y)
                for p in range(m):
                    total[p] += factor * y[p]
            else:
                factor = coef[q]
                for p in range(m):
                    exponent = (own_p[p] + own) - power * vectormath.log(x[p])
                    total[p] += factor * vectormath.exp(exponent)
        if halves:
            for p in range(m):
                total[p] *= vectormath.exp(own_p[p])


def times_box(data, box, stop):
    """Rows (p0, p1) of the product of `pair_times`."""
    out = np.empty(box[1] - box[0])
    work = data.table, tuple(data.left), tuple(data.right), data.coef, box[0], out, stop
    if data.form.kind == PRODUCT:
        _add(tuple(data.form), *work)
    else:
        _add_determinants(tuple(data.form), _halves(data), *work)
    return out


def _halves(data):
    """Twice the power of a determinant if products can compute it; else 0."""
    halves = 2.0 * data.form.power
    owns = (np.abs(side.own).max(initial=0.0) for side in (data.left, data.right))
    fits = halves <= _MOST_HALVES and max(owns) <= LARGEST
    return int(halves) if fits and halves == int(halves) else 0


def product_box(data, box, stop):
    """Rows (i0, i1) of the sums of `product_sums` on and right of the diagonal: a list."""
    A, M = data
    out = []
    for i in range(*box) if not stop[0] else ():
        W = A[i:] * A[i]
        out.append(np.einsum("jr,jr->j", W @ M, W))
    return out


def pair_times(form, table, left, right, coef, engine):
    """``sum_q coef[q] k(p, q)`` for the pairs p of ``left``, shape (n_left,), without a matrix.

    Parameters as in `pair_gram`; ``coef`` of shape (n_right,).
    """
    out, size = np.empty(left.n_pairs), (left.n_pairs, right.n_pairs)
    boxes = row_boxes(*size, 1, few=engine.large_boxes(size[0] * size[1]))
    data = PairTimes(form, table, left, right, coef)
    engine.run_boxes("pair_times", data, boxes, into_rows(out, boxes))
    return out


def product_sums(A, M, engine):
    """``out[i, j] = sum_{r, s} M[r, s] A[i, r] A[i, s] A[j, r] A[j, s]``: all pairs of a grid.

    For the form `PRODUCT`, by matrix products of m^4 / 2 multiplications for A of shape (m, m),
    which take a fraction of a nanosecond for each pair of pairs. ``M`` is symmetric.

    Returns
    -------
    ndarray of shape (m, m)
        Symmetric.
    """
    m = len(A)
    out, boxes = np.empty((m, m)), rows(0, m, max(1, m // 64))

    def take(k, part):
        for i, values in zip(range(*boxes[k]), part):
            out[i, i:] = out[i:, i] = values

    engine.run_boxes("product_sums", GridSums(A, M), boxes, take)
    return out
