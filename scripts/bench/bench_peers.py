#!/usr/bin/env python
"""alignlearn against the packages that a user may know: seconds, memory, accuracy, growth.

    scripts/bench/peers                      # makes an environment with the peers and runs this
    scripts/bench/peers --quick              # smallest sizes: what is measured, not how fast
    scripts/bench/bench_peers.py svc ridge   # some rows, with what is installed

Each row is one task, done by alignlearn and by other packages on the same samples, on one thread,
one after the other, in changing order. Times are processor seconds, the minimum of the repeats (one
above 5 s), after a run on a small size, which compiles. Memory is the growth of the largest
resident size in a process of its own, at the largest size. A package that is not installed or fails
gives a row with the reason. ``--json docs/_data/benchmarks.json`` writes everything;
`docs/_ext/benchmarks_page.py` makes the page of the site and its figures from that file.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import time
from pathlib import Path

import numpy as np
from _bench import PEAK, cpu_clock, output, quiet, threads
from _bench_peers_rows import ROWS
from _run import machine, version
from _studies import study

from alignlearn.datasets import DatasetError

PEERS = (
    "scikit-learn",
    "scikit-learn-intelex",
    "himalaya",
    "MKLpy",
    "mklaren",
    "hyppo",
    "cca-zoo",
    "torch",
    "torch_cka",
    "pykeops",
)
LONG = 5.0  # seconds after which a side is not repeated


def one_line(error):
    """The error, without the folders of this machine."""
    text = " ".join(str(error).split())
    text = re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[/\\][\w.+@~-]+){2,}", "...", text)
    return f"{type(error).__name__}: {text}"[:160]


def reason(side, error, folder=None):
    """The reason why a side has no results; ``folder`` has pip's messages, by package."""
    installed = version(side.package)
    if installed is None:
        said = folder and Path(folder) / side.package
        if said and said.is_file():
            return f"not installed: {said.read_text().strip()[:160]}"
        return "not installed"
    return f"{side.package} {installed} does not run here: {one_line(error)}"


def started(sides, folder=None):
    """{name: work} of the sides that start, and {name: reason} of the others."""
    works, reasons = {}, {}
    for side in sides:
        try:
            works[side.name] = side.start()
        except Exception as error:
            reasons[side.name] = reason(side, error, folder)
    return works, reasons


def once(side, work):
    """(seconds of the processor, the result of the work)."""
    with contextlib.redirect_stderr(io.StringIO()):  # bars of progress
        seconds, found = cpu_clock(work)
    return (found[1], found[0]) if side.timed else (seconds, found)


def measured(sides, repeats, folder=None):
    """A record of each side: minimal seconds and score, or the reason that there are none."""
    with quiet():
        works, reasons = started(sides, folder)
        seconds, results = {}, {}
        for turn in range(repeats):
            for side in sides if turn % 2 == 0 else sides[::-1]:
                if side.name not in works or seconds.get(side.name, 0.0) > LONG:
                    continue
                try:
                    spent, results[side.name] = once(side, works[side.name])
                except Exception as error:
                    reasons[side.name] = reason(side, error, folder)
                    del works[side.name]
                else:
                    seconds[side.name] = min(spent, seconds.get(side.name, np.inf))
        records = []
        for side in sides:
            record = {"side": side.name, "package": side.package}
            if side.name in reasons:
                record["reason"] = reasons[side.name]
            else:
                score = side.score(results[side.name])
                record |= {"seconds": seconds[side.name], "score": score}
            records.append(record)
    return records


_PEAK = """
import bench_peers
print(bench_peers.growth({row!r}, {side!r}, {size!r}, peak))
"""


def growth(name, which, size, peak):
    """Bytes that the work of a side adds to the peak of this process; None if it fails.

    The side runs on the small size before, and the samples are in memory.
    """
    row = ROWS[name]
    try:
        with quiet(), threads(1), contextlib.redirect_stdout(io.StringIO()):
            small, large = (
                next(side for side in sides if side.name == which)
                for sides in (row.smallest(), row.sides(size))
            )
            once(small, small.start())
            work = large.start()
            before = peak()
            once(large, work)
            return peak() - before
    except Exception:
        return None


def memory(name, which, size):
    """Megabytes of ``growth`` in a process of its own, or None."""
    code = PEAK + _PEAK.format(row=name, side=which, size=size)
    found = output(code, PYTHONPATH=str(Path(__file__).parent)).strip().splitlines()[-1]
    return None if found == "None" else int(found) / 1e6


def measure(name, args):
    """All records of a row."""
    row, found = ROWS[name], []
    sizes = (row.quick,) if args.quick else row.sizes
    if not args.quick:
        for sides in (row.smallest(), *map(row.sides, row.warm)):  # compiles
            measured(sides, 1)
    for size in sizes:
        try:
            sides = row.smallest() if args.quick else row.sides(size)
        except (DatasetError, ImportError) as error:  # data that are not available
            print(f"{name:<13} {size!s:<16} left out: {one_line(error)}", flush=True)
            continue
        records = measured(sides, 1 if args.quick else row.repeats, args.reasons)
        if not args.quick and size == sizes[-1] and row.axis != "data":
            for record in records:
                if "reason" not in record:
                    record["memory"] = memory(name, record["side"], size)
        for record in records:
            found.append({"size": size, **record})
            print(line(name, found[-1]), flush=True)
    return found


def line(name, record):
    """A record, as printed."""
    head = f"{name:<13} {record['size']!s:<14} {record['side']:<44}"
    if "reason" in record:
        return f"{head} {record['reason']}"
    memory = record.get("memory")
    return (
        f"{head} {record['seconds']:9.4f} s {record['score']:9.4g}"
        f"{'' if memory is None else f' {memory:9.1f} MB'}"
    )


def about(args):
    """Versions, threads, and the machine, without names of folders."""
    return {**machine(1, PEERS), "quick": args.quick}


def kept(args):
    """An earlier run of the same versions, in the file, of which some rows are replaced; or {}."""
    if not Path(args.json).is_file() or set(args.rows) == set(ROWS):
        return {}
    earlier, now = json.loads(Path(args.json).read_text()), about(args)
    return earlier if all(earlier[k] == now[k] for k in ("versions", "processor", "quick")) else {}


def main(argv=None):
    """Measure, print, write."""
    files = {"json": ("", ""), "reasons": ("", "")}  # to write, and a folder with pip's messages
    args = study(__doc__, tuple(ROWS), argv, published=False, **files)
    with threads(1):
        start = time.perf_counter()
        found = {**about(args), "about": {}, "rows": {}}
        earlier = kept(args)
        found |= earlier
        if earlier:
            found["again"] = args.rows
        for name in args.rows:
            row = ROWS[name]
            parts = {"title": row.title, "axis": row.axis, "score": row.score, "note": row.note}
            found["about"][name], found["rows"][name] = parts, measure(name, args)
            if not earlier:
                found["minutes"] = round((time.perf_counter() - start) / 60.0, 1)
            if args.json:  # also the results of an interrupted run
                Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    print(f"{found['minutes']} minutes")
    return found


if __name__ == "__main__":
    main()
