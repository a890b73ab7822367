#!/usr/bin/env python
"""Kernels of overlaps against NumPy and against an inner product, on one thread.

    scripts/bench/bench_kernels.py --threads 1
    scripts/bench/bench_kernels.py --threads 1 bits fit

Times are the best of several interleaved repeats, which is the least sensitive to a shared machine.
"""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
from _bench import PEAK, best_of, output, ratios

import alignlearn as al

ROWS = {}
M, D = 4000, 2048


def row(function):
    """Register a benchmark: a function that yields (work, baseline s, ours s, target ratio)."""
    ROWS[function.__name__] = function
    return function


def fingerprints(m=M, d=D, dtype=np.float64, seed=0):
    """Samples of 0 and 1, a tenth of them 1, in groups as molecules of a family have them."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).random((20, d)) < 0.1
    X = centers[rng.integers(0, 20, m)] ^ (rng.random((m, d)) < 0.03)
    return X.astype(dtype)


def formula(X, Z=None):
    """The obvious way: a product of matrices, and norms."""
    Z = X if Z is None else Z
    inner = X @ Z.T
    return inner / ((X * X).sum(axis=1)[:, None] + (Z * Z).sum(axis=1) - inner)


_MEMORY = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
import bench_kernels as bench
X = bench.fingerprints()
bench.al.Tanimoto()(X[:100]), bench.formula(X[:100])
before = peak()
K = {call}
print((peak() - before) / K.nbytes)
"""


@row
def bits():
    """Of samples of 0 and 1: time, and memory in units of the matrix that is returned."""
    for dtype in (np.float64, np.float32):
        X, kernel = fingerprints(dtype=dtype), al.Tanimoto()
        kernel(X[:100])
        np.testing.assert_allclose(kernel(X[:200]), formula(X[:200]), rtol=1e-6)
        base, fast = best_of(7, partial(formula, X), partial(kernel, X))
        yield f"Tanimoto, {D} bits, m={M}, {dtype.__name__}, against NumPy", base, fast, 5
        if dtype == np.float64:
            double = base
        else:
            yield "    the same against NumPy in float64", double, fast, 5
    folder = __file__.rpartition("/")[0]
    calls = "bench.formula(X)", "bench.al.Tanimoto()(X)"
    code = [PEAK + _MEMORY.format(folder=folder, call=call) for call in calls]
    base, ours = (float(output(c, OPENBLAS_NUM_THREADS="1")) for c in code)
    yield "    peak memory over the samples, in matrices", base, ours, None
    X = fingerprints()
    tracemalloc.start()
    K = al.Tanimoto()(X)
    more = tracemalloc.get_traced_memory()[1] - K.nbytes
    tracemalloc.stop()
    yield f"    arrays beside the result: {more / K.nbytes:.2f} matrices", None, None, None


@row
def several():
    """Other kernels on the same samples with it."""
    X = fingerprints()
    kernels = [al.Tanimoto(), al.Gaussian(0.01), al.Laplacian(0.01)]

    def baseline():
        inner = X @ X.T
        size = (X * X).sum(axis=1)
        apart = size[:, None] + size - 2 * inner
        return [inner / (apart + inner), np.exp(-0.01 * apart), np.exp(-0.01 * apart)]

    together = 1.0 * kernels[0] + kernels[1] + kernels[2]
    together(X[:100])
    base, fast = best_of(3, baseline, partial(together, X))
    yield f"Tanimoto + Gaussian + Laplacian, {D} bits, m={M}, against NumPy", base, fast, None


@row
def numbers():
    """Of counts, which are no bits: an inner product of the library is the baseline."""
    for m, d in ((2000, 512), (4000, 20)):
        X = np.random.default_rng(0).poisson(1.0, (m, d)).astype(np.float64)
        linear = al.Linear()
        for kernel in (al.Tanimoto(), al.MinMax()):
            kernel(X[:100]), linear(X[:100])
            base, ours = best_of(5, partial(linear, X), partial(kernel, X))
            yield f"{kernel}, counts, m={m}, d={d}, against linear", base, ours, 0.8


@row
def fit():
    """Fit and prediction, against the same estimator on matrices by NumPy, and scikit-learn's."""
    from sklearn.svm import SVC

    X, new = fingerprints(), fingerprints(1000, seed=1)
    y = X[:, :200].sum(axis=1) + np.random.default_rng(2).normal(size=M) > np.median(
        X[:, :200].sum(axis=1)
    )

    def ours():
        return al.MKLClassifier([al.Tanimoto()]).fit(X, y).predict(new)

    def on_matrices():
        model = al.MKLClassifier("precomputed").fit([formula(X)], y)
        return model.predict([formula(new, X)])

    def support_vectors():
        return SVC(kernel="precomputed").fit(formula(X), y).predict(formula(new, X))

    assert np.mean(ours() == on_matrices()) > 0.99
    base, other, fast = best_of(3, on_matrices, support_vectors, ours)
    yield f"MKLClassifier([Tanimoto()]), m={M}, 1000 new, against matrices", base, fast, None
    yield "    the same against SVC of the matrices of NumPy", other, fast, None


if __name__ == "__main__":
    ratios(__doc__, ROWS)
