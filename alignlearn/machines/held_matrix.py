"""The Gram matrix in memory for products with vectors: whole, or its upper triangle in float32."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from alignlearn._jit import jit_sum
from alignlearn._threads import on_threads
from alignlearn.solvers import panels

_GROUP = 256  # rows that are evaluated and multiplied at once
_COLUMNS = 4  # vectors that are multiplied at once; a group of rows has sums for each
_SHORT = 2**26  # multiplications of a product, 20 ms
_LARGER = 1.5  # largest ratio of the size of reused memory to that of the matrix
_reused = ContextVar("reused", default=None)  # a list of the memory of matrices that were freed


@contextmanager
def reused_memory():
    """Within this context, matrices in float32 take the memory of freed ones of similar size.

    The first write to new memory takes as long as a third of the kernel values in it.
    """
    token = _reused.set([])
    try:
        yield
    finally:
        _reused.get().clear()
        _reused.reset(token)


def _memory(size, reused):
    """float32 memory for at least ``size`` values; what is freed and does not fit is released."""
    while reused:
        found = reused.pop()
        if size <= len(found) <= _LARGER * size:
            return found
    return np.empty(size, dtype=np.float32)


class HeldMatrix:
    """The Gram matrix of a combination for products; float32 for many samples.

    It may omit terms ``f(x) + f(x')``, which have no effect where coefficients sum to 0.

    float32 rounds kernel values by 6e-8 of the largest, which changes predictions by less than the
    tolerance of the solver. Only its upper triangle is stored, in groups of rows that start at the
    diagonal, so that a product reads a quarter of the memory of the float64 matrix.

    Parameters
    ----------
    combination : Combination
    single : bool
        Whether it is float32.

    Attributes
    ----------
    K : ndarray
        The matrix (m, m), or its groups one after the other.
    starts : ndarray of int
        Their positions in K.
    height : int
        Rows of a group.
    """

    def __init__(self, combination, single):
        self._single, self._m, self._reused = single, combination.n_samples, None
        m = self._m
        self.height = _GROUP if single else m
        self._places = np.arange(0, m, self.height)
        sizes = np.minimum(self.height, m - self._places) * (m - self._places)
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        if not single:
            self.K = combination.gram()
            return
        self._reused = _reused.get()
        self._memory = _memory(self.starts[-1], self._reused)
        self.K = self._memory[: self.starts[-1]]
        combination.fill_upper_rows(_GROUP, self.K)

    def __del__(self):
        if self._reused is not None:
            self._reused.append(self._memory)

    def diagonal(self):
        """The stored diagonal (m,)."""
        if not self._single:
            return self.K.diagonal()
        ends = [*self._places[1:], self._m]
        groups = zip(self.starts, self.starts[1:], self._places, ends)
        return np.concatenate(
            [self.K[start : stop : self._m - at + 1][: end - at] for start, stop, at, end in groups]
        )

    def whole(self):
        """A copy of the matrix in float32 as (m, m)."""
        out = np.empty((self._m, self._m), dtype=np.float32)
        for start, stop, at in zip(self.starts, self.starts[1:], self._places):
            rows = self.K[start:stop].reshape(-1, self._m - at)
            end = at + len(rows)
            out[at:end, at:] = rows
            out[end:, at:end] = rows[:, len(rows) :].T
        return out

    def times(self, V):
        """Product with V (m, c), summed in float64; the same bits for any number of threads."""
        if not self._single:
            # A float32 matrix is converted, so that residuals have the precision of float64.
            return panels.times(self.K, V) if self.K.dtype == V.dtype else self.K @ V
        return np.hstack(
            [self._few(V[:, c : c + _COLUMNS]) for c in range(0, V.shape[1], _COLUMNS)]
        )

    def _few(self, V):
        right, out = np.ascontiguousarray(V.T), np.empty(V.shape[::-1])
        below = np.empty((len(self._places), *out.shape))
        given = self.K, self.starts, right, out, below
        short = self.K.size * len(right) <= _SHORT
        on_threads(_times_part, *given, stoppable=True, short=short)
        for start, sums in zip(self._places + _GROUP, below):
            out[:, start:] += sums[:, start:]
        return out.T


@jit_sum
def _times_part(thread, K, starts, right, out, below, stop):
    """Every count-th group of rows times ``right`` (c, m), and its transpose in ``below``."""
    number, count = thread
    c, m = right.shape
    for group in range(number, len(below), count):
        if stop[0]:
            return
        first, last = _GROUP * group, min(_GROUP * (group + 1), m)
        width, at, sums = m - first, starts[group], below[group]
        sums[:, first:] = 0.0
        i = 0
        while i + 4 <= last - first:
            rows = K[at + i * width : at + (i + 4) * width].reshape(4, width)
            for k in range(0, c - 1, 2):
                v, w = right[k, first:], right[k + 1, first:]
                of_v, of_w = sums[k, first:], sums[k + 1, first:]
                _add_rows_to_two(rows, v, w, of_v, of_w, out[k, first:], out[k + 1, first:], i)
            if c % 2:
                _add_rows(rows, right[c - 1, first:], sums[c - 1, first:], out[c - 1, first:], i)
            i += 4
        while i < last - first:
            row = K[at + i * width : at + (i + 1) * width]
            for k in range(c):
                v, own_sums = right[k, first:], sums[k, first:]
                total, own = 0.0, v[i]
                for j in range(width):
                    total += row[j] * v[j]
                    own_sums[j] += own * row[j]
                out[k, first + i] = total
            i += 1


@jit_sum
def _add_rows(rows, v, sums, out, i):
    """Four consecutive rows of a group times v, and their transpose."""
    row0, row1, row2, row3 = rows[0], rows[1], rows[2], rows[3]
    v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(v)):
        k0, k1, k2, k3, vj = row0[j], row1[j], row2[j], row3[j], v[j]
        s0 += k0 * vj
        s1 += k1 * vj
        s2 += k2 * vj
        s3 += k3 * vj
        sums[j] += (v0 * k0 + v1 * k1) + (v2 * k2 + v3 * k3)
    out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3


@jit_sum
def _add_rows_to_two(rows, v, w, of_v, of_w, out_v, out_w, i):
    """`_add_rows` for two vectors at once, in 0.65 of the time.

    The vectors are arguments: LLVM does not vectorize the loop over rows of matrices.
    """
    row0, row1, row2, row3 = rows[0], rows[1], rows[2], rows[3]
    v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
    w0, w1, w2, w3 = w[i], w[i + 1], w[i + 2], w[i + 3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
    for j in range(len(v)):
        k0, k1, k2, k3, vj, wj = row0[j], row1[j], row2[j], row3[j], v[j], w[j]
        s0 += k0 * vj
        s1 += k1 * vj
        s2 += k2 * vj
        s3 += k3 * vj
        t0 += k0 * wj
        t1 += k1 * wj
        t2 += k2 * wj
        t3 += k3 * wj
        of_v[j] += (v0 * k0 + v1 * k1) + (v2 * k2 + v3 * k3)
        of_w[j] += (w0 * k0 + w1 * k1) + (w2 * k2 + w3 * k3)
    out_v[i], out_v[i + 1], out_v[i + 2], out_v[i + 3] = s0, s1, s2, s3
    out_w[i], out_w[i + 1], out_w[i + 2], out_w[i + 3] = t0, t1, t2, t3
