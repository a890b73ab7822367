"""Statistics of alignment: one thread and two, older processors, many kernels, large samples."""

from __future__ import annotations

import platform
import tempfile
from functools import partial

import numpy as np
from _bench import PEAK, interleaved, output, threads
from _bench_limit import Peaks, arithmetic_limit, program_of_statistics
from _run import HERE, Pair, row

import alignlearn as al

LADDER = 2.0 ** np.arange(-9, 1)


def sample(m=4000, d=20):
    """Standard normal samples and a noisy target."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(m)


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


def against_numpy(work, X, y, gammas, key, dtype=np.float64):
    """The statistics of these Gaussians, compiled before."""
    kernels, given = al.gaussian_kernels(gammas), X.astype(dtype)
    al.alignment_statistics(given[:300], y[:300], kernels)
    theirs = partial(numpy_statistics, X, y, gammas)
    return Pair(work, theirs, partial(al.alignment_statistics, given, y, kernels), key=key)


@row(m=300)
def ladder(m=4000):
    """a, M and traces of 10 Gaussians in ratio 2, m = 4000, d = 20, on one thread and two."""
    for key, n, dtype in (
        ("ladder", 1, "float64"),
        ("ladder-float32", 1, "float32"),
        ("ladder-2-threads", 2, "float64"),
    ):
        with threads(n):
            work = f"ladder m={m} p=10, {dtype}, {n} thread(s)"
            yield against_numpy(work, *sample(m), LADDER, key, dtype)


@row(m=300)
def unrelated(m=4000):
    """The same of ten unrelated gammas."""
    with threads(1):
        gammas = np.geomspace(0.002, 1.1, 10)
        yield against_numpy("10 unrelated gammas, 1 thread", *sample(m), gammas, "unrelated")


@row(m=100, sizes=(30,))
def many(m=500, sizes=(200, 600)):
    """Hundreds of kernels, where the p x p products are nearly all of the work."""
    for p in sizes:
        with threads(1):
            gammas = np.geomspace(0.002, 1.1, p)
            work = f"p={p} unrelated gammas, m={m}, 1 thread"
            yield against_numpy(work, *sample(m), gammas, f"many-{p}")


@row(m=200)
def sparse_samples(m=4000, d=20_000):
    """100 entries a row in 20,000 columns, as many in each or as words in a text."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    y = rng.standard_normal(m)
    frequency = 1.0 / np.arange(1, d + 1)
    # 145 words, some of them more than once, are 100 different ones.
    words = rng.choice(d, size=145 * m, p=frequency / frequency.sum())
    text = sparse.coo_array((np.ones(words.size), (np.repeat(np.arange(m), 145), words)), (m, d))
    even = sparse.random_array((m, d), density=100 / d, format="csr", rng=rng)
    with threads(1):
        for label, X in (("even", even), ("as in text", text.tocsr())):
            work = f"sparse X, {label}, m={m} p=10, 1 thread"
            yield against_numpy(work, X, y, LADDER / 50, "sparse")


@row(m=300, repeats=2)
def limit(m=4000, repeats=41):
    """The ladder against the arithmetic of this machine, in float32, and on two threads."""
    X, y = sample(m)
    kernels = al.gaussian_kernels(LADDER)

    def statistics(dtype, n):
        with threads(n):
            al.alignment_statistics(X.astype(dtype), y, kernels)

    cases = [(dtype, n) for dtype in ("float64", "float32") for n in (1, 2)]
    peaks = [Peaks("float64"), Peaks("float32")]
    times = interleaved(repeats, *(partial(statistics, *c) for c in cases), *peaks)
    # Medians where runs are compared: a processor may have a faster clock while another is idle.
    best, usual = (dict(zip(cases, f(times[1:], axis=0))) for f in (np.min, np.median))
    program, n_pairs = program_of_statistics(X, kernels), len(X) * (len(X) + 1) // 2
    for peak in peaks:
        dtype, (least, text) = peak.dtype.name, arithmetic_limit(program, n_pairs, peak)
        work = f"ladder, {dtype}, 1 thread: fraction of the limit"
        yield Pair(work, least, best[dtype, 1], 1, text, key=f"limit-{dtype}")
        work = f"ladder, {dtype}: 2 threads against 1, medians"
        yield Pair(work, usual[dtype, 1], usual[dtype, 2], 1, key=f"threads-{dtype}")
    work, pair = "ladder, float32 against float64, 1 thread, medians", ("float64", "float32")
    yield Pair(work, *(usual[dtype, 1] for dtype in pair), 1, key="single-float32")


# By Numba's name of a processor: its vectors, what Numba, OpenBLAS and NumPy may use on it.
_PROCESSORS = {
    "haswell": ("AVX2", "+avx2,+fma", "Haswell", {"AVX", "F16C", "FMA3", "AVX2", "X86_V3"}),
    "generic": ("SSE2, two lanes as in NEON", "+sse2", "Nehalem", set()),
}
_OLDER = """
import sys
sys.path.insert(0, {here!r})
from _bench import best_of
from rows import statistics
pair = next(statistics.ladder({m}))
print(*best_of(3, pair.baseline, pair.ours))
"""


@row(m=300, names=("generic",))
def processors(m=4000, names=tuple(_PROCESSORS)):
    """The ladder, both sides compiled for older processors."""
    if platform.machine() not in ("x86_64", "AMD64"):
        yield Pair("older processors: measured on x86-64 only", None, None, 1)
        return
    dispatched = set(np._core._multiarray_umath.__cpu_dispatch__)
    for name in names:
        vectors, ours, blas, theirs = _PROCESSORS[name]
        with tempfile.TemporaryDirectory() as cache:
            found = output(
                _OLDER.format(here=str(HERE), m=m),
                NUMBA_CPU_NAME=name,
                NUMBA_CPU_FEATURES=ours,
                NUMBA_CACHE_DIR=cache,
                NUMBA_NUM_THREADS="1",
                OPENBLAS_NUM_THREADS="1",
                OPENBLAS_CORETYPE=blas,
                NPY_DISABLE_CPU_FEATURES=" ".join(dispatched - theirs),
            )
        work = f"ladder m={m} p=10 on {name} ({vectors}), 1 thread"
        key = {"haswell": "avx2", "generic": "sse2"}[name]
        yield Pair(work, *map(float, found.split()), 1, key=key)


_LARGE = """
import numba, numpy as np, time, alignlearn as al
rng = np.random.default_rng(0)
kernels = al.gaussian_kernels(2.0 ** np.arange(-9, 1))
def seconds(m):
    X, y = rng.standard_normal((m, 20)), rng.standard_normal(m)
    start = time.perf_counter()
    al.alignment_statistics(X, y, kernels)
    return time.perf_counter() - start
seconds(300)
numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
small = min(seconds(4000) for _ in range(7))
print(small, seconds({m}), peak() / 1e6)
"""


@row(m=2000)
def large(m=100_000):
    """Exact statistics of 100,000 samples on two threads, against those of 4000 scaled up."""
    small, fast, used = map(float, output(PEAK + _LARGE.format(m=m)).split())
    work = f"m={m:,}, whole process {used:.0f} MB, against m=4000 x {(m / 4000) ** 2:.4g}"
    base, key, more = small * (m / 4000) ** 2, "hundred-thousand", {"memory": round(used)}
    yield Pair(work, base, fast, 1, "seconds of the clock", key=key, more=more)


@row(m=200)
def folds(m=4000):
    """Statistics of the ten training sets of a cross-validation, against ten passes."""
    X, y = sample(m)
    label = np.random.default_rng(0).permutation(np.arange(m) % 10)
    kernels = al.gaussian_kernels(LADDER)

    def ten_passes():
        for t in range(10):
            al.alignment_statistics(X[label != t], y[label != t], kernels)

    ours = partial(al.alignment_statistics, X, y, kernels, folds=label)
    ours()
    work = f"statistics of 10 training sets, m={m} p=10, against ten passes"
    yield Pair(work, ten_passes, ours, key="folds")
