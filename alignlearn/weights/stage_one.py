"""Stage 1 in one call: the weights that a rule learns on all samples or on a training set."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import get_weighting

if TYPE_CHECKING:
    from .base import WeightResult

# Below this a pass over the pairs takes milliseconds.
_LEAST_SAMPLES = 1000
_FEW = 50
# Share of the largest diagonal value by which values of a kernel have to differ: rounding is less.
_VARIES = 1e-6


class Learned(NamedTuple):
    """The result of stage 1.

    Attributes
    ----------
    weights : ndarray of shape (p,)
        Weights of the kernels times ``scale``.
    scale : ndarray of shape (p,)
        Factors of the kernels, by which ``normalize`` scaled them.
    result : WeightResult or None
        With the certificate and the statistics; None if it is postponed.
    later : Postponed or None
        Computes the result if it is postponed.
    """

    weights: np.ndarray
    scale: np.ndarray
    result: WeightResult | None = None
    later: Postponed | None = None

    @property
    def unscaled(self):
        """Weights of the kernels as they were given, (p,)."""
        return self.weights * self.scale


def learn(problem, rule, *, later=False):
    """Learn the weights of the kernels, for every fit and every training set.

    Parameters
    ----------
    problem : Problem
    rule : str or object
        As in `alignlearn.weights.get_weighting`. A one-stage rule given by name uses the parameters
        of ``problem.machine``.
    later : bool, default False
        Whether the result of a rule that needs no statistics may be postponed, see `Postponed`.

    Returns
    -------
    Learned

    Raises
    ------
    ValueError, TypeError
        No kernel varies on the samples, or the rule does not accept the problem.
    """
    named, rule = isinstance(rule, str), get_weighting(rule)
    if named and rule.needs == "grams":
        rule = _with_parameters(rule, problem)
    postponed = Postponed.of(problem, rule) if later else None
    if postponed is not None:
        return Learned(postponed.weights, np.ones(postponed.weights.size), later=postponed)
    scale = problem.scaled.scale
    result = rule.learn(problem.check())
    return Learned(result.weights, scale, result)


def scale_one(source, *, normalize="trace", rows=None):
    """Stage 1 of a source of one kernel, whose weight is 1: its scale from one matrix.

    The matrix on all samples is made once, where that is worth it, and serves all training sets.

    Parameters
    ----------
    source : Source
        Of one kernel.
    normalize : {"trace"} or None, default "trace"
        "trace" scales the centered kernel to a mean diagonal of 1; one that does not vary keeps
        its scale.
    rows : ndarray of int, optional
        The training set, as positions among the samples. Default: all samples.

    Returns
    -------
    Learned
        Without a result.
    """
    K, one = source.whole(), np.ones(1)  # the matrix is made here also for what follows
    if normalize is None:
        return Learned(one, one)
    rows = np.arange(source.n_samples) if rows is None else rows
    share = np.zeros(source.n_samples)
    share[rows] = 1.0 if source.weight is None else source.weight[rows]
    if K is None:
        K, share = source.part(rows).single(0).gram(), share[rows]
    share /= share.sum()
    trace = float(share @ K.diagonal() - share @ (K @ share))
    return Learned(one, np.array([1.0 / trace if trace > 0.0 else 1.0]))


def _with_parameters(rule, problem):
    """The rule with the parameters of the problem's model that it has as well."""
    known = rule.get_params(deep=False)
    shared = {name: value for name, value in problem.machine.items() if name in known}
    if "loss" in known:
        shared["loss"] = "epsilon-insensitive" if problem.is_regression else "hinge"
    return type(rule)(**{**known, **shared})


class Postponed:
    """The result of a rule that needs nothing, on samples that are kept for it.

    Equal weights of unscaled kernels need no pass over the pairs of samples, which for one kernel
    costs as much as the support vector machine. Kernels that are functions or constant on the
    samples are not postponed, since the statistics may raise an error.

    Parameters
    ----------
    problem : Problem
    rule : Rule
    weights : ndarray of shape (p,)

    Attributes
    ----------
    weights : ndarray of shape (p,)
    """

    def __init__(self, problem, rule, weights):
        # A copy: the caller may change the samples.
        self._problem, self._rule, self.weights = problem.kept(), rule, weights

    @classmethod
    def of(cls, problem, rule):
        """The postponed result of a rule, or None where the statistics are needed now."""
        unscaled = problem.normalize is None and not problem.is_known
        if not (unscaled and rule.needs == "nothing" and _is_plain(problem.source)):
            return None
        weights = rule.weights_of(len(problem.source.names))
        return cls(problem, rule, weights) if _all_vary(problem.source) else None

    def result(self):
        """The `WeightResult`."""
        return self._rule.learn(self._problem)


def _is_plain(source):
    """Whether a source has many samples in memory and kernels that are formulas, psd."""
    array = source.is_paired and isinstance(source.X, np.ndarray)
    if not array or source.n_samples < _LEAST_SAMPLES or _is_mapped(source.X):
        return False
    return all(k.takes_sparse and k.is_psd for k in source.kernels)


def _is_mapped(X):
    while X is not None:
        if isinstance(X, np.memmap):
            return True
        X = getattr(X, "base", None)
    return False


def _all_vary(source):
    """Whether each kernel varies on a few samples, so that its centered norm is positive."""
    used = source.used()
    some = used.part(np.arange(min(used.n_samples, _FEW)))
    for k in range(len(some.names)):
        K = some.single(k).gram(exact=True)
        apart = K.diagonal() + K[0, 0] - 2.0 * K[0]
        if not apart.max() > _VARIES * K.diagonal().max():
            return False
    return True
