#!/usr/bin/env python
"""Seconds from Ctrl-C to KeyboardInterrupt, at random times of long work.

    scripts/bench/interrupt_time.py                        # all kinds of work, five times each
    scripts/bench/interrupt_time.py gram --trials 20 --samples 5000
    scripts/bench/interrupt_time.py --deaf kcca krein      # longest time without a look for it

A process computes until it gets SIGINT, once for each trial. With --deaf it does the work once,
and a timer reports the longest time in which Python's main thread ran no instruction, and hence
noticed no signal.
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
    "search": (20_000, 12.0, "al.MKLClassifierCV().fit(X, y > 0)"),
    "ridge-search": (20_000, 12.0, "al.MKLRegressorCV().fit(X, y)"),
    "search-many": (200_000, 20.0, "al.MKLClassifierCV().fit(X, y > 0)"),
    "ridge-search-many": (200_000, 20.0, "al.MKLRegressorCV().fit(X, y)"),
    "one-stage": (3_000, 20.0, "al.compare(X, y, kernels, methods=('uniform', 'lkrr'))"),
    "kcca": (3_000, 15.0, "al.KernelCCA(solver='exact').fit(X, y)"),
    "kcca-low-rank": (
        20_000,
        8.0,
        "al.KernelCCA(solver='low-rank', max_rank=1500, tol=1e-12).fit(X, y)",
    ),
    "multi-task": (
        4_000,
        4.0,
        "al.MultiTaskMKLClassifier(kernels).fit(X, y > 0, task=np.arange(m) < 0.05 * m)",
    ),
    "multi-task-regression": (
        4_000,
        4.0,
        "al.MultiTaskMKLRegressor(kernels).fit(X, y, task=np.arange(m) < 0.05 * m)",
    ),
    "linear-svm": (
        1_000_000,
        20.0,
        "machines.LinearSVM(100.0, max_iter=200).fit(X[:, :3], y > 0)",
    ),
    "alignment-test": (4_000, 3.0, "al.alignment_test(X @ X.T, y)"),
    "hsic": (4_000, 5.0, "al.hsic_test(X, y, n_permutations=9)"),
    "krein": (4_000, 20.0, "machines.KreinSVC().fit(np.tanh(0.3 * X @ X.T - 0.2), y > 0)"),
    "bayesian": (3_000, 30.0, "al.BayesianMKLClassifier(kernels).fit(X, y > 0)"),
    "rank-one": (
        20_000,
        20.0,
        "al.MKLClassifier(al.RankOneKernels()).fit(np.tile(X, (1, 50)), y > 0)",
    ),
    "linear": (200_000, 5.0, "al.MKLRegressor('linear').fit(np.tile(X, (1, 15)), y)"),
    "nystrom": (50_000, 15.0, "al.NystromRidge('rbf', n_centers=2500).fit(X, y)"),
    "nystrom-svc": (30_000, 15.0, "al.NystromSVC('rbf', n_centers=2500).fit(X, y > 0)"),
    "cka": (8_000, 5.0, "al.cka_matrix([np.tile(X, (1, 150))] * 2)"),
}
_LONGEST = 60.0  # seconds until a process that does not stop is killed
_PROGRAM = """
import signal, time, numpy as np, alignlearn as al
from alignlearn import machines
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
rng = np.random.default_rng(0)
kernels = al.gaussian_kernels(2.0 ** np.arange(-7, 3))
def work(call, m):
    X = rng.standard_normal((m, 20))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m)
    eval(call, globals() | {{"X": X, "y": y, "m": m}})
for call, m in {works}:
    work(call, 300)
    print("ready", flush=True)
{measure}"""
_UNTIL = """
    try:
        while True:
            work(call, m)
    except KeyboardInterrupt:
        print(time.monotonic(), time.process_time(), flush=True)
"""
_DEAF = """
    longest, last = 0.0, time.thread_time()
    def look(signum, frame):
        global longest, last
        longest, last = max(longest, time.thread_time() - last), time.thread_time()
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    work(call, m)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    look(None, None)
    print(longest, flush=True)
"""


def _processor_time(pid):
    """Seconds that a process has computed, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)  # the clock that clock_getcpuclockid returns on Linux


def delays(works, *, processor=False):
    """Seconds that a process needed to notice each of several signals, during one work each.

    Parameters
    ----------
    works : sequence of (kind, samples, wait)
        Key of the table above; samples or None, for those of the table; seconds before the signal
        or None, for a random part of what the work takes.
    processor : bool
        Seconds are those that the process computes, of all its threads, which other work on the
        machine does not change. On Linux only.
    """
    calls = [(_WORK[kind][2], samples or _WORK[kind][0]) for kind, samples, _ in works]
    command = [sys.executable, "-c", _PROGRAM.format(works=calls, measure=_UNTIL)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        found = [_delay(process, kind, wait, processor) for kind, _, wait in works]
    return found


def _delay(process, kind, wait, processor):
    if process.stdout.readline() != "ready\n":
        raise RuntimeError(f"{kind}: the program failed")
    wait = random.uniform(0.0, _WORK[kind][1]) if wait is None else wait
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


def deaf(kind, samples=None):
    """Most processor seconds in which the main thread did not check for a signal, on Linux.

    While it waits for other threads it checks at once.
    """
    m, _, call = _WORK[kind]
    program = _PROGRAM.format(works=[(call, samples or m)], measure=_DEAF)
    run = [sys.executable, "-W", "ignore", "-c", program]
    return float(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()[-1])


def main():
    """Print the table."""

    def extend(parser):
        parser.add_argument("--trials", type=int, default=5)
        parser.add_argument("--deaf", action="store_true", help="longest time without a check")
        parser.add_argument("--samples", type=int, help="default: as in the table of the source")

    args = options(__doc__, _WORK, extend=extend)
    print(f"{'work':<14} {'m':>8} {'trials':>7} {'largest':>9} {'median':>9}  (seconds)")
    for kind in args.rows:
        if args.deaf:
            found = sorted(deaf(kind, args.samples) for _ in range(args.trials))
        else:
            found = sorted(delays([(kind, args.samples, None)] * args.trials))
        m, middle = args.samples or _WORK[kind][0], found[len(found) // 2]
        print(f"{kind:<14} {m:>8} {len(found):>7} {found[-1]:>9.3f} {middle:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
