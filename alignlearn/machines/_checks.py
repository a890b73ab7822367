"""Checks of Gram matrices, targets and weights shared by the machines."""

from __future__ import annotations

import numpy as np

from alignlearn._jit import jit

# Largest |K_ij - K_ji| accepted, relative to the largest |K_ij|: rounding of any usual formula for
# K stays below it, a wrong matrix does not.
SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
_TILE = 8, 64


@jit
def _magnitude(value):
    """Bits of |value|: they order as magnitudes do, with inf and NaN above every finite one."""
    return np.float64(value).view(np.int64) & 0x7FFFFFFFFFFFFFFF


@jit
def _tile_extremes(K, top, left, height, width):
    largest, skew = np.int64(0), np.int64(0)
    for i in range(height):
        row = K[top + i][left : left + width]
        for j in range(width):
            largest = max(largest, _magnitude(row[j]))
            skew = max(skew, _magnitude(row[j] - K[left + j, top + i]))
    return largest, skew


@jit
def gram_extremes(K, height, width):
    """Largest |K_ij| with i <= j (by tiles) and largest |K_ij - K_ji|; reads K once.

    An entry that is not finite makes one of the two not finite. ``height`` numbers should fill a
    cache line, so that the transposed tile costs one line a row.
    """
    m = K.shape[0]
    largest, skew = np.int64(0), np.int64(0)
    for top in range(0, m, height):
        for left in range(top, m, width):
            found = _tile_extremes(K, top, left, min(height, m - top), min(width, m - left))
            largest, skew = max(largest, found[0]), max(skew, found[1])
    return np.int64(largest).view(np.float64), np.int64(skew).view(np.float64)


def as_matrix(name, K):
    """K as a two-dimensional float64 or float32 array; other numbers become float64."""
    K = np.asarray(K)
    if K.ndim != 2:
        raise ValueError(f"{name} must be a two-dimensional array, got shape {K.shape}.")
    if K.dtype not in SYMMETRY_TOLERANCE:
        if K.dtype.kind not in "biufO":
            raise TypeError(f"{name} must hold real numbers, got dtype {K.dtype}.")
        K = K.astype(np.float64)
    return K


def check_gram(K, n_targets=None):
    """Return K as a C-contiguous float Gram matrix, or raise an error that says what is wrong.

    Parameters
    ----------
    K : (m, m) array_like
        float64 and float32 are kept as they are, other dtypes become float64. Not modified, and
        not copied if C- or Fortran-contiguous.
    n_targets : int, optional
        The length that y has.

    Raises
    ------
    ValueError
        If K is not square or empty, has NaN or infinite entries, differs from its transpose by
        more than 1e-8 (float64) or 1e-4 (float32) of its largest entry, or does not match y.
    """
    K = as_matrix("K", K)
    if K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"K must be a square (m, m) Gram matrix, got shape {K.shape}.")
    if n_targets is not None and n_targets != K.shape[0]:
        raise ValueError(f"K has {K.shape[0]} rows but y has {n_targets} values; they must agree.")
    K = K.T if K.flags.f_contiguous else np.ascontiguousarray(K)
    largest, skew = gram_extremes(K, *_TILE)
    if not np.isfinite(largest + skew):
        raise ValueError("K has NaN or infinite entries; all must be finite.")
    tolerance = SYMMETRY_TOLERANCE[K.dtype]
    if skew > tolerance * largest:
        raise ValueError(
            f"K is not symmetric: |K_ij - K_ji| reaches {skew:.3g}, accepted up to {tolerance:g} "
            f"times the largest entry {largest:.3g}; a kernel against other points belongs in "
            "predict."
        )
    return K


def check_test_gram(K_test, n_train):
    """Return K_test as an (n_test, n_train) float array of finite numbers."""
    K_test = as_matrix("K_test", K_test)
    if K_test.shape[1] != n_train:
        raise ValueError(
            f"K_test must have a column for each of the {n_train} training points, got shape "
            f"{K_test.shape}."
        )
    if not np.isfinite(K_test).all():
        raise ValueError("K_test has NaN or infinite entries; all must be finite.")
    return K_test


def check_targets(y, *, columns=False):
    """Return real-valued y as finite float64 of shape (m,), or also (m, c) with ``columns``."""
    y = np.asarray(y)
    accepted = "(m,) or (m, c)" if columns else "(m,)"
    if y.ndim != 1 and not (columns and y.ndim == 2 and y.shape[1] > 0):
        raise ValueError(f"y must have shape {accepted}, got {y.shape}.")
    if y.dtype.kind not in "biufO":
        raise TypeError(f"y must hold real numbers, got dtype {y.dtype}.")
    y = y.astype(np.float64)
    if not np.isfinite(y).all():
        raise ValueError("y has NaN or infinite values; all must be finite.")
    return y


def check_weights(sample_weight, n_samples):
    """Return sample weights as (m,) float64, ones if None; not negative, not all zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},), one value a sample, got {weight.shape}."
        )
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; at least one must be positive.")
    return weight
