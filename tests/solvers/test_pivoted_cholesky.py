"""Partial Cholesky factors against explicit matrices, greedy pivoting, and eigenvalue tails."""

import itertools

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import generators, gram_matrices

from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky

EPS = np.finfo(np.float64).eps


def factorize(A, with_submatrix=False, order="F", **options):
    """The callbacks of a stored matrix."""
    part = (lambda index: A[np.ix_(index, index)]) if with_submatrix else None
    return pivoted_cholesky(
        np.diag(A), lambda index: np.array(A[:, index], order=order), submatrix=part, **options
    )


def greedy_ranks(A, tols):
    """Ranks that greedy pivoting needs for each tol, falling: one pivot, one column at a time."""
    schur, accepted, ranks = A.copy(), np.array(tols) * np.trace(A), []
    for rank in itertools.count():
        left = np.diag(schur)
        while len(ranks) < len(tols) and left.sum() <= accepted[len(ranks)]:
            ranks.append(rank)
        if len(ranks) == len(tols):
            return ranks
        pivot = left.argmax()
        schur -= np.outer(schur[:, pivot], schur[pivot]) / schur[pivot, pivot]


def gaussian(X, gamma):
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))


def gaussian_matrix(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    if name == "normal":
        return gaussian(X, 2.0)
    if name == "sorted":
        return gaussian(X[np.argsort(X[:, 0])], 2.0)
    if name == "grid":
        return gaussian(np.stack(np.meshgrid(*2 * [np.arange(22)]), axis=-1).reshape(-1, 2), 0.02)
    if name == "clusters":
        return gaussian(4 * np.repeat(X[:20], 25, axis=0) + 0.2 * X[::-1], 0.5)
    # The diagonal of a kernel on pairs falls off by many powers of ten.
    i, j = np.triu_indices(31)
    scale = np.exp(-4 * ((X[i] - X[j]) ** 2).sum(axis=1))
    return scale[:, None] * scale * gaussian((X[i] + X[j]) / 2, 1.0)


@pytest.mark.parametrize("name", ["normal", "sorted", "grid", "clusters", "pairs"])
def test_rank_is_that_of_greedy_pivoting(name):
    A = gaussian_matrix(name)
    eigenvalues, tols = np.linalg.eigvalsh(A), [1e-2, 1e-5, 1e-8]
    for tol, rank in zip(tols, greedy_ranks(A, tols)):
        for with_submatrix in (False, True):
            found = factorize(A, with_submatrix, tol=tol, block=32)
            assert found.converged
            assert found.trace_error <= tol * found.trace
            assert len(found.pivots) <= 1.12 * rank + 1
            used = 32 if with_submatrix else 2 * rank + 32
            assert found.n_columns <= len(found.pivots) + used
            # The minimal error of a factor of this rank is the sum of the remaining eigenvalues.
            least = eigenvalues[: len(A) - len(found.pivots)].sum()
            assert least <= found.trace_error <= 10.0 * least
            # One column less would not suffice: the block is cut where the error is met.
            less = A - found.factor[:, :-1] @ found.factor[:, :-1].T
            assert np.trace(less) > tol * found.trace


@st.composite
def problems(draw):
    kind = draw(st.sampled_from(["gram", "kernel", "scaled"]))
    if kind == "gram":
        return draw(gram_matrices(max_samples=30))
    rng = draw(generators())
    A = gaussian(rng.normal(size=(draw(st.integers(1, 60)), 2)), draw(st.sampled_from([0.1, 3.0])))
    if kind == "scaled":
        scale = 10.0 ** rng.uniform(-4, 4, size=len(A))
        A *= scale[:, None] * scale
    return A


@given(
    problems(),
    st.booleans(),
    st.sampled_from([1, 3, 32]),
    st.sampled_from([0.5, 1e-3, 0.0]),
    st.sampled_from([None, 1, 5]),
)
def test_laws(A, with_submatrix, block, tol, max_rank):
    n, before = len(A), A.copy()
    found = factorize(A, with_submatrix, tol=tol, max_rank=max_rank, block=block)
    np.testing.assert_array_equal(A, before)
    L, rank, unit = found.factor, len(found.pivots), np.diag(A).max()
    rounding = 100 * (16 + n) * EPS * unit
    assert L.shape == (n, rank)
    assert L.flags.f_contiguous
    assert rank <= min(n, max_rank or n)
    assert len(set(found.pivots)) == rank
    np.testing.assert_array_equal(found.pivot_factor, L[found.pivots])
    assert np.all(np.triu(found.pivot_factor, 1) == 0.0)
    left = A - L @ L.T
    assert np.linalg.eigvalsh(left)[0] >= -n * rounding
    np.testing.assert_allclose(left[found.pivots], 0.0, atol=n * rounding)
    assert found.trace == pytest.approx(np.trace(A))
    assert found.trace_error == pytest.approx(np.trace(left), abs=n * rounding)
    assert found.max_residual == pytest.approx(np.diag(left).max(), abs=rounding)
    met = found.trace_error <= tol * found.trace
    assert found.converged == (met or found.max_residual <= (16 + rank) * EPS * unit)
    assert found.converged or rank == max_rank
    # No factor of this rank leaves less than the remaining eigenvalues.
    tail = np.linalg.eigvalsh(A)[: n - rank].sum()
    assert found.trace_error >= tail - n * rounding


@given(problems(), st.booleans())
def test_residual_never_grows_with_rank(A, with_submatrix):
    full = factorize(A, with_submatrix, tol=0.0)
    residual = np.diag(A)[:, None] - np.cumsum(full.factor**2, axis=1)
    assert full.converged
    assert residual.min(initial=0.0) >= -100 * (16 + len(A)) * EPS * np.diag(A).max()
    # A pivot is at least a quarter of the largest residual before its block, so of all later ones.
    pivots = np.diag(full.pivot_factor) ** 2
    assert np.all(pivots[1:] <= 4.0 * (1 + 1e-6) * np.minimum.accumulate(pivots)[:-1])


def test_more_rows_than_a_panel():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(20_000, 12))

    def columns(index):
        return Z @ Z[index].T

    found = pivoted_cholesky((Z**2).sum(axis=1), columns, tol=1e-12, block=5)
    assert len(found.pivots) == 12
    some = rng.integers(0, 20_000, size=200)
    np.testing.assert_allclose(found.factor[some] @ found.factor.T, columns(some).T, atol=1e-10)


@pytest.mark.parametrize("n", [1, 7])
def test_zero_matrix(n):
    found = factorize(np.zeros((n, n)), tol=0.0)
    assert found.factor.shape == (n, 0)
    assert found.pivot_factor.shape == (0, 0)
    assert found.converged
    assert found.trace_error == found.max_residual == 0.0


def test_order_and_precision_of_the_columns():
    A = gaussian(np.random.default_rng(3).normal(size=(200, 2)), 1.0)
    expected = factorize(A, tol=1e-4).factor
    np.testing.assert_allclose(factorize(A, order="C", tol=1e-4).factor, expected)
    found = factorize(A.astype(np.float32), tol=0.0)
    assert found.converged
    assert found.factor.dtype == np.float64
    np.testing.assert_allclose(found.factor @ found.factor.T, A, atol=1e-4)
    assert len(found.pivots) < len(factorize(A, tol=0.0).pivots)


def bad_callbacks():
    A = gaussian(np.arange(6.0)[:, None], 0.5)
    broken = A.copy()
    broken[0, 5] = broken[5, 0] = np.nan
    yield "columns returned an array of shape", lambda index: A[index[:-1]].T
    yield "dtype int64", lambda index: A[:, index].astype(np.int64)
    yield "NaN or infinity", lambda index: broken[:, index]
    yield "on the diagonal in row", lambda index: 2.0 * A[:, index]


@each(("message", "columns"), bad_callbacks())
def test_bad_callbacks(message, columns):
    raises(ValueError, message, pivoted_cholesky, np.ones(6), columns, block=3, tol=0.0)


def indefinite_matrices():
    yield np.diag([1.0, -1.0])
    yield np.array([[1.0, 2.0], [2.0, 1.0]])
    Q = np.linalg.qr(np.random.default_rng(4).normal(size=(30, 30)))[0]
    yield (Q * np.append(np.ones(29), -0.2)) @ Q.T


@each("A", indefinite_matrices())
@each("with_submatrix", [False, True])
def test_indefinite(A, with_submatrix):
    message = "not positive semi-definite: its residual diagonal is -"
    raises(ValueError, message, factorize, A, with_submatrix, tol=0.0)


@each(
    ("diagonal", "options", "message"),
    [
        (np.ones(2), {"tol": -1.0}, "tol"),
        (np.ones(2), {"max_rank": 0}, "max_rank"),
        (np.ones(2), {"block": 0}, "block"),
        ([], {}, "diagonal"),
        ([1.0, np.nan], {}, "diagonal"),
        (np.eye(2), {}, "diagonal"),
    ],
)
def test_bad_arguments(diagonal, options, message):
    raises(ValueError, message, pivoted_cholesky, diagonal, lambda i: np.eye(2)[:, i], **options)
