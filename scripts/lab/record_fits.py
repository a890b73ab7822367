#!/usr/bin/env python
"""Record weights, scores and predictions of many small fits, and compare two records.

To check that a change does not change any result, make a record before it and one after it:

    python scripts/lab/record_fits.py record BEFORE.npz
    python scripts/lab/record_fits.py record AFTER.npz
    python scripts/lab/record_fits.py compare BEFORE.npz AFTER.npz

``compare`` prints a line for each fit: "equal" to the last bit, or which arrays differ and by how
much. Its exit status is 1 if any differs. A fit that fails is recorded by the text of its error.
The fits are in ``_fits.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import _fits

BETWEEN = "|"  # of the name of a fit and that of an array


def record(path, pattern=""):
    """Run the fits whose names contain ``pattern`` and write their results; return their number."""
    arrays, chosen = {}, {name: fit for name, fit in _fits.cases().items() if pattern in name}
    for name, fit in chosen.items():
        for part, value in _fits.recorded(fit).items():
            arrays[f"{name}{BETWEEN}{part}"] = value
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)
    return len(chosen)


def load(path):
    """A record, {name of the fit: {name: array}}."""
    fits = {}
    with np.load(path) as arrays:
        for key in arrays.files:
            name, part = key.split(BETWEEN, 1)
            fits.setdefault(name, {})[part] = arrays[key]
    return fits


def difference(old, new):
    """How two arrays differ, in words; empty if they are equal to the last bit."""
    if old is None or new is None:
        return "is only in the " + ("new" if old is None else "old") + " record"
    if old.shape != new.shape:
        return f"has the shape {new.shape} in place of {old.shape}"
    if old.dtype.kind == "U" or new.dtype.kind == "U":
        return "" if np.array_equal(old, new) else f"is {_short(new)} in place of {_short(old)}"
    if old.dtype == new.dtype and old.tobytes() == new.tobytes():
        return ""
    if np.array_equal(old, new, equal_nan=True):
        same = old.dtype == new.dtype
        return "differs in signs of zero" if same else f"is {new.dtype} in place of {old.dtype}"
    gap = np.abs(old.astype(float) - new.astype(float))
    largest = np.nanmax(gap, initial=0.0)
    size = np.nanmax(np.abs(old.astype(float)), initial=0.0)
    if np.array_equal(np.isnan(old), np.isnan(new)):
        return f"differs by at most {largest:.3g}, largest value {size:.3g}"
    return f"differs in NaN, elsewhere by at most {largest:.3g}"


def _short(array, most=80):
    text = str(array.tolist())
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def compare(before, after, out=print):
    """Print a line for each fit of two records; return the number of fits that differ."""
    old, new = load(before), load(after)
    differing = 0
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name, {}), new.get(name, {})
        found = {part: difference(was.get(part), now.get(part)) for part in {**was, **now}}
        told = [f"{part} {text}" for part, text in found.items() if text]
        differing += bool(told)
        out(f"{name}: " + ("; ".join(told) or "equal"))
    out(f"{differing} of {len({**old, **new})} fits differ")
    return differing


def main(argv=None):
    """Record or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("record", help="run the fits and write FILE.npz")
    command.add_argument("file")
    command.add_argument("--only", default="", help="only fits whose names contain this text")
    command = commands.add_parser("compare", help="print the differences of two records")
    command.add_argument("old")
    command.add_argument("new")
    args = parser.parse_args(argv)
    if args.command == "compare":
        return int(compare(args.old, args.new) > 0)
    print(f"{record(args.file, args.only)} fits recorded in {args.file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
