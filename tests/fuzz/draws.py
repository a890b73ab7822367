"""Fuzz cases as Hypothesis tests: the draws of a case, and the conditions under which it fails.

``@fuzz`` turns a function of `Draws` into a test. Hypothesis chooses the cases, shrinks a failing
one and repeats it. A case fails by a silent wrong answer (`Wrong`), by an unexpected error, by any
warning but three kinds, and by not coming back.
"""

import faulthandler
import math
import signal
import sys
import warnings
from contextlib import contextmanager

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import alignlearn as al

STUCK = 120.0  # seconds of processor time after which a case is interrupted
ENDED = 1800.0  # seconds after which the process is ended, if that does not help


class Wrong(Exception):
    """A silent wrong answer: what is wrong, and the numbers."""

    def __init__(self, what, details=""):
        super().__init__(f"{what}: {details}")


class Inner(Wrong):
    """An error that the library did not raise deliberately, or did not word, for users."""


def require(condition, what, details=""):
    """Raise `Wrong` unless the condition holds."""
    if not condition:
        raise Wrong(what, details)


class Draws:
    """The draws of a case: choices by Hypothesis, and arrays of random numbers.

    Attributes
    ----------
    numbers : numpy.random.Generator
        For arrays, which are not worth making smaller; Hypothesis draws its seed.
    """

    def __init__(self, draw):
        self._draw = draw
        self.numbers = np.random.default_rng(self.of(st.integers(0, 2**32 - 1)))

    def of(self, strategy):
        """A value of any strategy."""
        return self._draw(strategy)

    def chance(self, probability):
        """True with this probability, in whole percent; simplest is False."""
        return self.of(st.integers(1, 100)) > 100 - round(100 * probability)

    def pick(self, *options):
        """One of the options, with equal probability; simplest is the first."""
        return options[self.whole(0, len(options) - 1)]

    def whole(self, low, high):
        """A whole number from low to high."""
        return self.of(st.integers(low, high))

    def real(self, low, high):
        """A real number from low to high."""
        return self.of(st.floats(low, high))

    def power(self, low, high):
        """A power of ten with a real exponent from low to high."""
        return 10.0 ** self.real(low, high)

    def size(self, low, high):
        """A whole number from low to high, small ones as likely as large ones."""
        return min(int(math.exp(self.real(math.log(low), math.log(high + 1)))), high)


@contextmanager
def _limits():
    """Interrupt a case that takes STUCK seconds, and end the process if that does not help."""

    def interrupt(number, frame):
        raise TimeoutError(f"no answer after {STUCK:g} s")

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, STUCK)
    faulthandler.dump_traceback_later(ENDED, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


# Units of columns, grids and labels are drawn, and may be unreasonable.
HARMLESS = (al.ConvergenceWarning, al.DegenerateKernelWarning, al.DoubtfulResultWarning)


def attempt(case, draws):
    """Run one case with every other warning an error, and return the kind that it reports."""
    with _limits(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for harmless in HARMLESS:
            warnings.simplefilter("ignore", harmless)
        return case(draws)


def fuzz(share):
    """Decorator of a case: a test of ``share`` times as many examples as the profile has.

    The case, a function of `Draws`, may return a word for its kind, which
    ``--hypothesis-show-statistics`` counts. The attribute ``case`` of the test is the function.
    """

    def decorate(case):
        def run(data):
            event(str(attempt(case, Draws(data.draw))))

        run.__name__, run.__qualname__ = case.__name__, case.__qualname__
        run.__doc__, run.__module__ = case.__doc__, case.__module__
        test = settings(
            max_examples=math.ceil(share * settings.default.max_examples),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )(given(st.data())(run))
        test.case = case
        return test

    return decorate
