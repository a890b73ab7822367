"""Access to the attributes of a fitted model for displays."""

from __future__ import annotations


def fitted_part(estimator, name, accepted):
    """An attribute or method of a fitted model.

    Raises
    ------
    NotFittedError
        The model is not fitted.
    ValueError
        It has no such attribute; the message names the ``accepted`` models.
    """
    is_class = isinstance(estimator, type)
    if not is_class and hasattr(estimator, "_check_is_fitted"):
        estimator._check_is_fitted()
    found = None if is_class else getattr(estimator, name, None)
    if found is None:
        given = f"the class {estimator.__name__}" if is_class else type(estimator).__name__
        raise ValueError(f"{given} has no {name}; accepted: {accepted}.")
    return found
