"""One-stage rules inside the estimators: their parameters, kernels and targets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.statistics.targets import reads_as_regression, target_columns

_SHARED = ("alpha", "C", "epsilon", "multiclass")


def solve_one_stage(estimator, rule, source, y, task, statistics, scale):
    """The result of a rule with ``solve_grams`` on the source's centred and scaled kernels."""
    regression = reads_as_regression(y, task)
    if isinstance(estimator.weighting, str):
        rule = _with_machine_parameters(rule, estimator, regression)
    if getattr(rule, "targets", "real") == "labels":
        if regression:
            raise ValueError(
                f"weighting={rule!r} learns from class labels, but y is read as real targets; "
                "accepted for regression: L1SVM(loss='epsilon-insensitive'), LKRR, AlignedKRR and "
                "the two-stage rules."
            )
        target = y
    else:
        target = target_columns(y, source.n_samples, task)
        target = target[:, 0] if target.shape[1] == 1 else target
    size = np.sqrt(np.mean(np.square(target))) if getattr(rule, "unit_target", False) else 1.0
    if not size > 0.0 or size == 1.0:
        return rule.solve_grams(source.family(scale), target, statistics=statistics)
    norm = statistics.target_norm / size**2
    unit = replace(statistics, a=statistics.a / size**2, target_norm=norm)
    result = rule.solve_grams(source.family(scale), target / size, statistics=unit)
    return replace(result, statistics=statistics)


def _with_machine_parameters(rule, estimator, regression):
    """The rule that a string names, with the estimator's own alpha, C, epsilon, multiclass."""
    known = rule.get_params(deep=False)
    shared = {n: getattr(estimator, n) for n in _SHARED if n in known and hasattr(estimator, n)}
    if "loss" in known:
        shared["loss"] = "epsilon-insensitive" if regression else "hinge"
    return type(rule)(**{**known, **shared})
