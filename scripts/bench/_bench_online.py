"""Rows of bench_large.py: machines for streams, linear machines, the kernel on strings."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
from _bench import best_of

import alignlearn as al
from alignlearn.machines import LinearSVM
from alignlearn.online import KernelSGDClassifier


def stream(m=5000, d=20):
    """Standard normal samples, and labels of which a tenth are wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    y = np.where(np.sin(X[:, 0]) + 0.5 * X[:, 1] > 0.0, 1, -1)
    y[rng.random(m) < 0.1] *= -1
    return X, y


def numpy_loop(X, y, gamma, alpha, budget=None):
    """The update of Kivinen, Smola and Williamson in NumPy, one sample at a time."""
    coef = np.zeros(len(y))
    for t in range(len(y)):
        eta = 0.5 / (1.0 + alpha * 0.5 * t)
        used = np.flatnonzero(coef)
        value = coef[used] @ np.exp(-gamma * np.sum((X[used] - X[t]) ** 2, axis=1))
        coef *= 1.0 - eta * alpha
        if y[t] * value < 1.0:
            coef[t] = eta * y[t]
            if budget is not None and used.size >= budget:
                coef[used[0]] = 0.0
    return coef


def careful_loop(X, y, gamma, alpha, budget=None):
    """The same with norms kept, support samples side by side, and products with a matrix."""
    m = len(y)
    support, coef, squares = np.empty_like(X), np.zeros(m), np.empty(m)
    first = size = 0
    for t in range(m):
        eta = 0.5 / (1.0 + alpha * 0.5 * t)
        held = slice(first, size)
        x = X[t]
        distance = squares[held] - 2.0 * (support[held] @ x) + x @ x
        value = coef[held] @ np.exp(-gamma * distance)
        coef[held] *= 1.0 - eta * alpha
        if y[t] * value < 1.0:
            support[size], squares[size], coef[size] = x, x @ x, eta * y[t]
            size += 1
            if budget is not None and size - first > budget:
                first += 1
    return coef[first:size]


def sgd():
    """Kernel SGD in one pass over 5000 samples, d = 20."""
    X, y = stream()
    options = {"alpha": 1e-4, "eta0": 0.5, "n_passes": 1, "shuffle": False}
    options |= {"learning_rate": "optimal", "fit_intercept": False}
    for budget in (None, 1000, 200):
        machine = KernelSGDClassifier(al.Gaussian(0.02), budget=budget, **options).fit(X, y)
        for loop, name, target in (
            (numpy_loop, "a NumPy loop", 10.0),
            (careful_loop, "one with norms kept and no copies", 1.0),
        ):
            given = X, y, 0.02, 1e-4, budget
            coef = loop(*given)
            found = machine.dual_coef_[:, 0]
            np.testing.assert_allclose(found, coef[coef != 0.0], rtol=1e-6, atol=1e-9)
            times = best_of(3, partial(loop, *given), partial(machine.fit, X, y))
            yield f"kernel SGD, m = 5000, budget {budget}, against {name}", *times, target


def linear():
    """Dual coordinate descent against LIBLINEAR and against the machine on pairs."""
    from sklearn.svm import LinearSVC

    X, y = stream(20_000)
    machine = LinearSVM(0.01, tol=1e-3)
    theirs = LinearSVC(C=0.01, loss="hinge", fit_intercept=False, tol=1e-3, max_iter=100_000)
    machine.fit(X, y)
    times = best_of(3, lambda: theirs.fit(X, y), lambda: machine.fit(X, y))
    yield "linear machine, m = 20,000, d = 20, against LIBLINEAR", *times, 1.0
    kernels = al.MKLClassifier(["linear"], weighting="uniform", C=0.01)
    kernels.fit(X, y)
    times = best_of(3, lambda: kernels.fit(X, y), lambda: machine.fit(X, y))
    yield "linear machine, m = 20,000, d = 20, against the interior point method", *times, 1.0


def counters(strings, k):
    """The spectrum kernel by a Counter for each string; one half of the matrix."""
    counted = [Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in strings]
    K = np.empty((len(strings), len(strings)))
    for i, left in enumerate(counted):
        for j in range(i + 1):
            right = counted[j]
            K[i, j] = K[j, i] = sum(n * right[part] for part, n in left.items())
    return K


def strings():
    """Gram matrix of 150 strings of 500 letters of an alphabet of four."""
    rng = np.random.default_rng(0)
    samples = ["".join(rng.choice(list("ACGT"), 500)) for _ in range(150)]
    for k in (3, 8):
        kernel = al.StringSpectrum(k)
        np.testing.assert_array_equal(kernel(samples), counters(samples, k))
        times = best_of(2, partial(counters, samples, k), partial(kernel, samples))
        yield f"spectrum kernel, k = {k}, 150 strings of 500 letters, against Counter", *times, 10.0
