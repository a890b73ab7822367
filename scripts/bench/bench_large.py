#!/usr/bin/env python
"""Machines for many samples, against what a user would write.

    scripts/bench/bench_large.py                       # every row, about ten minutes
    scripts/bench/bench_large.py gram nystrom          # some rows
    scripts/bench/bench_large.py --threads 1

Both sides run on the same number of threads, but LIBSVM, LIBLINEAR and nnls have one. Times are
the best of several interleaved repeats, compilation done before; on a busy machine repeat the run.
"""

from __future__ import annotations

import resource
import sys
import tracemalloc

import _bench_cca
import _bench_online
import _bench_svm
import numpy as np
from _bench import best_of, clock, ratios, wall_and_core

import alignlearn as al
from alignlearn.engine import grams


def gram(m=50_000, n_centers=1000, d=20):
    """K(X, Z) @ v of a Gaussian, float64, against scikit-learn in blocks of several sizes."""
    from sklearn.metrics.pairwise import rbf_kernel

    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    Z, v = X[:n_centers].copy(), rng.standard_normal(n_centers)
    kernels = [al.Gaussian(1.0 / d)]

    def blocks(rows):
        parts = [rbf_kernel(X[i : i + rows], Z, gamma=1.0 / d) @ v for i in range(0, m, rows)]
        return np.concatenate(parts)

    def ours():
        return grams.gram_times(kernels, [1.0], X, Z, v)

    np.testing.assert_allclose(ours(), blocks(1000), atol=1e-9)
    tracemalloc.start()
    ours()
    extra = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    for rows in (1000, 4096, m):
        times = best_of(3, lambda rows=rows: blocks(rows), ours)
        what = f"K(X, Z) v, m = {m}, {n_centers} centers, against blocks of {rows} rows"
        yield f"{what} (extra memory {extra:.1f} MB)", *times, 5.0


def prediction(m=20_000, n_support=2000, d=20):
    """The kernel of nine Gaussians that an estimator has learned, against its own matrix and @."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    Z, v = X[:n_support].copy(), rng.standard_normal((n_support, 3))
    kernels, weights = al.gaussian_kernels(2.0 ** np.arange(-8, 1)), np.ones(9)

    def ours():
        return grams.gram_times(kernels, weights, X, Z, v)

    def blocks():
        return np.concatenate(
            [
                grams.weighted_gram(kernels, weights, X[i : i + 2000], Z) @ v
                for i in range(0, m, 2000)
            ]
        )

    np.testing.assert_allclose(ours(), blocks(), rtol=1e-8)
    times = best_of(3, blocks, ours)
    yield "nine Gaussians, three columns, against our own blocks and @", *times, 1.0


def nystrom(sizes=(125_000, 250_000, 500_000), n_centers=1000, d=20):
    """NystromRidge on synthetic points: time against m, and the memory of the process."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((sizes[-1], d))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(len(X))
    seconds = []
    model = al.NystromRidge(al.Gaussian(0.5 / d), n_centers=n_centers)
    model.fit(X[:5000], y[:5000])
    for m in sizes:
        model.set_params(alpha=1e-6 * m)
        (wall, core), _ = clock(lambda m=m: model.fit(X[:m], y[:m]), timer=wall_and_core)
        seconds.append(core)
        r2 = model.score(X[:5000], y[:5000])
        work = (
            f"NystromRidge, m = {m}, {n_centers} centers: {wall:.1f} s ({core:.1f} s of all "
            f"cores), {model.n_iter_} steps, residual {model.residual_:.1g}, R^2 {r2:.4f}"
        )
        yield work, None, None, None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if _LINUX else 2**30)
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    work = f"NystromRidge: processor time is m^{slope:.2f}; peak of the process {peak:.2f} GiB (2)"
    yield work, None, None, None


def hinge(m=100_000, n_centers=500, d=10):
    """NystromSVC against scikit-learn's Nystroem and LinearSVC, on the same number of centers."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = f + 0.5 * rng.standard_normal(m) > 0.0
    test = rng.standard_normal((5000, d))
    truth = np.sin(2.0 * test[:, 0]) + test[:, 1] * test[:, 2] > 0.0
    ours = al.NystromSVC(al.Gaussian(0.1), n_centers=n_centers)
    theirs = make_pipeline(
        Nystroem(gamma=0.1, n_components=n_centers, random_state=0),
        LinearSVC(loss="hinge", max_iter=10_000),
    )
    ours.fit(X[:5000], y[:5000])
    times = best_of(1, lambda: theirs.fit(X, y), lambda: ours.fit(X, y))
    gap = float(ours.duality_gap_[0] / ours.objective_[0])
    what = f"support vectors, m = {m}, {n_centers} centers, to a gap of {gap:.1g}"
    scores = f"accuracy {theirs.score(test, truth):.4f} and {ours.score(test, truth):.4f}"
    yield f"{what}, against Nystroem and LinearSVC ({scores})", *times, 1.0


_LINUX = sys.platform == "linux"
ROWS = {
    "gram": gram,
    "prediction": prediction,
    "nystrom": nystrom,
    "hinge": hinge,
    "svc-rows": _bench_svm.svc_rows,
    "svc": _bench_svm.svc_dense,
    "alignf": _bench_svm.alignf_many,
    "sgd": _bench_online.sgd,
    "linear": _bench_online.linear,
    "strings": _bench_online.strings,
    "kcca": _bench_cca.kcca,
    "hsic": _bench_cca.hsic,
    "cka": _bench_cca.cka,
}


if __name__ == "__main__":
    ratios(__doc__, ROWS)
