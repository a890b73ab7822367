"""``alignlearn bounds`` and ``alignlearn verify``: the theory from the command line."""

from __future__ import annotations

import argparse
import os
import re

_MOST_M = 10**15

_BOUNDS_HELP = """\
At which sample size does a published bound say anything? Prints the bound of one claim for several
sample sizes m, as printed in the paper and in its correct form, says where each is vacuous (no
better than what is always true) and from which m on it is not, and draws bound against m.
Without --claim, lists the claims that have a bound for each m.
"""
_BOUNDS_EXAMPLES = """\
examples:
  alignlearn bounds
  alignlearn bounds --claim p1-theorem-12 --m 10:1e8 --delta .05 --out theorem-12.svg
  alignlearn bounds --claim p1-theorem-17 --set lam0=0.1
"""
_VERIFY_HELP = """\
Puts every claim of the two alignment papers to the test: its bound against its measure on many
kernels, labels and samples, its counterexample, and a deliberately wrong variant that must be
rejected. Prints a table with what is recorded about each claim and what was found.
"""
_VERIFY_EXAMPLES = """\
examples:
  alignlearn verify
  alignlearn verify --claims p1-lemma-18,p1-theorem-16 --examples 1000

exit codes: 0 every claim is as recorded, 1 at least one is not, 2 the command cannot be used.
"""


def add_commands(commands):
    """Add both commands to the subparsers of ``alignlearn``."""
    _add_bounds(commands)
    _add_verify(commands)


def _parser(commands, name, short, text, examples):
    return commands.add_parser(
        name,
        help=short,
        description=text,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


# bounds


def _add_bounds(commands):
    parser = _parser(
        commands,
        "bounds",
        "draw a bound of the theory against sample size",
        _BOUNDS_HELP,
        _BOUNDS_EXAMPLES,
    )
    add = parser.add_argument
    add("--claim", metavar="NAME", help="such as p1-theorem-12; without it the names are listed")
    add(
        "--m",
        metavar="LOW:HIGH",
        type=_range,
        default=(10, 10**6),
        help="sample sizes, such as 10:1e6 (the default)",
    )
    add("--delta", type=float, default=0.05, help="allowed probability of failure (default 0.05)")
    add(
        "--set",
        metavar="NAME=VALUE",
        type=_assignment,
        action="append",
        default=[],
        help="change a number of the setting, which the table states; may be repeated",
    )
    add(
        "--out",
        metavar="FILE",
        help="figure: a .png, .svg or .pdf file, or its name without ending, or a folder; default "
        "alignlearn-bounds-NAME.png here",
    )
    add("--no-figure", action="store_true", help="only the table")
    add("--verbose", action="store_true", help="the whole traceback of an error")
    parser.set_defaults(run=run_bounds)


def _range(text):
    low, colon, high = text.partition(":")
    try:
        low, high = float(low), float(high)
    except ValueError:
        colon = ""
    if not (colon and 1 <= low < high <= _MOST_M) or low != int(low) or high != int(high):
        raise argparse.ArgumentTypeError(
            f"{text!r}; accepted: LOW:HIGH, whole numbers with 1 <= LOW < HIGH <= 1e15"
        )
    return int(low), int(high)


def _assignment(text):
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; accepted: NAME=VALUE with a number, such as lam0=0.1"
        ) from None


def run_bounds(args) -> int:
    """``alignlearn bounds``: print the table, write the figure, return the exit code."""
    from alignlearn.cli.output import figure_path
    from alignlearn.theory.figures.curves import find_curve
    from alignlearn.theory.figures.drawing import draw_curve
    from alignlearn.theory.figures.style import log_grid, save
