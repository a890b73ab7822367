"""Checks of Gram matrices: shape, real and finite entries, symmetry, positive semi-definiteness."""

from __future__ import annotations

import contextlib

import numpy as np

from alignlearn._jit import jit
from alignlearn._lapack import cholesky, smallest_eigenvalue

from .samples import as_array, check_finite, is_sparse, plain
from .targets import check_rows

# Largest accepted |K_ij - K_ji|, relative to the largest |K_ij|. Rounding of usual formulas for K
# is smaller, and the asymmetry of a wrong matrix larger. The same numbers, relative to the mean
# diagonal entry, limit negative eigenvalues of a positive semi-definite matrix.
TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
_BLOCK = 256
_COMPLEX = (
    " Accepted of a Hermitian matrix: its real part, alignlearn.dependence.real_gram(K), or with "
    "test=True of rows of new samples."
)


def tolerance(dtype) -> float:
    """The accepted rounding error in a matrix of this type; see `TOLERANCE`."""
    return TOLERANCE.get(np.dtype(dtype), 1e-8)


@jit
def _magnitude(value):
    """Bits of |value|, in the order of magnitudes, with inf and NaN above all finite values."""
    return np.float64(value).view(np.int64) & 0x7FFFFFFFFFFFFFFF


@jit
def _extremes(A, B):
    """Largest |A_ij| and largest |A_ij - B_ji|; not finite if an entry is not finite."""
    largest, skew = np.int64(0), np.int64(0)
    for i in range(A.shape[0]):
        row = A[i]
        for j in range(row.size):
            largest = max(largest, _magnitude(row[j]))
            skew = max(skew, _magnitude(row[j] - B[j, i]))
    return np.int64(largest).view(np.float64), np.int64(skew).view(np.float64)


def gram_like(name, K, what="a matrix"):
    """K if rows of real numbers can be read from it, also lazily, else an array of its values.

    The values of a data frame are read by position, without its labels.
    """
    if is_sparse(K):
        raise TypeError(f"{name} is a sparse matrix; accepted: {what}, dense: K.toarray().")
    K = plain(name, K)
    if not (hasattr(K, "shape") and hasattr(K, "dtype")):
        try:
            K = np.asarray(K)
        except ValueError as error:
            raise ValueError(f"{name} must be {what}: {error}.") from None
    if len(K.shape) != 2:
        raise ValueError(f"{name} must be {what}, got shape {K.shape}.")
    if np.dtype(K.dtype) == object:
        with contextlib.suppress(TypeError, ValueError):
            K = np.asarray(K).astype(np.float64)
    if np.dtype(K.dtype).kind not in "biuf":
        remedy = _COMPLEX if np.dtype(K.dtype).kind == "c" else ""
        raise ValueError(f"{name} must hold real numbers, got dtype {K.dtype}.{remedy}")
    return K


def _as_matrix(name, K, what):
    """K as a two-dimensional float64 or float32 array; other real numbers become float64."""
    K = np.asarray(gram_like(name, K, what))
    return K if K.dtype in TOLERANCE else K.astype(np.float64)


def indexable_grams(grams):
    """A list of matrices, or an array of them, made `gram_like`; a lazy sequence unchanged."""
    if isinstance(grams, (list, tuple)):
        return [gram_like(f"precomputed kernel {k}", K) for k, K in enumerate(grams)]
    return np.asarray(plain("grams", grams)) if hasattr(grams, "shape") else grams


def check_symmetric(name: str, K):
    """Check a square matrix-like for finite real numbers and symmetry, reading it in blocks."""
    dtype = getattr(K, "dtype", np.dtype(float))
    if dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {dtype}.")
    single = np.float32 if dtype == np.float32 else np.float64
    m, largest, skew = K.shape[0], 0.0, 0.0
    for i in range(0, m, _BLOCK):
        rows = np.asarray(K[i : i + _BLOCK])
        for j in range(0, i + 1, _BLOCK):
            below = np.ascontiguousarray(rows[:, j : j + _BLOCK], dtype=single)
            above = np.ascontiguousarray(K[j : j + _BLOCK][:, i : i + _BLOCK], dtype=single)
            found = _extremes(below, above)
            largest, skew = max(largest, found[0]), max(skew, found[1])
            if not np.isfinite(found[0] + found[1]):
                raise ValueError(f"{name} contains NaN or infinity; all values must be finite.")
    if skew > tolerance(dtype) * largest:
        raise ValueError(
            f"{name} is not symmetric: |K_ij - K_ji| reaches {skew:.3g}, accepted is "
            f"{tolerance(dtype):g} times the largest entry {largest:.3g}; a kernel against other "
            "points belongs in predict."
        )


def check_gram(name: str, K, n_samples=None, dtype=None) -> np.ndarray:
    """Return K as a C-contiguous float Gram matrix, or raise an error with the reason.

    Parameters
    ----------
    name : str
        What error messages call K.
    K : array-like of shape (m, m)
        float64 and float32 are kept, other real numbers become float64. Not modified, and not
        copied if C- or Fortran-contiguous.
    n_samples : int, optional
        The m that the target has.
    dtype : dtype, optional
        Dtype of the result. Default: that of K.

    Raises
    ------
    ValueError, TypeError
        K is not square, is empty, does not match ``n_samples``, has values that are not finite real
        numbers, or differs from its transpose by more than `TOLERANCE` times its largest entry.
    """
    K = _as_matrix(name, K, "a square Gram matrix (m, m)")
    if K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"{name} must be a square Gram matrix (m, m), got shape {K.shape}.")
    if n_samples is not None:
        check_rows(name, K.shape[0], n_samples)
    check_symmetric(name, K)
    K = K.T if K.flags.f_contiguous else np.ascontiguousarray(K)
    return K if dtype is None else K.astype(dtype, copy=False)


def check_test_gram(name: str, K, n_train: int) -> np.ndarray:
    """Return K as an (n_test, n_train) float array of finite numbers."""
    K = _as_matrix(name, K, f"a matrix (n, {n_train})")
    if K.shape[1] != n_train:
        raise ValueError(
            f"{name} must have shape (n, {n_train}), one column per training sample; got {K.shape}."
        )
    check_finite(name, K)
    return K


def real_part(name: str, K, *, test=False) -> np.ndarray:
    """The real part of a Hermitian Gram matrix, or with ``test`` of rows of new samples.

    Errors as of `check_gram` or `check_test_gram`; also where a complex K is not Hermitian.
    """
    K = as_array(name, K)
    if K.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got shape {K.shape}.")
    if test:
        return check_test_gram(name, K.real, K.shape[1])
    if np.iscomplexobj(K) and K.shape[0] == K.shape[1]:
        largest, skew = np.abs(K).max(initial=0.0), np.abs(K.imag + K.imag.T).max(initial=0.0)
        allowed = tolerance(K.real.dtype)
        if skew > allowed * largest:
            raise ValueError(
                f"{name} is not Hermitian: |Im K_ij + Im K_ji| reaches {skew:.3g}, accepted is "
                f"{allowed:g} times the largest entry {largest:.3g}; rows of new samples belong in "
                "predict, or in real_gram with test=True."
            )
    return check_gram(name, K.real)


def check_psd(name: str, K, dtype=None, *, overwrite=False):
    """Raise a ValueError if a symmetric matrix is not positive semi-definite to `TOLERANCE`.

    Parameters
    ----------
    name : str
        Name of K in the message.
    K : ndarray of shape (m, m)
    dtype : dtype, optional
        The original dtype of the values. Default: that of K.
    overwrite : bool, default False
        Work in K, a float64 array in C order, whose upper triangle becomes the mirror image of the
        lower one.
    """
    allowed = tolerance(K.dtype if dtype is None else dtype)
    diagonal = np.array(np.diagonal(K), dtype=np.float64)
    shift = allowed * float(np.mean(diagonal))
    if not np.any(K):
        return
    A = K if overwrite else np.array(K, dtype=np.float64, order="C")
    A.flat[:: len(A) + 1] += shift
    definite = shift > 0.0 and cholesky(A)
    if definite and not overwrite:
        return
    _mirror(A, diagonal)
    if definite:
        return
    least = smallest_eigenvalue(A)
    raise ValueError(
        f"{name} is not positive semi-definite: its smallest eigenvalue is about "
        f"{least:.3g}, accepted is at least -{allowed:g} times the mean diagonal "
        f"entry, {-max(shift, 0):.3g}. Accepted in place of the matrix K: Precomputed(K, "
        'fix="clip"), which drops the negative part (also "flip", "shift"), and '
        "Precomputed(K, is_psd=False), which leaves K unchanged."
    )


def _mirror(A, diagonal):
    """Make A symmetric again from its strict lower triangle and its diagonal."""
    for i in range(0, len(A), _BLOCK):
        j = min(i + _BLOCK, len(A))
        A[i:j, j:] = A[j:, i:j].T
        corner = np.tril(A[i:j, i:j], -1)
        A[i:j, i:j] = corner + corner.T
    A.flat[:: len(A) + 1] = diagonal
