"""Ctrl-C ends long compiled work within a second, on one thread and on several."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs signals and the clocks of other processes"
)

# A work, samples, seconds before the signal, and most seconds until the end: CPU times, which other
# work on the machine does not change.
STATISTICS = ("al.alignment_statistics(X, y, kernels)", 80_000, 0.4, 1.0)  # a minute
WORKS = [
    (*STATISTICS[:3], 2.0),
    # Cholesky factors take seconds by then, a reduction to tridiagonal form ten.
    ("al.MKLRegressor(kernels, machine='krr').fit(X, y)", 8000, 1.9, 1.0),
    ("al.MKLRegressorCV(kernels).fit(X, y)", 4000, 1.0, 1.0),
    # A decomposition with all eigenvectors, and a task that another thread works on.
    ("al.KernelCCA(solver='exact').fit(X, y)", 2500, 1.0, 2.0),
    (
        "al.MultiTaskMKLClassifier(kernels).fit(X, y > 0, task=np.arange(m) < m / 20)",
        5000,
        1.5,
        2.0,
    ),
]
PROGRAM = """
import signal, time, numpy as np, alignlearn as al
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
rng = np.random.default_rng(0)
kernels = al.gaussian_kernels(2.0 ** np.arange(-7, 3))
def work(call, m):
    X = rng.standard_normal((m, 20))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m)
    eval(call, globals() | {{"X": X, "y": y, "m": m}})
for call, m, *_ in {works}:
    work(call, 300)
    print("ready", flush=True)
    try:
        while True:
            work(call, m)
    except KeyboardInterrupt:
        print(time.process_time(), flush=True)
"""
LONGEST = 600.0  # seconds until a process that does not stop is killed


def processor_time(pid):
    """Seconds that a process has computed, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)  # the clock that clock_getcpuclockid returns on Linux


def delay(process, wait):
    """Seconds from a signal, ``wait`` seconds after the process is ready, to the exception."""
    assert process.stdout.readline() == "ready\n"
    end = processor_time(process.pid) + wait
    while processor_time(process.pid) < end:
        time.sleep(0.01)
    sent = processor_time(process.pid)
    os.kill(process.pid, signal.SIGINT)
    longest = threading.Timer(LONGEST, process.kill)
    longest.start()
    stopped = process.stdout.readline()
    longest.cancel()
    return float(stopped or "inf") - sent


@pytest.mark.parametrize(("threads", "works"), [("1", [STATISTICS]), ("2", WORKS)])
def test_long_work_stops(monkeypatch, threads, works):
    monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
    command = [sys.executable, "-c", PROGRAM.format(works=works)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        delays = [delay(process, wait) for _, _, wait, _ in works]
    late = [(work[0], found) for work, found in zip(works, delays) if found >= work[3]]
    assert late == []
