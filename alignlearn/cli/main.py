"""The entry point: commands, their errors on one line, and the exit code."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from contextlib import ExitStack, contextmanager

from alignlearn import __version__

from . import bounds, compare, fit, verify, warmup

_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError, OverflowError)

# Arguments of the library in messages, and the options with the same meaning.
_OPTIONS = {"n_folds": "folds", "random_state": "random-state"}
_SAME = "target", "task", "missing", "drop", "methods", "delta", "examples"
_OPTIONS |= {name: name for name in _SAME}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=('[^']*'|-?[\w.+]*\w)")


class _Parser(argparse.ArgumentParser):
    """A parser with errors on one line, like errors about data."""

    def error(self, message):
        _fail(f"{message} (see {self.prog} --help)")
        raise SystemExit(2)


def main(argv=None) -> int:
    """Run the command line; return the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; default ``sys.argv[1:]``.
    """
    with _usable_streams():
        return _run(parse(sys.argv[1:] if argv is None else list(argv)))


@contextmanager
def _usable_streams():
    """Make stdout and stderr accept any text.

    A closed stream, which is None, is replaced by a dummy, and characters outside an encoding are
    written as escapes.
    """
    with ExitStack() as stack:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is None:
                nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
                setattr(sys, name, nowhere)
                stack.callback(setattr, sys, name, None)
            elif hasattr(stream, "reconfigure"):
                stack.callback(stream.reconfigure, errors=stream.errors)
                stream.reconfigure(errors="backslashreplace")
        yield


def _run(args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            code = args.run(args)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader (such as head) has closed the pipe; the final flush must not raise an error
            # either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except _ERRORS as error:
            if args.verbose:
                import traceback

                traceback.print_exc()
            _fail(error)
            code = 2
        except KeyboardInterrupt:
            _fail("interrupted")
            code = 130
    for note in {} if args.quiet else dict.fromkeys(_one_line(w.message) for w in caught):
        print(f"alignlearn: note: {note}", file=sys.stderr)
    return code


def _fail(error):
    print(f"alignlearn: error: {_one_line(error)}", file=sys.stderr)


def _one_line(error):
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = f"not enough memory: {text or 'fewer rows or columns are needed'}"
    if isinstance(error, OverflowError):
        text = f"a size or a number is too large: {text}"
    return _ARGUMENT.sub(_as_option, text)


def _as_option(found):
    """``--missing drop`` for missing='drop' in a message of the library."""
    value = found[2]
    return f"--{_OPTIONS[found[1]]} {value if ' ' in value else value.strip(chr(39))}"


def parse(argv):
    """The arguments of a command."""
    return _parser().parse_args(_joined(argv))


def _joined(argv):
    """``--gammas -4:3`` as one argument, because argparse would read -4:3 as an option."""
    out = []
    for word in argv:
        if out and out[-1] in ("--gammas", "--label-range"):
            out[-1] = f"{out[-1]}={word}"
        else:
            out.append(word)
    return out


def _parser():
    parser = _Parser(prog="alignlearn", description="Multiple kernel learning by alignment.")
    parser.add_argument("--version", action="version", version=f"alignlearn {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    fit.add_fit(commands)
    fit.add_predict(commands)
    compare.add_command(commands)
    bounds.add_command(commands)
    verify.add_command(commands)
    warmup.add_command(commands)
    return parser
