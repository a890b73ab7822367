"""Dense factorisations in place, of any size, during which Ctrl-C is heard.

Python hears of a signal between two of its instructions, while one LAPACK call on 8000 samples
lasts for seconds. Large matrices are therefore taken block by block from here, in the order in
which LAPACK's own routines do it inside: the arithmetic and its speed are the same.

SciPy's wrappers copy the part of a matrix that they are given; its C pointers to the same routines
work in place, and ctypes calls them. Matrices are float64 in C order, and symmetric: the upper
triangle is what LAPACK, which counts down columns, calls the lower one.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

_BLOCK = 256
_REDUCED = 512  # rows of what one call reduces to tridiagonal form
_PANEL = 32  # reflectors that are found together, as in LAPACK
_GROUP = 64  # reflectors that are applied together
_FLOPS = 2e9  # of a solve in one call: 0.1 s on one core
_ENTRIES = 4e8  # that the matrix-vector products of a panel read: 0.1 s


@cache
def _routine(name):
    """The BLAS or LAPACK routine; all its arguments are pointers."""
    from scipy.linalg import cython_blas, cython_lapack

    blas, lapack = cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__
    capsule = blas[name] if name in blas else lapack[name]
    api, any_object = ctypes.pythonapi, ctypes.py_object
    label = ctypes.PYFUNCTYPE(ctypes.c_char_p, any_object)(("PyCapsule_GetName", api))
    address = ctypes.PYFUNCTYPE(ctypes.c_void_p, any_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    return ctypes.CFUNCTYPE(None)(address(capsule, label(capsule)))


def _call(name, *args):
    """Call a routine with bytes, int, float, and addresses; the GIL is released meanwhile."""
    _routine(name)(*map(_pointer, args))


def _pointer(value):
    if isinstance(value, int):
        # A library of 32-bit integers reads the lower half.
        return ctypes.byref(ctypes.c_int64(value))
    if isinstance(value, float):
        return ctypes.byref(ctypes.c_double(value))
    return value


class _Matrix:
    """A matrix in C order as LAPACK sees it: its transpose. ``A[i, j]`` is an address."""

    def __init__(self, A):
        if A.dtype != np.float64 or not A.flags.c_contiguous or not A.flags.writeable:
            raise ValueError(
                f"a writeable float64 array in C order is needed, got {A.dtype}, {A.strides=}."
            )
        self.array, self.start, self.ld = A, A.ctypes.data, A.shape[-1]

    def __getitem__(self, place):
        row, column = place
        return ctypes.c_void_p(self.start + 8 * (row + column * self.ld))


def _vector(x, i=0):
    return ctypes.c_void_p(x.ctypes.data + 8 * i)


def cholesky(A):
    """Overwrite the upper triangle of A (m, m) by R, ``R'R = A``; False if A is not definite.

    The rest of A is left as it is.
    """
    L, m, info = _Matrix(A), len(A), ctypes.c_int64()
    for i in range(0, m, _BLOCK):
        n, ld = min(_BLOCK, m - i), L.ld
        _call("dpotrf", b"L", n, L[i, i], ld, ctypes.byref(info))
        if info.value:
            return False
        j = i + n
        if j < m:
            _call("dtrsm", b"R", b"L", b"T", b"N", m - j, n, 1.0, L[i, i], ld, L[j, i], ld)
        while j < m:
            w = min(_BLOCK, m - j)
            _call("dsyrk", b"L", b"N", w, n, -1.0, L[j, i], ld, 1.0, L[j, j], ld)
            left, j = L[j, i], j + w
            if j < m:
                inside = L[j, i], ld, left, ld, 1.0, L[j, j - w], ld
                _call("dgemm", b"N", b"T", m - j, w, n, -1.0, *inside)
    return bool(np.isfinite(A.diagonal()).all())


def cholesky_solve(R, B):
    """``(R'R)^-1 B`` for the factor of `cholesky` and B of shape (m,) or (m, c)."""
    X, L, m = np.array(B, dtype=np.float64, order="F"), _Matrix(R), len(R)
    columns = X.reshape(m, -1, order="F").T
    step = max(1, int(_FLOPS / m**2))
    for j in range(0, len(columns), step):
        some = columns[j : j + step]
        for trans in (b"N", b"T"):
            if len(some) == 1:
                _call("dtrsv", b"L", trans, b"N", m, L[0, 0], L.ld, _vector(some), 1)
            else:
                inside = len(some), 1.0, L[0, 0], L.ld, _vector(some), m
                _call("dtrsm", b"L", b"L", trans, b"N", m, *inside)
    return X


def inverse_diagonal(R):
    """Diagonal of ``(R'R)^-1`` for the factor of `cholesky`, which is overwritten."""
    L, m, info = _Matrix(R), len(R), ctypes.c_int64()
    for i in reversed(range(0, m, _BLOCK)):
        n, ld = min(_BLOCK, m - i), L.ld
        j = i + n
        if j < m:
            size = m - j, n
            _call("dtrmm", b"L", b"L", b"N", b"N", *size, 1.0, L[j, j], ld, L[j, i], ld)
            _call("dtrsm", b"R", b"L", b"N", b"N", *size, -1.0, L[i, i], ld, L[j, i], ld)
        _call("dtrtri", b"L", b"N", n, L[i, i], ld, ctypes.byref(info))
    return np.array([row[i:] @ row[i:] for i, row in enumerate(R)])


def tridiagonalise(A):
    """Overwrite the upper triangle of A (m, m) by reflectors whose product Q makes it tridiagonal.

    Returns
    -------
    diagonal, beside : ndarray of shape (m,) and (m - 1,)
        Of ``Q'AQ``.
    tau : ndarray of shape (m - 1,)
        For `group_reflectors`.
    """
    L, m, info = _Matrix(A), len(A), ctypes.c_int64()
    diagonal, beside, tau = np.empty(m), np.empty(m), np.empty(m)
    work = np.empty((_PANEL, m))
    i, ld = 0, L.ld
    while m - i > _REDUCED:
        n = m - i
        k = max(4, min(_PANEL, int(_ENTRIES / n**2)))
        out = _vector(beside, i), _vector(tau, i), _vector(work), m
        _call("dlatrd", b"L", n, k, L[i, i], ld, *out)
        j = i + k
        inside = n - k, k, -1.0, L[j, i], ld, _vector(work, k), m, 1.0, L[j, j], ld
        _call("dsyr2k", b"L", b"N", *inside)
        # Where a reflector begins there is a 1 now.
        for t in range(i, j):
            A[t, t + 1], diagonal[t] = beside[t], A[t, t]
        i = j
    rest = _vector(diagonal, i), _vector(beside, i), _vector(tau, i), _vector(work), work.size
    _call("dsytrd", b"L", m - i, L[i, i], ld, *rest, ctypes.byref(info))
    return diagonal, beside[:-1], tau[:-1]


def group_reflectors(A, tau):
    """Factors of the reflectors of `tridiagonalise` by groups, for `rotate`: (n, 64, 64)."""
    L, m = _Matrix(A), len(A)
    factors = np.zeros((-(-(m - 1) // _GROUP), _GROUP, _GROUP))
    for T, i in zip(factors, range(0, m - 1, _GROUP)):
        n = m - 1 - i
        V = L[i + 1, i], L.ld
        _call("dlarft", b"F", b"C", n, min(_GROUP, n), *V, _vector(tau, i), _vector(T), _GROUP)
    return factors


def rotate(A, factors, X, transpose=False):
    """Overwrite X (m, c), in C order, by QX or Q'X for the Q of `tridiagonalise`."""
    L, C, m, c = _Matrix(A), _Matrix(X), len(A), X.shape[1]
    # LAPACK sees X', and Q'X is X'Q there.
    side, work = b"N" if transpose else b"T", np.empty((_GROUP, c))
    groups = list(zip(range(0, m - 1, _GROUP), factors))
    for i, T in groups if transpose else reversed(groups):
        n = m - 1 - i
        V = L[i + 1, i], L.ld
        inside = min(_GROUP, n), *V, _vector(T), _GROUP, C[0, i + 1], C.ld, _vector(work), c
        _call("dlarfb", b"R", side, b"F", b"C", c, n, *inside)


def smallest_eigenvalue(A):
    """Smallest eigenvalue of a symmetric matrix, which is overwritten."""
    return smallest_of_tridiagonal(*tridiagonalise(A)[:2])


def smallest_of_tridiagonal(diagonal, beside):
    """Smallest eigenvalue of a tridiagonal matrix."""
    from scipy.linalg import eigvalsh_tridiagonal

    if not beside.size:
        return float(diagonal[0])
    # Bisection squares what is beside the diagonal.
    unit = max(np.abs(diagonal).max(), np.abs(beside).max(), 1e-300)
    found = eigvalsh_tridiagonal(diagonal / unit, beside / unit, select="i", select_range=(0, 0))
    return float(found[0] * unit)
