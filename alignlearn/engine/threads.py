"""Run a compiled loop on several threads.

The loops release the GIL, so Python threads do what ``prange`` would, without its compilation:
``parallel=True`` around the two block loops cost 12 s of a cold start (numba 0.68) and gained no
speed. Each thread writes its own rows or its own accumulator, so results do not depend on timing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from numba import get_num_threads


def thread_count() -> int:
    """Threads to use: Numba's setting (``NUMBA_NUM_THREADS``, ``numba.set_num_threads``)."""
    return get_num_threads()


def on_threads(function, *args, count=None):
    """Call ``function(thread, *args)`` with ``thread = (number, count)`` for every number."""
    count = thread_count() if count is None else count
    if count == 1:
        function((0, 1), *args)
        return
    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(function, (t, count), *args) for t in range(count)]:
            future.result()
