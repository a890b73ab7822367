"""Hyper-kernels, the small quadratic program, the circle: brute force and scikit-learn."""

from functools import partial

import numpy as np
import pytest
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.reference import circle, hyper
from cases import each


def loops(X, convention, sigma2, sigma_h2):
    """The Gaussian hyper-kernel pair of pairs by pair of pairs."""
    m = len(X)
    v1 = sigma2 if convention == "liu" else 2 * sigma2
    K = np.empty((m * m, m * m))
    for a in range(m * m):
        for b in range(m * m):
            (i, j), (r, s) = divmod(a, m), divmod(b, m)
            K[a, b] = np.exp(-((X[i] - X[j]) @ (X[i] - X[j])) / (2 * v1))
            K[a, b] *= np.exp(-((X[r] - X[s]) @ (X[r] - X[s])) / (2 * v1))
            gap = (X[i] + X[j] - X[r] - X[s]) / 2
            K[a, b] *= np.exp(-(gap @ gap) / (2 * (sigma2 + sigma_h2)))
    return K


@pytest.mark.parametrize("convention", ["liu", "kondor-jebara"])
def test_gaussian_hyper_kernel_entry_by_entry(convention):
    X = np.random.default_rng(0).standard_normal((3, 2))
    kernel = partial(hyper.gaussian, sigma2=0.7, sigma_h2=0.9, convention=convention)
    np.testing.assert_allclose(hyper.hyper_matrix(X, kernel), loops(X, convention, 0.7, 0.9))


@each("seed", range(12))
def test_hyper_kernels_are_symmetric_in_every_way_and_semidefinite(seed):
    draw = RandomDraw(seed)
    X = draw.array((3, 2))
    kernel = hyper.drawn(draw, 2)
    K = hyper.hyper_matrix(X, kernel)
    swapped = K.reshape(3, 3, 9).transpose(1, 0, 2).reshape(9, 9)
    np.testing.assert_allclose(K, swapped, atol=1e-14)
    np.testing.assert_allclose(K, K.T, atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] >= -1e-13
    assert (K > 0).all()
    assert K.max() <= 1 + 1e-12


@each("seed", range(4))
def test_support_vector_regression_against_scikit_learn(seed):
    from sklearn.svm import SVR

    rng = np.random.default_rng(seed)
    X, target = rng.standard_normal((4, 2)), rng.standard_normal((4, 4))
    y = (target + target.T).ravel() / 2
    K = hyper.hyper_matrix(X, partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5))
    beta, b, value = hyper.svr(K, y, 3.0, 0.1)
    expected = SVR(kernel="precomputed", C=3.0, epsilon=0.1, tol=1e-9).fit(K, y)
    np.testing.assert_allclose(K @ beta + b, expected.predict(K), atol=1e-5)
    assert hyper.svr_objective(K, y, beta, b, 3.0, 0.1) == pytest.approx(value, abs=1e-8)
    assert abs(beta.sum()) < 1e-9
    assert np.abs(beta).max() <= 3.0
    beta, _, value = hyper.svr(K, y, 3.0, 0.1, bias=False)
    assert hyper.svr_objective(K, y, beta, 0.0, 3.0, 0.1) == pytest.approx(value, abs=1e-8)


def naive_circle(x, size):
    t = np.add.outer(x, x).ravel()
    angle = 2 * np.pi * np.outer(t, np.arange(1, size + 1))
    return t, np.hstack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("m", [1, 2, 7])
def test_second_moments_on_the_circle_against_all_pairs(m):
    x = np.random.default_rng(m).random(m)
    _, f = naive_circle(x, 5)
    np.testing.assert_allclose(circle.second_moments(x, 5), f.T @ f / m**2, atol=1e-14)


def test_error_on_the_circle_against_the_m2_by_m2_system():
    """Without features: the hyper-kernel matrix, its solution, and the error by quadrature."""
    x, lam, size = np.random.default_rng(3).random(6), 0.02, 6
    mu, square = circle.spectrum(0.5, 1.1, size)
    i = np.arange(1, size + 1)
    t = np.add.outer(x, x).ravel()

    def kernel(left, right):
        return (mu * np.cos(2 * np.pi * np.subtract.outer(left, right)[..., None] * i)).sum(-1)

    def target(t):
        return (np.sqrt(square * mu) * np.cos(2 * np.pi * np.multiply.outer(t, i))).sum(-1)

    beta = np.linalg.solve(kernel(t, t) + len(t) * lam * np.eye(len(t)), target(t))
    grid = np.arange(64) / 64
    error = np.sqrt(((kernel(grid, t) @ beta - target(grid)) ** 2).mean())
    assert circle.fitted_error(x, lam, 0.5, 1.1, size) == pytest.approx(error, rel=1e-9)


def test_noise_on_the_circle_has_the_law_of_noise_on_pairs():
    """Mean of the squared error over 400 draws, both ways."""
    rng = np.random.default_rng(4)
    x, size, lam = rng.random(4), 3, 0.05
    root, w = circle.problem(0.5, 1.1, size)
    _, f = naive_circle(x, size)
    f = f * root
    inverse = np.linalg.inv(f.T @ f / 16 + lam * np.eye(2 * size))
    fits = [inverse @ f.T @ (f @ w + 2 * rng.standard_normal(16)) / 16 for _ in range(400)]
    direct = np.array([((root * (fit - w)) ** 2).sum() / 2 for fit in fits])
    short = [circle.fitted_error(x, lam, 0.5, 1.1, size, 2.0, rng) ** 2 for _ in range(400)]
    spread = np.hypot(direct.std(), np.std(short)) / 20
    assert abs(direct.mean() - np.mean(short)) < 4 * spread
    assert np.mean(short) > 1.5 * circle.fitted_error(x, lam, 0.5, 1.1, size) ** 2


def test_bias_on_the_circle_has_the_slope_of_the_ledger():
    lam = 10.0 ** np.array([-8, -9])
    bias = [np.sqrt(circle.squared_bias(value, 0.5, 1.1, 20000)) for value in lam]
    assert np.diff(np.log(bias))[0] / np.diff(np.log(lam))[0] == pytest.approx(0.5125, abs=1e-3)
