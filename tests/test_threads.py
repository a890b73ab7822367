"""Work on threads: parts, errors, Ctrl-C."""

import os
import queue
import threading
import time
import weakref
from contextlib import suppress
from functools import partial

import pytest
import usage

from alignlearn import _threads as threads


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
    assert threading.active_count() <= before  # idle threads may have ended, too
    assert capfd.readouterr().err == ""


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
    ended, begun_all = [], threading.Barrier(3)

    def work(thread, stop):
        if not stop[0]:
            begun_all.wait(10.0)
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


def test_the_caller_takes_part_in_short_work_and_ctrl_c_ends_the_others():
    seen, ended = {}, []

    def say(thread):
        seen[thread[0], thread[1]] = threading.get_ident()

    threads.on_threads(say, count=3, short=True)
    assert seen.keys() == {(0, 3), (1, 3), (2, 3)}
    assert seen[0, 3] == threading.get_ident()
    assert len(set(seen.values())) == 3

    def work(thread):
        patient(ended) if thread[0] else interrupt()

    with pytest.raises(Stop):
        threads.on_threads(work, count=3, short=True)
    assert ended == []


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


def test_phases_follow_one_another():
    """No call of a phase begins before all calls of the phase before it have ended."""
    ended, seen = [], []

    def call(phase, number):
        time.sleep(0.002 * number)
        seen.append(sum(k < phase for k in ended))
        ended.append(phase)

    phases = [[partial(call, p, n) for n in range(3)] for p in range(4)]
    with usage.threads(3):
        threads.in_phases(phases)
    assert sorted(ended) == sorted(list(range(4)) * 3)
    assert sorted(seen) == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9]


def test_an_error_of_one_thread_ends_the_others():
    ended = []

    def work(thread, stop):
        if not stop[0]:
            patient(ended) if thread[0] else int("no number")

    with pytest.raises(ValueError, match="no number"):
        threads.on_threads(work, count=3, stoppable=True)
    assert ended == []


def test_an_error_in_a_phase_is_raised_and_ends_the_others(monkeypatch):
    later = []
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    first = [partial(int, "no number"), *[partial(time.sleep, 0.001)] * 5]
    with pytest.raises(ValueError, match="no number"):
        threads.in_phases([first, [lambda: later.append(1)]])
    assert later == []


def test_a_waiting_thread_lends_its_share():
    found, waits, counted, ended = {}, *(threading.Event() for _ in range(3))

    def work(thread):
        if thread[0] == 0:
            with threads.waiting():
                waits.set()
                assert counted.wait(60.0)
            found["after"] = threads.thread_count()
            ended.set()
        else:
            assert waits.wait(60.0)
            found["while"] = threads.thread_count()
            counted.set()
            assert ended.wait(60.0)

    threads.on_threads(work, count=2)
    assert found == {"while": 2, "after": 1}


def test_idle_threads_keep_nothing_of_their_last_work():
    class Data:
        pass

    def work(thread, data):
        assert data is not None

    data = Data()
    gone = weakref.ref(data)
    threads.on_threads(work, data, count=3)
    del data
    assert gone() is None
    # Nor do they keep the work that they belonged to: they may use all threads.
    counts = []
    threads.on_threads(lambda thread: counts.append(vars(threads._here)["team"]), count=3)
    assert len({id(team) for team in counts}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child process is started otherwise here")
@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # of Python 3.12: it has threads
def test_a_forked_process_starts_threads_of_its_own():
    threads.on_threads(lambda thread: None, count=3)  # which the child does not have
    child = os.fork()
    if child == 0:
        found = []
        threads.on_threads(lambda thread: found.append(thread[0]), count=2)
        os._exit(0 if sorted(found) == [0, 1] else 1)
    assert os.waitpid(child, 0)[1] == 0
