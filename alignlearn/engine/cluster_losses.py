"""Errors of a run whose cluster is lost or has too little memory."""

from __future__ import annotations

import sys

import numpy as np

_KEPT = (
    "The data are in this process and are not lost: make a new client and call again, "
    "or call without a client."
)
_MOST = 0.8  # share of a worker's memory for the data: above it, Dask pauses the worker


class ClusterLost(RuntimeError):
    """A Dask cluster was lost during a run; the message names the lost part.

    Examples
    --------
    Where the cluster is lost, go on without it:

    >>> import numpy as np
    >>> from alignlearn import ClusterLost, Gaussian, MKLRegressor
    >>> def fit(model, X, y, client):
    ...     try:
    ...         return model.set_params(client=client).fit(X, y)
    ...     except ClusterLost:
    ...         return model.set_params(client=None).fit(X, y)
    ...
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> fit(MKLRegressor([Gaussian(0.5)]), X, X[:, 0], client=None).predict(X).shape
    (40,)
    """


def what_is_lost(error, client, done):
    """The `ClusterLost` that corresponds to an error of a run; None for other errors.

    Parameters
    ----------
    error : BaseException
    client : dask.distributed.Client
    done : str
        Progress of the run, such as "3 of 10 boxes".
    """
    if not isinstance(error, Exception) or isinstance(error, ClusterLost):
        return None
    if isinstance(error, sys.modules["distributed"].KilledWorker):
        return lost(
            f"the workers that did the same task died, one after the other ({error})", client, done
        )
    # A lost client raises errors of many types, but has one status.
    if client.status != "running":
        address = getattr(client.scheduler, "address", None)
        at = "" if address is None else f" at {address}"
        return lost(
            f"the connection to the scheduler{at} is lost, which was closed or cannot be reached "
            f"(the client is {client.status})",
            client,
            done,
        )
    return None


def lost(what, client, done):
    """The `ClusterLost` whose message names the lost part."""
    limits = [worker[2] for worker in workers_seen(client) if worker[2]]
    memory = f" Workers have {_size(min(limits))} of memory or more." if limits else ""
    return ClusterLost(f"client: {what}; {done} were done.{memory} {_KEPT}")


def workers_seen(client):
    """(address, status, memory limit, memory in use) of all workers, if the scheduler reports them.

    Bytes; the limit is 0 if there is none.
    """

    # Sent as code, because a scheduler need not have this package.
    def seen(dask_scheduler):
        return [
            (w.address, w.status.name, w.memory_limit or 0, w.metrics.get("memory", 0))
            for w in dask_scheduler.workers.values()
        ]

    if client.status != "running":
        return []
    try:
        return client.run_on_scheduler(seen)
    except Exception:  # of a connection that breaks at this moment
        return []


def check_room(client, parts):
    """Raise MemoryError if the arrays for a worker exceed its memory."""
    need = sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
    for address, _, limit, _ in workers_seen(client) if need else ():
        if limit and need > _MOST * limit:
            raise MemoryError(
                f"client: the data take {_size(need)} on every worker, but the one at {address} "
                f"has {_size(limit)} of memory in all; accepted: workers with a larger "
                "memory_limit, fewer samples, or arrays that are mapped from a file "
                "(numpy.memmap), which are not sent. Nothing was sent."
            )


def _size(n):
    return f"{n / 2**30:.1f} GiB" if n >= 2**30 else f"{n / 2**20:.0f} MiB"
