"""Hyper-kernels: pair products, fits in processes of their own, prediction."""

from __future__ import annotations

from functools import partial

import numba
import numpy as np
from _bench import PEAK, output, threads
from _run import Pair, row

from alignlearn.engine import hyper_values
from alignlearn.engine.cpu import CPU
from alignlearn.hyper import GaussianHyperKernel, WishartHyperKernel, hyper_kernels
from alignlearn.hyper._pairs import PairSystem
from alignlearn.hyper.learned import LearnedKernel

BILLION = 10**9  # values of a hyper-kernel: their seconds are those of one in nanoseconds
HYPER_KERNELS = {
    "Gaussian": GaussianHyperKernel,
    "ladder": hyper_kernels,
    "Wishart": WishartHyperKernel,
}


def sample(m, d, seed=0):
    """Standard normal samples and labels that no linear rule gives."""
    X = np.random.default_rng(seed).standard_normal((m, d))
    return X, X[:, 0] * X[:, 1] > 0.0


@row(m=12, dimensions=(2,), repeats=1)
def pairs(m=90, dimensions=(2, 8, 64), repeats=9):
    """A hyper-kernel between all pairs of pairs: its matrix, and its product with a vector."""
    first, second = np.triu_indices(m)
    n = first.size
    coef = np.random.default_rng(1).standard_normal(n)
    for name, kind in HYPER_KERNELS.items():
        for d in dimensions:
            X, _ = sample(m, d)
            hyper = kind().resolve(X)

            def gram(hyper=hyper, X=X):
                PairSystem(hyper, X, first, second).gram()

            def times(hyper=hyper, X=X):
                (part,) = PairSystem(hyper, X, first, second).parts
                form = part.term.form
                hyper_values.pair_times(form, part.table, part.pairs, part.pairs, coef, CPU)

            for call, what in ((gram, "matrix"), (times, "its product with a vector")):
                call()
                work, key = f"{name}, d={d}, {n} pairs, {what}, a billion", f"pair-{name.lower()}"
                yield Pair(work, None, call, repeats, times=n * n / BILLION, key=key)
    X, _ = sample(2 * m, 8)
    for name in ("Gaussian", "ladder"):
        (system,) = PairSystem(HYPER_KERNELS[name]().resolve(X), X, *np.triu_indices(2 * m)).parts
        n = system.pairs.n_pairs
        call = partial(system.times, np.random.default_rng(1).standard_normal(n))
        work = f"{name}, product of all {n} pairs by matrix products, a billion"
        yield Pair(work, None, call, repeats, times=n * n / BILLION, key="pair-products")


_FIT = """
import time, numpy as np, alignlearn as al
from alignlearn import hyper
{data}
def model(**options):
    return hyper.HyperKRR(hyper.GaussianHyperKernel(), random_state=0, **options)
model(solver="pivoted", max_rank=40).fit(X[:40], np.arange(40) % 2)  # compiles
wall, core = time.perf_counter(), time.process_time()
found = model({options}).fit(X, y)
times = time.perf_counter() - wall, time.process_time() - core
print(*times, peak() / 1e9, found.n_pairs_, found.rank_, found.trace_error_)
"""
_NORMAL = """
X = np.random.default_rng(0).standard_normal(({m}, 8))
y = X[:, 0] * X[:, 1] > 0.0
"""


def fitted(data, options):
    """(seconds, core seconds, peak GB, pairs, rank, trace error) of a fit in its own process."""
    threads = numba.get_num_threads()
    names = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    program = PEAK + _FIT.format(data=data, options=options)
    return [float(word) for word in output(program, **dict.fromkeys(names, str(threads))).split()]


@row(m=60)
def hyper_fit(m=1000):
    """HyperKRR by pivoted Cholesky on all pairs of 1000 points."""
    found = fitted(_NORMAL.format(m=m), "solver='pivoted'")
    wall, core, memory, n_pairs, rank, error = found
    note = f"{wall:.1f} s of the clock, {memory:.2f} GB; {n_pairs:.0f} pairs, rank {rank:.0f}"
    note, more = f"{note}, trace error {error:.1e}", {"memory": round(memory, 1)}
    work = f"HyperKRR, GaussianHyperKernel, m={m}"
    yield Pair(work, None, core, 1, note, key="hyper-fit", more=more)


def numpy_gaussian(kernel, X, Y):
    """The Gaussian expansion as printed: midpoints against midpoints, in blocks of 512 pairs."""
    v1, v2 = kernel.hyper_kernel._variances
    a, b = kernel.points[kernel.first], kernel.points[kernel.second]
    coef = kernel.coef * np.exp(-np.square(a - b).sum(axis=1) / (2.0 * v1))
    middle = 0.5 * (a + b)
    square = np.square(middle).sum(axis=1)
    out = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        between = 0.5 * (x + Y)
        total, norm = np.zeros(len(Y)), np.square(between).sum(axis=1)[:, None]
        for p in range(0, coef.size, 512):
            some = slice(p, p + 512)
            D = norm + square[some] - 2.0 * between @ middle[some].T
            total += np.exp(-D / (2.0 * v2)) @ coef[some]
        out[i] = total * np.exp(-np.square(x - Y).sum(axis=1) / (2.0 * v1))
    return out


def numpy_wishart(kernel, X, Y):
    """The Wishart expansion: determinants ``|C + S|`` by their (3, 3) form, in the same blocks."""
    hyper = kernel.hyper_kernel
    X, Y, points = (hyper._coordinates(Z) for Z in (X, Y, kernel.points))
    a, b = points[kernel.first], points[kernel.second]
    delta, middle = (a - b) / np.sqrt(2.0), 0.5 * (a + b)
    size = 1.0 + np.square(delta).sum(axis=1)
    out = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        apart, between, total = (x - Y) / np.sqrt(2.0), 0.5 * (x + Y), np.zeros(len(Y))
        a, own = 1.0 + np.square(apart).sum(axis=1)[:, None], (apart * between).sum(axis=1)
        norm = np.square(between).sum(axis=1)[:, None]
        for p in range(0, size.size, 512):
            d, m, b = delta[p : p + 512], middle[p : p + 512], size[p : p + 512]
            c = apart @ d.T
            e = own[:, None] - apart @ m.T
            f = between @ d.T - (d * m).sum(axis=1)
            g = 1.0 + norm + np.square(m).sum(axis=1) - 2.0 * between @ m.T
            det = a * (b * g - f * f) - c * (c * g - e * f) + e * (c * f - b * e)
            total += det ** (-0.5 * (hyper.r + 3.0)) @ kernel.coef[p : p + 512]
        out[i] = total
    return out


@row(m=20, n=30)
def hyper_predict(m=500, n=1000):
    """A block of the learned kernel against NumPy; few rows stand for all."""
    points, _ = sample(m, 8)
    first, second = np.triu_indices(m)
    coef = np.random.default_rng(1).standard_normal(first.size)
    X, Y = sample(n, 8, seed=2)[0], sample(n, 8, seed=3)[0]
    for key, name, expression, rows in (
        ("hyper-values", "Gaussian", numpy_gaussian, n),
        ("wishart-values", "Wishart", numpy_wishart, max(2, n // 100)),
    ):
        hyper = HYPER_KERNELS[name]().resolve(points)
        kernel = LearnedKernel(hyper, points, first, second, coef)
        few = max(1, n // 500)
        expected = expression(kernel, X[:few], Y)
        error = np.abs(kernel(X[:few], Y) - expected).max() / np.abs(expected).max()
        work = f"{name}, {n} x {n} values from {coef.size} pairs, against NumPy"
        base = partial(expression, kernel, X[:few], Y)
        ours, note = partial(kernel, X[:rows], Y), f"differ by {error:.0e}"
        with threads(1 if name == "Wishart" else numba.get_num_threads()):
            yield Pair(work, base, ours, 2, note, rows / n, few / n, key)
