"""The runner of the benchmarks: one command line, one format of the results.

    scripts/bench/run                          # names of the rows, and what each measures
    scripts/bench/run ladder svc               # some rows, on all threads
    scripts/bench/run --threads 1 all --json results.json
    scripts/bench/run --write svm-fit          # into docs/_data/parts.json
    scripts/bench/run --quick all               # small, once: whether they run

A row is a function of a module of `rows/`, decorated by `row`. It yields `Pair`s: a piece of work,
the baseline that a user would write, and alignlearn, as functions that the runner calls in turn.
Times are minima over the repeats: seconds of the processor, summed over threads, and of the clock.
The ratio is that of processor seconds; the spread is its range over the repeats. Both sides have
the same number of threads. Repeat a run on a busy machine.

Pairs with a ``key`` are the entry of that key in parts.json, from which pages are filled: seconds
of the clock and ratios, with the range over the pairs of one key; of one pair, over its repeats. On
a busy machine there are no seconds, and ratios are those of processor seconds.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from _bench import clock, threads, wall_and_core
from _studies import publish_times, study

HERE = Path(__file__).resolve().parent
BUSY = 0.5  # load, in processors, from which times are not to be quoted
ROWS, SMALL = {}, {}


class Pair(NamedTuple):
    """A piece of work; a side is a function, or seconds that were measured elsewhere, or None.

    ``times`` and ``base_times`` divide the times if a call repeats the work; ``note`` is text, or a
    function that returns it after the measurement. ``key`` is the entry of parts.json, which also
    gets the content of ``more``.
    """

    work: str
    baseline: Callable | float | None
    ours: Callable | float | None
    repeats: int = 3
    note: str | Callable = ""
    times: float = 1
    base_times: float = 1
    key: str = ""
    more: dict = {}  # noqa: RUF012, is not changed


def row(**small):
    """Register a row under the name of its function; ``small`` are its arguments of --quick."""

    def register(function):
        name = function.__name__.strip("_").replace("_", "-")
        ROWS[name], SMALL[name] = function, small
        return function

    return register


def collect():
    """All rows, by name."""
    if str(HERE) not in sys.path:
        sys.path.append(str(HERE))
    for path in sorted((HERE / "rows").glob("[!_]*.py")):
        importlib.import_module(f"rows.{path.stem}")
    return ROWS


def seconds(side, times=1):
    """(seconds of the clock, of the processor) of a side."""
    if callable(side):
        return clock(side, timer=wall_and_core)[0] / times
    return np.full(2, np.nan if side is None else side)


def measure(pair):
    """The record of a pair, as printed and stored."""
    sides = (pair.baseline, pair.base_times), (pair.ours, pair.times)
    runs = np.array([[seconds(*side) for side in sides] for _ in range(pair.repeats)])
    (base_wall, base), (wall, core) = runs.min(axis=0)
    each = runs[:, 0, 1] / runs[:, 1, 1]
    return {
        "work": pair.work,
        "baseline": base,
        "baseline_wall": base_wall,
        "alignlearn": core,
        "wall": wall,
        "ratio": base / core,
        "spread": [each.min(), each.max()],
        "wall_ratios": (runs[:, 0, 0] / runs[:, 1, 0]).tolist(),
        "note": pair.note() if callable(pair.note) else pair.note,
        "key": pair.key,
        "more": pair.more,
    }


def publish_rows(args, records):
    """Write the records of a row that have a key to parts.json."""
    for key in dict.fromkeys(record["key"] for record in records if record["key"]):
        same = [record for record in records if record["key"] == key]
        base, ours = ([record[side] for record in same] for side in ("baseline_wall", "wall"))
        ratios = None if len(same) > 1 else same[0]["wall_ratios"]
        if args.run["load"] > BUSY:
            ratios = [record["ratio"] for record in same] if ratios is None else same[0]["spread"]
            base = ours = np.nan
        publish_times(args, key, base, ours, ratios, **same[0]["more"])


def processor():
    """The name of the processor, if the system reports it."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return "processor of unknown name"


def version(package):
    """The version of an installed package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def machine(n, packages=("scikit-learn",)):
    """The machine and the versions of the measurement."""
    packages = ("alignlearn", "numba", "numpy", "scipy", *packages)
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": n,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }


_HEAD = ("work", "baseline", "clock", "alignlearn", "clock", "ratio", "spread")


def line(record):
    """A record as text; missing values are left out."""
    keys = ("baseline", "baseline_wall", "alignlearn", "wall", "ratio")
    cells = [f"{record[k]:10.4g}" if np.isfinite(record[k]) else " " * 10 for k in keys]
    low, high = record["spread"]
    spread = f"{low:.3g} to {high:.3g}" if np.isfinite(low) and low != high else ""
    return f"{record['work']:<68} {' '.join(cells)} {spread:>14}  {record['note']}".rstrip()


def main(argv=None):
    """Measure the requested rows; return their records, by row."""
    rows, most = collect(), numba.config.NUMBA_NUM_THREADS
    args = study(__doc__, ("all", *rows), argv, threads=(most, most), json=("", ""))
    if not args.named:
        for name, function in rows.items():
            print(f"{name:<18} {function.__doc__.partition(chr(10))[0]}")
        return {}
    names = list(rows) if args.rows == ["all"] else args.rows
    if not 1 <= args.threads <= most:
        sys.exit(f"--threads {args.threads} is out of range; accepted: 1 to {most}")
    found = {"machine": machine(args.threads), "rows": {}}
    args.run = {
        "processor": processor(),
        "threads": args.threads,
        "load": found["machine"]["load"] or 0.0,
    }
    print(", ".join(f"{key} {value}" for key, value in found["machine"].items() if key[0] != "v"))
    print(f"{_HEAD[0]:<68} {' '.join(f'{h:>10}' for h in _HEAD[1:6])} {_HEAD[6]:>14}")
    with threads(args.threads):
        for name in names:
            found["rows"][name] = []
            for pair in rows[name](**(SMALL[name] if args.quick else {})):
                pair = pair._replace(repeats=1) if args.quick else pair
                found["rows"][name].append(measure(pair))
                print(line(found["rows"][name][-1]), flush=True)
            if args.write:
                publish_rows(args, found["rows"][name])
            if args.json:
                Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    return found["rows"]
