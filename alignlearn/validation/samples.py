"""Checks of samples: matrices with a row per sample, sparse features, sequences of objects."""

from __future__ import annotations

import numpy as np


def is_sparse(X) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return hasattr(X, "tocsr")


def check_samples(name: str, X, vectors: bool = True):
    """Samples as a finite float32 or float64 matrix, or, without ``vectors``, any sequence.

    Integers become float64; float32, float64 and memmaps are passed through without a copy.
    """
    if is_sparse(X):
        raise TypeError(
            f"{name} is a sparse matrix; sparse input is accepted for RankOneKernels and Linear "
            f"kernels only. Use {name}.toarray()."
        )
    if not vectors:
        X = as_array(name, X) if hasattr(X, "__array__") else X
        if not hasattr(X, "__len__") or getattr(X, "shape", None) == () or len(X) == 0:
            raise ValueError(f"{name} must be a non-empty sequence of samples, got {X!r:.80}.")
        return X
    X = _real_array(name, X)
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix (n_samples, n_features), got shape {X.shape}. Reshape your "
            f"data with {name}.reshape(-1, 1) if it has one feature, {name}.reshape(1, -1) if it "
            "is one sample."
        )
    if X.shape[1] == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if X.shape[0] == 0:
        raise ValueError(f"{name} has shape {X.shape}: at least one sample is needed.")
    check_finite(name, X)
    return X


def _real_array(name, X):
    """A float32 or float64 array, or an error for what does not hold real numbers."""
    if X is None or isinstance(X, (str, bytes, dict)):
        raise TypeError(f"{name} must be a matrix (n_samples, n_features), got {X!r:.60}.")
    X = as_array(name, X)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind in "biuO" or X.dtype == np.float16:
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name} must hold real numbers: {error}.") from None
    if X.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
    return X


def check_features(X):
    """A finite real matrix of at least one row and column, dense or SciPy sparse."""
    if not is_sparse(X):
        return check_samples("X", X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers.")
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: at least one sample and feature are needed.")
    check_finite("X", X.tocsr().data)
    return X


def unmasked(name, A):
    """A, or its data if it is a masked array; values that are missing are an error."""
    if not isinstance(A, np.ma.MaskedArray):
        return A
    missing = int(np.ma.count_masked(A))
    if missing:
        raise ValueError(f"{name} has {missing} masked values; fill them, or leave them out.")
    return A.data


def as_array(name, X):
    """X as an array, or an error for rows of different lengths."""
    try:
        return np.asarray(unmasked(name, X))
    except ValueError as error:
        raise ValueError(f"{name} must be a matrix (n_samples, n_features): {error}.") from None


def take(X, index):
    """Some samples of an array, or of a list of objects."""
    return X[index] if hasattr(X, "shape") else [X[i] for i in index]


def check_finite(name: str, A):
    """Raise a ValueError if an array holds NaN or infinity; reads it in blocks of rows."""
    step = max(1, 2**20 // max(1, A[:1].size))
    for i in range(0, A.shape[0], step):
        block = A[i : i + step]
        # A sum is finite if all entries are (unless they overflow), and costs one pass.
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()
        if not np.isfinite(total) and not np.all(np.isfinite(block)):
            raise ValueError(f"{name} contains NaN or infinity; all values must be finite.")
