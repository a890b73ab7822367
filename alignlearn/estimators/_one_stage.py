"""One-stage rules inside the estimators: their parameters, kernels and targets."""

from __future__ import annotations

import numpy as np

from alignlearn.engine.cpu import weighted_gram
from alignlearn.estimators._sources import FeatureSource, GramSource
from alignlearn.onestage.families import FeatureFamily, GramFamily
from alignlearn.targets import target_columns

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
    return rule.solve_grams(open_kernels(source, scale), target, statistics=statistics)


def reads_as_regression(y, task):
    """Whether y holds real targets: said by the task or, for "auto", by its type."""
    if task != "auto":
        return task == "regression"
    y = np.asarray(y)
    return y.dtype.kind == "f" or y.ndim == 2


def _with_machine_parameters(rule, estimator, regression):
    """The rule that a string names, with the estimator's own alpha, C, epsilon, multiclass."""
    known = rule.get_params(deep=False)
    shared = {n: getattr(estimator, n) for n in _SHARED if n in known and hasattr(estimator, n)}
    if "loss" in known:
        shared["loss"] = "epsilon-insensitive" if regression else "hinge"
    return type(rule)(**{**known, **shared})


def open_kernels(source, scale):
    """The source's kernels, centred and times ``scale``, as one-stage problems take them."""
    if isinstance(source, FeatureSource):
        if source.groups is None:
            return FeatureFamily(source.X, scale=scale)
        every = np.arange(source.n_features)
        columns = [every if c is None else np.asarray(c) for c, _ in source.groups]
        own = np.array([s for _, s in source.groups])
        owner = np.repeat(np.arange(len(columns)), [len(c) for c in columns])
        X = source.X.tocsc() if source.sparse else source.X
        return FeatureFamily(X[:, np.concatenate(columns)], owner, own * scale)
    if isinstance(source, GramSource):
        grams = (np.array(gram[:], dtype=np.float64) for gram in source.grams)
    else:
        grams = (weighted_gram([k], [1.0], source.X, exact=False) for k in source.kernels)
    return GramFamily([_centred(K, s) for K, s in zip(grams, scale)])


def _centred(K, scale):
    """K centred at the means of the samples, times ``scale``, in place."""
    means = K.mean(axis=1, dtype=np.float64)
    K -= means[:, None]
    K -= means - means.mean()
    K *= K.dtype.type(scale)
    return K
