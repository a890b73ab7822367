"""What text tables of estimators share."""

from __future__ import annotations

from alignlearn._text import listed

NOT_CONTRIBUTIONS = "Weights are not contributions: contributions(X, y) gives these."


def sums_line(names, members, weights, shares=None):
    """The line of a summary with the sums of the weights of groups of kernels."""
    sums = [
        f"{name} {weights[index].sum():.4f}"
        + ("" if shares is None else f" (share {shares[index].sum():.1%})")
        for name, index in zip(names, members)
    ]
    return f"Sums of weights: {listed(sums, show=str)}"


def aligned(columns):
    """Lines of a text table of columns of str: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in zip(*columns)
    ]
