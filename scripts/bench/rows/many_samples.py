"""Products with a kernel matrix, and machines on few centers, for many samples."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
from _bench import threads
from _run import Pair, row

import alignlearn as al
from alignlearn.engine import grams


@row(m=2000, n_centers=50)
def gram(m=50_000, n_centers=1000, d=20):
    """K(X, Z) @ v of a Gaussian, float64, against scikit-learn in blocks of several sizes."""
    from sklearn.metrics.pairwise import rbf_kernel

    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    Z, v = X[:n_centers].copy(), rng.standard_normal(n_centers)

    def blocks(rows):
        parts = [rbf_kernel(X[i : i + rows], Z, gamma=1.0 / d) @ v for i in range(0, m, rows)]
        return np.concatenate(parts)

    ours = partial(grams.gram_times, [al.Gaussian(1.0 / d)], [1.0], X, Z, v)
    np.testing.assert_allclose(ours(), blocks(1000), atol=1e-9)
    tracemalloc.start()
    ours()
    extra = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    for n in (1, 2):
        with threads(n):
            for rows in (1000, 4096, m):
                work = f"K(X, Z) v, m = {m}, {n_centers} centers, {n} threads, blocks of {rows}"
                note = f"extra memory {extra:.1f} MB"
                yield Pair(work, partial(blocks, rows), ours, 3, note, key=f"gram-{n}")
