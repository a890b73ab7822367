"""Run a compiled loop on several threads, and stop it at Ctrl-C.

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
from queue import Empty, SimpleQueue

import numpy as np
from numba import get_num_threads

_POLL = 0.1  # seconds; where a wait is not ended by a signal (Windows)


def thread_count() -> int:
    """Threads to use: Numba's setting (``NUMBA_NUM_THREADS``, ``numba.set_num_threads``)."""
    return get_num_threads()


_here = threading.local()  # .stop: the flag of the work that this thread has a part in


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
    ended = SimpleQueue()

    def run(t):
        _here.stop = stop
        try:
            function((t, count), *args)
        except BaseException as error:
            ended.put((t, error))
        else:
            ended.put((t, None))

    threads = [threading.Thread(target=run, args=(t,), daemon=True) for t in range(count)]
    errors, left = {}, count
    try:
        for thread in threads:
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
            _end([thread for thread in threads if thread.is_alive()])
    for thread in threads:
        thread.join()
    for t in sorted(errors):
        raise errors[t]


def _end(threads):
    """End threads at their next instruction of Python, and wait for that."""
    for thread in threads:
        # The one exception with which a thread ends in silence.
        ident, error = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)
    for thread in threads:
        thread.join()
