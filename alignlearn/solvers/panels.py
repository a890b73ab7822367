"""Products with a matrix of few columns by panels of rows, with checks for Ctrl-C."""

from __future__ import annotations

import numpy as np

ROWS = 2**14  # of a panel; its product stays in cache (measured)
_FLOPS = 4e9  # of a panel: 0.2 s on one core
# BLAS multiplies 2 to 8 vectors together more slowly than one after the other, with panels of so
# many numbers (1000 columns: 0.2 to 0.6 of the time, four kinds of processors of OpenBLAS).
_FEW, _CACHED = 8, 2**18


def panels(n, flops=1):
    """Slices of n rows, each with a bounded number of operations."""
    return _slices(n, int(np.clip(_FLOPS / max(flops, 1), 1, ROWS)))


def _slices(n, rows):
    return [slice(i, min(i + rows, n)) for i in range(0, n, rows)]


def times(Z, v):
    """``Zv`` for Z of shape (m, q) and v of shape (q,) or (q, c), of Z's dtype."""
    v, few = v.astype(Z.dtype, copy=False), _panels_of_few(Z, v)
    out = np.empty((len(Z), *v.shape[1:]), Z.dtype, order="F" if few else "C")
    for part in few:
        for column, one in zip(out.T, v.T):
            column[part] = Z[part] @ one
    for part in panels(len(Z), 2 * v.size) if not few else ():
        out[part] = Z[part] @ v
    return out


def transposed_times(Z, v):
    """``Z'v`` for Z of shape (m, q) and v of shape (m,) or (m, c), float64."""
    v, few = v.astype(Z.dtype, copy=False), _panels_of_few(Z, v)
    out = np.zeros((Z.shape[1], *v.shape[1:]), order="F" if few else "C")
    for part in few:
        for column, one in zip(out.T, v.T):
            column += Z[part].T @ one[part]
    flops = 2 * Z.shape[1] * (v.size // max(len(v), 1))
    for part in panels(len(Z), flops) if not few else ():
        out += Z[part].T @ v[part]
    return out


def _panels_of_few(Z, v):
    """Panels that stay in the cache while each column is multiplied; none if they are many."""
    few = v.ndim > 1 and 1 < v.shape[1] <= _FEW
    return _slices(len(Z), max(1, _CACHED // max(1, Z.shape[1]))) if few else []


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
    out = np.zeros(2 * Z.shape[1:])
    for part in panels(len(Z), Z.shape[1] ** 2):
        panel = Z[part] if center is None else Z[part] - center
        if weight is not None:
            panel = panel * np.sqrt(weight[part])[:, None]
        # NumPy recognizes that both are one array, and computes half of the product.
        out += panel.T @ panel
    return out
