"""What the scripts on clusters share: workers on this machine, and problems for them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np


@contextmanager
def local_client(n_workers):
    """A client of so many processes of one thread each, reached from this machine alone."""
    from dask.distributed import Client, LocalCluster

    addresses = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    options = {"threads_per_worker": 1, "host": "127.0.0.1", **addresses}
    with (
        LocalCluster(n_workers=n_workers, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


class Counts(NamedTuple):
    """What the scheduler has seen of the tasks of clusters so far.

    Attributes
    ----------
    tasks : int
    seconds : float
        In which workers computed.
    bytes : int
        Of results.
    """

    tasks: int
    seconds: float
    bytes: int

    def since(self, before):
        """What was added."""
        return Counts(*(now - then for now, then in zip(self, before)))


def counts(client):
    """`Counts` of the scheduler of a client."""

    def read(dask_scheduler):
        kinds = [
            prefix
            for name, prefix in dask_scheduler.task_prefixes.items()
            if name.startswith("alignlearn_")
        ]
        seconds = sum(kind.all_durations.get("compute", 0.0) for kind in kinds)
        tasks = sum(kind.state_counts["memory"] for kind in kinds)
        return tasks, seconds, sum(kind.nbytes_total for kind in kinds)

    return Counts(*client.run_on_scheduler(read))


def samples(m, d, seed=0):
    """Normal samples and labels of two classes."""
    X = np.random.default_rng(seed).normal(size=(m, d))
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
