#!/usr/bin/env python3
"""Random cases against independent answers: statistics, estimators, wrong arguments.

scripts/fuzz.py --seconds 60 --seed 0
scripts/fuzz.py --only statistics,arguments
scripts/fuzz.py --case statistics:12345      # one case again, with its traceback

Failures are silent wrong answers, or inner errors: whatever is no documented ValueError, TypeError
or correct answer. Exit code 1 if there are any.
"""

import argparse
import os
import resource
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numba
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import _fuzz_arguments
import _fuzz_invariances
import _fuzz_statistics
from _fuzz_data import Wrong

import alignlearn as al

FAMILIES = {
    "statistics": _fuzz_statistics.case,
    "estimators": _fuzz_invariances.case,
    "arguments": _fuzz_arguments.case,
}
SLOW = 10.0  # seconds that a case may take; the first of its kind compiles, so twice in a row
STUCK = 120.0  # seconds after which a case is interrupted, and 2 STUCK the run given up
MEMORY = 16 * 2**30  # bytes of address space, so that a wrong size is a MemoryError
SHOWN = 3  # seeds printed for each failure
LIBRARY = Path(al.__file__).resolve().parent


@dataclass
class Failure:
    """One way to fail, and the seeds of the cases that failed so."""

    inner: bool
    details: str
    seeds: list = field(default_factory=list)


class Watchdog(threading.Thread):
    """Ends the process where a case does not come back."""

    def __init__(self):
        super().__init__(daemon=True)
        self.case, self.since = None, time.monotonic()
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(5.0):
            if time.monotonic() - self.since > 2 * STUCK:
                print(f"hang: --case {self.case}", flush=True)
                os._exit(1)

    def watch(self, name):
        """A new case begins."""
        self.case, self.since = name, time.monotonic()


def _interrupt(signal_number, frame):
    raise TimeoutError(f"no answer after {STUCK:g} s")


def generator(family, seed):
    """The random numbers of one case."""
    return np.random.default_rng([list(FAMILIES).index(family), seed])


def attempt(family, seed):
    """Run one case with every NumPy warning an error; (kind, seconds)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for harmless in (al.ConvergenceWarning, al.DegenerateKernelWarning):
            warnings.simplefilter("ignore", harmless)
        start = time.perf_counter()
        if signal.getsignal(signal.SIGALRM) is _interrupt:
            signal.setitimer(signal.ITIMER_REAL, STUCK)
        try:
            kind = FAMILIES[family](generator(family, seed))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        return kind, time.perf_counter() - start


def judge(family, seed):
    """(kind, None) of a case that passed, or (None, (signature, is inner, details))."""
    try:
        kind, seconds = attempt(family, seed)
        if seconds > SLOW:
            kind, seconds = attempt(family, seed)
        if seconds > SLOW:
            return None, (f"{kind} takes more than {SLOW:g} s", True, f"{seconds:.1f} s")
        return kind, None
    except Wrong as wrong:
        return None, (wrong.what, wrong.inner, str(wrong))
    except Exception as error:
        message = f"{type(error).__name__}: {str(error)[:200]}"
        return None, (f"{type(error).__name__} at {_place(error)}", True, message)


def _place(error):
    """The innermost frame in the library, or in the fuzz itself."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if LIBRARY in Path(f.filename).parents] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno} ({ours[-1].name})"


def run(families, seconds, seed, most=None):
    """Cases of the families in turn until the time is up; (counts, failures).

    ``counts`` maps (family, kind) to numbers, ``failures`` (family, signature) to `Failure`.
    """
    counts, failures, watchdog = Counter(), {}, Watchdog()
    watchdog.start()
    spent, numbers = dict.fromkeys(families, 0.0), dict.fromkeys(families, 0)
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most is None or sum(numbers.values()) < most):
        family = min(families, key=spent.get)  # equal time for each
        case = seed * 10**7 + numbers[family]
        watchdog.watch(f"{family}:{case}")
        start = time.perf_counter()
        kind, failure = judge(family, case)
        spent[family] += time.perf_counter() - start
        numbers[family] += 1
        counts[family, kind or "failed"] += 1
        if failure is not None:
            signature, inner, details = failure
            failures.setdefault((family, signature), Failure(inner, details)).seeds.append(case)
    watchdog.done.set()
    return counts, failures


def report(counts, failures):
    """Print the counts and the failures; whether there are none."""
    for (family, signature), failure in sorted(failures.items()):
        kind = "inner error" if failure.inner else "wrong answer"
        print(f"{kind}, {len(failure.seeds)} times: {signature}\n    {failure.details}")
        print("".join(f"    --case {family}:{seed}\n" for seed in failure.seeds[:SHOWN]), end="")
    for family in dict.fromkeys(family for family, _ in counts):
        kinds = {kind: n for (f, kind), n in sorted(counts.items()) if f == family}
        text = ", ".join(f"{kind} {n}" for kind, n in kinds.items())
        print(f"{family}: {sum(kinds.values())} cases ({text})")
    wrong = sum(len(f.seeds) for f in failures.values() if not f.inner)
    inner = sum(len(f.seeds) for f in failures.values() if f.inner)
    print(f"{sum(counts.values())} cases, {wrong} wrong answers, {inner} inner errors")
    return not failures


def _arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(FAMILIES), help="families, with commas")
    parser.add_argument("--case", metavar="FAMILY:SEED", help="repeat one case, with its traceback")
    args = parser.parse_args(argv)
    args.only = args.only.split(",")
    if args.case is not None:
        family, _, number = args.case.partition(":")
        args.only = [family]
        if not number.isdecimal():
            parser.error(f"--case is {args.case!r}; accepted: FAMILY:SEED, as printed")
    for family in args.only:
        if family not in FAMILIES:
            parser.error(f"{family!r} is no family; accepted: {', '.join(FAMILIES)}")
    if args.seed < 0:
        parser.error(f"--seed is {args.seed}; accepted: 0 or more")
    return args


def main(argv=None):
    """Run; the exit code."""
    args = _arguments(argv)
    if np.finfo(np.longdouble).eps > 1e-18:
        print("numpy.longdouble has no more digits than float64 here; nothing to compare with")
        return 2
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, _interrupt)
    numba.set_num_threads(1)  # the cases fill one block of rows, so that more would only wait
    if args.case is not None:
        family, _, seed = args.case.partition(":")
        kind, taken = attempt(family, int(seed))
        print(f"{args.case} passed: {kind}, {taken:.2f} s")
        return 0
    return 0 if report(*run(args.only, args.seconds, args.seed)) else 1


if __name__ == "__main__":
    sys.exit(main())
