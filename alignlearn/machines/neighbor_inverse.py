"""A sparse approximate inverse of what a low-rank factor omits from a kernel matrix.

For ``R = D (K - LL') D + alpha I`` with D diagonal, a sparse triangular G is found with
``G'G ~ R^-1``. Row i of G inverts R exactly on sample i and those of its nearest neighbors, by
kernel values, that come after it: the factorized sparse approximate inverse of Kolotilin and
Yeremin (1993), and the conditional density of Vecchia (1988). Where kernels are narrow, few samples
depend on each other once a low-rank factor explains what all have in common.

Sources: Kolotilin and Yeremin (1993), "Factorized sparse approximate inverse preconditionings I";
Zhao, Xu, Huang, Chow and Xi (2024), "An adaptive factorized Nystrom preconditioner for regularized
kernel matrices"; Vecchia (1988), "Estimation and model identification for continuous spatial
processes".
"""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit, jit_sum
from alignlearn._threads import on_threads

_PANEL = 1024  # rows
_AT_ONCE = 32  # entries that are compared with the smallest neighbor in one vectorized loop
_LEAST_PIVOT = {4: 1e-6, 8: 1e-12}  # relative to the diagonal; by bytes of an entry of the matrix


class NeighborInverse:
    """Approximate inverses of ``D (K - LL') D + alpha I`` for any alpha > 0.

    Parameters
    ----------
    held : HeldMatrix
        K up to terms ``f(x) + f(x')``, of which the upper triangle is read.
    diagonal : ndarray of shape (m,)
        Of K, which determines these terms.
    L : ndarray of shape (m, r)
    root : ndarray of shape (m,)
        Diagonal of D, not negative.
    n_neighbors : int
    step : int, default 1
        With more than 1, only every step-th row is prepared, and only `explained` may be called.
    """

    def __init__(self, held, diagonal, L, root, n_neighbors, step=1):
        m = len(range(0, len(L), step))
        matrix = held.K.reshape(-1), held.starts, held.height, (diagonal - held.diagonal()) / 2
        self._least = _LEAST_PIVOT[held.K.itemsize]
        scale = np.sqrt(np.maximum(diagonal, np.finfo(np.float64).tiny))
        self._places = np.empty((m, n_neighbors + 1), dtype=np.int32)
        near = np.empty((m, n_neighbors))
        given = *matrix, step, 1.0 / scale, near, self._places
        on_threads(_find_neighbors, *given, stoppable=True)
        self._residual = np.empty((m, (n_neighbors + 1) * (n_neighbors + 2) // 2))
        given = *matrix, step, L, root, self._places, self._residual
        on_threads(_evaluate_residual, *given, stoppable=True)

    def factor(self, alpha):
        """Rows (m, n_neighbors + 1) of G, for `times` and `gram`."""
        rows = np.empty(self._places.shape)
        given = self._residual, float(alpha), self._least, rows
        on_threads(_factor_rows, *given, stoppable=True)
        return rows

    def explained(self, alpha):
        """The share of the diagonal of ``D (K - LL') D`` that neighbors explain, as a variance."""
        total = self._residual[:, -1].sum()
        left = np.square(1.0 / self.factor(alpha)[:, -1]).sum() - alpha * len(self._residual)
        return 1.0 - left / total if total > 0.0 else 0.0

    def times(self, rows, V):
        """``G'GV`` for V (m, c)."""
        out = np.zeros(V.shape)
        _add_products(rows, self._places, V, out)
        return out

    def gram(self, rows, L):
        """``L'G'GL`` for L (m, r), by panels of rows of GL."""
        out, panel = np.zeros(2 * L.shape[1:]), np.empty((_PANEL, L.shape[1]))
        for first in range(0, len(L), _PANEL):
            part = panel[: len(L) - first]
            part[:] = 0.0
            on_threads(_add_combinations, rows, self._places, L, first, part, stoppable=True)
            out += part.T @ part
        return out


@jit
def _before_row(starts, height, m, i):
    """What to add to a column j >= i for the position of its entry of row i in the groups."""
    group = i // height
    first = group * height
    return starts[group] + (i - first) * (m - first) - first


@jit
def _find_neighbors(thread, K, starts, height, omitted, step, scale, near, places, stop):
    """Every count-th row of ``places``: i last, after the later samples of the largest kernel.

    Row k is of sample ``i = k * step``. Where there are fewer than q neighbors, places are i. The
    same row of ``near`` gets their kernel values, times ``scale`` of the neighbor, in increasing
    order. ``omitted`` (m,) are the terms f(x) that K omits.
    """
    number, count = thread
    m = len(scale)
    for n in range(number, len(near), count):
        if stop[0]:
            return
        i, best, where, least = n * step, near[n], places[n], -np.inf
        best[:] = least
        where[:] = i
        before = _before_row(starts, height, m, i)
        row, own = K[before + i : before + m], omitted[i]
        for start in range(i + 1, m, _AT_ONCE):
            end, hits = min(start + _AT_ONCE, m), 0
            for j in range(start, end):
                hits += (row[j - i] + own + omitted[j]) * scale[j] > least
            if hits:
                for j in range(start, end):
                    value = (row[j - i] + own + omitted[j]) * scale[j]
                    if value > best[0]:
                        _insert(value, j, best, where)
                least = best[0]


@jit
def _insert(value, j, best, where):
    """Put a value in place of the smallest into an increasing list, and j into another one."""
    k = 1
    while k < len(best) and best[k] < value:
        best[k - 1], where[k - 1] = best[k], where[k]
        k += 1
    best[k - 1], where[k - 1] = value, j


@jit_sum
def _evaluate_residual(thread, K, starts, height, omitted, step, L, root, places, out, stop):
    """Every count-th row of ``out``: the lower triangle of ``D (K - LL') D`` at its places."""
    number, count = thread
    m, width = len(L), places.shape[1]
    for n in range(number, len(places), count):
        if stop[0]:
            return
        i, at = n * step, 0
        for a in range(width):
            p = places[n, a]
            row = L[p]
            for b in range(a + 1):
                r = places[n, b]
                low, other = min(p, r), L[r]
                value = K[_before_row(starts, height, m, low) + max(p, r)] + omitted[p] + omitted[r]
                for k in range(len(row)):
                    value -= row[k] * other[k]
                missing = r == i and b < width - 1
                out[n, at] = 0.0 if missing else root[p] * root[r] * value
                at += 1


@jit.owning
def _factor_rows(thread, residual, alpha, least, rows, stop):
    """Every count-th row of ``rows``: the last row of the inverse Cholesky factor of its samples.

    A pivot below ``least`` of its diagonal entry is replaced by that entry, which keeps the
    product positive definite.
    """
    number, count = thread
    m, width = rows.shape
    C = np.empty((width, width))
    for i in range(number, m, count):
        if stop[0]:
            return
        at = 0
        for a in range(width):
            for b in range(a + 1):
                value = residual[i, at]
                at += 1
                for k in range(b):
                    value -= C[a, k] * C[b, k]
                if b < a:
                    C[a, b] = value / C[b, b]
                    continue
                diagonal = residual[i, at - 1] + alpha
                pivot = value + alpha
                C[a, a] = np.sqrt(pivot if pivot > least * diagonal else max(diagonal, alpha))
        row = rows[i]  # solves C'g = (0, ..., 0, 1)
        for a in range(width - 1, -1, -1):
            value = 1.0 if a == width - 1 else 0.0
            for k in range(a + 1, width):
                value -= C[k, a] * row[k]
            row[a] = value / C[a, a]


@jit
def _add_products(rows, places, V, out):
    """Add ``G'GV`` to ``out``."""
    m, width = rows.shape
    for i in range(m):
        for c in range(V.shape[1]):
            value = 0.0
            for k in range(width):
                value += rows[i, k] * V[places[i, k], c]
            for k in range(width):
                out[places[i, k], c] += rows[i, k] * value


@jit
def _add_combinations(thread, rows, places, L, first, out, stop):
    """Add every count-th of the rows of ``GL`` from ``first`` on to ``out``."""
    number, count = thread
    for n in range(number, len(out), count):
        if stop[0]:
            return
        i = first + n
        for k in range(rows.shape[1]):
            weight, row = rows[i, k], L[places[i, k]]
            for j in range(len(row)):
                out[n, j] += weight * row[j]
