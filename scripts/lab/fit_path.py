#!/usr/bin/env python
"""Count the functions of the library that a default fit passes, and print the deepest chain.

``MKLClassifierCV().fit(X, y)`` on a numeric matrix, in one thread. A function is a code object of
``alignlearn/``; comprehensions, generators and lambdas are counted apart, because their number
depends on the version of Python.

usage: scripts/lab/fit_path.py [--rows M] [--all]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _studies import threads

import alignlearn as al

LIBRARY = str(Path(al.__file__).resolve().parent) + "/"


class Passed(NamedTuple):
    """Calls of each (caller, function) of the library, and the deepest chain of them."""

    calls: Counter
    deepest: list

    def __str__(self):
        codes = {code for _, code in self.calls}
        inner = sum(code.co_name.startswith("<") for code in codes)
        callers = Counter(code for _, code in self.calls)
        one = sum(callers[code] == 1 and not code.co_name.startswith("<") for code in codes)
        return (
            f"{len({code.co_filename for code in codes})} files, {len(codes) - inner} functions "
            f"({one} of them with one caller) and {inner} comprehensions, generators and lambdas, "
            f"depth {len(self.deepest)}"
        )


def place(code):
    """File, line and name of a function."""
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.11
    return f"{code.co_filename.removeprefix(LIBRARY)}:{code.co_firstlineno} {name}"


def passed(call):
    """What a call passes of the library in this thread."""
    calls, stack, deepest = Counter(), [], []

    def see(frame, event, arg):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(LIBRARY):
            return
        if event == "return":
            stack.pop()
            return
        calls[stack[-1] if stack else None, code] += 1
        stack.append(code)
        if len(stack) > len(deepest):
            deepest[:] = stack

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Passed(calls, deepest)


def default_fit(m):
    """What a default search on m samples passes, once everything is compiled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 6))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=m) > 0.0
    with threads(1):
        al.MKLClassifierCV().fit(X, y)
        return passed(lambda: al.MKLClassifierCV().fit(X, y))


def main(argv=None):
    """Print the counts and the deepest chain; with ``--all`` every function and its callers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400, metavar="M")
    parser.add_argument("--all", action="store_true", help="every function with its callers")
    args = parser.parse_args(argv)
    found = default_fit(args.rows)
    print(found)
    for depth, code in enumerate(found.deepest, 1):
        print(f"{depth:4} {place(code)}")
    if args.all:
        for caller, code in sorted(found.calls, key=lambda pair: place(pair[1])):
            by = "" if caller is None else place(caller)
            print(f"{found.calls[caller, code]:7} {place(code)} <- {by}")


if __name__ == "__main__":
    main()
