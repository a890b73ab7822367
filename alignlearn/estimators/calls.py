"""Calls of functions on the threads of this process, or on the workers of a client."""

from __future__ import annotations

from alignlearn._progress import silence
from alignlearn._threads import on_threads, one_blas_thread, thread_count
from alignlearn.engine.boxes import InOrder
from alignlearn.machines.held_matrix import reused_memory
from alignlearn.validation import gathered_warnings, warn


def workers_of(client):
    """The `Cluster` on which `each` makes calls; None without a client.

    It sends arrays that several lists of calls share once.
    """
    if client is None:
        return None
    from alignlearn.engine.cluster import Cluster

    return Cluster(client, _CALLS)


def each(workers, calls, most_threads=None, watch=None):
    """Call ``take(function(*arguments))`` for every ``(take, function, *arguments)`` of a list.

    The functions run on several threads of this process, with one BLAS thread, or on the workers of
    a client, with one thread for each call. Warnings are given in the calling thread, in the order
    of the calls.

    Parameters
    ----------
    workers : Cluster or None
        Of `workers_of`.
    calls : iterable of tuple
        ``take`` is called in this process, from any thread, in the order of the calls and never
        concurrently. One thread takes a call from the iterable after it has finished the last one.
    most_threads : int, optional
        Maximum number of threads without a client. Default: all threads.
    watch : callable, optional
        See `on_threads`.
    """
    count = thread_count() if most_threads is None else min(thread_count(), most_threads)
    if workers is not None or count > 1:
        calls = list(calls)
        count = min(count, len(calls))
    if workers is None and count <= 1:
        for take, function, *arguments in calls:
            take(function(*arguments))
        return
    later, work = [], [call[1:] for call in calls]

    def taken(k, found):
        result, caught = found
        later.extend(caught)
        calls[k][0](result)

    if workers is None:
        with one_blas_thread():
            given = work, InOrder(len(work), taken)
            on_threads(_deal, *given, count=count, watch=watch)
    elif work:
        workers.run_boxes("call", work, [(k, k + 1) for k in range(len(work))], taken)
    for warning in later:
        warn(warning)


def begin(workers, function, *arguments):
    """Make a call whose result may not be needed, on a worker.

    Returns
    -------
    callable
        It waits for the result and returns it, or None if it was lost or the call failed. Deleting
        it cancels the call.
    """
    result = workers.begin("call", [(function, *arguments)], (0, 1))

    def wait():
        found = result()
        if found is None:
            return None
        found, caught = found
        for warning in caught:
            warn(warning)
        return found

    return wait


def _deal(thread, work, results):
    """Run the next calls until none are left."""
    silence()
    while (k := results.next()) is not None:
        function, *arguments = work[k]
        with gathered_warnings() as caught:
            found = function(*arguments)
        results.put(k, (found, caught))


class _Calls:
    """An engine whose data are functions and their arguments, for workers."""

    in_place = uneven = True
    operations = frozenset({"call"})

    def run_boxes(self, operation, data, boxes, take):
        """Pass on the results and the warnings of the calls."""
        with one_blas_thread(), reused_memory():
            for k, (number, _) in enumerate(boxes):
                function, *arguments = data[number]
                with gathered_warnings() as caught:
                    found = function(*arguments)
                take(k, (found, caught))


_CALLS = _Calls()
