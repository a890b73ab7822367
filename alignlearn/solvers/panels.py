"""Products with a matrix of few columns by panels of rows, with checks for Ctrl-C."""

from __future__ import annotations

import numpy as np

ROWS = 2**14  # of a panel; its product stays in cache (measured)
_FLOPS = 4e9  # of a panel: 0.2 s on one core


def panels(n, flops=1):
    """Slices of n rows, each with a bounded number of operations."""
    rows = int(np.clip(_FLOPS / max(flops, 1), 1, ROWS))
    return [slice(i, min(i + rows, n)) for i in range(0, n, rows)]


def times(Z, v):
    """``Zv`` for Z of shape (m, q) and v of shape (q,) or (q, c)."""
    out = np.empty((len(Z), *v.shape[1:]))
    for part in panels(len(Z), 2 * v.size):
        out[part] = Z[part] @ v
    return out


def transposed_times(Z, v):
    """``Z'v`` for Z of shape (m, q) and v of shape (m,) or (m, c)."""
    out = np.zeros((Z.shape[1], *v.shape[1:]))
    for part in panels(len(Z), 2 * Z.shape[1] * (v.size // max(len(v), 1))):
        out += Z[part].T @ v[part]
    return out


def weighted_gram(Z, weight=None, center=None):
    """``(Z - 1 center')' diag(weight) (Z - 1 center')``, (q, q), without a copy of Z.

    Parameters
    ----------
    Z : (m, q) float64
        In either order.
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
