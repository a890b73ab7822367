"""Every public method of every estimator and machine before ``fit``: a NotFittedError."""

import inspect

import numpy as np
import pytest

import alignlearn as al
from alignlearn import machines

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2
GIVEN = {"X": X, "y": Y, "task": Y, "K": X @ X.T, "K_test": X @ X.T, "raw": X, "Z": X}
# Methods that need no fit: they fit, or return parameters.
FREE = {
    "fit", "partial_fit", "fit_transform", "fit_predict", "fit_each", "problem_sizes", "path",
    "get_params", "set_params", "get_metadata_routing", "set_output", "check_strength",
    "fit_extended", "independence_test", "check_loaded", "alpha", "ridge", "targets",
    "fit_columns", "decisions_each",
}  # fmt: skip
CLASSES = [
    cls
    for module in (al, machines)
    for cls in (getattr(module, name) for name in module.__all__)
    if inspect.isclass(cls) and hasattr(cls, "fit")
]


def _made(cls):
    parameters = inspect.signature(cls).parameters
    own = {"probability": "sigmoid"} if "probability" in parameters else {}
    return cls(**own)


def _methods(cls):
    for name in dir(cls):
        request = name.startswith("set_") and name.endswith("_request")
        if not (name.startswith("_") or name in FREE or request):
            found = inspect.getattr_static(cls, name)
            if inspect.isfunction(found) or isinstance(found, property):
                yield name


def _use(cls, name):
    """Read an attribute of an unfitted object, and call it where that is a method."""
    found = getattr(_made(cls), name)
    if callable(found):
        needed = [
            p.name
            for p in inspect.signature(found).parameters.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        found(**{argument: GIVEN.get(argument, X) for argument in needed})


@pytest.mark.parametrize("cls", dict.fromkeys(CLASSES), ids=lambda cls: cls.__name__)
def test_methods_before_fit(cls):
    for name in _methods(cls):
        with pytest.raises(al.NotFittedError):
            _use(cls, name)
