"""The protocol of a comparison, written out with NumPy and scikit-learn."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from alignlearn.comparison import split
from alignlearn.kernels import gaussian_kernels

GAMMAS = (0.03, 0.3, 3.0)
GAUSSIANS = gaussian_kernels(GAMMAS)


def problem(kind, m=60, noise=0.2):
    """Samples, and real targets ("regression") or names of classes ("two", "three")."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -1.0]
    y = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1] + noise * rng.normal(size=m)
    if kind != "regression":
        cuts = [0.4] if kind == "two" else [-0.2, 1.0]
        y = np.array(["low", "mid", "top"])[np.digitize(y, cuts)]
    X.flags.writeable = y.flags.writeable = False  # a comparison does not change its input
    return X, y


def is_real(y):
    return y.dtype.kind == "f"


def trial_of(X, y, t, seed=3):
    """(samples, targets) to train, to validate and to test, standardized on the first."""
    folds = split(y, 5, "regression" if is_real(y) else "classification", seed)
    train = np.sort(np.concatenate([folds[(t + k) % 5] for k in (2, 3, 4)]))
    Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return [(Z[rows], y[rows]) for rows in (train, folds[(t + 1) % 5], folds[t])]


def centered_kernels(trial):
    """Gaussians (p, n, m) of each part: centered at the training mean, of mean diagonal 1."""
    Z, m = trial[0][0], len(trial[0][0])
    H, found = np.eye(m) - 1.0 / m, [[] for _ in trial]
    for gamma in GAMMAS:
        K = rbf_kernel(Z, gamma=gamma)
        scale = m / np.trace(H @ K @ H)
        for kernels, (A, _) in zip(found, trial):
            kernels.append(scale * (rbf_kernel(A, Z, gamma=gamma) - K.mean(axis=0)) @ H)
    return [np.array(kernels) for kernels in found]


def errors_at(weights, value, trial, kernels):
    """(validation, test) error of scikit-learn's model at given weights, alpha or C."""
    K, (_, y), others = [np.tensordot(weights, part, 1) for part in kernels], trial[0], trial[1:]
    if is_real(y):
        machine = KernelRidge(alpha=value, kernel="precomputed").fit(K[0], y - y.mean())
        found = [machine.predict(A) + y.mean() for A in K[1:]]
        return [np.sqrt(np.mean((f - b) ** 2)) for f, (_, b) in zip(found, others)]
    machine = SVC(C=value, kernel="precomputed", tol=1e-6, break_ties=True).fit(K[0], y)
    return [np.mean(machine.predict(A) != b) for A, (_, b) in zip(K[1:], others)]


def check_trials(found, method, data, candidates, atol=1e-6):
    """Each trial of a method has the errors, weights and parameter of its best candidate.

    ``candidates(trial, kernels)`` yields (validation error, test error, weights, parameter).
    """
    i = found.index(method)
    for t in range(5):
        trial = trial_of(*data, t)
        tried = candidates(trial, centered_kernels(trial))
        validation, test, weights, parameter = min(tried, key=lambda one: one[0])
        assert found.validation_error[i, t] == pytest.approx(validation, rel=1e-6)
        assert found.error[i, t] == pytest.approx(test, rel=1e-6)
        assert found.parameter[i, t] == pytest.approx(parameter, rel=1e-6)
        shares = weights / np.abs(weights).sum()
        np.testing.assert_allclose(found.weights[i, t], shares, atol=atol)
