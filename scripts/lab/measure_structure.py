#!/usr/bin/env python
"""Measure the structure of the library: the way of a default fit, classes, lines of code.

- files, functions and depth of ``MKLClassifierCV().fit(X, y)``, those of ``alignlearn/`` alone (a
  function is a code object; depth is the largest number of its calls on the stack);
- the number of the library's classes in the method resolution order of each estimator;
- lines of code of ``alignlearn/`` without docstrings, comments and blank lines.

usage: scripts/lab/measure_structure.py
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

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


def passed(call):
    """(files, functions, depth) of the library that a call passes in this thread."""
    codes, depth, deepest = set(), 0, 0
    root = str(LIBRARY) + "/"

    def see(frame, event, arg):
        nonlocal depth, deepest
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(root):
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        codes.add(frame.f_code)

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len({code.co_filename for code in codes}), len(codes), deepest


def default_fit():
    """(files, functions, depth) of a default search on 200 samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=200) > 0.0
    al.MKLClassifierCV().fit(X, y)  # imports and compilation
    return passed(lambda: al.MKLClassifierCV().fit(X, y))


def classes():
    """Number of the library's classes in the order of resolution, {estimator: number}."""
    public = (getattr(al, name) for name in al.__all__)
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
    files, functions, depth = default_fit()
    print(f"MKLClassifierCV().fit: {files} files, {functions} functions, depth {depth}")
    for name, count in sorted(classes().items(), key=lambda item: (-item[1], item[0])):
        print(f"classes of {name}: {count}")
    sources = sorted(LIBRARY.rglob("*.py"))
    total = sum(code_lines(path.read_text(encoding="utf-8")) for path in sources)
    print(f"code of alignlearn: {total} lines in {len(sources)} files")


if __name__ == "__main__":
    main()
