#!/usr/bin/env python
"""Work on 1, 2 and 4 processes of a Dask cluster on this machine, against one thread without.

    python scripts/bench_cluster.py            # m = 40,000: some minutes
    python scripts/bench_cluster.py --quick    # small sizes: what is measured, not how fast

Everything is compiled and every engine has run before it is timed; least seconds of interleaved
repeats. Speed is that against one process of a cluster; more processes than processors can gain
nothing. "lost" is the time of a worker that is not spent on boxes, per task: what sends, starts and
collects tasks, and waiting at the end. Target: 2 processes are 1.8 times as fast as one.
"""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack

import numba
import numpy as np
from _bench import clock
from _cluster import Recorded, hyper_product, local_client, product, statistics

from alignlearn.engine.cluster import Cluster
from alignlearn.engine.cpu import CPU

WORKERS = 1, 2, 4
TARGET = 1.8  # of two processes


class Tasks:
    """Reads from the scheduler how many tasks there were since the last time, and how long."""

    def __init__(self, client):
        self._client, self._before = client, (0, 0.0)

    def read(self):
        """(number of tasks, seconds of computing)."""
        now = self._client.run_on_scheduler(_totals)
        found = [a - b for a, b in zip(now, self._before)]
        self._before = now
        return found


def _totals(dask_scheduler):
    prefixes = dask_scheduler.task_prefixes.items()
    kinds = [kind for name, kind in prefixes if name.startswith("alignlearn_")]
    seconds = sum(kind.all_durations.get("compute", 0.0) for kind in kinds)
    return sum(kind.state_counts["memory"] for kind in kinds), seconds


def measure(work, engines, repeats):
    """Least seconds by engine, and what the last run on each gave."""
    best, results = [np.inf] * len(engines), [None] * len(engines)
    for repeat in range(repeats + 1):
        for k, engine in enumerate(engines):
            seconds, results[k] = clock(lambda e=engine: work(e))
            if repeat:
                best[k] = min(best[k], seconds)
    return best, results


def same(a, b):
    """Whether two results are equal to the last bit."""
    parts = zip(a, b) if isinstance(a, tuple) else [(a, b)]
    return all(np.array_equal(x, y) for x, y in parts)


def report(name, work, clients, repeats):
    """Print the lines of one kind of work, and return the speed of two processes."""
    engines = [Recorded(Cluster(client, CPU)) for client in clients]
    seconds, results = measure(work, [CPU, *engines], repeats)
    here, (expected, *found) = seconds[0], results
    print(f"{name}\n  one thread, no cluster {here:10.3f} s")
    for n, client, engine, time, result in zip(WORKERS, clients, engines, seconds[1:], found):
        counter = Tasks(client)
        counter.read()
        engine.bytes = 0
        total = clock(lambda e=engine: work(e))[0]
        tasks, busy = counter.read()
        data = sum(client.nbytes(summary=False).values())
        lost = (n * total - busy) / tasks
        print(
            f"  {n} process{'  ' if n == 1 else 'es'} {time:21.3f} s, "
            f"speed {seconds[1] / time:.2f}; {tasks} tasks of {busy / tasks:.2f} s, lost "
            f"{lost:.3f} s a task, {data / 1e6:.1f} MB to each worker, "
            f"{engine.bytes / 1e6:.1f} MB back; "
            f"{'the same bits' if same(result, expected) else 'DIFFERENT BITS'}"
        )
    return seconds[1] / seconds[2]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    m, n_pairs = (2000, 2000) if options.quick else (40_000, 60_000)
    numba.set_num_threads(1)
    print(f"{os.cpu_count()} processors, one thread each process; m={m}, d=20")
    with ExitStack() as stack:
        clients = [stack.enter_context(local_client(n)) for n in WORKERS]
        repeats = options.repeats
        speed = report("statistics of 10 Gaussians", statistics(m), clients, repeats)
        print(f"  target: 2 processes {TARGET} times as fast as one; measured {speed:.2f}")
        report("Gram matrix of a Gaussian times a vector", product(m), clients, repeats)
        report(f"hyper-kernel, {n_pairs} pairs", hyper_product(n_pairs), clients, repeats)


if __name__ == "__main__":
    main()
