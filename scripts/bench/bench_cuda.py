#!/usr/bin/env python
"""Speed on a CUDA device: pairs per second, and their share of the device's arithmetic limit.

    scripts/bench/bench_cuda.py                 # some minutes
    scripts/bench/bench_cuda.py --quick    # what is measured, not how fast (simulator)

The limit is measured in the same run: fused multiply-adds per second by a kernel that does nothing
else. A pair is charged its indispensable floating-point instructions: 2 for a feature of a
distance, 10 for an exponential (a multiplication, the reduction, the device's power of two, a
correction), 1 for a multiply-add of a product or a sum. Times are minima over several whole calls
with data and results on the host. Without a device nothing is measured.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from _bench import clock
from _studies import publish_times, study
from numba import cuda

from alignlearn._jit import cuda_kernel
from alignlearn._threads import thread_count
from alignlearn.engine.cpu import CPU
from alignlearn.engine.cuda.device import ask, problem, quiet
from alignlearn.engine.grams import GramProducts
from alignlearn.engine.pair_sums import centered_sums
from alignlearn.hyper import WishartHyperKernel
from alignlearn.hyper._pairs import PairSystem
from alignlearn.kernels import gaussian_kernels

EXPONENTIAL = 10
RUN = 16  # multiply-adds one after the other, of eight at once
# Features, kernels, and the samples or pairs of each kind of work.
Sizes = namedtuple("Sizes", "d p least most product hyper cpu")
FULL = Sizes(20, 10, least=100_000, most=1_000_000, product=100_000, hyper=100_000, cpu=8000)
SMALL = Sizes(2, 2, least=9, most=10, product=9, hyper=9, cpu=9)


class Row(NamedTuple):
    """Something to measure.

    Attributes
    ----------
    name : str
    dtype : numpy type
    problem : callable
        ``problem(size)`` gives a function of an engine.
    size : int
    pairs : callable
        ``pairs(size)``: how many pairs are evaluated.
    instructions : int
        For a pair.
    key : str
        Of the entry in parts.json.
    """

    name: str
    dtype: type
    problem: Callable
    size: int
    pairs: Callable
    instructions: int
    key: str


def statistics(m, d=20, p=10, dtype=np.float64):
    """Sums of p Gaussians over all pairs of m samples, as a function of an engine."""
    X, y = _samples(m, d, dtype)
    kernels = [k.resolve(X) for k in gaussian_kernels(2.0 ** np.arange(1 - p, 1.0))]
    Y = (y - y.mean())[:, None]
    return lambda engine: centered_sums(X, Y, kernels, engine=engine)


def product(m, d=20, dtype=np.float64):
    """A Gaussian Gram matrix times a vector: computed again each time, the samples sent once."""
    X, y = _samples(m, d, dtype)
    kernels, bound = [gaussian_kernels([0.02])[0].resolve(X)], {}

    def times(engine):
        if engine not in bound:
            bound[engine] = GramProducts(kernels, [1.0], X, engine=engine)
        return bound[engine].times(y)

    return times


def hyper_product(n_pairs, d=8):
    """The matrix of a Wishart hyper-kernel between pairs of points times a vector."""
    m = int(np.sqrt(2 * n_pairs))
    X = _samples(m, d)[0]
    hyper = WishartHyperKernel().resolve(X)
    coef = np.ones(m * (m + 1) // 2)
    return lambda engine: PairSystem(hyper, X, *np.triu_indices(m), engine=engine).times(coef)


def _samples(m, d, dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(m, d)).astype(dtype)
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)


def rows(sizes):
    """What is measured."""
    d, p, least, most, n, few, _ = sizes
    products = p * (p + 1) // 2 + p + 2 * p  # with each other and the target, and sums both ways
    ladder = 2 * d + EXPONENTIAL + 2 * (p - 1) + products
    for m, t, key in (
        (least, np.float32, "cuda-float32"),
        (least, np.float64, "cuda-float64"),
        (most, np.float32, "cuda-million"),
    ):
        name, work = f"alignment statistics, p={p}, d={d}, m={m}", partial(statistics, d=d, p=p)
        yield Row(name, t, partial(work, dtype=t), m, lambda m: m * (m + 1) / 2, ladder, key)
    for t, key in ((np.float32, "cuda-product"), (np.float64, "")):
        name, work = f"Gram matrix times a vector, d={d}, m={n}", partial(product, d=d, dtype=t)
        yield Row(name, t, work, n, np.square, 2 * d + EXPONENTIAL + 1, key)
    # Distances to entries, elimination, a logarithm and an exponential.
    name, cost = f"hyper-kernel (determinants) times a vector, {few} pairs", 35 + 2 * EXPONENTIAL
    yield Row(name, np.float64, hyper_product, few, np.square, cost, "cuda-hyper")


def arithmetic_limit(dtype, small):
    """Fused multiply-adds a second."""

    @cuda_kernel
    def multiply_add(n, b, c, out):
        i = cuda.grid(1)
        x0, x1, x2, x3 = b, c, b + c, b - c
        x4, x5, x6, x7 = x0 + b, x1 + b, x2 + b, x3 + b
        for _ in range(n):
            for _ in range(RUN):  # which the compiler writes out
                x0, x1, x2, x3 = x0 * b + c, x1 * b + c, x2 * b + c, x3 * b + c
                x4, x5, x6, x7 = x4 * b + c, x5 * b + c, x6 * b + c, x7 * b + c
        out[i] = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7))

    n, blocks, threads = (1, 2, 4) if small else (2**13, 4096, 256)
    real, out = np.dtype(dtype).type, cuda.device_array(blocks * threads, dtype)

    def run():
        multiply_add[blocks, threads](n, real(0.5), real(0.25), out)
        cuda.synchronize()

    run()
    return 8.0 * RUN * n * blocks * threads / clock(run, 5)[0]


def report(row, engine, cpu_size, limits):
    """Measure and print a row; seconds of the best call, and of the CPU per pair."""
    run = row.problem(row.size)
    first = clock(lambda: run(engine))[0]
    best = clock(lambda: run(engine), 1 if first > 10.0 or row.size < 100 else 3)[0]
    small = row.problem(cpu_size)
    small(CPU)
    cpu = clock(lambda: small(CPU), 3)[0] / row.pairs(cpu_size)
    fma, pairs = limits[np.dtype(row.dtype).name], row.pairs(row.size)
    print(
        f"{row.name}, {np.dtype(row.dtype).name}: {best:.4g} s, {pairs / best:.3g} pairs/s, "
        f"{pairs * row.instructions / best / fma:.0%} of the arithmetic limit "
        f"({row.instructions} instructions a pair), "
        f"{cpu * pairs / best:.3g} times all {thread_count()} threads of the CPU"
    )
    return best, cpu


def main(arguments=None, found=None):
    """Measure and print, on the device that was ``found`` (`ask`, by default)."""
    args = study(__doc__, argv=arguments)
    sizes, found = SMALL if args.quick else FULL, found or ask()
    planned = list(rows(sizes))
    if problem(found) is not None:
        for row in planned:
            print(f"{row.name}, {np.dtype(row.dtype).name}: not measured: no CUDA device")
        return
    from alignlearn.engine.cuda import Cuda

    engine = Cuda()
    name, capability = found.devices[0]
    with quiet():
        limits = {t.__name__: arithmetic_limit(t, args.quick) for t in (np.float32, np.float64)}
    print(f"{name}, compute capability {'.'.join(map(str, capability))}")
    if found.simulated:
        print("a simulation: the numbers are not those of a device")
    for t in ("float32", "float64"):
        print(f"limit: {limits[t]:.3g} multiply-adds/s in {t}")
    times = [report(row, engine, sizes.cpu, limits) for row in planned]
    args.run = {"device": name, "threads": thread_count()}
    for row, (best, cpu) in zip(planned, times):
        if row.key:
            publish_times(args, row.key, cpu * row.pairs(row.size), best)


if __name__ == "__main__":
    main()
