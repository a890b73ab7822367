"""Dense factorizations and products of any size that Ctrl-C can interrupt.

Python handles a signal only between two of its instructions, but one LAPACK call on 8000 samples
takes seconds. This module therefore processes large matrices block by block, in the order of
LAPACK's own routines, with the same arithmetic and speed.

Routines without blocks (singular values, eigenvectors of tridiagonal matrices) run in a thread
while the main thread waits.

SciPy's wrappers with ``overwrite_a`` also work in place, but they hold the GIL, so that no other
thread runs meanwhile (`dsyevd` of SciPy 1.17), and they copy a part of a matrix.
SciPy's C pointers to the same routines do neither, and are called through ctypes. Matrices are
float64 in C order and symmetric: the upper triangle is the lower one of LAPACK, which uses Fortran
order.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache, partial
from itertools import chain

import numpy as np

from alignlearn._threads import in_phases

_BLOCK = 256
_DIVIDED = 1200  # rows from which threads share a factorization
_REDUCED = 512  # rows of a matrix that one call reduces to tridiagonal form
_PANEL = 32  # reflectors that are computed together, as in LAPACK
_GROUP = 64  # reflectors that are applied together
_COLUMNS = 256  # that are rotated together
_LEAST = 256  # rows and columns of a part of a product
_PARTS, _ALONE = 8, 4e7  # parts that threads share, and operations of a product without parts
_FLOPS = 2e9  # of a solve in one call: 0.1 s on one core
_PRODUCT = 1e10  # of a product in one call, which has twice the speed
_ENTRIES = 4e8  # that the matrix-vector products of a panel read: 0.1 s
_POLL = 0.1  # seconds; where a wait is not ended by a signal (Windows)
# Of numbers as arguments. A library of 32-bit integers reads the lower half.
_NUMBERS = {
    int: ctypes.c_int64,
    float: ctypes.c_double,
    np.float64: ctypes.c_double,
    np.float32: ctypes.c_float,
}


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
    """Call a routine with bytes, numbers, arrays and addresses; the GIL is released meanwhile."""
    pointers = []
    for value in args:
        if type(value) in _NUMBERS:
            value = ctypes.byref(_NUMBERS[type(value)](value))
        elif isinstance(value, np.ndarray):
            value = ctypes.c_void_p(value.ctypes.data)
        pointers.append(value)
    _routine(name)(*pointers)


def _wait(name, *args):
    """Run `_call` in a thread, so that Ctrl-C is handled.

    Pass arrays as arguments, so that the thread keeps them alive. It is not joined after Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        _call(name, *args)
        return
    errors = []

    def run():
        try:
            _call(name, *args)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL)
    if errors:
        raise errors[0]


class _Matrix:
    """A matrix in C order as LAPACK reads it, the transpose. ``A[i, j]`` is an address."""

    def __init__(self, A, single=False):
        types = (np.float64, np.float32) if single else (np.float64,)
        if A.dtype not in types or not A.flags.c_contiguous or not A.flags.writeable:
            raise ValueError(
                f"a writeable float64 array in C order is needed, got {A.dtype}, {A.strides=}."
            )
        self.array, self.start, self.ld, self._size = A, A.ctypes.data, A.shape[-1], A.itemsize
        self.letter, self.one = "s" if A.dtype == np.float32 else "d", A.dtype.type(1.0)

    def __getitem__(self, place):
        row, column = place
        return ctypes.c_void_p(self.start + self._size * (row + column * self.ld))


def _vector(x, i=0):
    return ctypes.c_void_p(x.ctypes.data + x.itemsize * i)


def cholesky(A):
    """Overwrite the upper triangle of A (m, m) by R, ``R'R = A``; False if A is not definite.

    The rest of A, float64 or float32, is not changed. Large matrices are factored on all threads.
    """
    if not len(A):
        return True
    L, failed = _Matrix(A, single=True), np.zeros(1, dtype=np.bool_)
    starts = range(0, len(A), _BLOCK)
    phases = [[partial(_update_blocks, L, -_BLOCK, 0, failed)]]
    for i in starts:
        # The longest columns come first, and with them the next block on the diagonal.
        phases.append([partial(_solve_block, L, i, j, failed) for j in starts if j > i])
        phases.append([partial(_update_blocks, L, i, j, failed) for j in starts if j > i])
    if len(A) < _DIVIDED:
        for call in chain.from_iterable(phases):
            call()
    else:
        in_phases(phases)
    return not failed[0] and bool(np.isfinite(A.diagonal()).all())


def _solve_block(L, i, j, failed):
    """Rows j to j + 256 of the factor, in the columns of block i."""
    if not failed[0]:
        w, ld = min(_BLOCK, L.ld - j), L.ld
        _call(L.letter + "trsm", b"R", b"L", b"T", b"N", w, _BLOCK, L.one, L[i, i], ld, L[j, i], ld)


def _update_blocks(L, i, j, failed):
    """Subtract the products of the columns of block i, if any, from those of block j.

    The block on the diagonal is factored if it is the next one; ``failed`` becomes true if it is
    not definite.
    """
    if failed[0]:
        return
    w, k, ld, info = min(_BLOCK, L.ld - j), j + _BLOCK, L.ld, ctypes.c_int64()
    if j:
        _call(L.letter + "syrk", b"L", b"N", w, _BLOCK, -L.one, L[j, i], ld, L.one, L[j, j], ld)
    if j == i + _BLOCK:
        _call(L.letter + "potrf", b"L", w, L[j, j], ld, ctypes.byref(info))
        failed[0] = bool(info.value)
    if j and k < ld:
        inside = L[k, i], ld, L[j, i], ld, L.one, L[k, j], ld
        _call(L.letter + "gemm", b"N", b"T", ld - k, w, _BLOCK, -L.one, *inside)


def cholesky_solve(R, B):
    """``(R'R)^-1 B`` for the factor of `cholesky`, in its dtype, and B of shape (m,) or (m, c)."""
    X, L, m = np.array(B, dtype=R.dtype, order="F"), _Matrix(R, single=True), len(R)
    columns = X.reshape(m, -1, order="F").T
    for some in _parts(columns, max(1, int(_FLOPS / m**2))):
        for trans in (b"N", b"T"):
            _solve_columns(L, b"L", trans, some)
    return X


def subtract_sums(A, v):
    """Subtract ``v_i + v_j`` from the entries of A (m, m), float64 or float32, in place."""
    L, m = _Matrix(A, single=True), len(A)
    left = np.stack([v, np.ones(m)]).astype(A.dtype, copy=False)
    right = left[::-1].copy()

    def subtract(i, width):
        inside = left, m, right[0, i:], m, L.one, L[0, i], m
        _call(L.letter + "gemm", b"N", b"T", m, width, 2, -L.one, *inside)

    if m < _DIVIDED:
        subtract(0, m)
    else:
        blocks = [(i, min(_BLOCK, m - i)) for i in range(0, m, _BLOCK)]
        in_phases([[partial(subtract, *block) for block in blocks]])


def lower_solve(L, B, transposed=False):
    """``L^-1 B``, or ``L'^-1 B``, for a lower triangular L and B of shape (m,) or (m, c).

    The columns of large B are divided among threads.
    """
    m, dtype = len(L), np.result_type(L, B, np.float32)
    X = np.array(B, dtype=dtype, order="F")
    columns = X.reshape(m, -1, order="F").T
    if not L.diagonal().all():
        raise np.linalg.LinAlgError("a triangular matrix with a zero on its diagonal is singular.")
    if not X.size:
        return X
    # LAPACK reads L', which is upper triangular.
    U = _Matrix(np.require(L, dtype, "CW"), single=True)
    trans, step = b"N" if transposed else b"T", max(_LEAST, -(-len(columns) // _PARTS))
    step = max(1, min(step, int(_FLOPS / m**2)))
    in_phases([[partial(_solve_columns, U, b"U", trans, some) for some in _parts(columns, step)]])
    return X


def _parts(rows, step):
    return [rows[i : i + step] for i in range(0, len(rows), step)]


def _solve_columns(T, side, trans, columns):
    """Solve with a triangle of T, which LAPACK reads, for columns (c, m), in place."""
    m, size = len(T.array), columns.shape[1]
    if len(columns) == 1:
        _call(T.letter + "trsv", side, trans, b"N", m, T[0, 0], T.ld, _vector(columns), 1)
    else:
        inside = len(columns), T.one, T[0, 0], T.ld, _vector(columns), size
        _call(T.letter + "trsm", b"L", side, trans, b"N", m, *inside)


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
    return np.concatenate([_row_squares(R[i : i + _GROUP, i:]) for i in range(0, m, _GROUP)])


def _row_squares(A):
    """Sums of squares of the rows of an upper triangle, whose first rows are in A."""
    upper, rest = np.triu(A[:, : len(A)]), A[:, len(A) :]
    return np.einsum("ij,ij->i", upper, upper) + np.einsum("ij,ij->i", rest, rest)


def tridiagonalize(A):
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
        # The first entry of a reflector is now 1.
        for t in range(i, j):
            A[t, t + 1], diagonal[t] = beside[t], A[t, t]
        i = j
    rest = _vector(diagonal, i), _vector(beside, i), _vector(tau, i), _vector(work), work.size
    _call("dsytrd", b"L", m - i, L[i, i], ld, *rest, ctypes.byref(info))
    return diagonal, beside[:-1], tau[:-1]


def group_reflectors(A, tau):
    """Factors of the reflectors of `tridiagonalize` by groups, for `rotate`: (n, 64, 64)."""
    L, m = _Matrix(A), len(A)
    factors = np.zeros((-(-(m - 1) // _GROUP), _GROUP, _GROUP))
    for T, i in zip(factors, range(0, m - 1, _GROUP)):
        n = m - 1 - i
        V = L[i + 1, i], L.ld
        _call("dlarft", b"F", b"C", n, min(_GROUP, n), *V, _vector(tau, i), _vector(T), _GROUP)
    return factors


def rotate(A, factors, X, transpose=False):
    """Overwrite X (m, c), in C order, by QX or Q'X for the Q of `tridiagonalize`."""
    L, C, c = _Matrix(A), _Matrix(X), X.shape[1]
    step = -(-c // max(1, min(_PARTS, round(c / _COLUMNS))))
    groups = list(zip(range(0, len(A) - 1, _GROUP), factors))
    groups = groups if transpose else groups[::-1]
    parts = [(j, min(step, c - j)) for j in range(0, c, step)]
    in_phases([[partial(_rotate_columns, L, groups, C, *part, transpose) for part in parts]])


def _rotate_columns(L, groups, C, j, c, transpose):
    """`rotate` of the columns from j to j + c."""
    # LAPACK reads X', where Q'X is X'Q.
    side, work = b"N" if transpose else b"T", np.empty((_GROUP, c))
    for i, T in groups:
        n = L.ld - 1 - i
        V = L[i + 1, i], L.ld
        inside = min(_GROUP, n), *V, _vector(T), _GROUP, C[j, i + 1], C.ld, _vector(work), c
        _call("dlarfb", b"R", side, b"F", b"C", c, n, *inside)


def rotate_columns(A, factors, X):
    """`rotate` of X (m, c) in Fortran order."""
    for j in range(0, X.shape[1], _COLUMNS):
        some = np.ascontiguousarray(X[:, j : j + _COLUMNS])
        rotate(A, factors, some)
        X[:, j : j + _COLUMNS] = some


def eigh(A, first=0, last=None):
    """Eigenvalues first to last, counted from 0 and ascending, and vectors of a symmetric matrix.

    Parameters
    ----------
    A : ndarray of shape (m, m)
        Overwritten.
    first, last : int
        ``last`` is m - 1 by default.

    Returns
    -------
    values : ndarray of shape (n,)
    vectors : ndarray of shape (m, n)
        In Fortran order.
    """
    last = len(A) - 1 if last is None else last
    exponent = _to_unit(A)
    diagonal, beside, tau = tridiagonalize(A)
    values, vectors = tridiagonal_vectors(diagonal, beside, first, last)
    rotate_columns(A, group_reflectors(A, tau), vectors)
    return np.ldexp(values, exponent), vectors


def whole_eigh(A):
    """`eigh` by divide and conquer in a thread: faster up to thousands of rows, with more memory.

    Parameters
    ----------
    A : ndarray of shape (m, m)
        Overwritten by the vectors; two more matrices are held meanwhile.
    """
    m, info = len(A), np.zeros(1, dtype=np.int64)
    values, work, places = np.empty(m), np.empty(1 + 6 * m + 2 * m * m), 3 + 5 * m
    sizes = work, work.size, np.empty(places, dtype=np.int64), places
    _wait("dsyevd", b"V", b"L", m, A, A.shape[-1], values, *sizes, info)
    if info[0]:
        raise np.linalg.LinAlgError("the eigenvalues of a symmetric matrix did not converge.")
    return values, A.T


def _to_unit(A):
    """Divide A by a power of two, whose exponent is returned, to entries up to 1."""
    exponent = int(np.frexp(max(float(np.abs(row).max()) for row in A))[1])
    np.ldexp(A, -exponent, out=A)
    return exponent


def tridiagonal_values(diagonal, beside):
    """All eigenvalues of a tridiagonal matrix, ascending."""
    values, below, info = diagonal.copy(), beside.copy(), np.zeros(1, dtype=np.int64)
    _wait("dsterf", len(values), values, below, info)
    if info[0]:
        raise np.linalg.LinAlgError("the eigenvalues of a tridiagonal matrix did not converge.")
    return values


def tridiagonal_vectors(diagonal, beside, first, last):
    """Eigenvalues first to last and vectors (m, n), in Fortran order, of a tridiagonal matrix."""
    first, last, m = int(first), int(last), len(diagonal)
    n = last - first + 1
    if m == 1 or n == 0:
        return diagonal[first : last + 1].copy(), np.ones((m, n), order="F")
    # Relatively robust representations: orthogonal up to rounding, and only the requested vectors.
    d, e, info = diagonal.copy(), np.append(beside, 0.0), np.zeros(1, dtype=np.int64)
    values, Z, found = np.zeros(m), np.empty((n, m)), np.zeros(1, dtype=np.int64)
    support, work = np.zeros(2 * m, dtype=np.int64), np.empty(18 * m)
    some, room = (b"V", b"I", m, d, e, 0.0, 0.0, first + 1, last + 1), (found, values, Z, m, n)
    scratch = work, work.size, np.zeros(10 * m, dtype=np.int64), 10 * m
    _wait("dstemr", *some, *room, support, 1, *scratch, info)
    if not info[0] and found[0] & 0x7FFFFFFF == n:
        return values[:n], Z.T
    # They may fail if many eigenvalues are of the size of rounding errors; divide and conquer does
    # not.
    values, e, Z, info = diagonal.copy(), beside.copy(), np.empty((m, m)), info * 0
    size = 1 + 4 * m + m * m, 3 + 5 * m
    scratch = np.empty(size[0]), size[0], np.zeros(size[1], dtype=np.int64), size[1]
    _wait("dstedc", b"I", m, values, e, Z, m, *scratch, info)
    if info[0]:
        raise np.linalg.LinAlgError("the eigenvectors of a tridiagonal matrix did not converge.")
    return values[first : last + 1], Z[first : last + 1].T


def smallest_eigenvalue(A):
    """Smallest eigenvalue of a symmetric matrix, which is overwritten."""
    return smallest_of_tridiagonal(*tridiagonalize(A)[:2])


def smallest_of_tridiagonal(diagonal, beside):
    """Smallest eigenvalue of a tridiagonal matrix."""
    from scipy.linalg import eigvalsh_tridiagonal

    if not beside.size:
        return float(diagonal[0])
    # Bisection squares the off-diagonal entries.
    unit = max(np.abs(diagonal).max(), np.abs(beside).max(), 1e-300)
    found = eigvalsh_tridiagonal(diagonal / unit, beside / unit, select="i", select_range=(0, 0))
    return float(found[0] * unit)


def svd(A, n_vectors):
    """Singular values, descending, and the first vectors of both sides of a matrix.

    Parameters
    ----------
    A : ndarray of shape (r, c)
        Overwritten, or copied if c < r.
    n_vectors : int
        q, at most min(r, c).

    Returns
    -------
    U : ndarray of shape (r, q)
    values : ndarray of shape (min(r, c),)
    V : ndarray of shape (c, q)
    """
    if A.shape[0] > A.shape[1]:
        V, values, U = svd(np.ascontiguousarray(A.T), n_vectors)
        return U, values, V
    # LAPACK reads A' (m, n), whose left vectors are the right ones of A.
    (n, m), exponent, info = A.shape, _to_unit(A), np.zeros(1, dtype=np.int64)
    values, U, unused = np.empty(n), np.empty((n, n)), np.empty(1)
    work, places = np.empty(3 * n + max(m, 5 * n * n + 4 * n)), np.empty(8 * n, dtype=np.int64)
    out = values, unused, m, U, n
    _wait("dgesdd", b"O", m, n, A, m, *out, work, work.size, places, info)
    if info[0]:
        raise np.linalg.LinAlgError("the singular values of a matrix did not converge.")
    return U[:, :n_vectors], np.ldexp(values, exponent), A[:n_vectors].T


def product(A, B, out=None):
    """``A B`` of matrices, in parts on all threads if they are large.

    Parameters
    ----------
    A, B : ndarray of shape (r, k) and (k, c)
    out : ndarray of shape (r, c), optional
    """
    (r, k), c = A.shape, B.shape[1]
    if 2.0 * r * k * c <= _ALONE:
        return np.matmul(A, B, out=out)
    out = np.empty((r, c), dtype=np.result_type(A, B)) if out is None else out
    # The parts do not depend on the number of threads, because their rounding may differ.
    step = max(_LEAST, -(-max(r, c) // _PARTS))
    if r >= c:
        parts = [(A[i : i + step], B, out[i : i + step]) for i in range(0, r, step)]
    else:
        parts = [(A, B[:, j : j + step], out[:, j : j + step]) for j in range(0, c, step)]
    in_phases([[partial(_put_product, *part) for part in parts]])
    return out


def _put_product(A, B, out):
    """Put ``A B`` into ``out``, by calls of limited length."""
    (r, k), c = A.shape, B.shape[1]
    if 2.0 * r * k * c <= _PRODUCT:
        np.matmul(A, B, out=out)
        return
    # Square blocks of the result, as large as possible, are fastest.
    rows = min(r, max(_LEAST, int(np.sqrt(0.5 * _PRODUCT / k))))
    columns = min(c, max(_LEAST, int(0.5 * _PRODUCT / (k * rows))))
    rows = max(rows, int(0.5 * _PRODUCT / (k * columns)))
    inner = max(_LEAST, int(0.5 * _PRODUCT / (rows * columns)))
    for i in range(0, r, rows):
        for j in range(0, c, columns):
            part = out[i : i + rows, j : j + columns]
            part[:] = A[i : i + rows, :inner] @ B[:inner, j : j + columns]
            for t in range(inner, k, inner):
                part += A[i : i + rows, t : t + inner] @ B[t : t + inner, j : j + columns]


def self_product(A):
    """``A A'``, exactly symmetric, in parts if it is large."""
    r, k = A.shape
    if 2.0 * r * r * k <= _PRODUCT:
        return A @ A.T
    out, step = np.empty((r, r), dtype=A.dtype), 4 * _LEAST
    for i in range(0, r, step):
        j = min(i + step, r)
        product(A[i:j], A[:j].T, out=out[i:j, :j])
        below = np.tril(out[i:j, i:j], -1)
        out[i:j, i:j] = below + below.T + np.diag(out[i:j, i:j].diagonal())
        out[:i, i:j] = out[i:j, :i].T
    return out
