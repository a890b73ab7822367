"""Stage 1: weights of the kernels."""

from importlib import import_module

from .base import Weighting, WeightResult
from .path import SparsePath, sparse_path
from .two_stage import Align, AlignF, AlignLinear, AlignLq, Uniform

__all__ = [
    "Align",
    "AlignF",
    "AlignLinear",
    "AlignLq",
    "SparsePath",
    "Uniform",
    "WeightResult",
    "Weighting",
    "get_weighting",
    "sparse_path",
]

_BY_NAME = {
    "uniform": Uniform,
    "align": Align,
    "alignf": AlignF,
    "alignf-linear": AlignLinear,
    "align-lq": AlignLq,
}
# Loaded when asked for: they need the solvers of whole machines.
_ONE_STAGE = {"lkrr": "LKRR", "l1-svm": "L1SVM", "aligned-krr": "AlignedKRR"}


def get_weighting(weighting):
    """Return the rule that ``weighting`` names, or ``weighting`` itself if it is a rule.

    Parameters
    ----------
    weighting : str or object
        Two-stage: "uniform", "align", "alignf", "alignf-linear", "align-lq". One-stage: "lkrr",
        "l1-svm", "aligned-krr". An object needs a method ``solve(statistics)`` or
        ``solve_grams(grams, y, statistics=...)`` that returns a `WeightResult`.

    Raises
    ------
    ValueError
        An unknown string.
    TypeError
        Neither a string nor a rule.
    """
    options = ", ".join(repr(name) for name in [*_BY_NAME, *_ONE_STAGE])
    if isinstance(weighting, str):
        if weighting in _ONE_STAGE:
            return getattr(import_module("alignlearn.weights.one_stage"), _ONE_STAGE[weighting])()
        if weighting not in _BY_NAME:
            raise ValueError(f"weighting={weighting!r} is not known; accepted: {options}.")
        return _BY_NAME[weighting]()
    methods = (getattr(weighting, name, None) for name in ("solve", "solve_grams"))
    if isinstance(weighting, type) or not any(callable(method) for method in methods):
        raise TypeError(
            f"weighting must be one of {options} or an object with a method solve(statistics) or "
            f"solve_grams(grams, y), got {weighting!r}."
        )
    return weighting
