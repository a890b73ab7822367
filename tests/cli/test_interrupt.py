"""Ctrl-C ends long compiled work within a second, on one thread and on several."""

import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs signals and the clocks of other processes"
)


@pytest.fixture(name="script")
def interrupt_time(script):
    return script("bench/interrupt_time")


@pytest.mark.parametrize("threads", ["1", "2"])
def test_streamed_statistics_stop(monkeypatch, script, threads):
    """80,000 samples take a minute. Times are CPU times, without other work on the machine."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    assert script.delay("statistics", samples=80_000, wait=0.4, processor=True) < int(threads)


@pytest.mark.parametrize(("kind", "samples"), [("ridge", 8000), ("leave-one-out", 4000)])
def test_factorizations_stop(script, kind, samples):
    """A Cholesky factor takes seconds by then, a reduction to tridiagonal form ten."""
    assert script.delay(kind, samples=samples, wait=2.5, processor=True) < 1.0


@pytest.mark.parametrize(
    ("kind", "samples", "wait"),
    [("kcca", 2500, 2.0), ("multi-task", 5000, 2.5)],
)
def test_threads_and_decompositions_stop(script, kind, samples, wait):
    """Of all eigenvectors, and of a task that another thread works on."""
    assert script.delay(kind, samples=samples, wait=wait, processor=True) < 2.0
