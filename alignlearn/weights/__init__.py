"""Stage 1: weights of the kernels."""

from .base import Weighting, WeightResult
from .two_stage import Align, AlignF, AlignLinear, AlignLq, Uniform

__all__ = [
    "Align",
    "AlignF",
    "AlignLinear",
    "AlignLq",
    "Uniform",
    "WeightResult",
    "Weighting",
    "get_weighting",
]

_BY_NAME = {
    "uniform": Uniform,
    "align": Align,
    "alignf": AlignF,
    "alignf-linear": AlignLinear,
    "align-lq": AlignLq,
}


def get_weighting(weighting):
    """Return the rule that ``weighting`` names, or ``weighting`` itself if it has ``solve``.

    Parameters
    ----------
    weighting : {"uniform", "align", "alignf", "alignf-linear", "align-lq"} or object
        An object needs a method ``solve(statistics)`` that returns a `WeightResult`.

    Raises
    ------
    ValueError
        An unknown string.
    TypeError
        Neither a string nor an object with ``solve``.
    """
    options = ", ".join(repr(name) for name in _BY_NAME)
    if isinstance(weighting, str):
        if weighting not in _BY_NAME:
            raise ValueError(f"weighting={weighting!r} is not known; accepted: {options}.")
        return _BY_NAME[weighting]()
    if isinstance(weighting, type) or not callable(getattr(weighting, "solve", None)):
        raise TypeError(
            f"weighting must be one of {options} or an object with a method solve(statistics), "
            f"got {weighting!r}."
        )
    return weighting
