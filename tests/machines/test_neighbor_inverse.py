"""The sparse inverse of what a low-rank factor omits, against dense algebra."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from usage import threads

import alignlearn as al
from alignlearn.machines import KernelRidge
from alignlearn.machines.held_matrix import HeldMatrix
from alignlearn.machines.iterative_ridge import system_on_matrix
from alignlearn.machines.neighbor_inverse import NeighborInverse
from alignlearn.solvers.conjugate_gradient import low_rank_preconditioner
from alignlearn.sources import open_kernel

# Of alpha to the mean diagonal, for a matrix in float64 and in float32.
RATIOS = (np.inf, np.inf), (0.0, 0.0)


def problem(m, rank, seed):
    """A positive definite matrix, a factor that explains part of it, and a diagonal."""
    rng = np.random.default_rng(seed)
    L, A = rng.standard_normal((m, rank)), rng.standard_normal((m, m))
    return L @ L.T + A @ A.T / m, L, rng.uniform(0.5, 2.0, m)


def dense(inverse, rows):
    """G as a matrix, from its rows and their places."""
    G = np.zeros((len(rows), len(rows)))
    np.add.at(G, (np.arange(len(rows))[:, None], inverse._places), rows)
    return G


def whole(K, omitted=0.0):
    """The matrix, up to terms f(x) + f(x'), as one group of rows."""
    K = K - np.add.outer(omitted, omitted)
    return SimpleNamespace(K=K, starts=np.array([0, K.size]), height=len(K), diagonal=K.diagonal)


@given(st.integers(1, 12), st.integers(0, 3), st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_with_all_neighbors_it_is_the_inverse(m, rank, seed, alpha):
    K, L, root = problem(m, rank, seed)
    inverse = NeighborInverse(whole(K, np.arange(m) - 3.0), K.diagonal(), L, root, max(m - 1, 1))
    R = root[:, None] * (K - L @ L.T) * root + alpha * np.eye(m)
    V = np.random.default_rng(seed).standard_normal((m, 2))
    found = inverse.times(inverse.factor(alpha), R @ V)
    np.testing.assert_allclose(found, V, rtol=0, atol=1e-8 * np.linalg.cond(R))


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 10**6), st.floats(1e-2, 1e2))
def test_each_row_is_exact_on_the_nearest_later_samples(m, q, seed, alpha):
    K, L, root = problem(m, 2, seed)
    inverse = NeighborInverse(whole(K), K.diagonal(), L, root, q)
    rows, R = inverse.factor(alpha), root[:, None] * (K - L @ L.T) * root + alpha * np.eye(m)
    G = dense(inverse, rows)
    for i in range(m):
        later = np.arange(i + 1, m)
        near = later[np.argsort(-K[i, later] / np.sqrt(K.diagonal()[later]))[:q]]
        own = np.append(near, i)
        factor = np.linalg.cholesky(R[np.ix_(own, own)])
        expected = np.zeros(m)
        expected[own] = np.linalg.inv(factor)[-1]
        np.testing.assert_allclose(G[i], expected, atol=1e-9 * np.abs(expected).max())
    V = np.random.default_rng(seed).standard_normal((m, 3))
    np.testing.assert_allclose(inverse.times(rows, V), G.T @ (G @ V), atol=1e-9)
    np.testing.assert_allclose(inverse.gram(rows, V), V.T @ (G.T @ (G @ V)), atol=1e-9)


def test_gram_of_several_panels_is_that_of_the_whole():
    X = np.random.default_rng(0).standard_normal((2100, 3))
    combination = open_kernel(X, al.Gaussian(5.0))
    held = HeldMatrix(combination, True)
    inverse = NeighborInverse(held, combination.diagonal(), X[:, :0], np.ones(2100), 4)
    rows = inverse.factor(0.1)
    np.testing.assert_allclose(inverse.gram(rows, X), X.T @ inverse.times(rows, X), rtol=1e-10)


@pytest.mark.parametrize("several", [False, True])
def test_preconditioner_is_the_inverse_of_factor_and_residual(several):
    K, L, root = problem(30, 4, 0)
    inverse = NeighborInverse(whole(K), K.diagonal(), L, root, 5)
    factor, V = root[:, None] * L, np.random.default_rng(1).standard_normal((30, 3))
    alphas = [0.1, 2.0]
    matrices = []
    for alpha in alphas:
        H = inverse.times(inverse.factor(alpha), np.eye(30))
        matrices.append(factor @ factor.T + np.linalg.inv(H))
    numbers = np.array([1, 0, 1] if several else [0, 0, 0])
    alpha, which = (alphas, (numbers,)) if several else (0.1, ())
    found = low_rank_preconditioner(factor, alpha, inverse)(V, *which)
    for column, k, v in zip(found.T, numbers, V.T):
        np.testing.assert_allclose(matrices[k] @ column, v, atol=1e-9)


@pytest.mark.parametrize("single", [False, True])
def test_any_number_of_threads_gives_the_same_bits(single):
    X = np.random.default_rng(0).standard_normal((700, 3))
    combination = open_kernel(X, al.Gaussian(5.0))
    found = []
    for n in (1, 2, 3):
        with threads(n):
            system = system_on_matrix(combination, X[:, 0], 0.01, RATIOS[single])
            found.append(system.solve(0.01, tol=1e-5).solution)
        np.testing.assert_array_equal(found[-1], found[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_summed_in_float64(dtype):
    """Also those with the float32 matrix of float32 samples, because residuals need it."""
    X = np.random.default_rng(0).standard_normal((1500, 3)).astype(dtype)
    V = np.random.default_rng(1).standard_normal((1500, 1))
    held = HeldMatrix(open_kernel(X, al.Gaussian(0.3)), False)
    np.testing.assert_allclose(held.times(V), np.float64(held.K) @ V, rtol=0, atol=1e-11)


@pytest.mark.parametrize("m", [5, 256, 700])
def test_stored_diagonal_is_that_of_the_matrix(m):
    X = np.random.default_rng(0).standard_normal((m, 3))
    combination = open_kernel(X, al.Gaussian(0.3) + al.Polynomial(degree=2))
    expected = combination.gram().diagonal()
    for single, tol in [(False, 0.0), (True, 1e-6)]:
        found = HeldMatrix(combination, single).diagonal()
        np.testing.assert_allclose(found, expected, rtol=tol, atol=10 * tol)


@pytest.mark.parametrize("alpha", [1e-12, 1e-3])
@pytest.mark.parametrize("single", [False, True])
def test_repeated_samples_and_weights_of_0_keep_it_positive_definite(alpha, single):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 2)), 10, axis=0)
    combination = open_kernel(X, al.Gaussian(3.0))
    held = HeldMatrix(combination, single)
    given = combination.diagonal(), np.zeros((400, 0)), rng.integers(0, 2, 400) * 1.0, 16
    inverse = NeighborInverse(held, *given)
    rows, V = inverse.factor(alpha), rng.standard_normal((400, 5))
    assert np.isfinite(rows).all()
    assert np.all(np.sum(V * inverse.times(rows, V), axis=0) > 0.0)


def of_groups(order="shuffled"):
    """Groups of six similar samples, as inspections of one restaurant; and noisy targets."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((300, 5)), 6, axis=0) + 0.1 * rng.standard_normal((1800, 5))
    if order == "shuffled":
        X = rng.permutation(X)
    return X, np.sin(3 * X[:, 0]) + rng.standard_normal(1800)


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("single", [False, True])
def test_narrow_kernels_on_groups_take_few_steps(order, linear, single):
    X, y = of_groups(order)
    kernel = al.Gaussian(4.0)
    if linear:  # its stored matrix omits f(x) + f(x') where samples are far from 0
        X, kernel = X + 3.0, kernel + 0.001 * al.Linear()
    system = system_on_matrix(open_kernel(X, kernel), y, 0.01, RATIOS[single])
    assert system._residual is not None
    found = system.solve(0.01, tol=1e-5)
    system._residual = None
    without = system.solve(0.01, tol=1e-5)
    assert found.converged
    assert 4 * found.n_iter < without.n_iter
    difference = np.linalg.norm(found.solution - without.solution)
    assert difference < 1e-3 * np.linalg.norm(without.solution)


@pytest.mark.parametrize("step", [1, 7])
def test_explained_share_is_that_of_conditional_variances(step):
    K, L, root = problem(30, 2, 3)
    inverse = NeighborInverse(whole(K), K.diagonal(), L, root, 29, step)
    R = root[:, None] * (K - L @ L.T) * root
    left = [
        1.0 / np.linalg.inv(R[i:, i:] + 0.1 * np.eye(30 - i))[0, 0] - 0.1
        for i in range(0, 30, step)
    ]
    expected = 1.0 - np.sum(left) / R.diagonal()[::step].sum()
    assert 0.05 < expected < 0.95
    assert inverse.explained(0.1) == pytest.approx(expected, rel=1e-8)


def test_wide_kernel_has_columns_alone():
    X = np.random.default_rng(0).standard_normal((1800, 5))
    close = np.repeat(X[:900], 2, axis=0) + 1e-3
    for Z, gamma, neighbors in [(X, 0.01, False), (close, 0.01, False), (close, 10.0, True)]:
        system = system_on_matrix(open_kernel(Z, al.Gaussian(gamma)), X[:, 0], 0.01)
        assert (system._residual is not None) == neighbors


@pytest.mark.parametrize("weighted", [False, True])
def test_narrow_kernel_equals_the_factorized_machine(weighted):
    (X, y), rng = of_groups(), np.random.default_rng(1)
    weight = rng.integers(1, 4, len(X)) * 1.0 if weighted else None
    kernel, machine = al.Gaussian(4.0), KernelRidge(0.05)
    system = system_on_matrix(open_kernel(X, kernel), y, 0.05, weight=weight)
    assert system._residual is not None
    assert system.store(machine, system.solve(0.05, tol=1e-7), 1e-7).n_iter < 30
    exact = KernelRidge(0.05).fit(kernel(X), y, weight)
    K = kernel(X[:50] + 0.1, X)
    np.testing.assert_allclose(machine.predict(K), exact.predict(K), atol=1e-5)
