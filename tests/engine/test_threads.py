"""Work on threads: parts, errors, Ctrl-C."""

import queue
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from alignlearn.engine import threads


class Stop(KeyboardInterrupt):
    """Ctrl-C, raised in the main thread."""


def interrupt():
    raise Stop


def patient(ended, steps=20_000):
    """Python code of a worker that would go on for 20 seconds and more."""
    for _ in range(steps):
        time.sleep(0.001)
    ended.append(True)


@pytest.mark.parametrize("count", [1, 3])
def test_python_code_on_other_threads_hears_of_ctrl_c(count, capfd):
    """It ends between two instructions, before the work is done, and without a message."""
    ended, before = [], threading.active_count()
    with pytest.raises(Stop):
        threads.on_threads(
            lambda thread, stop: None if stop[0] else patient(ended),
            count=count,
            stoppable=True,
            watch=interrupt,
        )
    assert ended == []
    assert threading.active_count() == before
    assert capfd.readouterr().err == ""


def test_an_error_of_one_thread_ends_the_others():
    ended = []

    def work(thread, stop):
        if not stop[0]:
            patient(ended) if thread[0] else int("no number")

    with pytest.raises(ValueError, match="no number"):
        threads.on_threads(work, count=3, stoppable=True)
    assert ended == []


def test_loops_within_a_thread_stop_with_it():
    """A compiled loop within an item of work looks at the flag of that work."""
    flags, ended = [], []

    def loop(thread, stop):
        if stop[0]:
            return  # to be compiled
        flags.append(stop)
        for _ in range(20_000):
            if stop[0]:
                return
            with suppress(SystemExit):  # compiled code would not notice it
                time.sleep(0.001)
        ended.append(True)

    def work(thread, stop):
        if not stop[0]:
            threads.on_threads(loop, count=1, stoppable=True)
            ended.append(True)

    with pytest.raises(Stop):
        threads.on_threads(work, count=2, stoppable=True, watch=interrupt)
    assert ended == []
    assert all(flag[0] for flag in flags)
    assert flags


def test_threads_that_end_a_moment_after_their_result_do_so_in_silence(monkeypatch, capfd):
    class Slow(queue.SimpleQueue):
        def put(self, item):
            super().put(item)
            time.sleep(0.02)

    monkeypatch.setattr(threads, "SimpleQueue", Slow)
    threads.on_threads(lambda thread: None, count=4)
    assert capfd.readouterr().err == ""


def test_threads_whose_work_is_short_end_by_themselves(monkeypatch):
    """Nothing is raised in destructors and weak references, where Python would only report it."""
    ended = []

    def work(thread, stop):
        if not stop[0]:
            int("no number") if thread[0] == 0 else None
            while not stop[0]:
                time.sleep(0.001)
            ended.append(thread[0])

    monkeypatch.setattr(threads, "_GRACE", 60.0)
    begun = time.monotonic()
    with pytest.raises(ValueError, match="no number"):
        threads.on_threads(work, count=3, stoppable=True)
    assert sorted(ended) == [1, 2]
    assert time.monotonic() - begun < 30.0  # ended threads are not waited for


def test_every_thread_has_its_part():
    found = np.zeros(7)

    def work(thread):
        found[thread[0] :: thread[1]] += 1.0 + thread[0]

    threads.on_threads(work, count=3)
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0])


def test_a_thread_is_ended_where_python_dropped_the_exception():
    """As in the callback of a weak reference, which once made the whole suite hang."""
    done = threading.Event()

    def work(thread):
        if thread[0] == 0:
            time.sleep(0.01)
            int("no number")
        with suppress(SystemExit):
            while True:
                time.sleep(0.001)
        while True:
            time.sleep(0.001)

    def attempt():
        with suppress(ValueError):
            threads.on_threads(work, count=2)
        done.set()

    threading.Thread(target=attempt, daemon=True).start()
    assert done.wait(60.0)


# The exception that ends a thread may be raised in a callback of Python's own, which reports and
# drops it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_threads_that_start_others_are_ended():
    """CPython (3.11) lists a new thread under the number of its creator until it runs."""
    done = threading.Event()

    def work(thread):
        if thread[0] == 0:
            time.sleep(0.001)
            int("no number")
        while True:
            threads.on_threads(lambda _: None, count=3)

    def try_often():
        for _ in range(100):
            with suppress(ValueError):
                threads.on_threads(work, count=3)
        done.set()

    threading.Thread(target=try_often, daemon=True).start()
    # More than a minute beside twenty other processes.
    assert done.wait(300.0)
