"""Factorizations block by block equal one LAPACK call, wherever the blocks end."""

import itertools
import threading

import numpy as np
import pytest
from cases import each
from refusals import raises

from alignlearn import _lapack, _threads
from alignlearn.solvers.dense import ShiftedFactors, ShiftedInverse, rounds_well, shifted

RNG = np.random.default_rng(0)


@pytest.fixture(params=[False, True], ids=["as it is", "small blocks"])
def blocks(request, monkeypatch):
    """Blocks small enough that matrices of tests have many, and a last one that is not full."""
    if request.param:
        for name, size in {"BLOCK": 8, "REDUCED": 12, "PANEL": 4, "GROUP": 7}.items():
            monkeypatch.setattr(_lapack, f"_{name}", size)
        monkeypatch.setattr(_lapack, "_FLOPS", 1.0)
        monkeypatch.setattr(_lapack, "_DIVIDED", 1)


def definite(m):
    X = RNG.standard_normal((m, m + 2))
    return X @ X.T / m + 0.1 * np.eye(m)


SIZES = [1, 2, 3, 8, 9, 61, 300]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", SIZES)
def test_cholesky_factor_solves_and_inverts(blocks, m, dtype):
    A = definite(m).astype(dtype)
    R, tol = A.copy(), {np.float32: 1e-4, np.float64: 1e-10}[dtype]
    assert _lapack.cholesky(R)
    np.testing.assert_array_equal(np.tril(R, -1), np.tril(A, -1))
    np.testing.assert_allclose(np.triu(R), np.linalg.cholesky(A.astype(float)).T, atol=tol / 100)
    inverse = np.linalg.inv(A.astype(float))
    for B in (RNG.standard_normal(m), RNG.standard_normal((m, 5)), np.asfortranarray(A)):
        before, exact = B.copy(), inverse @ B
        found = _lapack.cholesky_solve(R, B)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, exact, atol=tol * np.abs(exact).max())
        np.testing.assert_array_equal(B, before)
    if dtype is np.float64:
        np.testing.assert_allclose(_lapack.inverse_diagonal(R), inverse.diagonal(), rtol=1e-10)
    assert not _lapack.cholesky(-A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", SIZES)
def test_sums_of_two_values_are_subtracted_symmetrically(blocks, m, dtype):
    rng = np.random.default_rng(m)
    A, v = rng.normal(size=(m, m)).astype(dtype), rng.normal(size=m)
    A += A.T.copy()
    expected, few = A - np.add.outer(v, v), 4 * np.finfo(dtype).eps
    _lapack.subtract_sums(A, v)
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(A, expected, rtol=few, atol=8 * few)


@pytest.mark.parametrize("place", [0, 5, 40, 60])
def test_a_matrix_that_is_not_definite_has_no_factor(blocks, place):
    A = definite(61)
    A[place, place] = -1e-3
    assert not _lapack.cholesky(A)
    A[place, place] = np.nan
    assert not _lapack.cholesky(A)


@pytest.mark.parametrize("m", SIZES)
def test_shifted_inverses_are_those_of_numpy(blocks, m):
    A, B, alphas = definite(m) - 0.2 * np.eye(m), RNG.standard_normal((m, 2)), [1.0, 30.0]
    values = np.linalg.eigvalsh(A)
    inverse = ShiftedInverse(A.copy())
    assert inverse.smallest_eigenvalue() == pytest.approx(values[0], abs=1e-12 * values[-1])
    solved = inverse.solve(B, alphas)
    forms = inverse.quadratic(lambda i, j: B[:, i:j].copy(), 2, alphas)
    diagonal = inverse.quadratic(lambda i, j: np.eye(m, j - i, -i), m, alphas)
    for k, alpha in enumerate(alphas):
        exact = np.linalg.inv(A + alpha * np.eye(m))
        np.testing.assert_allclose(solved[:, k], exact @ B, atol=1e-10)
        np.testing.assert_allclose(forms[k], np.diagonal(B.T @ exact @ B), rtol=1e-9)
        np.testing.assert_allclose(diagonal[k], np.diagonal(exact), rtol=1e-9)


@pytest.mark.parametrize("n_alphas", [2, 4, 5])
def test_few_and_many_shifts_give_the_solutions_of_numpy(n_alphas):
    A, B = definite(1010) - 0.5 * np.eye(1010), RNG.standard_normal((1010, 2))
    alphas = np.concatenate([[-100.0], np.geomspace(0.6, 60.0, n_alphas - 1)])
    solved = shifted(A.copy(), n_alphas).solve(B, alphas)
    assert np.isinf(solved[:, 0]).all()  # not definite
    for k, alpha in enumerate(alphas[1:], 1):
        np.testing.assert_allclose(
            solved[:, k], np.linalg.solve(A + alpha * np.eye(1010), B), rtol=1e-7, atol=1e-10
        )
    singular = shifted(np.eye(1010), 2).solve(B, [-1.0 + 1e-13, 1.0], rounding=1e-12)
    assert np.isinf(singular[:, 0]).all()
    np.testing.assert_allclose(singular[:, 1], B / 2.0)


def test_small_shifts_of_a_matrix_in_float32_are_solved_in_float64():
    """A shift below its rounding error, and one that makes a matrix definite only in float64."""
    A, B = 2.0 * definite(400).astype(np.float32), RNG.standard_normal((400, 2))
    A[0, :], A[:, 0], A[0, 0] = 0.0, 0.0, -1e-5
    alphas = [1.0, 1.1e-5, 2.0, 1e-6]
    assert [rounds_well(alpha, A.trace(dtype=float)) for alpha in alphas] == [True, False] * 2
    solved = ShiftedFactors(A.copy()).solve(B, alphas)
    assert np.isinf(solved[:, 3]).all()
    for k, (alpha, tol) in enumerate(zip(alphas[:3], (1e-5, 1e-9, 1e-5))):
        exact = np.linalg.solve(A.astype(float) + alpha * np.eye(400), B)
        np.testing.assert_allclose(solved[:, k], exact, rtol=tol, atol=tol)


def test_what_is_not_definite_is_infinite():
    inverse = ShiftedInverse(np.diag([-1.0, 2.0, 3.0]))
    solved = inverse.solve(np.ones((3, 1)), [0.5, 2.0])[:, :, 0]
    assert np.isinf(solved[:, 0]).all()
    np.testing.assert_allclose(solved[:, 1], [1.0, 0.25, 0.2])


def test_memory_that_lapack_would_misread_is_refused():
    A, match = definite(4), "float64 array in C order"
    raises(ValueError, match, _lapack.tridiagonalize, A.astype(np.float32))
    raises(ValueError, match, _lapack.cholesky, A.astype(np.float16))
    raises(ValueError, match, _lapack.cholesky, np.asfortranarray(A))


def symmetric(m, rank=None):
    X = RNG.standard_normal((m, m if rank is None else rank))
    return X + X.T if rank is None else X @ X.T


@pytest.mark.parametrize("m", SIZES)
def test_eigenvalues_and_vectors_are_those_of_numpy(blocks, m):
    """Definite or not, singular, in any unit; all of them or the last ones."""
    for rank, unit in itertools.product((None, 1), (1e-200, 1.0, 1e200)):
        A = unit * symmetric(m, rank)
        expected, size = np.linalg.eigvalsh(A / unit), np.linalg.norm(A / unit, 2)
        for first in (0, m - 1):
            values, V = _lapack.eigh(A.copy(), first)
            np.testing.assert_allclose(values / unit, expected[first:], atol=1e-12 * size)
            np.testing.assert_allclose(V.T @ V, np.eye(m - first), atol=1e-11)
            np.testing.assert_allclose(A / unit @ V, V * (values / unit), atol=1e-11 * size)


def test_vectors_of_a_matrix_that_robust_representations_fail_for(monkeypatch):
    """Another routine of LAPACK replaces them."""
    wait, called = _lapack._wait, []

    def failing(name, *args):
        called.append(name)
        wait(name, *args)
        if name == "dstemr":
            args[-1][0] = 1  # its reported status

    monkeypatch.setattr(_lapack, "_wait", failing)
    A = symmetric(61)
    values, V = _lapack.eigh(A.copy(), 5, 30)
    assert called == ["dstemr", "dstedc"]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[5:31], atol=1e-12)
    np.testing.assert_allclose(A @ V, V * values, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (8, 9), (30, 61), (61, 30), (64, 64)])
def test_singular_values_and_vectors_are_those_of_numpy(blocks, shape):
    A, q = RNG.standard_normal(shape), min(shape)
    for unit, n_vectors in itertools.product((1e-200, 1.0, 1e200), (1, q)):
        U, values, V = _lapack.svd(unit * A, n_vectors)
        np.testing.assert_allclose(values / unit, np.linalg.svd(A)[1], atol=1e-12)
        np.testing.assert_allclose(A @ V, U * values[:n_vectors] / unit, atol=1e-12)
        for X in (U, V):
            np.testing.assert_allclose(X.T @ X, np.eye(n_vectors), atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 3, 2), (200, 7, 90), (90, 300, 150)])
def test_products_in_parts_are_those_of_numpy(monkeypatch, shape, order):
    r, k, c = shape
    A, B = (np.asarray(RNG.standard_normal(s), order=order) for s in ((r, k), (k, c)))
    for name, size in {"FLOPS": 5e4, "PRODUCT": 5e4, "LEAST": 8}.items():
        monkeypatch.setattr(_lapack, f"_{name}", size)
    np.testing.assert_allclose(_lapack.product(A, B), A @ B, atol=1e-12)
    found = _lapack.self_product(A)
    np.testing.assert_allclose(found, A @ A.T, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    L = np.tril(RNG.standard_normal((k, k))) + 3.0 * np.sqrt(k) * np.eye(k)
    for right in (B, B[:, 0]):
        np.testing.assert_allclose(L @ _lapack.lower_solve(L, right), right, atol=1e-12)
        np.testing.assert_allclose(L.T @ _lapack.lower_solve(L, right, True), right, atol=1e-12)


def test_ctrl_c_is_heard_while_a_routine_runs(monkeypatch):
    """In the main thread, which does not wait for it; the routine keeps its arrays."""
    go_on, ended = threading.Event(), threading.Event()

    def slow(name, *args):
        go_on.wait()
        args[0][:] = 1.0
        ended.set()

    def interrupted(thread, timeout):
        raise KeyboardInterrupt

    monkeypatch.setattr(_lapack, "_call", slow)
    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _lapack._wait("dsterf", np.zeros(3))
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(60.0)


def test_no_call_does_more_than_its_share(monkeypatch):
    """Ctrl-C is noticed between two calls: few columns at a time, by the remaining size."""
    call, shares = _lapack._call, []

    def counted(name, *args):
        numbers = [arg for arg in args if isinstance(arg, int)]
        if name == "dlatrd":
            n, k = numbers[:2]
            shares.append((n * n * k / 2e4, k == 4))
        call(name, *args)

    for name, size in {"ENTRIES": 2e4, "FLOPS": 1e5, "REDUCED": 12, "PANEL": 8}.items():
        monkeypatch.setattr(_lapack, f"_{name}", size)
    monkeypatch.setattr(_lapack, "_call", counted)
    A = RNG.standard_normal((90, 120))
    _lapack.eigh(A @ A.T)
    assert len(shares) > 10
    assert all(share <= 1.0 or least for share, least in shares)
    assert any(share <= 1.0 and not least for share, least in shares)


class Counted(np.ndarray):
    """Matrices that record the number of operations of their largest product."""

    largest = 0.0

    def __matmul__(self, other):
        work = 2.0 * self.size * other.shape[1]
        Counted.largest = max(Counted.largest, work)
        return np.asarray(self) @ np.asarray(other)


@pytest.mark.parametrize("shape", [(60, 50, 70), (8, 5000, 8), (2000, 9, 11), (9, 11, 2000)])
def test_no_part_of_a_product_has_more_operations_than_it_may(monkeypatch, shape):
    r, k, c = shape
    for name, size in {"PRODUCT": 2e4, "LEAST": 8, "ALONE": 0.0}.items():
        monkeypatch.setattr(_lapack, f"_{name}", size)
    A, B = (RNG.standard_normal(s).view(Counted) for s in ((r, k), (k, c)))
    monkeypatch.setattr(Counted, "largest", 0.0)
    np.testing.assert_allclose(_lapack.product(A, B), np.asarray(A) @ np.asarray(B), atol=1e-10)
    assert 0.0 < Counted.largest <= 2e4


@each("unit", [1e-200, 1.0, 1e200])
@each("m", [1, 2, 40])
def test_whole_decompositions_are_those_of_numpy(m, unit):
    factor = np.random.default_rng(m).normal(size=(m, 1 + m // 2))
    A = unit * (factor @ factor.T)
    values, V = _lapack.whole_eigh(A.copy())
    size = np.abs(A).max() * m
    np.testing.assert_allclose(values / size, np.linalg.eigvalsh(A) / size, atol=1e-14)
    np.testing.assert_allclose(V.T @ V, np.eye(m), atol=1e-12)
    np.testing.assert_allclose((V * (values / size)) @ V.T, A / size, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_share_large_factors_and_products(monkeypatch, dtype):
    """They compute the same bits as one thread, and those of NumPy up to rounding."""
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((1300, 40)).astype(dtype)
    A = Z @ Z.T / 40 + np.eye(1300, dtype=dtype)
    B = rng.standard_normal((1300, 900)).astype(dtype)
    found = []
    with _threads.one_blas_thread():
        for count in (1, 3):
            monkeypatch.setattr(_threads, "thread_count", lambda count=count: count)
            R = A.copy()
            assert _lapack.cholesky(R)
            L = np.triu(R).T.copy()
            found.append(
                [L, _lapack.product(A, B), _lapack.product(B.T, A), _lapack.lower_solve(L, B)]
            )
            found[-1].append(_lapack.lower_solve(L, B, transposed=True))
    for one, three in zip(*found):
        np.testing.assert_array_equal(one, three)
    L, right, left, solved, back = map(np.float64, found[0])
    tol = {"rtol": 0, "atol": 2000 * np.finfo(dtype).eps}
    np.testing.assert_allclose(L @ L.T, A, **tol)
    np.testing.assert_allclose(right, A.astype(float) @ B, **tol)
    np.testing.assert_allclose(left, right.T, **tol)
    np.testing.assert_allclose(L @ solved, B, **tol)
    np.testing.assert_allclose(L.T @ back, B, **tol)

    # They stop where a matrix is not definite.
    for bad in (0, 700, 1299):
        A = np.eye(1300)
        A[bad, bad] = -1.0
        assert not _lapack.cholesky(A)


def test_a_singular_triangle_is_refused():
    singular = np.diag([1.0, 0.0])
    raises(np.linalg.LinAlgError, "singular", _lapack.lower_solve, singular, np.ones(2))
    assert _lapack.lower_solve(np.eye(2), np.ones((2, 0))).shape == (2, 0)
