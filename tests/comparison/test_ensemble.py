"""Ensembles: models against scikit-learn's, held-out predictions against refitting."""

import numpy as np
import pytest
from sklearn.svm import SVC

from alignlearn.comparison.ensemble import Ensemble


def data(m=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    return X, np.array([np.exp(-g * squares) for g in (0.1, 1.0, 4.0)])


def bordered(K, y, alpha):
    """Ridge regression with an intercept, from its (m + 1) optimality equations."""
    m = len(y)
    A = np.block([[K + alpha * np.eye(m), np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.append(y, 0.0))
    return solution[:-1], solution[-1]


def test_machines_and_leave_one_out():
    """Predictions are the weighted sum of the machines, and a constant."""
    X, K = data()
    y = X[:, 0] - X[:, 1] ** 2
    model = Ensemble("krr", 0.3).fit(K, y)
    total = sum(w * (A @ bordered(A, y, 0.3)[0]) for w, A in zip(model.weights_[:, 0], K))
    shift = model.predict(K) - total
    np.testing.assert_allclose(shift, shift[0], atol=1e-10)
    for k in range(3):
        coef, offset, held_out = model._ridge(K[k], y[None])
        expected, b = bordered(K[k], y, 0.3)
        np.testing.assert_allclose(model.dual_coef_[k, :, 0], expected, atol=1e-10)
        np.testing.assert_allclose(coef[0], expected, atol=1e-10)
        assert offset[0] == pytest.approx(b)
        for i in (0, 7, 29):
            rows = np.arange(30) != i
            inner, b = bordered(K[k][np.ix_(rows, rows)], y[rows], 0.3)
            assert held_out[0, i] == pytest.approx(K[k][i, rows] @ inner + b)


def test_the_combination_is_the_ridge_regression_of_held_out_predictions():
    X, K = data()
    y = X[:, 1] ** 2
    model = Ensemble("krr", 0.5).fit(K, y)
    H = np.array([model._ridge(K[k], y[None])[2][0] for k in range(3)])
    H -= H.mean(axis=1, keepdims=True)
    ridge = 1e-3 * np.mean(np.square(H).sum(axis=1))
    stacked = np.vstack([H.T, np.sqrt(ridge) * np.eye(3)])
    expected = np.linalg.lstsq(stacked, np.append(y - y.mean(), np.zeros(3)), rcond=None)[0]
    np.testing.assert_allclose(model.weights_[:, 0], expected, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification(n_classes):
    X, K = data(m=90, seed=1)
    y = np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.4, 0.4])
    labels = np.array(["no", "maybe", "yes"])[y]
    train, test = np.arange(60), np.arange(60, 90)
    model = Ensemble("svc", 10.0).fit(np.ascontiguousarray(K[:, :60, :60]), labels[train])
    assert np.mean(model.predict(K[:, 60:, :60]) == labels[test]) > 0.75
    if n_classes == 2:
        machine = SVC(C=10.0, kernel="precomputed", tol=1e-6).fit(K[0, :60, :60], labels[train])
        b = np.zeros(60)
        b[machine.support_] = machine.dual_coef_[0]
        np.testing.assert_allclose(model.dual_coef_[0, :, 0], b, atol=1e-4)


def test_a_matrix_that_is_no_kernel_is_refused():
    with pytest.raises(ValueError, match=r"not positive definite .*at alpha=0\.5"):
        Ensemble("krr", 0.5).fit([-np.eye(4)], np.arange(4.0))
