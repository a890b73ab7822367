"""Calls of a function on the threads of this process, or on the workers of a client."""

from __future__ import annotations

from contextlib import nullcontext

from alignlearn._progress import silence
from alignlearn.engine.boxes import InOrder
from alignlearn.engine.threads import on_threads, one_blas_thread, thread_count
from alignlearn.validation import gathered_warnings, warn


def each(client, function, arguments, take, most_threads=None, watch=None):
    """Call ``take(k, function(*arguments[k]))`` for k = 0, 1, ...

    Calls of ``function`` are distributed over the threads of this process, with one BLAS thread, or
    over the workers of a client, with one thread for each call. Warnings are given in the calling
    thread, in the order of the calls.

    Parameters
    ----------
    client : dask.distributed.Client or None
    function : callable
    arguments : list of tuple
    take : callable
        Called from any thread, but never concurrently.
    most_threads : int, optional
        Maximum number of threads without a client. Default: all threads.
    watch : callable, optional
        See `on_threads`.
    """
    later = []

    def taken(k, found):
        result, caught = found
        later.extend(caught)
        take(k, result)

    if client is None:
        count = min(thread_count(), len(arguments), most_threads or len(arguments))
        with one_blas_thread() if count > 1 else nullcontext():
            given = function, arguments, InOrder(len(arguments), taken)
            on_threads(_deal, *given, count=count, watch=watch)
    else:
        from alignlearn.engine.cluster import Cluster

        boxes = [(k, k + 1) for k in range(len(arguments))]
        Cluster(client, _CALLS).run_boxes("call", (function, arguments), boxes, taken)
    for warning in later:
        warn(warning)


def _deal(thread, function, arguments, results):
    """Call the function with the next arguments until none are left."""
    if thread[1] > 1:
        silence()
    while (k := results.next()) is not None:
        with gathered_warnings() as caught:
            found = function(*arguments[k])
        results.put(k, (found, caught))


class _Calls:
    """An engine whose data are a function and its arguments, for workers."""

    in_place = True
    operations = frozenset({"call"})

    def run_boxes(self, operation, data, boxes, take):
        """Pass on the results and the warnings of the calls."""
        function, arguments = data
        for k, (number, _) in enumerate(boxes):
            with gathered_warnings() as caught:
                found = function(*arguments[number])
            take(k, (found, caught))


_CALLS = _Calls()
