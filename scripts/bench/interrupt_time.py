#!/usr/bin/env python
"""Seconds from Ctrl-C to KeyboardInterrupt, at random times of long work.

    scripts/bench/interrupt_time.py                        # all kinds of work, five times each
    scripts/bench/interrupt_time.py gram --trials 20 --samples 5000

Each trial is a process that computes until it gets SIGINT.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

from _bench import options

_WORK = {
    "statistics": (30_000, 20.0, "al.alignment_statistics(X, y, kernels)"),
    "gram": (30_000, 20.0, "(0.1 * al.Gaussian(0.1) + 0.1 * al.Gaussian(0.2))(X)"),
    "svc": (8_000, 4.0, "al.MKLClassifier(kernels, C=100.0).fit(X, y > 0)"),
    "ridge": (8_000, 8.0, "al.MKLRegressor(kernels, machine='krr').fit(X, y)"),
    "leave-one-out": (5_000, 20.0, "al.MKLRegressorCV(kernels).fit(X, y)"),
    "one-stage": (3_000, 20.0, "al.compare(X, y, kernels, methods=('uniform', 'lkrr'))"),
}
_LONGEST = 60.0  # seconds until a process that does not stop is killed
_PROGRAM = """
import signal, time, numpy as np, alignlearn as al
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
rng = np.random.default_rng(0)
kernels = al.gaussian_kernels(2.0 ** np.arange(-7, 3))
def work(m):
    X = rng.standard_normal((m, 20))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m)
    {call}
work(300)
print("ready", flush=True)
try:
    while True:
        work({m})
except KeyboardInterrupt:
    print(time.monotonic(), time.process_time(), flush=True)
"""


def _processor_time(pid):
    """Seconds that a process has computed, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)  # what clock_getcpuclockid gives on Linux


def delay(kind, samples=None, wait=None, *, processor=False):
    """Seconds that the process needed to notice the signal.

    Parameters
    ----------
    kind : str
        Of the work, a key of the table above.
    samples : int, optional
    wait : float, optional
        Seconds before the signal; a random part of what the work takes by default.
    processor : bool
        Seconds are those that the process computes, of all its threads, which other work on the
        machine does not change. On Linux only.
    """
    m, longest, call = _WORK[kind]
    program = _PROGRAM.format(call=call, m=samples or m)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{kind}: the program failed")
        wait = random.uniform(0.0, longest) if wait is None else wait
        if processor:
            end = _processor_time(process.pid) + wait
            while _processor_time(process.pid) < end:
                time.sleep(0.01)
        else:
            time.sleep(wait)
        sent = time.monotonic(), _processor_time(process.pid) if processor else 0.0
        os.kill(process.pid, signal.SIGINT)
        longest = threading.Timer(_LONGEST * (10.0 if processor else 1.0), process.kill)
        longest.start()
        stopped = process.stdout.readline()
        longest.cancel()
    return float(stopped.split()[processor]) - sent[processor] if stopped else float("inf")


def main():
    """Print the table."""

    def extend(parser):
        parser.add_argument("--trials", type=int, default=5)
        parser.add_argument("--samples", type=int, help="default: as in the table of the source")

    args = options(__doc__, _WORK, extend=extend)
    print(f"{'work':<14} {'m':>8} {'trials':>7} {'largest':>9} {'median':>9}  (seconds)")
    for kind in args.rows:
        delays = sorted(delay(kind, args.samples) for _ in range(args.trials))
        m, middle = args.samples or _WORK[kind][0], delays[len(delays) // 2]
        print(f"{kind:<14} {m:>8} {len(delays):>7} {delays[-1]:>9.3f} {middle:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
