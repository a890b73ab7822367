"""Boxes of pairs run by the workers of a Dask cluster, merged as on one machine.

The scheduler receives few and large tasks: consecutive boxes with about a second of work, less
toward the end. Results are merged in the order of the boxes, so they do not depend on the number
of workers or on which worker computed them. They equal those of the inner engine to the last bit if
all processors have the same vector instructions (``NUMBA_CPU_NAME`` selects them) and, for the
device "auto", if either all workers or none have a CUDA device.

A run lasts as long as the slower of two sides, plus a last task: ``(pairs * pair + boxes * box +
tasks * wait) / threads`` on the workers, and ``run + tasks * task + boxes * result + bytes /
speed`` in the process of the client. docs/development/design.md has these constants and
predictions for many workers. Work of less than a second is faster without a cluster, and a Gram
matrix is not worth sending: a value is computed in less time than its transfer takes.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
import time
from collections import deque
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import cache
from importlib import import_module
from uuid import uuid4
from weakref import WeakKeyDictionary

import numba

from .base import Engine
from .cluster_data import parted, whole
from .cluster_losses import check_room, lost, what_is_lost, workers_seen

_PACKAGES = ("alignlearn", "numba", "numpy")  # packages that need the same version everywhere
_AHEAD = 4  # tasks in flight per thread, which hides the latency
_SECONDS = 1.0  # of work in a task: a lost worker wastes one, and each costs milliseconds
_BYTES = 2**25  # bytes of results in a task
_LOSSES = 3  # how many times in a row all copies of the data may be lost
_WAIT, _POLL = 60.0, 0.1  # seconds to wait for a worker if all are lost or paused
_LOOK = 5.0  # seconds without a result after which the workers are checked
_TIMEOUTS = TimeoutError, asyncio.TimeoutError  # the same class from Python 3.11 on
_TRIM, _MAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"  # Dask sets the first
_MOST_KEPT = 2**26  # bytes of freed memory that a worker keeps
_fitting = WeakKeyDictionary()  # client: addresses of workers whose versions are the same


class Cluster(Engine):
    """An engine that runs boxes on the workers of a Dask cluster.

    The arrays of the data are sent to every worker once. They stay there for runs on the same
    arrays, such as the products of conjugate gradients, until a run on other arrays, an error, or
    the deletion of this object. Arrays mapped from files (`numpy.memmap`) are not sent: workers map
    the same files. A task is done by one thread, and a worker does as many at a time as it has
    threads.

    Parameters
    ----------
    client : dask.distributed.Client
        Connected, not asynchronous.
    inner : engine
        The engine of the workers. A pickled cluster is its inner engine, because a connection
        cannot be pickled.

    Attributes
    ----------
    inner : engine
    in_place : bool
    operations : frozenset of str
        Those of the inner engine.

    Raises
    ------
    TypeError
        ``client`` is something else.
    ValueError
        It is asynchronous or closed.
    """

    # A Gram matrix is filled in this process, because its values take longer to send than to
    # compute.
    in_place = True

    def __init__(self, client, inner):
        self._client, self.inner, self._held = check_client(client), inner, {}
        self.operations = inner.operations

    def __reduce__(self):
        return _itself, (self.inner,)

    @property
    def n_threads(self):
        """Number of threads of all workers now, at least 1."""
        return max(1, sum(check_client(self._client).nthreads().values()))

    def run_boxes(self, operation, data, boxes, take, watch=None):
        """Call ``take(k, result)`` for every box, in their order.

        Parameters
        ----------
        operation : str
            Of the inner engine.
        data : tuple
            Data that can be pickled.
        boxes : sequence of tuple of int
            Rows (i0, i1), or rows and columns (i0, i1, j0, j1).
        take : callable
        watch : callable, optional
            Not called: this thread takes the results.

        Raises
        ------
        ValueError
            The client is closed, there are no workers, or some are without this package or have
            another version of it, of Numba or of NumPy.
        MemoryError
            The data exceed the memory of a worker. Nothing was sent.
        ClusterLost
            The scheduler is lost, or all workers and their replacements are, or all are paused.

        Notes
        -----
        After an error or Ctrl-C no task is started, and workers finish their current task.
        """
        client, boxes, running, losses = check_client(self._client), list(boxes), deque(), 0
        n_done = 0
        try:
            plan = _Plan(boxes, _threads(client), self.inner.uneven)
            send, losses = self._sender_again(operation, data, 0)
            while plan.unsent or running:
                while plan.unsent and plan.n_busy(running) < plan.n_ahead:
                    group = plan.next()
                    running.append((group, send(boxes[group])))
                group, future = running[0]
                if plan.unsent and plan.uneven and self._is_another_done(running):
                    continue
                try:
                    seconds, size, results = self._result(future)
                except CancelledError as error:
                    # The client stores the error, which would keep this frame and its futures
                    # alive.
                    error.__traceback__ = None
                    send, losses = self._sender_again(operation, data, losses + 1)
                    running = deque((group, send(boxes[group])) for group, _ in running)
                    continue
                running.popleft()
                losses, n_done = 0, group.stop
                plan.learn(group, seconds, size)
                for k, result in enumerate(results, group.start):
                    take(k, result)
        except BaseException as error:
            self._held = {}
            done = f"{n_done} of {len(boxes)} boxes"
            if isinstance(error, _Lost):
                raise lost(str(error), client, done) from error.__cause__
            found = what_is_lost(error, client, done)
            if client.status == "running":
                with suppress(Exception):  # of a connection that breaks at this moment
                    client.cancel([future for _, future in running], force=True)
            if found is not None:
                raise found from error
            raise

    def begin(self, operation, data, box):
        """Send one box, whose result may not be needed.

        Returns
        -------
        callable
            It waits for the result and returns it, or None if it was lost or there was an error.
            Deleting it cancels the task.
        """
        own, future = Cluster(self._client, self.inner), None  # with its own data
        with suppress(Exception):
            future = own._sender(operation, data)([box])

        def result():
            try:
                return own._result(future)[2][0]
            except Exception as error:
                # The client stores the error, which would keep this frame and its future alive.
                error.__traceback__ = None

        return result

    def _is_another_done(self, running):
        """Wait until a task is done, for some seconds; whether it is not the first one."""
        left, first = [future for _, future in running if not future.done()], running[0][1]
        if first.done():
            return False
        _wait_for_any(left)
        return not first.done() and any(future.done() for future in left)

    def _result(self, future):
        """Result of a task, unless its workers are paused permanently."""
        paused = None
        while True:
            if future.done() or _wait_for_any([future]):
                try:
                    return future.result(timeout=_WAIT)
                except _TIMEOUTS:
                    if future.done():  # with this error, or a large result
                        return future.result()
            workers = workers_seen(self._client)
            if not workers or any(status != "paused" for _, status, _, _ in workers):
                paused = None
                continue
            paused = paused or time.monotonic()
            if time.monotonic() - paused >= _WAIT:
                raise _Lost(
                    f"all workers have been paused for {_WAIT:.0f} s, as Dask does with "
                    "workers whose memory is nearly full; give the workers more memory"
                )

    def _sender(self, operation, data):
        """The data on the workers, as a function that sends them boxes: ``send(boxes)``."""
        from dask.base import tokenize

        client, parts = self._client, parted(data)
        tokens = [tokenize(part) for part in parts]
        # Never reuse the name of a released key, because the scheduler may process the release
        # later.
        names = {token: f"alignlearn-{token}-{uuid4().hex}" for token in tokens}
        new = {names[t]: part for t, part in zip(tokens, parts) if t not in self._held}
        if new:
            check_room(client, new.values())
        sent = client.scatter(new, broadcast=True) if new else {}
        self._held = {t: self._held.get(t) or sent[names[t]] for t in tokens}
        there = [self._held[t] for t in tokens]

        def send(boxes):
            key = f"alignlearn_{operation}-{uuid4().hex}"
            # Tasks run in the order in which they are sent.
            how = {"key": key, "fifo_timeout": 0.0}
            return client.submit(_task, self.inner, operation, boxes, *there, **how)

        return send

    def _sender_again(self, operation, data, losses):
        """`_sender`, and how many times in a row the workers that hold the data were lost."""
        cause = None
        while losses <= _LOSSES:
            if self._client.status != "running":
                raise ConnectionError(f"the client is {self._client.status}.") from cause
            if losses:
                self._held = {}
                self._wait_for_workers(cause)
            try:
                return self._sender(operation, data), losses
            except (OSError, *_TIMEOUTS) as error:
                if self._client.status != "running":
                    raise
                losses, cause = losses + 1, error
        raise _Lost(
            f"the workers that held the data were lost {losses} times in a row; give the "
            "workers more memory, and check their logs"
        ) from cause

    def _wait_for_workers(self, cause):
        end = time.monotonic() + _WAIT
        while not self._client.nthreads():
            if time.monotonic() > end:
                raise _Lost(
                    f"all workers were lost, and none reconnected within {_WAIT:.0f} s; "
                    "start workers, with more memory if they ran out of it"
                ) from cause
            time.sleep(_POLL)


class _Lost(Exception):
    """A part of a cluster is lost; the message names it."""


def _wait_for_any(futures):
    """Wait until one of these is done, for some seconds; whether one is.

    Without a timeout of Dask: its exception is in a reference cycle that keeps the task, and so the
    data of the run, in this process and on the workers.
    """
    done = threading.Event()
    for future in futures:
        future.add_done_callback(lambda _: done.set())
    return done.wait(_LOOK)


def _itself(engine):
    return engine


class _Plan:
    """The boxes of the next task: consecutive, of equal work, less toward the end.

    Where the costs of boxes are ``uneven``, a thread gets a task when it has finished another one.
    """

    def __init__(self, boxes, n_threads, uneven=False):
        self._work, self.uneven = [_work(box) for box in boxes], uneven
        self._n_parts = 0.5 * _AHEAD * n_threads
        self.n_ahead = n_threads if uneven else _AHEAD * n_threads
        self._first, self._left, self._most = 0, float(sum(self._work)), 0.0

    @property
    def unsent(self):
        """Whether there are boxes that no task has yet."""
        return self._first < len(self._work)

    def n_busy(self, running):
        """Number of tasks, (boxes, future), that are sent, or that are not done."""
        return sum(not future.done() for _, future in running) if self.uneven else len(running)

    def next(self):
        """The boxes of a task, a slice; a single box until a task was timed."""
        room = min(self._most, self._left / self._n_parts)
        first, last, used = self._first, self._first, 0.0
        while last < len(self._work) and (last == first or used + self._work[last] <= room):
            used += self._work[last]
            last += 1
        self._first, self._left = last, self._left - used
        return slice(first, last)

    def learn(self, group, seconds, size):
        """Record the cost of the boxes of a task: seconds, and bytes of results."""
        share = max(seconds / _SECONDS, size / _BYTES, 1e-9)
        self._most = sum(self._work[group]) / share


def _work(box):
    """Work of a box in pairs or rows; pairs on the diagonal count once."""
    i0, i1, *columns = box
    if not columns:
        return i1 - i0
    j0, j1 = columns
    return (i1 - i0) * (j1 - j0) / (2 if i0 == j0 else 1)


def check_client(client):
    """The client, checked: a connected one, with which calls wait for results."""
    distributed = sys.modules.get("distributed")
    if distributed is None or not isinstance(client, distributed.Client):
        raise TypeError(
            f"client={client!r:.80} is not a dask.distributed.Client; accepted: None, or "
            "a connected client, such as Client('tcp://scheduler:8786') (pip install "
            "'alignlearn[distributed]')."
        )
    if client.asynchronous:
        raise ValueError(
            "client is asynchronous; accepted: a Client made without asynchronous=True, used "
            "outside of its event loop."
        )
    if client.status != "running":
        raise ValueError(
            f"client is {client.status}, not running; accepted: a Client that is connected to its "
            "scheduler. Make a new one, and close it after the last call that uses it."
        )
    return client


def _threads(client):
    """Number of threads of all workers, which must be connected and have the same packages."""
    threads = client.nthreads()
    if not threads:
        raise ValueError(
            "client has no workers; accepted: a cluster with at least one. Start workers, and "
            "wait for them with client.wait_for_workers(1)."
        )
    known = _fitting.setdefault(client, set())
    new = [address for address in threads if address not in known]
    if new:
        here = _versions()()
        # A worker that is lost meanwhile returns nothing.
        found = client.run(_versions(), workers=new, on_error="ignore")
        for address, there in found.items():
            _check_versions(address, here, there)
        known.update(found)
    return sum(threads.values())


def _versions(names=_PACKAGES):
    """A function without arguments that returns versions by package, None for missing packages.

    It is not importable and is sent as code, so it also runs where this package is not installed.
    """

    def versions():
        found = {}
        for name in names:
            try:
                found[name] = import_module(name).__version__
            except ImportError:
                found[name] = None
        return found

    return versions


def _check_versions(address, here, there):
    differ = [name for name in here if here[name] != there[name]]
    if differ:
        other = ", ".join(f"{n} {there[n]}" if there[n] else f"no {n}" for n in differ)
        wanted = " ".join(f"{n}=={here[n]}" for n in differ)
        raise ValueError(
            f"the worker at {address} has {other}; accepted: the versions of this "
            f"process, {wanted}. Install them in the environment of the workers, and "
            "restart the workers."
        )


@cache
def _keep_freed_memory():
    """Let the C library of a worker reuse some freed memory, as it does in other processes.

    Dask makes it return all of it to the system, which has to clear the next array of the same size
    page by page: models then took up to twice as long. The limits are those to which glibc adapts
    by itself.
    """
    if _TRIM not in os.environ or _MAP in os.environ:
        return
    with suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-1, _MOST_KEPT)  # M_TRIM_THRESHOLD
        mallopt(-3, _MOST_KEPT // 2)  # M_MMAP_THRESHOLD


def _task(inner, operation, boxes, pickled, *arrays):
    """Run some boxes on a thread of a worker, and return seconds, bytes and results."""
    from dask.sizeof import sizeof

    _keep_freed_memory()
    before, results = numba.get_num_threads(), []
    numba.set_num_threads(1)
    try:
        data = whole(pickled, arrays)
        start = time.perf_counter()
        inner.run_boxes(operation, data, boxes, lambda _, result: results.append(result))
        return time.perf_counter() - start, sizeof(results), results
    finally:
        numba.set_num_threads(before)
