"""Run work on several threads, stop it at Ctrl-C, and keep BLAS from starting its own threads.

Outer work, such as the candidates and folds of a search, runs on Python threads; inside them
`thread_count` is 1 until other threads are idle, and `one_blas_thread` limits BLAS to one thread
for that time. The blocked routines of LAPACK lose more by waking threads than they gain on matrices
of a few thousand samples, and on busy cores their threads wait for each other in loops that take
the cores' time. No computation depends on the number of threads, so results are the same to the
last bit.

The loops release the GIL, so Python threads do what ``prange`` would, without its compilation:
``parallel=True`` around the two block loops makes a cold start much slower (numba 0.68), and the
loops no faster. Each thread writes its own rows or its own accumulator, so results do not depend
on timing.

Python handles Ctrl-C only in its main thread, between two bytecode instructions. During longer work
the main thread therefore waits for others, and long loops check a flag once per block of pairs. In
Python code on the other threads an exception is raised between two instructions, as in the main
thread.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue
from time import monotonic
from types import SimpleNamespace

import numpy as np
from numba import get_num_threads
from threadpoolctl import ThreadpoolController

_LAST = 600.0  # maximum seconds that an idle thread waits for the others
_GRACE = 0.05  # seconds in which threads with short work end by themselves
_AGAIN = 1.0  # seconds after which a thread that still runs is interrupted again
_POLL = 0.1  # seconds, for systems where a signal does not end a wait (Windows)


# Held while a thread starts and while threads are ended. Until a new thread runs, CPython registers
# it under the number of the thread that started it, which would then be ended in its place.
_starts = threading.Lock()
# Attributes of the current thread. .stop: the flag of the work that it has a part of; .team: the
# threads of that work, of which it is one.
_here = threading.local()


class _Team:
    """Threads that share work: their number, and the number of busy ones."""

    def __init__(self, count):
        self.count = self.working = count
        self.dismissed = False  # its threads end and get no other job
        self._lock = threading.Lock()

    def leave(self):
        """Count a thread as idle."""
        with self._lock:
            self.working -= 1

    def join(self):
        """Count a thread as busy again."""
        with self._lock:
            self.working += 1

    def each(self):
        """Number of threads that each busy thread may use, so that the total does not grow."""
        return max(1, self.count // max(1, self.working))


def thread_count() -> int:
    """Threads to use: Numba's setting (``NUMBA_NUM_THREADS``, ``numba.set_num_threads``).

    Within work that is already divided among threads it is one, plus a share of the threads that
    have ended. Two calls may therefore differ: memory for a number of threads must be used with
    this number.
    """
    team = getattr(_here, "team", None)
    return get_num_threads() if team is None else team.each()


@contextmanager
def waiting():
    """A context in which this thread waits for others, which may use its share of the threads."""
    team = getattr(_here, "team", None)
    if team is not None:
        team.leave()
    try:
        yield
    finally:
        if team is not None:
            team.join()


# How many pieces of work keep BLAS on one thread, and the numbers of threads before the first.
# Libraries are searched again, which takes 2 ms, once more modules are loaded.
_blas = SimpleNamespace(lock=threading.Lock(), users=0, before=[], libraries=[], n_modules=0)


@contextmanager
def one_blas_thread():
    """A context in which BLAS runs on one thread; the last to leave restores the setting."""
    with _blas.lock:
        if not _blas.users:
            if _blas.n_modules != len(sys.modules):
                found = ThreadpoolController().select(user_api="blas").lib_controllers
                _blas.libraries, _blas.n_modules = found, len(sys.modules)
            _blas.before = [(library, library.num_threads) for library in _blas.libraries]
            for library in _blas.libraries:
                _set_threads(library, 1)
        _blas.users += 1
    try:
        yield
    finally:
        with _blas.lock:
            _blas.users -= 1
            if not _blas.users:
                for library, count in _blas.before:
                    _set_threads(library, count)


def _set_threads(library, count):
    # Since threadpoolctl 3.8, only the first thread that sets a limit of OpenBLAS may change it.
    # Here, the lock separates fits on several threads.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


def on_threads(
    function, *args, count=None, stoppable=False, compiled=False, watch=None, short=False
):
    """Call ``function(thread, *args)`` with ``thread = (number, count)`` for every number.

    Parameters
    ----------
    function : callable
        Compiled without the GIL, or calling such a function. If a thread fails, and at Ctrl-C, the
        others end at their next Python instruction.
    *args
    count : int, optional
        Number of threads; `thread_count` by default.
    stoppable : bool, default False
        Pass one more argument, an array with a flag. If ``stop[0]`` is true, the function must
        return at once. It becomes true at Ctrl-C and if another thread failed, also one of the work
        that contains this call.
    compiled : bool, default False
        Whether a stoppable function is compiled already. Otherwise it is first called once with the
        flag set, so that code is compiled in this thread, where Ctrl-C ends that, too.
    watch : callable, optional
        Called without arguments several times a second, in the thread of the caller only.
    short : bool, default False
        Whether Ctrl-C may wait for every call of compiled code. The thread of the caller then takes
        part: a system that wakes several threads at once sometimes puts them on one core.
    """
    count = thread_count() if count is None else count
    stop, outer = np.ones(1, dtype=np.bool_), getattr(_here, "stop", None)
    if outer is not None and outer[0]:
        raise SystemExit  # in this thread: its result is not used
    if stoppable and not compiled:
        function((0, count), *args, stop)  # no pair is computed
    stop[0] = False
    in_main = threading.current_thread() is threading.main_thread()
    if count > 1 or (stoppable and in_main and not short):
        given = function, (*args, stop) if stoppable else args
        # A thread that has a part of its own ends later: after its next Python instruction.
        takes_part = watch is None and (short or not (in_main or stoppable))
        _on_workers(*given, _Team(count), stop, watch, takes_part)
        return
    if outer is not None:
        stop = outer
    function((0, 1), *args, *([stop] if stoppable else []))
    if stop[0]:
        raise SystemExit  # raised in this thread by `_end`; its result is not used


def in_phases(phases):
    """Call the functions of each phase, on all threads and with one BLAS thread.

    Parameters
    ----------
    phases : list of list of callable
        Without arguments. A phase starts after all calls of the previous one have ended.
    """
    most = max(map(len, phases), default=0)
    count = min(thread_count(), most)
    if count <= 1:
        # One BLAS thread here, too: results do not depend on the number of threads.
        with one_blas_thread() if most > 1 else nullcontext():
            for call in chain.from_iterable(phases):
                call()
        return
    barrier = threading.Barrier(count)
    left = [SimpleQueue() for _ in phases]
    for queue, calls in zip(left, phases):
        for call in calls:
            queue.put(call)
    failed = []

    def run(thread):
        try:
            for queue in left:
                with suppress(Empty):
                    while True:
                        queue.get_nowait()()
                barrier.wait(_LAST)
        except threading.BrokenBarrierError:
            if not failed:
                raise
        except BaseException:
            failed.append(thread)
            barrier.abort()  # the others end
            raise

    with one_blas_thread():
        on_threads(run, count=count, short=True)


@contextmanager
def _within(stop, team):
    """A context in which this thread belongs to a team."""
    before = vars(_here).copy()
    _here.stop, _here.team = stop, team
    try:
        yield
    finally:
        vars(_here).clear()
        vars(_here).update(before)


class _Worker(threading.Thread):
    """A thread that runs one job after another, because starting a thread takes longer."""

    def __init__(self):
        super().__init__(daemon=True)
        self.jobs = SimpleQueue()

    def run(self):
        while self.jobs.get()():
            vars(_here).clear()
            if len(_idle) >= get_num_threads():
                return
            _idle.append(self)


_idle: list[_Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child process has only the main thread


def _worker():
    """An idle thread, or a new one."""
    with suppress(IndexError):
        return _idle.pop()
    worker = _Worker()
    with _starts:
        worker.start()
    return worker


def _on_workers(function, args, team, stop, watch, takes_part):
    ended, over, count, given = SimpleQueue(), threading.Event(), team.count, [(function, args)]

    def run(t):
        """Whether the thread may get another job."""
        _here.stop, _here.team, error = stop, team, None
        try:
            called, own = given[0]
            called((t, count), *own)
        except BaseException as raised:
            error = raised
        with suppress(SystemExit):  # of a thread that is ended here
            called = own = None
            ended.put((t, error))
            team.leave()
            error = None
            # `_end` must not find a thread that has another job.
            return over.wait(_LAST) and not team.dismissed
        return False

    threads, errors, left = [], {}, count
    try:
        for t in range(int(takes_part), count):
            worker = _worker()
            # With the context variables of the caller, such as the list that collects warnings.
            worker.jobs.put(partial(copy_context().run, run, t))
            threads.append(worker)  # with its job: `_end` waits for threads
        if takes_part:
            left -= 1
            with _within(stop, team):
                try:
                    function((0, count), *args)
                except Exception as error:
                    errors[0] = error
            team.leave()
        while left and not errors:
            try:
                t, error = ended.get(timeout=_POLL)
            except Empty:
                if watch is not None:
                    watch()
                continue
            left -= 1
            if error is not None:
                errors[t] = error
    finally:
        if left:
            # The results of threads that still run are not used.
            stop[0] = True
            if _left(ended, left):
                team.dismissed = True
                _end([thread for thread in threads if thread.is_alive()], over)
        given.clear()  # so that idle threads keep no data
        over.set()
    for t in sorted(errors):
        raise errors[t]


def _left(ended, left):
    """The number of threads that still run a moment after their flag was set."""
    until = monotonic() + _GRACE
    while left:
        try:
            ended.get(timeout=max(until - monotonic(), 0.0))
        except Empty:
            break
        left -= 1
    return left


def _end(threads, over):
    """End threads at their next Python instruction, and wait until they have ended."""
    _ask_to_end(threads)
    over.set()
    for thread in threads:
        thread.join(_AGAIN)
        while thread.is_alive():  # Python discards exceptions in a destructor or weak reference
            _ask_to_end([thread])
            thread.join(_AGAIN)


def _ask_to_end(threads):
    with _starts:
        for thread in threads:
            if thread.is_alive():
                # The only exception with which a thread ends without a message.
                ident, error = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)
