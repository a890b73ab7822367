#!/usr/bin/env python
"""Statistics on two processes of a Dask cluster on this machine, against one.

    scripts/bench/bench_cluster.py            # m = 40,000: some minutes
    scripts/bench/bench_cluster.py --quick    # small: what is measured, not how fast

One cluster runs at a time, with little monitoring (`QUIET`): by default an idle one of one or two
processes takes 0.08 or 0.13 of a core. Clusters take turns. Everything is compiled and has run
before it is timed; times are minima over all turns. Results have to be the same bits as those of
one thread without a cluster.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import product

import numpy as np
from _bench import clock, threads
from _studies import publish_times, study
from bench_cuda import statistics

from alignlearn.engine.cluster import Cluster
from alignlearn.engine.cpu import CPU

# Dask's own monitoring takes time of the workers if there are no more processors than workers: by
# default an idle cluster of two takes 0.13 of a core.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}


@contextmanager
def local_client(n_workers):
    """A client of this number of processes of one thread each, on this machine alone."""
    import dask
    from dask.distributed import Client, LocalCluster

    addresses = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    options = {"threads_per_worker": 1, "host": "127.0.0.1", **addresses}
    with (
        dask.config.set(QUIET),
        LocalCluster(n_workers=n_workers, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def seconds(work, client, expected):
    """Seconds of work on the workers of a client, after a run that compiles."""
    engine = Cluster(client, CPU)
    work(engine)
    spent, found = clock(lambda: work(engine))
    for part, other in zip(found, expected):
        np.testing.assert_array_equal(part, other)
    return spent


def main(argv=None):
    """Measure and print."""
    args = study(__doc__, argv=argv, m=(40_000, 2000), turns=(3, 1))
    work, best = statistics(args.m), {1: np.inf, 2: np.inf}
    with threads(1):
        here, expected = clock(lambda: work(CPU), 2)
        for _, n in product(range(args.turns), best):
            with local_client(n) as client:
                best[n] = min(best[n], seconds(work, client, expected))
    print(f"m={args.m}, d=20, 10 Gaussians; one thread without a cluster {here:.3f} s")
    publish_times(args, "cluster", best[1], best[2])


if __name__ == "__main__":
    main()
