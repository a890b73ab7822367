"""Ridge regression without samples, and its variance, against refits and a Gaussian process."""

import numpy as np
import pytest

from alignlearn.machines.smoothers import FeatureSmoother, PairSmoother

ALPHA = 0.7


def problem(weighted):
    rng = np.random.default_rng(0)
    Z, new, Y = rng.normal(size=(40, 5)) + 3.0, rng.normal(size=(7, 5)), rng.normal(size=(40, 2))
    return Z, new, Y, rng.exponential(size=40) + 0.1 if weighted else np.ones(40)


def ridge(Z, Y, weight, new):
    """Predictions by normal equations of the features and the constant."""
    F, G = (np.column_stack([A, np.ones(len(A))]) for A in (Z, new))
    ridge = np.diag([*[ALPHA] * Z.shape[1], 0.0])
    return G @ np.linalg.solve(F.T @ (weight[:, None] * F) + ridge, F.T @ (weight[:, None] * Y))


def smoothers(Z, Y, weight, shift=5.0):
    """Both forms, the first on a kernel plus a constant."""
    coef = weight[:, None] * (Y - ridge(Z, Y, weight, Z)) / ALPHA
    pairs = PairSmoother(Z @ Z.T + shift, coef, ALPHA, weight)
    return pairs, FeatureSmoother(Z.copy(), Y, ALPHA, weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_one_out_is_a_fit_without_it(weighted):
    Z, _, Y, weight = problem(weighted)
    for found in smoothers(Z, Y, weight):
        for i in (0, 17):
            rest = np.arange(40) != i
            want = Y[i] - ridge(Z[rest], Y[rest], weight[rest], Z[[i]])[0]
            np.testing.assert_allclose(found.residuals[i], want, rtol=1e-9)
        np.testing.assert_allclose(found.left, Y - ridge(Z, Y, weight, Z), atol=1e-12)


def test_predictions_without_one_and_without_several():
    Z, new, Y, weight = problem(False)
    everything, some = ridge(Z, Y, weight, new), np.array([1, 5, 9])
    for found, rows in zip(smoothers(Z, Y, weight), (new @ Z.T + 5.0, new.copy())):
        L = 1.0 / 40 + found.centered(rows) @ found.basis
        np.testing.assert_allclose(L @ Y, everything, rtol=1e-9)
        for left_out, r in (([3], found.residuals[[3]]), (some, found.without(some))):
            rest = np.setdiff1d(np.arange(40), left_out)
            want = ridge(Z[rest], Y[rest], weight[rest], new)
            np.testing.assert_allclose(everything - L[:, left_out] @ r, want, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_variance_is_that_of_kriging_with_an_unknown_mean(weighted):
    """By the equations of universal kriging, in which the constant has a row of its own."""
    Z, new, Y, weight = problem(weighted)
    A, one = np.linalg.inv(Z @ Z.T + np.diag(ALPHA / weight)), np.ones(40)
    k = new @ Z.T
    own = np.square(new).sum(axis=1) - np.einsum("ij,jk,ik->i", k, A, k)
    want = own + np.square(1.0 - k @ A @ one) / (one @ A @ one)
    Q = A - np.outer(A @ one, A @ one) / (one @ A @ one)
    scale = np.einsum("ij,ik,kj->j", Y, Q, Y) / (len(Y) - 1.0)
    pairs, features = smoothers(Z, Y, weight)
    diagonal = np.square(new).sum(axis=1) + 5.0
    np.testing.assert_allclose(pairs.variance(k + 5.0, diagonal), want, rtol=1e-9)
    np.testing.assert_allclose(features.variance(new.copy()), want, rtol=1e-9)
    for found in (pairs, features):
        np.testing.assert_allclose(found.scale, scale, rtol=1e-9)
