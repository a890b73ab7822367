"""Streams of samples, strings and fingerprints, against plain Python and NumPy."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
from _run import Pair, row

import alignlearn as al
from alignlearn.online import KernelSGDClassifier

from .svm import stream

M, D = 4000, 2048


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


@row(m=300)
def sgd(m=5000):
    """Kernel SGD in one pass over 5000 samples, d = 20, against a loop in NumPy."""
    X, y = stream(m)
    options = {"alpha": 1e-4, "eta0": 0.5, "n_passes": 1, "shuffle": False}
    options |= {"learning_rate": "optimal", "fit_intercept": False}
    for budget, key in ((None, "sgd"), (200, "sgd-200")):
        machine = KernelSGDClassifier(al.Gaussian(0.02), budget=budget, **options).fit(X, y)
        loop = partial(numpy_loop, X, y, 0.02, 1e-4, budget)
        coef = loop()
        np.testing.assert_allclose(machine.dual_coef_[:, 0], coef[coef != 0.0], 1e-6, 1e-9)
        ours = partial(machine.fit, X, y)
        yield Pair(f"kernel SGD, m = {m}, budget {budget}", loop, ours, key=key)


def counters(strings, k):
    """The spectrum kernel by a Counter for each string; one half of the matrix."""
    counted = [Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in strings]
    K = np.empty((len(strings), len(strings)))
    for i, left in enumerate(counted):
        for j in range(i + 1):
            right = counted[j]
            K[i, j] = K[j, i] = sum(n * right[part] for part, n in left.items())
    return K


@row(n=10, length=40)
def strings(n=150, length=500):
    """Spectrum kernel of 150 strings of 500 letters of an alphabet of four, against Counter."""
    rng = np.random.default_rng(0)
    samples = ["".join(rng.choice(list("ACGT"), length)) for _ in range(n)]
    kernel = al.StringSpectrum(8)
    np.testing.assert_array_equal(kernel(samples), counters(samples, 8))
    work = f"spectrum kernel, k = 8, {n} strings of {length} letters"
    yield Pair(work, partial(counters, samples, 8), partial(kernel, samples), 2, key="strings")


def fingerprints(m=M, d=D, seed=0):
    """Samples of 0 and 1, a tenth of them 1, in groups as molecules of a family have them."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).random((20, d)) < 0.1
    X = centers[rng.integers(0, 20, m)] ^ (rng.random((m, d)) < 0.03)
    return X.astype(float)


def formula(X, Z=None):
    """The Tanimoto kernel in the obvious way: a product of matrices, and norms."""
    Z = X if Z is None else Z
    inner = X @ Z.T
    return inner / ((X * X).sum(axis=1)[:, None] + (Z * Z).sum(axis=1) - inner)


@row(m=300)
def fingerprint_matrix(m=M):
    """Tanimoto of 4000 fingerprints of 2048 bits, against NumPy."""
    X, kernel = fingerprints(m), al.Tanimoto()
    np.testing.assert_allclose(kernel(X[:200]), formula(X[:200]), rtol=1e-6)
    work, theirs = f"Tanimoto, {D} bits, m={m}, float64", partial(formula, X)
    yield Pair(work, theirs, partial(kernel, X), 7, key="fingerprint-gram")


@row(m=300)
def fingerprint_fit(m=M):
    """Fit and prediction on fingerprints, against the same estimator on matrices."""
    X, new = fingerprints(m), fingerprints(1000, seed=1)
    signal = X[:, :200].sum(axis=1)
    y = signal + np.random.default_rng(2).normal(size=m) > np.median(signal)

    def ours():
        return al.MKLClassifier([al.Tanimoto()]).fit(X, y).predict(new)

    def on_matrices():
        model = al.MKLClassifier("precomputed").fit([formula(X)], y)
        return model.predict([formula(new, X)])

    assert np.mean(ours() == on_matrices()) > 0.99
    work = f"MKLClassifier([Tanimoto()]), m={m}, 1000 new"
    yield Pair(f"{work}, against matrices", on_matrices, ours, key="fingerprint-fit")
