#!/usr/bin/env python
"""Ratios against the obvious baselines, measured in one run on the same number of threads.

    scripts/bench/bench_core.py                # every row, a few minutes
    scripts/bench/bench_core.py ladder svc     # some rows

Times are the best of several interleaved repeats, which is the least sensitive to a shared machine.
The baselines are what a user would write: scikit-learn and NumPy, given the same threads.
"""

from __future__ import annotations

import os
import platform
import tempfile
from functools import partial

import numpy as np
from _bench import PEAK, best_of, interleaved, output, ratios, threads
from _bench_limit import Peaks, arithmetic_limit, program_of_statistics

import alignlearn as al

ROWS = {}


def row(function):
    """Register a benchmark: a function that yields (work, baseline s, ours s, target ratio)."""
    ROWS[function.__name__] = function
    return function


def sample(m=4000, d=20, dtype=np.float64):
    """Standard normal samples and a noisy target."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(m)
    return X.astype(dtype), y


def numpy_statistics(X, y, gammas):
    """The obvious way: p Gram matrices, centered by their means, and one matrix product."""
    from sklearn.metrics.pairwise import rbf_kernel

    m, target = len(y), y - y.mean()
    stack, trace = np.empty((len(gammas), m * m)), np.empty(len(gammas))
    for k, gamma in enumerate(gammas):
        K = rbf_kernel(X, gamma=gamma)
        means = K.mean(axis=0)
        K -= means
        K -= means[:, None]
        K += means.mean()
        trace[k] = np.trace(K)
        stack[k] = K.ravel()
    return stack @ np.outer(target, target).ravel(), stack @ stack.T, trace


def _statistics_row(gammas, label, targets):
    X, y = sample()
    kernels = al.gaussian_kernels(gammas)
    for n, target in zip((1, 2), targets):
        with threads(n):
            al.alignment_statistics(X[:300], y[:300], kernels)
            base, fast = best_of(
                3,
                lambda: numpy_statistics(X, y, gammas),
                lambda: [al.alignment_statistics(X, y, kernels) for _ in range(3)],
            )
        yield f"{label}, float64, {n} thread(s)", base, fast / 3, target


@row
def ladder():
    """a, M, traces; m = 4000, p = 10 Gaussians in ratio 2, d = 20."""
    yield from _statistics_row(2.0 ** np.arange(-9, 1), "ladder m=4000 p=10", (25, 25))


@row
def unrelated():
    """The same for ten unrelated gammas."""
    yield from _statistics_row(np.geomspace(0.002, 1.1, 10), "10 unrelated gammas", (10, 10))


@row
def limit():
    """The ladder against the arithmetic of this machine, in float32, and on two threads."""
    X, y = sample()
    kernels = al.gaussian_kernels(2.0 ** np.arange(-9, 1))

    def statistics(dtype, n):
        with threads(n):
            al.alignment_statistics(X.astype(dtype), y, kernels)

    cases = [(dtype, n) for dtype in ("float64", "float32") for n in (1, 2)]
    peaks = [Peaks("float64"), Peaks("float32")]
    times = interleaved(41, *(partial(statistics, *c) for c in cases), *peaks)
    # Medians where runs are compared: a processor may have a faster clock while another is idle.
    best, usual = (dict(zip(cases, f(times[1:], axis=0))) for f in (np.min, np.median))
    program, n_pairs = program_of_statistics(X, kernels), len(X) * (len(X) + 1) // 2
    for peak in peaks:
        dtype, (least, text) = peak.dtype.name, arithmetic_limit(program, n_pairs, peak)
        yield text, None, None, None
        yield f"ladder, {dtype}, 1 thread: fraction of the limit", least, best[dtype, 1], None
        one, two = usual[dtype, 1], usual[dtype, 2]
        yield f"ladder, {dtype}: 2 threads against 1, medians", one, two, 1.9
    for n in (1, 2):
        double, single = usual["float64", n], usual["float32", n]
        yield f"ladder, float32 against float64, {n} thread(s), medians", double, single, 1.8


def _many_kernels(p):
    """Seconds of NumPy and ours: p unrelated gammas, m = 500, one thread."""
    X, y = sample(500)
    gammas = np.geomspace(0.002, 1.1, p)
    kernels = al.gaussian_kernels(gammas)
    with threads(1):
        al.alignment_statistics(X, y, kernels)
        return best_of(
            3,
            lambda: numpy_statistics(X, y, gammas),
            lambda: al.alignment_statistics(X, y, kernels),
        )


@row
def many():
    """Hundreds of kernels, where the p x p products are nearly all of the work."""
    for p, target in ((200, 4), (600, 3)):
        yield f"p={p} unrelated gammas, m=500, 1 thread", *_many_kernels(p), target


# By Numba's name of a processor: its vectors, what Numba, OpenBLAS and NumPy may use on it.
_PROCESSORS = {
    "haswell": ("AVX2", "+avx2,+fma", "Haswell", {"AVX", "F16C", "FMA3", "AVX2", "X86_V3"}),
    "generic": ("SSE2, two lanes as in NEON", "+sse2", "Nehalem", set()),
}
_OLDER = """
import sys
sys.path.insert(0, {scripts!r})
import bench_core
for _, base, ours, _ in bench_core.ladder():
    print(base, ours)
    break
print(*bench_core._many_kernels(200))
"""


@row
def processors():
    """Ours and NumPy, both compiled for processors of fewer and shorter vectors."""
    if platform.machine() not in ("x86_64", "AMD64"):
        yield "older processors: measured on x86-64 only", None, None, None
        return
    dispatched = set(np._core._multiarray_umath.__cpu_dispatch__)
    code = _OLDER.format(scripts=os.path.dirname(os.path.abspath(__file__)))
    for name, (vectors, ours, blas, theirs) in _PROCESSORS.items():
        with tempfile.TemporaryDirectory() as cache:
            found = output(
                code,
                NUMBA_CPU_NAME=name,
                NUMBA_CPU_FEATURES=ours,
                NUMBA_CACHE_DIR=cache,
                OPENBLAS_CORETYPE=blas,
                NPY_DISABLE_CPU_FEATURES=" ".join(dispatched - theirs),
            )
        for work, line in zip(("ladder m=4000 p=10", "p=200 m=500"), found.splitlines()):
            yield f"{work} on {name} ({vectors}), 1 thread", *map(float, line.split()), 1


_SECONDS = """
import numba, numpy as np, time, alignlearn as al
rng = np.random.default_rng(0)
kernels = al.gaussian_kernels(2.0 ** np.arange(-9, 1))
def seconds(m):
    X, y = rng.standard_normal((m, 20)), rng.standard_normal(m)
    start = time.perf_counter()
    al.alignment_statistics(X, y, kernels)
    return time.perf_counter() - start
seconds(300)
"""
_LARGE = """
numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
small = min(seconds(4000) for _ in range(7))
print(small, seconds(100_000), peak() / 1e6)
"""
_MEMORY = """
before = peak()
seconds(20_000)
print((peak() - before) / 1e6)
"""


@row
def large():
    """Exact statistics of 100,000 samples on two threads, against those of 4000 scaled up."""
    small, fast, used = map(float, output(PEAK + _SECONDS + _LARGE).split())
    work = f"m=100,000, whole process {used:.0f} MB (limit 1000), against m=4000 x 625"
    yield work, small * 625.0, fast, 1 / 1.2


@row
def memory():
    """Peak extra memory at m = 20,000, p = 10, in a process of its own."""
    used = float(output(PEAK + _SECONDS + _MEMORY))
    yield "extra MB at m=20,000 p=10 (limit 200), against p matrices", 32_000, max(used, 1), 160


def _quadratic_programs(rank=500, p=1000):
    """(label, A, b) with M = A'A, a = A'b; alignment always gives nonnegative M and a."""
    rng = np.random.default_rng(0)
    A = np.abs(rng.standard_normal((rank, p)))
    yield "nonnegative M", A, 1.0 + rng.standard_normal(rank)
    true = np.where(rng.random(p) < 0.2, rng.random(p), 0.0)
    yield "nonnegative M, 200 true", A, A @ true + 0.1 * rng.standard_normal(rank)
    yield "signed M", rng.standard_normal((rank, p)), rng.standard_normal(rank)


@row
def alignf():
    """AlignF's QP at p = 1000, M dense of rank 500, against scipy's nnls on a factor given free."""
    from scipy.optimize import nnls

    from alignlearn.solvers.nnqp import nonnegative_qp

    for label, A, b in _quadratic_programs():
        M, a = A.T @ A, A.T @ b
        with threads(1):
            result = nonnegative_qp(M, a, check_psd=False)
            base, fast = best_of(
                7,
                lambda A=A, b=b: nnls(A, b, maxiter=100_000),
                lambda M=M, a=a: nonnegative_qp(M, a, check_psd=False),
            )
        v, scale = nnls(A, b, maxiter=100_000)[0], np.sqrt(np.diagonal(M))
        gradient = (a - M @ v) / scale
        theirs = max(np.abs(gradient[v > 0]).max(), gradient.max()) / np.abs(a / scale).max()
        certificate = f"KKT {result.kkt_residual:.0e} / {theirs:.0e}"
        yield f"AlignF p=1000 rank 500, {label} ({certificate})", base, fast, 5


def overlapping_classes(m, d, seed=0):
    """Standardized data, a curved noisy boundary, 10 per cent of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    score = X @ rng.standard_normal(d) / np.sqrt(d) + 0.5 * np.sin(2.0 * X[:, 0]) * X[:, 1]
    y = np.where(score + 0.3 * rng.standard_normal(m) > 0.0, 1, -1)
    y[rng.random(m) < 0.1] *= -1
    return (X - X.mean(0)) / X.std(0), y


@row
def svc():
    """C-SVC on a precomputed Gram matrix at m = 4000, against scikit-learn's (LIBSVM)."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    from alignlearn.machines import SupportVectorClassifier

    X, y = overlapping_classes(4000, 20)
    K = rbf_kernel(X, gamma=1.0 / 20)
    with threads(1):
        SupportVectorClassifier().fit(np.ascontiguousarray(K[:200, :200]), y[:200])
        for C in (1.0, 100.0):
            default, large_cache, fast = best_of(
                3,
                lambda C=C: SVC(C=C, kernel="precomputed").fit(K, y),
                lambda C=C: SVC(C=C, kernel="precomputed", cache_size=2000).fit(K, y),
                lambda C=C: SupportVectorClassifier(C=C).fit(K, y),
            )
            yield f"SVC m=4000 C={C:g}, LIBSVM cache 200 MB", default, fast, 2
            yield f"SVC m=4000 C={C:g}, LIBSVM cache 2 GB", large_cache, fast, 2


@row
def sparse_samples():
    """The same for 100 entries a row in 20,000 columns, as many in each or as words in a text."""
    from scipy import sparse

    rng, m, d = np.random.default_rng(0), 4000, 20_000
    y, gammas = rng.standard_normal(m), 2.0 ** np.arange(-9, 1) / 50
    frequency = 1.0 / np.arange(1, d + 1)
    # 145 words, some of them more than once, are 100 different ones.
    words = rng.choice(d, size=145 * m, p=frequency / frequency.sum())
    text = sparse.coo_array((np.ones(words.size), (np.repeat(np.arange(m), 145), words)), (m, d))
    even = sparse.random_array((m, d), density=100 / d, format="csr", rng=rng)
    kernels = al.gaussian_kernels(gammas)
    with threads(1):
        for label, X in (("even", even), ("as in text", text.tocsr())):
            al.alignment_statistics(X[:300], y[:300], kernels)
            base, fast = best_of(
                3,
                lambda X=X: numpy_statistics(X, y, gammas),
                lambda X=X: [al.alignment_statistics(X, y, kernels) for _ in range(3)],
            )
            yield f"ladder of sparse samples, {label}", base, fast / 3, 10


@row
def rank_one():
    """Rank-one kernels of 4000 sparse columns, against dense NumPy."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = sparse.random(2000, 4000, 0.014, format="csr", random_state=rng)
    y = rng.standard_normal(2000)
    dense = X.toarray()

    def baseline():
        Z = dense - dense.mean(axis=0)
        G = Z.T @ Z
        return np.square(Z.T @ (y - y.mean())), G * G, np.square(Z).sum(axis=0)

    with threads(1):
        kernels = al.RankOneKernels()
        al.alignment_statistics(X, y, kernels)
        base, fast = best_of(5, baseline, lambda: al.alignment_statistics(X, y, kernels))
    yield "rank-one m=2000 p=4000 sparse", base, fast, 10


_IMPORT = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
_FIT = """
import time, numpy as np
t = time.perf_counter()
import alignlearn as al
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5)); y = (X[:, 0] > 0).astype(int)
al.MKLClassifier().fit(X, y)
print(time.perf_counter() - t)
"""


def _python(code, repeats=1, **environment):
    """Least number printed by several runs of a program."""
    return min(float(output(code, **environment)) for _ in range(repeats))


@row
def start():
    """Import time, and MKLClassifier.fit from an empty and from a filled cache."""
    others = _python(_IMPORT.format("import numba, scipy"), 7)
    ours = _python(_IMPORT.format("import alignlearn"), 7)
    yield "import alignlearn against import numba, scipy (limit 1.3)", others, ours, 1 / 1.3
    with tempfile.TemporaryDirectory() as cache:
        cold = _python(_FIT, NUMBA_CACHE_DIR=cache)
        warm = _python(_FIT, 3, NUMBA_CACHE_DIR=cache)
    yield "MKLClassifier.fit, cold, against 45 s", 45.0, cold, 1
    yield "MKLClassifier.fit, cached, against 2 s", 2.0, warm, 1


if __name__ == "__main__":
    ratios(__doc__, ROWS)
