"""Factorisations block by block are those of one LAPACK call, wherever the blocks end."""

import numpy as np
import pytest

from alignlearn import _lapack
from alignlearn.solvers.dense import ShiftedInverse

RNG = np.random.default_rng(0)


@pytest.fixture(params=[False, True], ids=["as it is", "small blocks"])
def blocks(request, monkeypatch):
    """Blocks small enough that matrices of tests have many, and a last one that is not full."""
    if request.param:
        for name, size in {"BLOCK": 8, "REDUCED": 12, "PANEL": 4, "GROUP": 7}.items():
            monkeypatch.setattr(_lapack, f"_{name}", size)
        monkeypatch.setattr(_lapack, "_FLOPS", 1.0)


def definite(m):
    X = RNG.standard_normal((m, m + 2))
    return X @ X.T / m + 0.1 * np.eye(m)


SIZES = [1, 2, 3, 8, 9, 61, 300]


@pytest.mark.parametrize("m", SIZES)
def test_cholesky_factor_solves_and_inverts(blocks, m):
    A = definite(m)
    R = A.copy()
    assert _lapack.cholesky(R)
    np.testing.assert_array_equal(np.tril(R, -1), np.tril(A, -1))
    np.testing.assert_allclose(np.triu(R), np.linalg.cholesky(A).T, atol=1e-12)
    inverse = np.linalg.inv(A)
    for B in (RNG.standard_normal(m), RNG.standard_normal((m, 5)), np.asfortranarray(A)):
        before = B.copy()
        np.testing.assert_allclose(_lapack.cholesky_solve(R, B), inverse @ B, atol=1e-10)
        np.testing.assert_array_equal(B, before)
    np.testing.assert_allclose(_lapack.inverse_diagonal(R), inverse.diagonal(), rtol=1e-10)


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
    shifted = ShiftedInverse(A.copy())
    assert shifted.smallest_eigenvalue() == pytest.approx(values[0], abs=1e-12 * values[-1])
    solved = shifted.solve(B, alphas)
    forms = shifted.quadratic(lambda i, j: B[:, i:j].copy(), 2, alphas)
    diagonal = shifted.quadratic(lambda i, j: np.eye(m, j - i, -i), m, alphas)
    for k, alpha in enumerate(alphas):
        inverse = np.linalg.inv(A + alpha * np.eye(m))
        np.testing.assert_allclose(solved[:, k], inverse @ B, atol=1e-10)
        np.testing.assert_allclose(forms[k], np.diagonal(B.T @ inverse @ B), rtol=1e-9)
        np.testing.assert_allclose(diagonal[k], np.diagonal(inverse), rtol=1e-9)


def test_what_is_not_definite_is_infinite():
    shifted = ShiftedInverse(np.diag([-1.0, 2.0, 3.0]))
    solved = shifted.solve(np.ones((3, 1)), [0.5, 2.0])[:, :, 0]
    assert np.isinf(solved[:, 0]).all()
    np.testing.assert_allclose(solved[:, 1], [1.0, 0.25, 0.2])


@pytest.mark.parametrize(("dtype", "order"), [(np.float32, "C"), (np.float64, "F")])
def test_memory_that_lapack_would_misread_is_refused(dtype, order):
    with pytest.raises(ValueError, match="float64 array in C order"):
        _lapack.cholesky(np.array(definite(4), dtype=dtype, order=order))
