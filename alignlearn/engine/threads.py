"""Run work on several threads, stop it at Ctrl-C, and keep BLAS from taking threads of its own.

Outer work, such as the candidates and folds of a search, runs on Python threads; inside them
`thread_count` is 1 until others of them have nothing left to do, and `one_blas_thread` keeps BLAS
on one thread for that time. The blocked routines of LAPACK spend more on waking threads than they
gain on matrices of a few thousand samples, and where cores are busy their threads spin against each
other (measured: 2 to 12 times the time). Nothing depends on the number of threads, so results are
the same to the last bit.

The loops release the GIL, so Python threads do what ``prange`` would, without its compilation:
``parallel=True`` around the two block loops cost 12 s of a cold start (numba 0.68) and gained no
speed. Each thread writes its own rows or its own accumulator, so results do not depend on timing.

Python hears of Ctrl-C in its main thread and between two of its instructions only. So the main
thread waits while others compute, and loops that may last look at a flag once per block of pairs.
Python code on the other threads hears of it as the main thread would, between two instructions.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager, suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from time import monotonic

import numpy as np
from numba import get_num_threads
from threadpoolctl import ThreadpoolController

_LAST = 600.0  # seconds that a thread without work waits for the others, at most
_GRACE = 0.05  # seconds in which threads whose work is short end by themselves
_AGAIN = 1.0  # seconds after which a thread that still runs is asked to end again
_POLL = 0.1  # seconds; where a wait is not ended by a signal (Windows)


# Held while a thread starts, and while threads are ended: CPython has a new thread under the number
# of the one that made it until it runs, so that it would be ended in its place, and waited for.
_starts = threading.Lock()
# Of the current thread. .stop: the flag of the work that it has a part in; .team: the threads that
# were made for the parts of that work, of which it is one.
_here = threading.local()


class _Team:
    """Threads that share work: how many there are, and how many have a part to do."""

    def __init__(self, count):
        self.count = self.working = count
        self._lock = threading.Lock()

    def leave(self):
        """One of them has nothing left to do."""
        with self._lock:
            self.working -= 1

    def each(self):
        """Threads that each may use, so that all together are no more than there were."""
        return max(1, self.count // max(1, self.working))


def thread_count() -> int:
    """Threads to use: Numba's setting (``NUMBA_NUM_THREADS``, ``numba.set_num_threads``).

    Within work that is spread over threads already one, or the share of those that have ended. So
    two calls may differ: what is made for so many threads is to be used with its own number.
    """
    team = getattr(_here, "team", None)
    return get_num_threads() if team is None else team.each()


class _BlasLimit:
    """Keeps BLAS on one thread while at least one piece of work asks for it."""

    def __init__(self):
        self._lock, self._users, self._before = threading.Lock(), 0, []

    def enter(self):
        with self._lock:
            if not self._users:
                # Found anew, as a library may have been loaded since: half a millisecond.
                found = ThreadpoolController().select(user_api="blas").lib_controllers
                self._before = [(library, library.num_threads) for library in found]
                for library in found:
                    _set_threads(library, 1)
            self._users += 1

    def leave(self):
        with self._lock:
            self._users -= 1
            if not self._users:
                for library, count in self._before:
                    _set_threads(library, count)
                self._before = []


def _set_threads(library, count):
    # From threadpoolctl 3.8 on only the first thread that sets a limit of OpenBLAS may set others.
    # Here the lock keeps fits of several threads apart.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


_blas = _BlasLimit()


@contextmanager
def one_blas_thread():
    """BLAS runs on one thread in here; the caller's setting is restored by the last to leave."""
    _blas.enter()
    try:
        yield
    finally:
        _blas.leave()


def on_threads(function, *args, count=None, stoppable=False, watch=None):
    """Call ``function(thread, *args)`` with ``thread = (number, count)`` for every number.

    Parameters
    ----------
    function : callable
        Compiled without the GIL, or calling what is. Where one thread fails, and at Ctrl-C, the
        others end at their next instruction of Python.
    *args
    count : int, optional
        Number of threads; `thread_count` by default.
    stoppable : bool, default False
        Pass one more argument, an array with a flag: where ``stop[0]`` is true the function returns
        at once. It becomes true at Ctrl-C and where another thread failed, also of work that this
        call is a part of.
    watch : callable, optional
        Called without arguments several times a second, in the thread of the caller only.
    """
    count = thread_count() if count is None else count
    stop, outer = np.ones(1, dtype=np.bool_), getattr(_here, "stop", None)
    if outer is not None and outer[0]:
        raise SystemExit  # of this thread: nobody takes its result
    if stoppable:
        # Nothing is done, but compiled if need be: in this thread Ctrl-C ends that, too.
        function((0, count), *args, stop)
    stop[0] = False
    in_main = threading.current_thread() is threading.main_thread()
    if count > 1 or (stoppable and in_main):
        _on_new_threads(function, (*args, stop) if stoppable else args, count, stop, watch)
        return
    if outer is not None:
        stop = outer
    function((0, 1), *args, *([stop] if stoppable else []))
    if stop[0]:
        raise SystemExit  # of this thread, as `_end` asks for; nobody takes its result


def _on_new_threads(function, args, count, stop, watch):
    ended, team, over = SimpleQueue(), _Team(count), threading.Event()

    def run(t):
        _here.stop, _here.team, error = stop, team, None
        try:
            function((t, count), *args)
        except BaseException as raised:
            error = raised
        with suppress(SystemExit):  # of one that is ended here
            ended.put((t, error))
            team.leave()
            # What ends threads must not find a new one under the number of one that is gone.
            over.wait(_LAST)

    # Each thread has the context of its caller, such as where warnings are gathered.
    threads = [
        threading.Thread(target=copy_context().run, args=(run, t), daemon=True)
        for t in range(count)
    ]
    errors, left = {}, count
    try:
        for thread in threads:
            with _starts:
                thread.start()
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
            # Of threads that still run nobody will take the result.
            stop[0] = True
            if _left(ended, left):
                _end([thread for thread in threads if thread.is_alive()], over)
        over.set()
    for thread in threads:
        thread.join()
    for t in sorted(errors):
        raise errors[t]


def _left(ended, left):
    """How many of so many threads still run a moment after their flag was set."""
    until = monotonic() + _GRACE
    while left:
        try:
            ended.get(timeout=max(until - monotonic(), 0.0))
        except Empty:
            break
        left -= 1
    return left


def _end(threads, over):
    """End threads at their next instruction of Python, and wait for that."""
    _ask_to_end(threads)
    over.set()
    for thread in threads:
        thread.join(_AGAIN)
        while thread.is_alive():  # Python drops what is raised in a destructor or weak reference
            _ask_to_end([thread])
            thread.join(_AGAIN)


def _ask_to_end(threads):
    with _starts:
        for thread in threads:
            if thread.is_alive():
                # The one exception with which a thread ends in silence.
                ident, error = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)
