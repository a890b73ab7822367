"""Run a compiled loop on several threads, and stop it at Ctrl-C.

The loops release the GIL, so Python threads do what ``prange`` would, without its compilation:
``parallel=True`` around the two block loops cost 12 s of a cold start (numba 0.68) and gained no
speed. Each thread writes its own rows or its own accumulator, so results do not depend on timing.

Python hears of Ctrl-C in its main thread and between two of its instructions only. So the main
thread waits while others compute, and loops that may last look at a flag once per block of pairs.
"""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np
from numba import get_num_threads

_POLL = 0.1  # seconds; where a wait is not ended by a signal (Windows)


def thread_count() -> int:
    """Threads to use: Numba's setting (``NUMBA_NUM_THREADS``, ``numba.set_num_threads``)."""
    return get_num_threads()


def on_threads(function, *args, count=None, stoppable=False, watch=None):
    """Call ``function(thread, *args)`` with ``thread = (number, count)`` for every number.

    Parameters
    ----------
    function : callable
        Compiled without the GIL, or calling what is.
    *args
    count : int, optional
        Number of threads; `thread_count` by default.
    stoppable : bool, default False
        Pass one more argument, an array with a flag: where ``stop[0]`` is true the function returns
        at once. It becomes true at Ctrl-C and where another thread failed.
    watch : callable, optional
        Called without arguments several times a second, in the thread of the caller only.
    """
    count = thread_count() if count is None else count
    stop = np.ones(1, dtype=np.bool_)
    if stoppable:
        args = *args, stop
        # Nothing is done, but compiled if need be: in this thread Ctrl-C ends that, too.
        function((0, count), *args)
    stop[0] = False
    in_main = threading.current_thread() is threading.main_thread()
    if count == 1 and not (stoppable and in_main):
        function((0, 1), *args)
        return
    with ThreadPoolExecutor(count) as pool:
        try:
            running = [pool.submit(function, (t, count), *args) for t in range(count)]
            while wait(running, _POLL, FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in running):
                    break
                if watch is not None:
                    watch()
        finally:
            # Of threads that still run nobody will take the result.
            stop[0] = True
    for future in running:
        future.result()
