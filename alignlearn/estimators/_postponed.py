"""Alignment statistics of weights that do not depend on them: found when they are asked for."""

from __future__ import annotations

import numpy as np

# Below this a pass over the pairs takes milliseconds.
_LEAST_SAMPLES = 1000
_FEW = 50
# Share of the largest diagonal value by which values of a kernel have to differ: rounding is less.
_VARIES = 1e-6


class Postponed:
    """The result of a rule on samples that are kept for it.

    Equal weights of kernels as they are need no pass over the pairs of samples, which for one
    kernel costs as much as the support vector machine. What the statistics would refuse is left to
    them: kernels that are functions, or that are constant on the samples.

    Attributes
    ----------
    weights : ndarray of shape (p,)
    """

    def __init__(self, source, y, task, rule, weights):
        # Copies: the caller may change the samples.
        self._source, self._y = source.kept(), np.array(y)
        self._task, self._rule, self.weights = task, rule, weights

    @classmethod
    def of(cls, estimator, source, y, task, rule):
        """It, or None where the statistics are needed now."""
        here = estimator.normalize is None and estimator.client is None
        if not (here and callable(getattr(rule, "weights_of", None)) and _is_plain(source)):
            return None
        weights = rule.weights_of(len(source.kernels))
        return cls(source, y, task, rule, weights) if _all_vary(source) else None

    def result(self):
        """The `WeightResult`."""
        return self._rule.solve(self._source.statistics(self._y, self._task))


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
    """Whether each kernel tells some of a few samples apart: then its centred norm is positive."""
    used = source.used()
    some = used.part(np.arange(min(used.n_samples, _FEW)))
    for k in range(len(some.names)):
        K = some.single(k).gram(exact=True)
        apart = K.diagonal() + K[0, 0] - 2.0 * K[0]
        if not apart.max() > _VARIES * K.diagonal().max():
            return False
    return True
