"""Stage 1 inside the estimators: one-stage rules, and statistics that are found when asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.statistics.targets import reads_as_regression, target_columns

# Below this a pass over the pairs takes milliseconds.
_LEAST_SAMPLES = 1000
_FEW = 50
# Share of the largest diagonal value by which values of a kernel have to differ: rounding is less.
_VARIES = 1e-6
_SHARED = ("alpha", "C", "epsilon", "multiclass")


def solve_one_stage(estimator, rule, source, y, task, statistics, scale):
    """The result of a rule with ``solve_grams`` on the source's centred and scaled kernels.

    With sample weights on its samples of positive weight.
    """
    regression = reads_as_regression(y, task)
    if isinstance(estimator.weighting, str):
        rule = _with_machine_parameters(rule, estimator, regression)
    if source.weight is not None:
        _check_takes_weights(rule)
        if not source.weight.all():
            used = source.weight > 0.0
            result = solve_one_stage(
                estimator, rule, source.used(), y[used], task, statistics, scale
            )
            coef = np.zeros((len(used), *np.shape(result.dual_coef)[1:]))
            coef[used] = result.dual_coef
            return replace(result, dual_coef=coef)
    if getattr(rule, "targets", "real") == "labels":
        if regression:
            raise ValueError(
                f"weighting={rule!r} learns from class labels, but y is read as real targets; "
                "accepted for regression: L1SVM(loss='epsilon-insensitive'), LKRR, AlignedKRR and "
                "the two-stage rules."
            )
        target = y
    else:
        target = target_columns(y, source.n_samples, task, weight=source.weight)
        target = target[:, 0] if target.shape[1] == 1 else target
    if source.weight is not None:
        return _solve_weighted(rule, source, target, statistics, scale)
    size = np.sqrt(np.mean(np.square(target))) if getattr(rule, "unit_target", False) else 1.0
    return _solve_in_units(rule, source.family(scale), target, size, statistics)


def _solve_in_units(rule, family, target, size, statistics):
    """The rule's result on the target over its size."""
    if not size > 0.0 or size == 1.0:
        return rule.solve_grams(family, target, statistics=statistics)
    norm = statistics.target_norm / size**2
    unit = replace(statistics, a=statistics.a / size**2, target_norm=norm)
    result = rule.solve_grams(family, target / size, statistics=unit)
    return replace(result, statistics=statistics)


def _check_takes_weights(rule):
    if getattr(rule, "sample_weights", None) not in ("matrices", "costs"):
        raise ValueError(
            f"weighting={rule!r} takes no sample_weight: nothing says how weights enter its "
            "problem; accepted: the two-stage rules, LKRR, L1SVM, AlignedKRR, and objects whose "
            "attribute sample_weights is 'matrices' or 'costs'."
        )


def _solve_weighted(rule, source, target, statistics, scale):
    """With positive sample weights, which enter as the rule's ``sample_weights`` says."""
    weight = source.weight
    if rule.sample_weights == "costs":
        family, options = source.family(scale), {"statistics": statistics}
        return rule.solve_grams(family, target, sample_weight=weight, **options)
    # A sum of squares with weights is one of rows times their roots; the kernel as it is has the
    # coefficients times the roots.
    root = np.sqrt(weight)
    rooted = (root * target.T).T
    size = 1.0
    if getattr(rule, "unit_target", False):
        size = np.sqrt(np.square(rooted).sum() / (weight.sum() * (rooted.size / len(rooted))))
    family = source.family(scale, rooted=True)
    result = _solve_in_units(rule, family, rooted, size, statistics)
    return replace(result, dual_coef=(root * result.dual_coef.T).T)


def _with_machine_parameters(rule, estimator, regression):
    """The rule that a string names, with the estimator's own alpha, C, epsilon, multiclass."""
    known = rule.get_params(deep=False)
    shared = {n: getattr(estimator, n) for n in _SHARED if n in known and hasattr(estimator, n)}
    if "loss" in known:
        shared["loss"] = "epsilon-insensitive" if regression else "hinge"
    return type(rule)(**{**known, **shared})


class Postponed:
    """The result of a rule on samples that are kept for it.

    Equal weights of kernels as they are need no pass over the pairs of samples, which for one
    kernel costs as much as the support vector machine. What the statistics would refuse is left to
    them: kernels that are functions, or that are constant on the samples.

    Attributes
    ----------
    weights : ndarray of shape (p,)
    """

    def __init__(self, source, y, task, rule, weights, unbiased=False):
        # Copies: the caller may change the samples.
        self._source, self._y = source.kept(), np.array(y)
        self._task, self._rule, self.weights = task, rule, weights
        self._unbiased = unbiased

    @classmethod
    def of(cls, estimator, source, y, task, rule):
        """The postponed result of a rule, or None where the statistics are needed now."""
        here = estimator.normalize is None and estimator.client is None
        if not (here and callable(getattr(rule, "weights_of", None)) and _is_plain(source)):
            return None
        weights = rule.weights_of(len(source.kernels))
        known = source, y, task, rule, weights, estimator.unbiased
        return cls(*known) if _all_vary(source) else None

    def result(self):
        """The `WeightResult`."""
        found = self._source.statistics(self._y, self._task, unbiased=self._unbiased)
        return self._rule.solve(found)


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
