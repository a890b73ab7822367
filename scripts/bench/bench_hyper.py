#!/usr/bin/env python
"""Hyper-kernels: pair products, fitting, prediction and large samples, with their targets.

    scripts/bench/bench_hyper.py                      # every row, about half an hour, 3 GB
    scripts/bench/bench_hyper.py pairs predict        # some rows
    scripts/bench/bench_hyper.py --threads 1 --quick  # small sizes: what is measured, not how fast

Least time of several calls where they are short. Core time is that of the processor, summed over
threads, which a shared machine disturbs least; seconds are those of the clock. Fits run in
processes of their own, for their peak memory. Row "ijcnn1" needs the data set of that name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from _bench import PEAK, clock, options, output, threads, wall_and_core

from alignlearn.engine import hyper_values
from alignlearn.engine.cpu import CPU
from alignlearn.hyper import GaussianHyperKernel, WishartHyperKernel, hyper_kernels
from alignlearn.hyper._pairs import PairSystem
from alignlearn.hyper.learned import LearnedKernel

HYPER_KERNELS = {
    "Gaussian": GaussianHyperKernel,
    "ladder": hyper_kernels,
    "Wishart": WishartHyperKernel,
}


class Line(NamedTuple):
    """One measured figure; ``target`` is a limit, or the least ratio where the unit is "times"."""

    work: str
    figure: float
    unit: str
    target: float | None = None
    note: str = ""


def timed(function, repeats):
    """Least seconds of the clock and of all cores."""
    return clock(function, repeats, wall_and_core)[0]


def sample(m, d, seed=0):
    """Standard normal samples and labels that no linear rule gives."""
    X = np.random.default_rng(seed).standard_normal((m, d))
    return X, X[:, 0] * X[:, 1] > 0.0


def pairs(quick, threads):
    """Nanoseconds of core time for a value of a hyper-kernel between two pairs."""
    m, repeats = (20, 2) if quick else (90, 9)
    first, second = np.triu_indices(m)
    n = first.size
    coef = np.random.default_rng(1).standard_normal(n)
    for name, kind in HYPER_KERNELS.items():
        for d in (2, 8, 64):
            X, _ = sample(m, d)
            hyper = kind().resolve(X)

            def gram(hyper=hyper, X=X):
                PairSystem(hyper, X, first, second).gram()

            def times(hyper=hyper, X=X):
                (part,) = PairSystem(hyper, X, first, second).parts
                hyper_values.pair_times(
                    part.term.form, part.table, part.pairs, part.pairs, coef, CPU
                )

            for call, what in ((gram, "matrix"), (times, "its product with a vector")):
                call()
                wall, core = timed(call, repeats)
                work = f"{name}, d={d}, {n} pairs, {what}, per entry"
                yield Line(work, 1e9 * core / n**2, "ns", 10.0, f"{wall:.3f} s")
    m = 20 if quick else 200
    X, _ = sample(m, 8)
    found = {}
    for name in ("Gaussian", "ladder"):
        (system,) = PairSystem(HYPER_KERNELS[name]().resolve(X), X, *np.triu_indices(m)).parts
        n = system.pairs.n_pairs
        coef = np.random.default_rng(1).standard_normal(n)
        wall, core = timed(lambda system=system, coef=coef: system.times(coef), repeats)
        found[name] = core / n**2
        note = f"{wall:.3f} s; {found[name] / found['Gaussian']:.1f} times one Gaussian"
        work = f"{name}, product of all {n} pairs by matrix products"
        yield Line(work, 1e9 * found[name], "ns", 10.0, note)


_FIT = """
import time, numpy as np, alignlearn as al
from alignlearn import hyper
{data}
def model(**options):
    return hyper.HyperKRR(hyper.{kind}(), random_state=0, **options)
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
_IJCNN1 = """
X, y = al.datasets.load("ijcnn1", return_X_y=True)
X, y = X[::{step}], y[::{step}]
"""


def fitted(threads, data, options, kind="GaussianHyperKernel"):
    """(seconds, core seconds, peak GB, pairs, rank, trace error) of a fit in its own process."""
    names = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    program = PEAK + _FIT.format(data=data, options=options, kind=kind)
    return [float(word) for word in output(program, **dict.fromkeys(names, str(threads))).split()]


def fit_lines(work, found, limits=(None, None)):
    """Seconds and peak memory of a fit."""
    wall, core, memory, n_pairs, rank, error = found
    note = f"{core:.1f} s core time; {n_pairs:.0f} pairs, rank {rank:.0f}, trace error {error:.1e}"
    yield Line(work, wall, "s", limits[0], note)
    yield Line("  its peak memory", memory, "GB", limits[1])


def fit(quick, threads):
    """HyperKRR by pivoted Cholesky on all pairs of 1000 points."""
    m = 100 if quick else 1000
    for kind in HYPER_KERNELS.values():
        found = fitted(threads, _NORMAL.format(m=m), "solver='pivoted'", kind.__name__)
        yield from fit_lines(f"HyperKRR, {kind.__name__}, m={m}", found, (60.0, 4.0))


def numpy_gaussian(kernel, X, Y):
    """The Gaussian expansions as printed, part by part."""
    whole = 1.0 * kernel.hyper_kernel
    pairs = zip(whole.weights, whole.parts)
    return sum(weight * numpy_part(kernel, part, X, Y) for weight, part in pairs)


def numpy_part(kernel, part, X, Y):
    """Midpoints against midpoints, in blocks of 512 pairs."""
    v1, v2 = part._variances
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


def predict(quick, threads):
    """A block of the learned kernel against the NumPy expression; rows that stand for all."""
    m, n = (20, 30) if quick else (500, 1000)
    points, _ = sample(m, 8)
    first, second = np.triu_indices(m)
    coef = np.random.default_rng(1).standard_normal(first.size)
    X, Y = sample(n, 8, seed=2)[0], sample(n, 8, seed=3)[0]
    for name, expression, rows in (
        ("Gaussian", numpy_gaussian, n),
        ("ladder", numpy_gaussian, n),
        ("Wishart", numpy_wishart, max(2, n // 100)),
    ):
        hyper = HYPER_KERNELS[name]().resolve(points)
        kernel = LearnedKernel(hyper, points, first, second, coef)
        few = max(1, n // 500)
        expected = expression(kernel, X[:few], Y)
        error = np.abs(kernel(X[:few], Y) - expected).max() / np.abs(expected).max()
        base = timed(lambda e=expression, k=kernel, few=few: e(k, X[:few], Y), 2) * (n / few)
        ours = timed(lambda k=kernel, rows=rows: k(X[:rows], Y), 2) * (n / rows)
        note = (
            f"{base[0]:.0f} s (of {few} rows) -> {ours[0]:.1f} s"
            + (f" (of {rows} rows)" if rows < n else "")
            + f"; core time {base[1] / ours[1]:.1f} times; "
            f"differ by {error:.0e}"
        )
        work = f"{name}, {n} x {n} values from {coef.size} pairs, against NumPy"
        yield Line(work, base[0] / ours[0], "times", 20.0, note)


def ijcnn1(quick, threads):
    """HyperKRR on all points of ijcnn1, by clusters and by pairs drawn from all."""
    options = ", max_pairs=3000, max_rank=50, solver='pivoted'" if quick else ""
    data = _IJCNN1.format(step=100 if quick else 1)
    for v in (None, 5, 10, 20):
        found = fitted(threads, data, f"decomposition={v}{options}")
        yield from fit_lines(f"ijcnn1, {f'{v} clusters' if v else 'one cluster'}", found)


ROWS = {"pairs": pairs, "fit": fit, "predict": predict, "ijcnn1": ijcnn1}


def processor():
    """Its name, where the system says."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return "processor of unknown name"


def main(argv=None):
    """Print the table; the lines by row."""

    def extend(parser):
        parser.add_argument("--quick", action="store_true", help="small sizes")

    args = options(__doc__, ROWS, argv, with_threads=True, extend=extend)
    print(f"{processor()}, {args.threads} threads")
    print(f"{'work':<68} {'measured':>9} {'':<5} {'target':>6}")
    found = {}
    with threads(args.threads):
        for name in args.rows:
            found[name] = []
            for line in ROWS[name](args.quick, args.threads):
                found[name].append(line)
                target = "" if line.target is None else f"{line.target:g}"
                numbers = f"{line.figure:9.2f} {line.unit:<5} {target:>6}"
                print(f"{line.work:<68} {numbers}  {line.note}", flush=True)
    return found


if __name__ == "__main__":
    main()
