"""Progress of long computations, passed to a callback of the user or printed on stderr.

Everything with a parameter ``verbose`` makes a `Progress` for each part of its work, in the calling
thread. No other part of the library reports progress.
"""

from __future__ import annotations

import sys
import threading
import time
from contextvars import ContextVar

_OFTEN = 0.1  # seconds between two calls of the callback
_EVERY = 2.0  # seconds between two lines, and before the first

_silent: ContextVar[bool] = ContextVar("silent", default=False)


def silence():
    """Report no progress of work that starts in this context, which is reported as a whole."""
    _silent.set(True)


def say(text):
    """Print a line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"alignlearn: {text}", file=sys.stderr, flush=True)


class Lines:
    """Print on stderr the share of the work that is done, the first line after two seconds."""

    _latest = -_EVERY  # when any of these printed a line

    def __init__(self):
        self._last, self._work, self._first = time.monotonic(), None, None

    def __call__(self, done, total, what, note=None):
        """Print the share that is done, or ``note``, unless a line was printed lately.

        ``what`` names the work; ``total`` is its size.
        """
        now = time.monotonic()
        if self._work != (total, what):
            self._work, self._first = (total, what), None
        if done and self._first is None:
            self._first = now, done  # the time before may have been compilation
        if now - self._last < _EVERY:
            return
        self._last = Lines._latest = now
        say(f"{what}: {note or self._share(done, total, now)}")

    def repeat(self, *work):
        """Print a line again, unless a line of this or other work was printed lately."""
        if time.monotonic() - Lines._latest >= _EVERY:
            self(*work)

    def _share(self, done, total, now):
        start, before = self._first or (now, done)
        text = f"{done / total:.0%} done"
        if before < done < total:
            text += f", about {(now - start) * (total - done) / (done - before):.0f} s left"
        return text


class Progress:
    """The progress of a computation, used as a context, at whose end all parts are done.

    Parameters
    ----------
    what : str
        Name of the computation.
    total : int
        Number of parts.
    to : bool or callable
        As `check_progress` returns it: False reports nothing, True prints `Lines`, and a callback
        is called as ``to(done, total, what)``. It is called only in the thread that makes this
        object, at most ten times a second, also if nothing was done meanwhile, and once at the end
        with ``done == total``. ``done`` never decreases. An exception of the callback ends the
        computation.
    """

    def __init__(self, what, total, to):
        self._what, self._total = what, int(total)
        self._is_lines = not callable(to)
        self._quiet = self._total == 0 or (self._is_lines and not to) or _silent.get()
        self._to = Lines() if self._is_lines and not self._quiet else to
        self._thread, self._last = threading.get_ident(), None
        self._done, self._told, self._note = 0, None, None
        self._ended = threading.Event()

    def __call__(self, done=None, note=None):
        """Set the number of parts done, from any thread, and report it, at most ten times a second.

        By default the number is unchanged. ``note`` replaces the printed line.
        """
        if done is not None:
            self._done, self._note = max(self._done, min(int(done), self._total)), note
        elsewhere = threading.get_ident() != self._thread
        if elsewhere or self._quiet or self._told == self._total:
            return
        now = time.monotonic()
        if self._last is None or now - self._last >= _OFTEN:
            self._last = now
            self._tell()

    def _tell(self):
        note = (self._note,) if self._is_lines else ()
        done = self._told = self._done  # another thread may count on
        self._to(done, self._total, self._what, *note)

    def __enter__(self):
        if self._is_lines and not self._quiet:
            threading.Thread(target=self._repeat, daemon=True).start()
        return self

    def _repeat(self):
        # A part may take long: another thread repeats its line meanwhile.
        while not self._ended.wait(_EVERY):
            self._to.repeat(self._done, self._total, self._what, self._note)

    def __exit__(self, kind, error, trace):
        self._ended.set()
        if kind is None and not self._quiet and self._total != self._told:
            self._done = self._total
            self._tell()
