#!/usr/bin/env python
"""Measure the structure of the library: the way of a default fit, classes, lines of code.

- files, functions and depth of ``MKLClassifierCV().fit(X, y)`` on one thread, those of
  ``alignlearn/`` alone (a function is a code object; depth is the largest number of its calls on
  the stack); with ``--tree`` the deepest stack, and for each file the functions with their numbers
  of calls;
- the number of the library's classes in the method resolution order of each estimator;
- lines of code of ``alignlearn/`` without docstrings, comments and blank lines.

usage: scripts/lab/measure_structure.py [--tree]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

import alignlearn as al

LIBRARY = Path(al.__file__).resolve().parent
_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Passed(NamedTuple):
    """What a call has passed of the library: how often each function, and the deepest stack."""

    calls: Counter
    deepest: list

    def __str__(self):
        files = {code.co_filename for code in self.calls}
        inner = sum(code.co_name.startswith("<") for code in self.calls)
        return (
            f"{len(files)} files, {len(self.calls)} functions, of which {inner} are "
            f"comprehensions, generators and lambdas, depth {len(self.deepest)}"
        )

    def tree(self):
        """The deepest stack, and the functions of each file with their numbers of calls."""
        lines = [f"{k:4} {_place(code)}" for k, code in enumerate(self.deepest, 1)]
        by_place = sorted((_place(code), n) for code, n in self.calls.items())
        return "\n".join([*lines, *(f"{n:6} {place}" for place, n in by_place)])


def _place(code):
    file = Path(code.co_filename).relative_to(LIBRARY)
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.11
    return f"{file}:{code.co_firstlineno} {name}"


def passed(call):
    """What a call passes of the library in this thread: a `Passed`."""
    calls, stack, deepest = Counter(), [], []
    root = str(LIBRARY) + "/"

    def see(frame, event, arg):
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(root):
            return
        if event == "return":
            stack.pop()
            return
        stack.append(frame.f_code)
        calls[frame.f_code] += 1
        if len(stack) > len(deepest):
            deepest[:] = stack

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Passed(calls, deepest)


def default_fit():
    """What a default search on 200 samples passes, all of it in one thread."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=200) > 0.0
    numba.set_num_threads(1)
    al.MKLClassifierCV().fit(X, y)  # imports and compilation
    return passed(lambda: al.MKLClassifierCV().fit(X, y))


def classes():
    """Number of the library's classes in the order of resolution, {estimator: number}."""
    # The claims are not part of a checkout that is used in place, and have no estimators.
    public = (getattr(al, name) for name in al.__all__ if name != "theory")
    estimators = [c for c in public if isinstance(c, type) and callable(getattr(c, "fit", None))]
    return {
        c.__name__: sum(base.__module__.split(".")[0] == "alignlearn" for base in c.__mro__)
        for c in estimators
    }


def code_lines(text):
    """Number of lines of a source that hold code: no docstring, comment or blank line."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def main():
    """Print the three measurements."""
    found = default_fit()
    print(f"MKLClassifierCV().fit: {found}")
    if "--tree" in sys.argv[1:]:
        print(found.tree())
    for name, count in sorted(classes().items(), key=lambda item: (-item[1], item[0])):
        print(f"classes of {name}: {count}")
    sources = sorted(LIBRARY.rglob("*.py"))
    total = sum(code_lines(path.read_text(encoding="utf-8")) for path in sources)
    print(f"code of alignlearn: {total} lines in {len(sources)} files")


if __name__ == "__main__":
    main()
