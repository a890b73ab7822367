"""Kernel SGD in the limit: the regularized risk of the batch models."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR

import alignlearn as al
from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))
SIGN = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=100) > 0.0, 1.0, -1.0)
Y = np.sin(2.0 * X[:, 0]) + 0.3 * RNG.normal(size=100)
ALPHA = 0.05
KERNEL = al.Gaussian(0.7)


def risk(loss, coef, b):
    f = KERNEL(X) @ coef
    return np.mean(loss(f + b)) + 0.5 * ALPHA * coef @ f


def svm(machine):
    coef = np.zeros(100)
    coef[machine.support_] = machine.dual_coef_[0]
    return coef, machine.intercept_[0]


def batch(loss):
    """The minimal regularized risk, by another solver."""
    C = 1.0 / (ALPHA * 100)
    if loss == "hinge":
        found = svm(SVC(C=C, gamma=0.7, tol=1e-8).fit(X, SIGN))
        return risk(lambda f: np.maximum(0.0, 1.0 - SIGN * f), *found)
    if loss == "epsilon-insensitive":
        found = svm(SVR(C=C, epsilon=0.1, gamma=0.7, tol=1e-8).fit(X, Y))
        return risk(lambda f: np.maximum(0.0, np.abs(f - Y) - 0.1), *found)

    values, vectors = np.linalg.eigh(KERNEL(X))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    found = LogisticRegression(C=C, tol=1e-8).fit(Z, SIGN)
    w, margin = found.coef_[0], SIGN * found.decision_function(Z)
    return np.mean(np.logaddexp(0.0, -margin)) + 0.5 * ALPHA * w @ w


@pytest.mark.parametrize("loss", ["hinge", "logistic", "epsilon-insensitive"])
def test_risk_reaches_that_of_the_batch_machine(loss):
    kind, y = (KernelSGDRegressor, Y) if loss[0] == "e" else (KernelSGDClassifier, SIGN)
    least, excess = batch(loss), []
    for n_passes in (2, 300):
        machine = kind(KERNEL, loss=loss, alpha=ALPHA, n_passes=n_passes).fit(X, y)
        excess.append(machine.regularized_risk(X, y) - least)
    assert -1e-6 <= excess[1] <= 0.003 * least
    assert excess[1] <= 0.2 * excess[0]


def test_the_reported_risk_is_the_mean_loss_and_the_penalty():
    machine = KernelSGDClassifier(KERNEL, n_passes=1).fit(X, SIGN)
    coef = np.zeros(100)
    coef[machine.support_] = machine.dual_coef_[:, 0]
    f = KERNEL(X) @ coef
    hinge = np.maximum(0.0, 1.0 - SIGN * (f + machine.intercept_[0])).mean()
    expected = hinge + 0.5 * machine.alpha * coef @ f
    assert machine.regularized_risk(X, SIGN) == pytest.approx(expected, rel=1e-10)
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    several = KernelSGDClassifier(KERNEL, n_passes=1).fit(X, labels)
    assert several.regularized_risk(X, labels).shape == (3,)
