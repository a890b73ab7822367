"""The error for use before ``fit``, which is also scikit-learn's `NotFittedError`."""

from __future__ import annotations

import sys
from functools import cache


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
