"""Checks of the state of a loaded object before the library uses it.

The checks are formal: the numbers of a model come from the author of the file.
"""

from __future__ import annotations

import inspect
import numbers
from dataclasses import MISSING, fields, is_dataclass
from types import FunctionType

import numpy as np

from alignlearn._pairs import ClassCoefficients, PairCoefficients
from alignlearn._params import ParamsMixin
from alignlearn._versions import KEY, Versioned
from alignlearn.estimators.prepared_columns import Preparation
from alignlearn.kernels import Kernel
from alignlearn.sources import Combination, Predictor
from alignlearn.validation import SparseRows

_ARRAY = (np.ndarray, numbers.Number)
_COEFFICIENTS = (*_ARRAY, PairCoefficients, ClassCoefficients)
_WHOLE = (int, np.integer)
# Attributes that many classes have, each of one meaning in all of them.
_KINDS = {
    "_predictor": (Predictor, Combination),
    "_predictors": (list, tuple),
    "base_kernel_": Kernel,
    "classes_": (np.ndarray, list),
    "coef": _COEFFICIENTS,
    "coef_": _ARRAY,
    "dual_coef_": _COEFFICIENTS,
    "feature_names_in_": np.ndarray,
    "intercept": _ARRAY,
    "intercept_": _ARRAY,
    "n_batches": _WHOLE,
    "n_features_in_": _WHOLE,
    "n_stacked_in_": _WHOLE,
    "preparation_": Preparation,
    "scale_": _ARRAY,
    "sample_labels_in_": np.ndarray,
    "sample_numbers_in_": np.ndarray,
    "support_": (np.ndarray, list),
    "support_samples": (np.ndarray, SparseRows, list, type(None)),
    "table_names_in_": tuple,
    "table_widths_in_": tuple,
    "tasks_": np.ndarray,
    "weights_": _ARRAY,
}
# Types of annotations of results and records, if unambiguous.
_ANNOTATED = {
    "bool": (bool, np.bool_),
    "float": numbers.Real,
    "int": _WHOLE,
    "str": str,
    "tuple": tuple,
    "np.ndarray": np.ndarray,
    "Kernel": Kernel,
}


def completed(cls, state):
    """The state, completed by defaults of parameters that are newer than the file.

    Raises ValueError if an object of the class cannot have these attributes.
    """
    for name, value in state.items():
        if not name.isidentifier() or name.startswith("__") or name == KEY:
            raise ValueError(f"{name!r:.40} is not the name of an attribute")
        _check_shadow(cls, name)
        wanted = _KINDS.get(name)
        if wanted is not None and not isinstance(value, wanted):
            raise ValueError(f"{name} is {type(value).__name__}")
    state = {**_defaults(cls, set(state)), **state}
    if is_dataclass(cls) and not issubclass(cls, ParamsMixin):  # parameters are checked in a fit
        check_fields({f.name: f.type for f in fields(cls)}, state)
    return state


def _defaults(cls, given):
    """The defaults of the missing parameters or fields."""
    known = {}
    if is_dataclass(cls):
        known = {f.name: f.default for f in fields(cls)}
    elif issubclass(cls, Versioned):  # estimators and machines keep parameters by their names
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        variadic = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        known = {p.name: p.default for p in parameters if p.kind not in variadic}
    lacking = {name: value for name, value in known.items() if name not in given}
    for name, value in lacking.items():
        if value is MISSING or value is inspect.Parameter.empty:
            raise ValueError(f"it has no {name}")
    return lacking


def _check_shadow(cls, name):
    """Raise an error if an attribute would replace a method or property of the class."""
    found = inspect.getattr_static(cls, name, None)
    if isinstance(found, (FunctionType, property, classmethod, staticmethod)):
        raise ValueError(f"{name} is not a stored attribute, but computed by the class")


def check_fields(annotations, state):
    """Raise a ValueError if fields are missing or do not match their annotation."""
    for name, annotation in annotations.items():
        if name not in state:
            raise ValueError(f"it has no {name}")
        options = [part.strip().partition("[")[0] for part in str(annotation).split("|")]
        known = [_ANNOTATED.get(option) for option in options if option != "None"]
        if None in known or state[name] is None:
            continue
        if not any(isinstance(state[name], kinds) for kinds in known):
            raise ValueError(f"{name} is {type(state[name]).__name__}, not {annotation}")
