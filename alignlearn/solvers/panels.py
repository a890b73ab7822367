"""Products with a matrix of few columns by panels of rows, with checks for Ctrl-C."""

from __future__ import annotations

from functools import partial

import numpy as np

from alignlearn._threads import in_phases

ROWS = 2**14  # of a panel; its product stays in cache (measured)
_FLOPS = 4e9  # of a panel: 0.2 s on one core
# BLAS multiplies 2 to 8 vectors together more slowly than one after the other, with panels of so
# many numbers (1000 columns: 0.2 to 0.6 of the time, four kinds of processors of OpenBLAS).
_FEW, _CACHED = 8, 2**18
# Shares of a matrix, if the product takes at least so many multiplications (a millisecond).
_SHARES, _DIVIDED = 4, 2**23


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
