"""Ctrl-C ends long compiled work within a second, on one thread and on several."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "interrupt_time.py"

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not SCRIPT.is_file(), reason="needs signals and the source tree"
)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_streamed_statistics_stop(monkeypatch, threads):
    """80,000 samples take a minute."""
    spec = importlib.util.spec_from_file_location("interrupt_time", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    assert script.delay("statistics", samples=80_000, wait=1.0) < 1.0
