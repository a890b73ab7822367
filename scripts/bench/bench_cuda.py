#!/usr/bin/env python
"""Speed on a CUDA device: pairs per second, and their share of the device's limits.

    scripts/bench/bench_cuda.py                 # some minutes
    scripts/bench/bench_cuda.py --size small    # what is measured, not how fast (simulator)

Limits are measured in the same run: fused multiply-adds per second by a kernel that does nothing
else, bytes per second by a kernel that copies. A pair is charged its indispensable floating-point
instructions: 2 for a feature of a distance, 10 for an exponential (a multiplication, the reduction,
the device's power of two, a correction), 1 for a multiply-add of a product or a sum. The share of
bandwidth counts the bytes that must be read and written once. Times are minima over several whole
calls with data and results on the host. Without a device nothing is measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import cuda

sys.path.append(str(Path(__file__).resolve().parents[1] / "lab"))
from _cluster import hyper_product, product, statistics
from _studies import clock, publish_times

from alignlearn._jit import cuda_kernel
from alignlearn.engine.cpu import CPU
from alignlearn.engine.cuda.device import ask, pays, problem, quiet
from alignlearn.engine.threads import thread_count

EXPONENTIAL = 10
RUN = 16  # multiply-adds one after the other, of eight at once
SIZES = {
    "full": {
        "d": 20,
        "p": 10,
        "statistics": (100_000, 1_000_000),
        "product": 100_000,
        "hyper": 100_000,
        "cpu": 8000,
    },
    "small": {"d": 2, "p": 2, "statistics": (9, 10), "product": 9, "hyper": 9, "cpu": 9},
}


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
    bytes : callable
        ``bytes(size)``: what must be read or written once.
    target : str
    key : str
        Of the entry in parts.json.
    """

    name: str
    dtype: type
    problem: Callable
    size: int
    pairs: Callable
    instructions: int
    bytes: Callable
    target: str = ""
    key: str = ""


def rows(sizes):
    """What is measured."""
    d, p = sizes["d"], sizes["p"]
    products = p * (p + 1) // 2 + p + 2 * p  # with each other and the target, and sums both ways
    ladder = 2 * d + EXPONENTIAL + 2 * (p - 1) + products
    targets = {
        (100_000, np.float32): "0.5 s, 40 % of the arithmetic",
        (1_000_000, np.float32): "30 s",
    }
    for m in sizes["statistics"]:
        for dtype in (np.float32, np.float64)[: 2 if m == sizes["statistics"][0] else 1]:
            yield Row(
                f"alignment statistics, p={p}, d={d}, m={m}",
                dtype,
                lambda m, t=dtype: statistics(m, d, p, t),
                m,
                lambda m: m * (m + 1) / 2,
                ladder,
                lambda m, t=dtype: m * (d + 1) * np.dtype(t).itemsize,
                targets.get((m, dtype), ""),
                "cuda-million" if m > 100_000 else f"cuda-{np.dtype(dtype).name}",
            )
    for dtype in (np.float32, np.float64):
        yield Row(
            f"Gram matrix times a vector, d={d}, m={sizes['product']}",
            dtype,
            lambda m, t=dtype: product(m, d, t),
            sizes["product"],
            lambda m: m * m,
            2 * d + EXPONENTIAL + 1,
            lambda m, t=dtype: m * (d + 2) * np.dtype(t).itemsize,
            "50 % of the arithmetic" if dtype is np.float32 else "",
            "cuda-product" if dtype is np.float32 else "",
        )
    yield Row(
        f"hyper-kernel (determinants) times a vector, {sizes['hyper']} pairs",
        np.float64,
        hyper_product,
        sizes["hyper"],
        lambda n: n * n,
        35 + 2 * EXPONENTIAL,  # distances to entries, elimination, a logarithm and an exponential
        lambda n: n * 40,
        key="cuda-hyper",
    )


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


def bandwidth_limit(small):
    """Bytes a second read and written, and those copied from and to the host."""

    @cuda_kernel
    def copy(source, out):
        for i in range(cuda.grid(1), source.shape[0], cuda.gridsize(1)):
            out[i] = source[i]

    n, blocks, threads = (64, 2, 4) if small else (2**27, 4096, 256)
    host = cuda.pinned_array(n, np.float32)
    host[:] = 1.0
    source, out = cuda.to_device(host), cuda.device_array(n, np.float32)

    def run():
        copy[blocks, threads](source, out)
        cuda.synchronize()

    run()
    across = [
        host.nbytes / clock(function, 5)[0]
        for function in (lambda: source.copy_to_device(host), lambda: source.copy_to_host(host))
    ]
    return 2.0 * host.nbytes / clock(run, 5)[0], *across


def report(row, engine, cpu_size, limits):
    """Measure and print a row; seconds of the first call, of the best, and of the CPU per pair."""
    run = row.problem(row.size)
    first = clock(lambda: run(engine))[0]
    best = clock(lambda: run(engine), 1 if first > 10.0 or row.size < 100 else 3)[0]
    small = row.problem(cpu_size)
    small(CPU)
    cpu = clock(lambda: small(CPU), 3)[0] / row.pairs(cpu_size)
    fma, bandwidth = limits[np.dtype(row.dtype).name], limits["bytes"]
    pairs = row.pairs(row.size)
    print(
        f"{row.name}, {np.dtype(row.dtype).name}: {best:.4g} s, {pairs / best:.3g} pairs/s, "
        f"{pairs * row.instructions / best / fma:.0%} of the arithmetic limit "
        f"({row.instructions} instructions a pair), "
        f"{row.bytes(row.size) / best / bandwidth:.1%} of the bandwidth, "
        f"{cpu * pairs / best:.3g} times all {thread_count()} threads of the CPU"
        + (f"; target {row.target}" if row.target else "")
    )
    return first, best, cpu


def break_even(first, best, cpu, pairs):
    """Number of pairs from which a device, with its start, is faster, and the choice of "auto"."""
    saved = cpu - best / pairs
    found = f"{(first - best) / saved:.3g} pairs" if saved > 0 else "no size"
    taken = next(n for n in 10.0 ** np.arange(4, 16, 0.01) if pays(n))
    print(
        f'"auto": a device pays from {found} on, counting its start; it takes over at {taken:.3g}'
    )


def main(arguments=None, found=None):
    """Measure and print, on the device that was ``found`` (`ask`, by default)."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=list(SIZES), default="full")
    parser.add_argument("--write", action="store_true", help="into docs/_data/parts.json")
    args = parser.parse_args(arguments)
    sizes, found = SIZES[args.size], found or ask()
    planned = list(rows(sizes))
    if problem(found) is not None:
        for row in planned:
            print(f"{row.name}, {np.dtype(row.dtype).name}: not measured: no CUDA device")
        return
    from alignlearn.engine.cuda import Cuda

    small, engine = sizes is SIZES["small"], Cuda()
    name, capability = found.devices[0]
    with quiet():
        limits = {t.__name__: arithmetic_limit(t, small) for t in (np.float32, np.float64)}
        limits["bytes"], *across = bandwidth_limit(small)
    print(f"{name}, compute capability {'.'.join(map(str, capability))}")
    if found.simulated:
        print("a simulation: the numbers are not those of a device")
    for t in ("float32", "float64"):
        print(f"limit: {limits[t]:.3g} multiply-adds/s in {t}")
    print(f"limit: {limits['bytes']:.3g} bytes/s; host {across[0]:.3g} to, {across[1]:.3g} from")
    times = [report(row, engine, sizes["cpu"], limits) for row in planned]
    break_even(*times[0], planned[0].pairs(planned[0].size))
    args.write, args.run = args.write and not small, {"device": name, "threads": thread_count()}
    for row, (_, best, cpu) in zip(planned, times):
        if row.key:
            publish_times(args, row.key, cpu * row.pairs(row.size), best)


if __name__ == "__main__":
    main()
