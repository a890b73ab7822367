#!/usr/bin/env python
"""Work on 1, 2 and 4 processes of a Dask cluster on this machine, against one thread without.

    scripts/bench/bench_cluster.py            # m = 40,000: some minutes
    scripts/bench/bench_cluster.py --quick    # small sizes: what is measured, not how fast

One cluster runs at a time, with little monitoring (`_cluster.QUIET`): by default an idle one of 1,
2 and 4 processes takes 0.08, 0.13 and 0.23 of a core. Clusters take turns. Everything is compiled
and has run before it is timed; times are minima over all turns. Speed is relative to one process of
a cluster; more processes than processors gain nothing. Target: 2 processes are 1.8 times as fast as
one.
"""

from __future__ import annotations

import os

import numba
import numpy as np
from _bench import clock
from _cluster import hyper_product, local_client, product, statistics
from _studies import publish_times, study

from alignlearn.engine.cluster import Cluster
from alignlearn.engine.cpu import CPU

WORKERS = 1, 2, 4
TARGET = 1.8  # of two processes


def measure(work, client, expected):
    """Seconds on the workers, after a run that compiles, and whether the result is as expected."""
    engine = Cluster(client, CPU)
    work(engine)
    seconds, result = clock(lambda: work(engine))
    return seconds, same(result, expected)


def same(a, b):
    """Whether two results are equal to the last bit."""
    parts = zip(a, b) if isinstance(a, tuple) else [(a, b)]
    return all(np.array_equal(x, y) for x, y in parts)


def report(name, here, best):
    """Print the lines of one kind of work, and return the speed of two processes."""
    print(f"{name}\n  one thread, no cluster {here:10.3f} s")
    for n, (seconds, equal) in best.items():
        print(
            f"  {n} process{'  ' if n == 1 else 'es'} {seconds:21.3f} s, speed "
            f"{best[1][0] / seconds:.2f}; {'the same bits' if equal else 'DIFFERENT BITS'}"
        )
    return best[1][0] / best[2][0]


def main():
    """Measure and print."""
    args = study(__doc__, turns=(3, 3))
    m, n_pairs = (2000, 2000) if args.quick else (40_000, 30_000)
    numba.set_num_threads(1)
    print(f"{os.cpu_count()} processors, one thread each process; m={m}, d=20")
    works = {
        "statistics of 10 Gaussians": statistics(m),
        "Gram matrix of a Gaussian times a vector": product(m),
        f"hyper-kernel, {n_pairs} pairs": hyper_product(n_pairs),
    }
    expected = {name: work(CPU) for name, work in works.items()}
    here = dict.fromkeys(works, np.inf)
    best = {name: {} for name in works}
    for _ in range(args.turns):
        for name, work in works.items():
            here[name] = min(here[name], clock(lambda work=work: work(CPU))[0])
        for n in WORKERS:
            with local_client(n) as client:
                for name, work in works.items():
                    run = measure(work, client, expected[name])
                    best[name][n] = min(best[name].get(n, run), run)
    speeds = [report(name, here[name], best[name]) for name in works]
    one_s, two_s = (best["statistics of 10 Gaussians"][n][0] for n in WORKERS[:2])
    publish_times(args, "cluster", one_s, two_s)
    print(f"target: statistics on 2 processes {TARGET} times as fast as on one: {speeds[0]:.2f}")


if __name__ == "__main__":
    main()
