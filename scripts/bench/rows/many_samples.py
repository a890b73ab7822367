"""Products with a kernel matrix, and machines on few centers, for many samples."""

from __future__ import annotations

import resource
import sys
import tracemalloc
from functools import partial

import numpy as np
from _bench import clock, wall_and_core
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
    for rows in (1000, 4096, m):
        work = f"K(X, Z) v, m = {m}, {n_centers} centers, against blocks of {rows} rows"
        yield Pair(work, partial(blocks, rows), ours, 3, f"extra memory {extra:.1f} MB")


@row(m=500, n_support=50)
def prediction(m=20_000, n_support=2000, d=20):
    """A learned kernel of nine Gaussians times three columns, against its own matrix and @."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    Z, v = X[:n_support].copy(), rng.standard_normal((n_support, 3))
    kernels, weights = al.gaussian_kernels(2.0 ** np.arange(-8, 1)), np.ones(9)
    ours = partial(grams.gram_times, kernels, weights, X, Z, v)

    def blocks():
        starts = range(0, m, 2000)
        parts = [grams.weighted_gram(kernels, weights, X[i : i + 2000], Z) @ v for i in starts]
        return np.concatenate(parts)

    np.testing.assert_allclose(ours(), blocks(), rtol=1e-8)
    yield Pair("nine Gaussians, three columns, against blocks of alignlearn and @", blocks, ours)


@row(sizes=(6000, 8000), n_centers=50)
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
        seconds.append(clock(lambda m=m: model.fit(X[:m], y[:m]), timer=wall_and_core)[0][1])
        note = f"{model.n_iter_} steps, R^2 {model.score(X[:5000], y[:5000]):.4f}"
        yield Pair(f"NystromRidge, m = {m}, {n_centers} centers", None, seconds[-1], 1, note)
    unit = 2**20 if sys.platform == "linux" else 2**30
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    yield Pair(f"NystromRidge: time is m^{slope:.2f}, peak {peak:.2f} GiB", None, None, 1)


@row(m=6000, n_centers=30)
def hinge(m=100_000, n_centers=500, d=10):
    """NystromSVC against scikit-learn's Nystroem and LinearSVC, on the same number of centers."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    X, test = rng.standard_normal((m, d)), rng.standard_normal((5000, d))
    f, truth = (np.sin(2.0 * A[:, 0]) + A[:, 1] * A[:, 2] for A in (X, test))
    y = f + 0.5 * rng.standard_normal(m) > 0.0
    ours = al.NystromSVC(al.Gaussian(0.1), n_centers=n_centers).fit(X[:5000], y[:5000])
    theirs = make_pipeline(
        Nystroem(gamma=0.1, n_components=n_centers, random_state=0),
        LinearSVC(loss="hinge", max_iter=10_000),
    )

    def note():
        scores = (model.score(test, truth > 0.0) for model in (theirs, ours))
        return "accuracy {:.4f} and {:.4f}".format(*scores)

    work = f"NystromSVC, m = {m}, {n_centers} centers, against Nystroem and LinearSVC"
    yield Pair(work, partial(theirs.fit, X, y), partial(ours.fit, X, y), 1, note)
