"""The library's warnings and its error before ``fit``, and checks of single arguments."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from functools import cache

import numpy as np

from alignlearn._text import listed, short

from .samples import plain

_PACKAGE = __name__.partition(".")[0]


class ConvergenceWarning(UserWarning):
    """An iterative solver stopped before it reached its tolerance; the message names it.

    A fit gives one such warning: of several solves, their number and the message of the worst.

    Attributes
    ----------
    excess : float
        The residual that was reached, in units of the tolerance; NaN where it is not known.

    Examples
    --------
    What was found is given all the same; to have an error instead:

    >>> import warnings
    >>> import numpy as np
    >>> from alignlearn import ConvergenceWarning, Gaussian, MKLClassifier
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ConvergenceWarning)
    ...     try:
    ...         MKLClassifier([Gaussian(0.5)], max_iter=1).fit(X, X[:, 0] > 0)
    ...     except ConvergenceWarning:
    ...         print("raise max_iter or tol")
    ...
    raise max_iter or tol
    """

    excess = float("nan")


class DegenerateKernelWarning(UserWarning):
    """A kernel or the target has zero variance on the sample; its alignment is set to 0.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from alignlearn import DegenerateKernelWarning, alignment
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", DegenerateKernelWarning)
    ...     value = alignment(np.ones((4, 4)), [0.0, 1.0, 2.0, 3.0])  # the kernel is constant
    ...
    >>> value, caught[0].category is DegenerateKernelWarning
    (0.0, True)
    """


class VersionWarning(UserWarning):
    """A model is loaded by another version of the library than the one that wrote it.

    Examples
    --------
    Models of another version are loaded where that is possible; to refuse them:

    >>> import io
    >>> import warnings
    >>> from alignlearn import Gaussian, VersionWarning, load, save
    >>> file = io.BytesIO()
    >>> save(Gaussian(0.5), file)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", VersionWarning)
    ...     print(load(file))
    ...
    gaussian(gamma=0.5)
    """


class DoubtfulResultWarning(UserWarning):
    """A result that is probably not what was meant; the message has the reason.

    ``warnings.simplefilter("ignore", alignlearn.DoubtfulResultWarning)`` silences all of them.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from alignlearn import DoubtfulResultWarning, Gaussian, MKLRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(40, 1))
    >>> with warnings.catch_warnings():  # the best alpha is an end of its grid
    ...     warnings.simplefilter("ignore", DoubtfulResultWarning)
    ...     model = MKLRegressorCV([Gaussian(0.5)], alphas=[0.1, 1.0, 10.0]).fit(X, X[:, 0] ** 2)
    ...
    >>> model.alpha_
    0.1
    """


_inside = ContextVar("inside", default=False)


def doubt(message):
    """Warn once per fit about a result that is probably not intended; not inside `a_part`."""
    if not _inside.get():
        warn(message, DoubtfulResultWarning)


class _Setting:
    """A context in which a variable has another value.

    It is not a generator, which could be finalized at any time after an asynchronous exception.
    """

    def __init__(self, variable, value, result=None):
        self._variable, self._value, self._result = variable, value, result

    def __enter__(self):
        self._before = self._variable.set(self._value)
        return self._result

    def __exit__(self, *error):
        self._variable.reset(self._before)


def a_part():
    """A context for a part of a fit, such as a fold, in which `doubt` gives no warnings."""
    return _Setting(_inside, True)


def is_part():
    """Whether `a_part` is entered."""
    return _inside.get()


_gathered: ContextVar[tuple[type, list] | None] = ContextVar("gathered", default=None)


def warn_unconverged(solver, count, certificate, reached, tol, remedy):
    """Warn that a solver stopped at a residual above its tolerance, in the form of all solvers.

    Parameters
    ----------
    solver, count : str
        Such as "SMO" and "12 steps".
    certificate : str
        The quantity above the tolerance, such as "a duality gap of".
    reached, tol : float
    remedy : str
        The change that is suggested to the user.
    """
    found = ConvergenceWarning(
        f"{solver} stopped after {count} with {certificate} {reached:.3g} > tol={tol:g}; {remedy}."
    )
    found.excess = float(reached) / tol if tol > 0.0 else np.inf
    warn(found)


def gathered_warnings(category: type = Warning):
    """Collect the warnings of a category in this context in a list without showing them."""
    found: list = []
    return _Setting(_gathered, (category, found), found)


class MergedConvergence:
    """A context of a ``fit`` that merges its ConvergenceWarnings into one, with their number.

    A fit within another one, such as on a fold, passes its warnings to the outer fit.
    """

    def __enter__(self):
        self._is_outer, self._setting = _gathered.get() is None, None
        if self._is_outer:
            self._setting = gathered_warnings(ConvergenceWarning)
            self._found = self._setting.__enter__()

    def __exit__(self, kind, *error):
        if not self._is_outer:
            return
        self._setting.__exit__()
        if kind is None and self._found:
            worst = max(self._found, key=lambda w: -1.0 if np.isnan(w.excess) else w.excess)
            several = f"{len(self._found)} solves in this fit did not converge; the worst: "
            summary = ConvergenceWarning(f"{several if len(self._found) > 1 else ''}{worst}")
            summary.excess = worst.excess
            warn(summary)


def warn(message, category=None):
    """Warn at the line of the caller's own code: the first frame outside the library.

    Parameters
    ----------
    message : str or Warning
    category : subclass of Warning, optional
        Default: UserWarning, if ``message`` is a string.
    """
    if not isinstance(message, Warning):
        message = (UserWarning if category is None else category)(message)
    gathered = _gathered.get()
    if gathered is not None and isinstance(message, gathered[0]):
        gathered[1].append(message)
        return
    frame, level = sys._getframe(1), 2
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def _is_ours(module):
    return module == _PACKAGE or module.startswith(_PACKAGE + ".")


def check_choice(name: str, value, accepted):
    """Return ``value`` if it is one of ``accepted``, else raise a ValueError that lists them."""
    if not isinstance(value, str) or value not in accepted:
        raise ValueError(f"{name}={short(value)} is not known; accepted: {listed(list(accepted))}.")
    return value


def check_flag(name: str, value) -> bool:
    """Return True or False, else raise a TypeError, because another true value may be an error."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r:.80}.")
    return bool(value)


def check_progress(name: str, value):
    """Return True, False or a callable, to which `Progress` reports; else raise a TypeError.

    None means True if stderr is a terminal.
    """
    if callable(value):
        return value
    if value is None:
        return sys.stderr is not None and sys.stderr.isatty()
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{name} must be True or False, or a function of (done, total, what); got "
            f"{value!r:.80}."
        )
    return bool(value)


def check_number(name: str, value, *, low=None, high=None, strict=False, finite=True) -> float:
    """Return ``value`` as a float within the stated range, else raise an error that states it."""
    real = (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, real):
        raise TypeError(f"{name} must be a real number, got {value!r:.80}.")
    shown = repr(value) if type(value) is int else None
    try:
        value = float(value)
    except OverflowError:
        raise ValueError(
            f"{name} is an integer beyond the range of float64; accepted: up to 1.8e308."
        ) from None
    bad = np.isnan(value) or (finite and np.isinf(value))
    if low is not None:
        bad = bad or (value <= low if strict else value < low)
    if high is not None:
        bad = bad or (value >= high if strict else value > high)
    if bad:
        lo = "" if low is None else f"{low:g} {'<' if strict else '<='} "
        hi = "" if high is None else f" {'<' if strict else '<='} {high:g}"
        kind = "finite " if finite and (low is None or high is None) else ""
        shown = shown or repr(value)
        raise ValueError(f"{name}={shown} is out of range; accepted: {kind}{lo}{name}{hi}.")
    return value


def check_count(name: str, value, *, low=1, optional=True):
    """Return an integer of at least ``low``, or None for None if that is accepted."""
    if value is None and optional:
        return None
    accepted = f"an integer >= {low}{' or None' if optional else ''}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(f"{name} must be {accepted}, got {value!r:.80}.")
    if isinstance(value, (float, np.floating)) and not (np.isfinite(value) and value == int(value)):
        raise TypeError(f"{name} must be {accepted}, got {value!r}.")
    check_number(name, value, low=low)
    return int(value)


def check_numbers(name: str, values, *least) -> np.ndarray:
    """Return finite real numbers as float64, with an axis for each minimum length in ``least``."""
    try:
        array = np.asarray(plain(name, values))
    except ValueError as error:
        raise ValueError(f"{name} must be an array of real numbers: {error}.") from None
    # Booleans, dates, complex numbers and strings of digits would be converted silently.
    if array.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} must be an array of real numbers, got {values!r:.80} of dtype {array.dtype}."
        )
    if array.ndim != len(least) or any(n < low for n, low in zip(array.shape, least)):
        raise ValueError(
            f"{name} has shape {array.shape}; accepted: {len(least)}-dimensional, at least {least}."
        )
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} contains NaN or infinity; all values must be finite.")
    return array


def check_same_type(this, other):
    """Raise a TypeError unless ``other``, to be merged into ``this``, has the same class."""
    if not isinstance(other, type(this)):
        raise TypeError(f"other must be of type {type(this).__name__}, got {other!r:.80}.")


def check_seed(name: str, value) -> np.random.Generator:
    """Return the random numbers of a seed or generator; None is the seed 0, so results repeat."""
    try:
        return np.random.default_rng(0 if value is None else value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be None, an integer >= 0 or a numpy.random.Generator, got {value!r:.80}."
        ) from None


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted estimator was called before ``fit``.

    Examples
    --------
    >>> from alignlearn import MKLClassifier, NotFittedError
    >>> try:
    ...     MKLClassifier().predict([[0.0, 1.0]])
    ... except NotFittedError:
    ...     print("call fit first")
    ...
    call fit first
    """


def not_fitted(estimator):
    """The error to raise for an estimator that is not fitted."""
    name = type(estimator).__name__
    return own_or_sklearn(NotFittedError)(
        f"This {name} instance is not fitted yet; call fit with training data first."
    )


def check_fitted(machine, attribute):
    """Raise a NotFittedError unless ``fit`` has set this attribute."""
    if not hasattr(machine, attribute):
        raise not_fitted(machine)


def own_or_sklearn(own):
    """The library's exception; a subclass of scikit-learn's of this name, too, if it is loaded."""
    exceptions = sys.modules.get("sklearn.exceptions")
    return own if exceptions is None else _joint(own, getattr(exceptions, own.__name__))


@cache
def _joint(own, theirs):
    # It is pickled by the name of the library's class, the only importable one.
    def reduced(error):
        return _rebuilt, (own, error.args)

    members = {"__module__": own.__module__, "__doc__": own.__doc__, "__reduce__": reduced}
    return type(own.__name__, (own, theirs), members)


def _rebuilt(own, arguments):
    return own_or_sklearn(own)(*arguments)
