"""What text tables of estimators share."""

from __future__ import annotations

NOT_CONTRIBUTIONS = "Weights are not contributions: contributions(X, y) gives these."


def aligned(columns):
    """Lines of a text table of columns of str: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in zip(*columns)
    ]
