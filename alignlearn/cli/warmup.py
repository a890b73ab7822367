"""``alignlearn warmup``: compile the functions of the estimators ahead of time."""

from __future__ import annotations

from .output import add_parser

_HELP = """\
Compiles the functions that the estimators use, by small fits and predictions, and caches them, so
that no first fit on this machine has to compile. Functions in the cache are not compiled again.
Intended for container images and cluster nodes.

The cache is in the folder of the package, or in NUMBA_CACHE_DIR if that is set. Use the same folder
at run time, on a processor of the same type.
"""
_EXAMPLES = """\
examples:
  alignlearn warmup
  NUMBA_CACHE_DIR=/opt/alignlearn-cache alignlearn warmup

exit codes: 0 everything is compiled, 2 no folder for compiled code is writable.
"""


def add_command(commands):
    """Add the command to the subparsers of ``alignlearn``."""
    parser = add_parser(
        commands,
        "warmup",
        "compile the functions of the estimators ahead of time",
        _HELP,
        _EXAMPLES,
    )
    parser.set_defaults(run=run_warmup, verbose=False, quiet=False)


def run_warmup(args) -> int:
    """``alignlearn warmup``: a line for each part, and one for all; return the exit code."""
    from alignlearn import warmup

    done = warmup(progress=_print_part)
    print(f"{done.n_compiled} functions compiled in {done.seconds:.1f} s, kept in {done.folder}")
    return 0


def _print_part(name, n_compiled, seconds):
    print(f"{name:20} {n_compiled:4d} functions {seconds:6.1f} s", flush=True)
