"""Ctrl-C ends long compiled work within a second, on one thread and on several."""

import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs signals and the clocks of other processes"
)

# Kind of work, samples, seconds before the signal, and most seconds until the end: CPU times,
# without other work on the machine. Statistics of 80,000 samples take a minute, a Cholesky factor
# takes seconds by then, a reduction to tridiagonal form ten. Then come a decomposition with all
# eigenvectors, and a task that another thread works on.
WORKS = [
    ("statistics", 80_000, 0.4, 2.0),
    ("ridge", 8000, 1.9, 1.0),
    ("leave-one-out", 4000, 1.0, 1.0),
    ("kcca", 2500, 1.0, 2.0),
    ("multi-task", 5000, 1.5, 2.0),
]


@pytest.mark.parametrize(("threads", "works"), [("1", [(*WORKS[0][:3], 1.0)]), ("2", WORKS)])
def test_long_work_stops(monkeypatch, script, threads, works):
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    delays = script("bench/interrupt_time").delays([work[:3] for work in works], processor=True)
    late = {work[0]: found for work, found in zip(works, delays) if found >= work[3]}
    assert late == {}
