"""Canonical correlations, a test of independence, CKA, against NumPy and SciPy."""

from __future__ import annotations

from functools import partial

import numpy as np
from _bench import clock
from _run import Pair, row
from scipy.linalg import eigh

import alignlearn as al


def two_views(N, seed=0):
    """Two views of two columns, functions of one hidden number and noise."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1.0, 1.0, N)
    first = np.sin(3.0 * t) + 0.3 * rng.normal(size=N)
    second = np.square(t) + 0.3 * rng.normal(size=N)
    return [np.column_stack([a, rng.normal(size=N)]) for a in (first, second)]


def centered(K):
    """K, centered in its place."""
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return K


def gaussian(X):
    """The centered Gram matrix of the library's default kernel, as one would write it."""
    square = np.square(X).sum(axis=1)
    distance = np.maximum(square[:, None] + square - 2.0 * X @ X.T, 0.0)
    return centered(np.exp(-distance / (X.shape[1] * X.var())))


def dense_kcca(views, kappa):
    """The largest correlation from the 2N x 2N generalized problem of the slides."""
    N = len(views[0])
    A, B = np.zeros((2, 2 * N, 2 * N))
    grams = [gaussian(X) for X in views]
    for i, K in enumerate(grams):
        shifted = K + kappa * np.eye(N)
        rows = slice(i * N, (i + 1) * N)
        B[rows, rows] = shifted @ shifted
    A[:N, N:] = grams[0] @ grams[1]
    A[N:, :N] = A[:N, N:].T
    return eigh(A, B, eigvals_only=True, subset_by_index=[2 * N - 1, 2 * N - 1])[0]


@row(N=300, sizes=(60, 100))
def kcca(N=4000, sizes=(250, 500, 1000), tol=1e-6, kappa=0.02):
    """KernelCCA by pivoted Cholesky; the dense problem is timed where it is small, then cubic."""
    dense_kcca(two_views(50), 1.0)
    times, differences = [], []
    for n in sizes:
        views, shift = two_views(n), kappa * n / 2.0
        base, rho = clock(partial(dense_kcca, views, shift))
        model = al.KernelCCA(solver="exact", kappa=shift, regularization="gram").fit(views)
        differences.append(abs(rho - model.dependence_))
        times.append(base)
    # The best of the cubic constants: small problems run at a lower rate.
    dense = min(t / n**3 for t, n in zip(times, sizes)) * N**3
    options = {"kappa": kappa * N / 2.0, "regularization": "gram", "solver": "low-rank"}
    model = al.KernelCCA(tol=tol, **options)

    def note():
        error, apart = model.error_bound_[0], max(differences)
        return (
            f"baseline as N^3; ranks {model.ranks_}, error {error:.0e}, exact differs {apart:.0e}"
        )

    ours = partial(model.fit, two_views(N))
    yield Pair(f"KCCA, N = {N}, two views", dense, ours, 3, note, key="kcca")
