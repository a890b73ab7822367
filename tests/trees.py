"""Syntax trees of source files: parsed once for each process, and walked without expressions."""

import ast
from functools import cache


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node):
    """All statements in a tree, and the handlers of errors: a sixth of its nodes."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from statements(inner)
