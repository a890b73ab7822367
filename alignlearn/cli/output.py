"""Output of the commands: tables, notes, progress, JSON, and paths of figures."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import sys

from alignlearn._progress import Lines

FIGURE_ENDINGS = (".png", ".svg", ".pdf")


def figure_path(out, stem):
    """The path of a figure, checked before the work is done.

    Parameters
    ----------
    out : str or None
        File, file without ending, folder, or None for the current folder.
    stem : str
        Name of the file if only a folder is given.

    Raises
    ------
    ValueError, FileNotFoundError, ImportError
        For an ending that is not accepted, a device, a folder that does not exist, without
        matplotlib.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError(
            "the figure needs matplotlib: pip install matplotlib, or use --no-figure."
        ) from None
    default = f"alignlearn-{stem}.png"
    path = default if out is None else os.path.expanduser(out)
    if os.path.isdir(path):
        path = os.path.join(path, default)
    _refuse_device(out, path)
    ending = os.path.splitext(path)[1].lower()
    if ending == "":
        path += ".png"
    elif ending not in FIGURE_ENDINGS:
        raise ValueError(f"--out {out}: accepted endings are {', '.join(FIGURE_ENDINGS)}.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"--out {out}: the folder {folder} does not exist.")
    return path


def _refuse_device(out, path):
    """Raise a ValueError for a device or pipe; a file with an ending would be written next to it.

    /dev/stdout may be redirected to a regular file, so its folder counts as well.
    """
    folder = os.path.dirname(os.path.abspath(path))
    system = folder in ("/dev", "/dev/fd") or folder.startswith("/proc/")
    if system or (os.path.exists(path) and not os.path.isfile(path)):
        raise ValueError(
            f"--out {out} is a device or pipe; accepted: a file or folder for the figure, or "
            "--no-figure."
        )


def add_parser(commands, name, short, text, examples):
    """The parser of a new command, whose help is printed without reformatting."""
    return commands.add_parser(
        name,
        help=short,
        description=text,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_output_options(parser, what):
    """Add the options that all commands share; ``what`` describes --verbose."""
    add = parser.add_argument
    add(
        "--json",
        metavar="FILE",
        help="write the results as JSON to this file, or with - to stdout in place of the table",
    )
    add("--quiet", action="store_true", help="no notes and no progress")
    add("--verbose", action="store_true", help=what)


class Output:
    """Where a command writes: the table to stdout, the results as JSON, progress to stderr.

    Parameters
    ----------
    args : argparse.Namespace
        With what `add_output_options` adds.

    Raises
    ------
    FileNotFoundError
        The folder of --json does not exist.
    """

    def __init__(self, args):
        self.path, self.quiet = args.json, args.quiet
        self.stdout = io.StringIO() if args.json == "-" else sys.stdout
        shown = not args.quiet and (args.verbose or sys.stderr.isatty())
        self._lines = Lines() if shown else None
        if args.json not in (None, "-"):
            self.path = os.path.expanduser(args.json)
            folder = os.path.dirname(self.path) or "."
            if not os.path.isdir(folder):
                raise FileNotFoundError(f"--json {args.json}: the folder {folder} does not exist.")

    def print(self, text="", end="\n"):
        """Text on stdout, unless that is for JSON."""
        print(text, end=end, file=self.stdout, flush=True)

    def note(self, text):
        """A note on stdout, unless quiet."""
        if not self.quiet:
            self.print(f"note: {text}")

    def step(self, done, total, what):
        """Progress callback for ``verbose``, on stderr if that is a terminal or by request."""
        if self._lines is not None:
            self._lines(done, total, what)

    def json(self, result):
        """Write the results, a dict, if requested; NaN and infinity become null."""
        if self.path is None:
            return
        text = json.dumps(_plain(result), indent=1, allow_nan=False) + "\n"
        if self.path == "-":
            sys.stdout.write(text)
            return
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)


def _plain(value):
    """Arrays as lists, numbers that are not finite as None."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars; NumPy is not imported for this
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
