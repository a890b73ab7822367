"""Stage 1: weights of the kernels."""

from importlib import import_module

from .adapters import as_rule
from .base import Rule, Weighting, WeightResult
from .easymkl import EasyMKL
from .path import SparsePath, sparse_path
from .problem import Problem
from .two_stage import Align, AlignF, AlignLinear, AlignLq, Uniform
from .unsupervised import Consensus, MaxEntropy, Structure

__all__ = [
    "Align",
    "AlignF",
    "AlignLinear",
    "AlignLq",
    "Consensus",
    "EasyMKL",
    "MaxEntropy",
    "Problem",
    "Rule",
    "SparsePath",
    "Structure",
    "Uniform",
    "WeightResult",
    "Weighting",
    "get_weighting",
    "sparse_path",
    "uses_samples",
    "without_target",
]

_BY_NAME = {
    "uniform": Uniform,
    "align": Align,
    "alignf": AlignF,
    "alignf-linear": AlignLinear,
    "align-lq": AlignLq,
    "consensus": Consensus,
    "max-entropy": MaxEntropy,
    "structure": Structure,
    "easymkl": EasyMKL,
}
# Loaded on first use: they need the solvers of complete models.
# SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet 2008) is a solver of the problem of "l1-svm".
_ONE_STAGE = {"lkrr": "LKRR", "l1-svm": "L1SVM", "simplemkl": "L1SVM", "aligned-krr": "AlignedKRR"}


def without_target(rule):
    """Whether a rule's weights depend on no target.

    Examples
    --------
    >>> from alignlearn import AlignF, Consensus
    >>> from alignlearn.weights import without_target
    >>> without_target(AlignF()), without_target(Consensus())
    (False, True)
    """
    return not get_weighting(rule).needs_target


def uses_samples(rule):
    """Whether a rule needs the samples in addition to their statistics.

    Examples
    --------
    >>> from alignlearn import AlignF, Structure
    >>> from alignlearn.weights import uses_samples
    >>> uses_samples(AlignF()), uses_samples(Structure())
    (False, True)
    """
    return get_weighting(rule).needs in ("source", "grams")


def get_weighting(weighting):
    """Return the weight rule for a string or an object.

    Parameters
    ----------
    weighting : str or object
        Two-stage: "uniform", "align", "alignf", "alignf-linear", "align-lq". Without a target:
        "consensus", "max-entropy", "structure" (and "uniform"). One-stage: "lkrr", "l1-svm",
        "aligned-krr". An object needs a method ``solve(statistics)``, ``solve_grams(grams, y,
        statistics=...)`` or ``solve_source(source, statistics, scale)`` that returns a
        `WeightResult`; or ``learn(problem)`` and an attribute ``needs``, as a `Rule` has. It needs
        a target unless its attribute ``needs_target`` is False.

    Returns
    -------
    Rule
        A named rule has its default parameters; an object that is not a `Rule` is wrapped.

    Raises
    ------
    ValueError
        An unknown string, or an unknown value of ``needs``.
    TypeError
        Neither a string nor a rule.

    Examples
    --------
    >>> from alignlearn.weights import get_weighting
    >>> get_weighting("alignf")
    AlignF()
    """
    if isinstance(weighting, str):
        if weighting in _ONE_STAGE:
            return getattr(import_module("alignlearn.weights.one_stage"), _ONE_STAGE[weighting])()
        if weighting not in _BY_NAME:
            raise ValueError(f"weighting={weighting!r} is not known; accepted: {_named()}.")
        return _BY_NAME[weighting]()
    rule = as_rule(weighting)
    if rule is None:
        raise TypeError(
            f"weighting must be one of {_named()} or an object with a method solve(statistics) or "
            f"solve_grams(grams, y), got {weighting!r}."
        )
    return rule


def _named():
    return ", ".join(repr(name) for name in [*_BY_NAME, *_ONE_STAGE])
