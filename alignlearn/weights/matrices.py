"""Rules that learn from kernel matrices, with their forms of targets and sample weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alignlearn.statistics.targets import target_columns


def learn_from_grams(problem, rule):
    """The result of a rule's ``solve_grams`` on the centered and scaled kernels of a problem.

    Only samples of positive weight take part; the dual coefficients of the others are 0.

    Parameters
    ----------
    problem : Problem
    rule : object with ``solve_grams`` and the traits of `OneStageWeighting`

    Returns
    -------
    OneStageResult
    """
    weight = problem.source.weight
    if weight is None:
        return _on_plain(rule, problem, _target(rule, problem))
    _check_takes_weights(rule)
    used = problem.used()
    result = _on_weighted(rule, used, _target(rule, used))
    if weight.all():
        return result
    coef = np.zeros((len(weight), *np.shape(result.dual_coef)[1:]))
    coef[weight > 0.0] = result.dual_coef
    return replace(result, dual_coef=coef)


def _check_takes_weights(rule):
    if rule.sample_weights not in ("matrices", "costs"):
        raise ValueError(
            f"weighting={rule!r} does not accept sample_weight, because its problem does "
            "not define how weights enter; accepted: the two-stage rules, LKRR, L1SVM, "
            "AlignedKRR, and objects whose attribute sample_weights is 'matrices' or "
            "'costs'."
        )


def _target(rule, problem):
    """The target as the rule takes it: class labels, or centered columns."""
    if rule.targets == "labels":
        if problem.is_regression:
            raise ValueError(
                f"weighting={rule!r} learns from class labels, but y is read as real targets; "
                "accepted for regression: L1SVM(loss='epsilon-insensitive'), LKRR, AlignedKRR and "
                "the two-stage rules."
            )
        return problem.y
    source = problem.source
    target = target_columns(problem.y, source.n_samples, problem.task, weight=source.weight)
    return target[:, 0] if target.shape[1] == 1 else target


def _on_plain(rule, problem, target):
    size = np.sqrt(np.mean(np.square(target))) if rule.unit_target else 1.0
    return _in_units(rule, problem.family(), target, size, problem.statistics)


def _on_weighted(rule, problem, target):
    """With positive sample weights, which enter as the rule's ``sample_weights`` says."""
    weight = problem.source.weight
    if rule.sample_weights == "costs":
        options = {"statistics": problem.statistics}
        return rule.solve_grams(problem.family(), target, sample_weight=weight, **options)
    # A sum of squares with weights is one of rows times their roots; the unscaled kernel has the
    # coefficients times the roots.
    root = np.sqrt(weight)
    rooted = (root * target.T).T
    size = 1.0
    if rule.unit_target:
        size = np.sqrt(np.square(rooted).sum() / (weight.sum() * (rooted.size / len(rooted))))
    result = _in_units(rule, problem.family(rooted=True), rooted, size, problem.statistics)
    return replace(result, dual_coef=(root * result.dual_coef.T).T)


def _in_units(rule, family, target, size, statistics):
    """The rule's result on the target over its size."""
    if not size > 0.0 or size == 1.0:
        return rule.solve_grams(family, target, statistics=statistics)
    norm = statistics.target_norm / size**2
    unit = replace(statistics, a=statistics.a / size**2, target_norm=norm)
    result = rule.solve_grams(family, target / size, statistics=unit)
    return replace(result, statistics=statistics)
