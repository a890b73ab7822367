"""Checks shared by the public functions, and the library's warnings."""

from __future__ import annotations

import numpy as np


class ConvergenceWarning(UserWarning):
    """An iterative solver stopped before it reached its tolerance; the message says where."""


class DegenerateKernelWarning(UserWarning):
    """A kernel or the target has zero variance on the sample; its alignment is set to 0."""


def check_choice(name: str, value, accepted):
    """Return ``value`` if it is one of ``accepted``, else raise a ValueError that lists them."""
    if not isinstance(value, str) or value not in accepted:
        options = ", ".join(repr(a) for a in accepted)
        raise ValueError(f"{name}={value!r} is not known; accepted: {options}.")
    return value


def check_number(name: str, value, *, low=None, high=None, strict=False, finite=True) -> float:
    """Return ``value`` as a float within the stated range, else raise an error that states it."""
    real = (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, real):
        raise TypeError(f"{name} must be a real number, got {value!r}.")
    value = float(value)
    bad = np.isnan(value) or (finite and np.isinf(value))
    if low is not None:
        bad = bad or (value <= low if strict else value < low)
    if high is not None:
        bad = bad or (value >= high if strict else value > high)
    if bad:
        lo = "" if low is None else f"{low:g} {'<' if strict else '<='} "
        hi = "" if high is None else f" {'<' if strict else '<='} {high:g}"
        kind = "finite " if finite else ""
        raise ValueError(f"{name}={value!r} is out of range; accepted: {kind}{lo}{name}{hi}.")
    return value


def check_samples(name: str, X, vectors: bool = True):
    """Samples as a finite float32 or float64 matrix, or, without ``vectors``, any sequence.

    Integers become float64; float32, float64 and memmaps are passed through without a copy.
    """
    if hasattr(X, "tocsr"):
        raise TypeError(
            f"{name} is a sparse matrix; sparse input is accepted for RankOneKernels and Linear "
            f"kernels only. Use {name}.toarray()."
        )
    if not vectors:
        X = np.asarray(X) if hasattr(X, "__array__") else X
        if not hasattr(X, "__len__") or getattr(X, "shape", None) == () or len(X) == 0:
            raise ValueError(f"{name} must be a non-empty sequence of samples, got {X!r:.80}.")
        return X
    try:
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} must be a matrix (n_samples, n_features): {error}.") from None
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind in "biu" or X.dtype == object or X.dtype == np.float16:
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold real numbers: {error}.") from None
    if X.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix (n_samples, n_features), got shape {X.shape}. Use "
            f"{name}.reshape(-1, 1) for one feature."
        )
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"{name} has shape {X.shape}: at least one sample and one feature are needed."
        )
    check_finite(name, X)
    return X


# A Gram matrix counts as symmetric if |K - K'| is at most this times its largest entry.
SYMMETRY_TOLERANCE = 1e-8


def check_gram(name: str, K) -> np.ndarray:
    """A finite, symmetric float64 matrix; symmetric to 1e-8 of its largest entry."""
    try:
        K = np.asarray(K)
    except ValueError as error:
        raise ValueError(f"{name} must be a square Gram matrix: {error}.") from None
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"{name} must be a square Gram matrix, got shape {K.shape}.")
    check_symmetric(name, K)
    return K.astype(np.float64, copy=False)


def check_symmetric(name: str, K):
    """Check a square matrix-like for real numbers, finiteness and symmetry, block by block."""
    if getattr(K, "dtype", np.dtype(float)).kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {K.dtype}.")
    m, step = K.shape[0], 512
    largest = worst = 0.0
    for i in range(0, m, step):
        rows = np.asarray(K[i : i + step], dtype=np.float64)
        check_finite(name, rows)
        largest = max(largest, float(np.max(np.abs(rows))))
        for j in range(0, i + 1, step):
            mirrored = np.asarray(K[j : j + step][:, i : i + step], dtype=np.float64)
            worst = max(worst, float(np.max(np.abs(rows[:, j : j + step] - mirrored.T))))
    if worst > SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"{name} is not symmetric: |K - K'| reaches {worst:.3g}, accepted is "
            f"{SYMMETRY_TOLERANCE:g} times the largest entry {largest:.3g}."
        )


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
