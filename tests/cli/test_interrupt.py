"""Ctrl-C ends long compiled work within a second, on one thread and on several."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "interrupt_time.py"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not SCRIPT.is_file(),
    reason="needs signals, the clocks of other processes and the source tree",
)


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("interrupt_time", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize("threads", ["1", "2"])
def test_streamed_statistics_stop(monkeypatch, script, threads):
    """80,000 samples take a minute. Other work on the machine changes no time here."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    assert script.delay("statistics", samples=80_000, wait=1.0, processor=True) < int(threads)


@pytest.mark.parametrize(("kind", "samples"), [("ridge", 8000), ("leave-one-out", 4000)])
def test_factorisations_stop(script, kind, samples):
    """A Cholesky factor takes seconds by then, a reduction to tridiagonal form ten."""
    assert script.delay(kind, samples=samples, wait=2.5, processor=True) < 1.0
