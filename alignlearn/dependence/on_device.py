"""Products of representations on a CUDA device, by the operations of their own library.

Torch tensors have these operations as methods, so torch is not imported. Sums and products are in
float64. Only the products of all pairs of sets and the norms of rows are copied from the device.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation import plain

_ENTRIES = 2**26  # entries of Gram matrices in memory at once: 0.5 GB


def matrix(name, tensor):
    """A tensor as a matrix (m, d) of finite float64 on its device."""
    if tensor.ndim < 2 or 0 in tensor.shape:
        raise ValueError(
            f"{name} has shape {tuple(tensor.shape)}; accepted: a row per sample, not empty."
        )
    tensor = tensor.double().reshape(len(tensor), -1)
    if not np.isfinite(float(abs(tensor).max())):
        raise ValueError(f"{name}: X contains NaN or infinity; all values must be finite.")
    return tensor


def scaled(tensor, exponent):
    """``2^exponent`` times a tensor, in two steps without overflow."""
    half = exponent // 2
    return tensor * 2.0**half * 2.0 ** (exponent - half)


def products(sets):
    """``|F'G|_F^2`` of all pairs of sets with centered columns (t, t), and squared rows (t, m)."""
    centered = [_centered(F) for F in sets]
    m, t = len(centered[0]), len(centered)
    lengths = np.stack([_to_host((F * F).sum(1)) for F in centered])
    if sum(F.shape[1] for F in centered) < m:
        values = [[_square(F.T @ G) for G in centered[: k + 1]] for k, F in enumerate(centered)]
        M = np.zeros((t, t))
        for k, row in enumerate(values):
            M[k, : k + 1] = M[: k + 1, k] = row
        return M, lengths
    step, M = max(1, _ENTRIES // (m * t)), np.zeros((t, t))
    for i in range(0, m, step):
        n = min(step, m - i)
        rows = centered[0].new_empty((t, n * m))
        for k, F in enumerate(centered):
            rows[k] = (F[i : i + n] @ F.T).reshape(-1)
        M += _to_host(rows @ rows.T)
    return M, lengths


def _centered(F):
    varies = F.min(0)[0] != F.max(0)[0]
    F = F - F.mean(0)
    # The mean of a column with a large offset is rounded, which leaves one small constant per
    # column.
    return (F - F.mean(0)) * varies


def _square(A):
    return float((A * A).sum())


def _to_host(tensor):
    return np.array(plain("features", tensor.cpu()), dtype=np.float64)
