"""Bounds on the risk from samples not used by the fit, for any model and kernels."""

from __future__ import annotations

import numpy as np

from alignlearn._text import listed
from alignlearn.bounds import held_out
from alignlearn.bounds.guarantee import HeldOutBound
from alignlearn.validation import check_labels, check_targets

from . import guarantees

UNSEEN = "samples not used by the fit"


def held_out_error(estimator, X, y, delta) -> HeldOutBound:
    """`MKLClassifier.bound` with ``held_out``: 0-1 loss, any number of classes."""
    predicted = estimator.predict(X)
    labels = check_labels(y, len(predicted))
    guarantees.refuse_seen_samples(estimator, X, labels)
    if not np.isin(labels, estimator.classes_).any():
        raise ValueError(
            f"y contains none of the classes of fit, {listed(estimator.classes_.tolist())}."
        )
    wrong, m = (predicted != labels).astype(float), len(labels)
    value = held_out.binomial_upper(int(wrong.sum()), m, delta)
    largest_class = np.unique(labels, return_counts=True)[1].max() / m
    return HeldOutBound(
        value=value,
        by_bernstein=_by_bernstein(wrong, 1.0, delta),
        empirical_risk=float(wrong.mean()),
        n_samples=m,
        loss="probability of error",
        delta=delta,
        vacuous=bool(value >= 1 - largest_class),
        method="binomial, Clopper and Pearson",
        hypotheses=(guarantees.SAMPLE, UNSEEN),
    )


def held_out_risk(estimator, X, y, delta, label_range, random_state) -> HeldOutBound:
    """`MKLRegressor.bound` with ``held_out``: squared loss of predictions clipped to the range."""
    if np.ndim(estimator.intercept_) > 0:
        raise ValueError("bound is available for one target only.")
    low, high = guarantees.label_limits(estimator, label_range)
    predicted = estimator.predict(X)
    y = check_targets(y, len(predicted), columns=False)
    guarantees.refuse_seen_samples(estimator, X, y)
    guarantees.check_in_range(y, low, high)
    losses, largest = (np.clip(predicted, low, high) - y) ** 2, (high - low) ** 2
    value = held_out.betting_upper(losses, largest, delta, random_state)
    return HeldOutBound(
        value=value,
        by_bernstein=_by_bernstein(losses, largest, delta),
        empirical_risk=float(losses.mean()),
        n_samples=len(y),
        loss="expected squared error",
        delta=delta,
        vacuous=bool(value >= largest / 4),
        method="betting",
        hypotheses=(guarantees.SAMPLE, UNSEEN, *guarantees.range_hypotheses(low, high)),
    )


def _by_bernstein(losses, largest, delta):
    if len(losses) < 2:
        return largest
    return min(held_out.empirical_bernstein_upper(losses, largest, delta), largest)
