"""How far long work is: told to a function of the user's, or printed on stderr.

Whatever has a parameter ``verbose`` makes a `Progress` of it for each piece of its work, in the
thread that was asked to do it; nothing else of the library says how far work is.
"""

from __future__ import annotations

import sys
import threading
import time
from contextvars import ContextVar

_OFTEN = 0.1  # seconds between two calls of a function
_EVERY = 2.0  # seconds between two lines, and before the first

_silent: ContextVar[bool] = ContextVar("silent", default=False)


def silence():
    """Report no progress of work that starts in this context: its whole is reported elsewhere."""
    _silent.set(True)


def say(text):
    """A line on stderr, where there is one."""
    if sys.stderr is not None:
        print(f"alignlearn: {text}", file=sys.stderr, flush=True)


class Lines:
    """Lines on stderr that state how much of the work is done: the first after two seconds."""

    _latest = -_EVERY  # when any of these printed a line

    def __init__(self):
        self._last, self._work, self._first = time.monotonic(), None, None

    def __call__(self, done, total, what, note=None):
        """Say that so much of the work is done, by ``note`` if given, unless one was said lately.

        ``what`` names the work; ``total`` is all of it.
        """
        now = time.monotonic()
        if self._work != (total, what):
            self._work, self._first = (total, what), None
        if done and self._first is None:
            self._first = now, done  # what came before may have been compilation
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
    """A piece of work, of which parts are done; used as a context, which ends with all of them.

    Parameters
    ----------
    what : str
        What is done.
    total : int
        Of whatever is counted.
    to : bool or callable
        As `check_progress` returns it: nobody is told, `Lines` are printed, or the function is
        called as ``to(done, total, what)``, in the thread that makes this object alone: ten times a
        second at most, also where nothing is done meanwhile, and once at the end with
        ``done == total``. From one call to the next ``done`` does not fall. What the function
        raises ends the work.
    """

    def __init__(self, what, total, to):
        self._what, self._total = what, int(total)
        self._is_lines = not callable(to)
        self._to = Lines() if self._is_lines else to
        self._quiet = self._total == 0 or (self._is_lines and not to) or _silent.get()
        self._thread, self._last = threading.get_ident(), None
        self._done, self._told, self._note = 0, None, None
        self._ended = threading.Event()

    def __call__(self, done, note=None):
        """So much is done, which any thread may say; ``note`` is another text for the lines."""
        self._done, self._note = max(self._done, min(int(done), self._total)), note
        if threading.get_ident() == self._thread:
            self.report()

    def report(self):
        """Tell how much is done, unless that was told lately; for the thread of this object."""
        if self._quiet or self._told == self._total:
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
        # A part may last: its line is repeated meanwhile, from another thread.
        while not self._ended.wait(_EVERY):
            self._to.repeat(self._done, self._total, self._what, self._note)

    def __exit__(self, kind, error, trace):
        self._ended.set()
        if kind is None and not self._quiet and self._total != self._told:
            self._done = self._total
            self._tell()
