"""Bounds of the risk from samples that took no part in the fit: any machine, any kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.validation import check_labels, check_targets

from . import guarantees

UNSEEN = "samples that took no part in the fit"


@dataclass(frozen=True)
class HeldOutBound:
    """Upper bound of the risk of a fitted estimator, from held-out samples.

    Attributes
    ----------
    value : float
        The risk is at most this, with probability 1 - delta: the probability of error, or the
        expected squared error of clipped predictions in units of y^2.
    by_bernstein : float
        The same from the mean and the variance of the losses (Maurer and Pontil), for comparison.
    empirical_risk : float
        On the held-out samples.
    n_samples : int
        How many were held out.
    loss : str
        "probability of error" or "expected squared error".
    delta : float
    vacuous : bool
        True if a constant prediction is known to be as good: that of the largest class in the
        held-out samples, or of the middle of the labels' range.
    method : str
    hypotheses, not_met : tuple of str
        As in `AlignmentInterval`.
    """

    value: float
    by_bernstein: float
    empirical_risk: float
    n_samples: int
    loss: str
    delta: float
    vacuous: bool
    method: str
    hypotheses: tuple[str, ...]
    not_met: tuple[str, ...] = ()

    def __str__(self):
        head = (
            f"{self.loss} at most {self.value:.4g} with probability {1 - self.delta:g} "
            f"({self.method}; {self.n_samples} held-out samples: {self.empirical_risk:.4g}; by the "
            f"variance, Maurer and Pontil: {self.by_bernstein:.4g})"
        )
        return "\n".join([head, *guarantees._notes(self)])

    __repr__ = __str__


def held_out_error(estimator, X, y, delta) -> HeldOutBound:
    """`MKLClassifier.bound` with ``held_out``: 0-1 loss, any number of classes."""
    from alignlearn.theory.bounds import held_out

    predicted = _predictions(estimator, X)
    labels = check_labels(y, len(predicted))
    if not np.isin(labels, estimator.classes_).any():
        raise ValueError(f"y holds none of the classes of the fit, {list(estimator.classes_)}.")
    wrong, m = (predicted != labels).astype(float), len(labels)
    value = held_out.binomial_upper(int(wrong.sum()), m, delta)
    largest_class = np.unique(labels, return_counts=True)[1].max() / m
    return HeldOutBound(
        value,
        _by_bernstein(wrong, 1.0, delta),
        float(wrong.mean()),
        m,
        "probability of error",
        delta,
        bool(value >= 1 - largest_class),
        "binomial, Clopper and Pearson",
        (guarantees.SAMPLE, UNSEEN),
    )


def held_out_risk(estimator, X, y, delta, label_range, random_state) -> HeldOutBound:
    """`MKLRegressor.bound` with ``held_out``: squared loss of predictions clipped to the range."""
    from alignlearn.theory.bounds import held_out

    if estimator.dual_coef_.ndim > 1:
        raise ValueError("bound: only for one target.")
    low, high = guarantees.label_limits(estimator, label_range)
    predicted = _predictions(estimator, X)
    y = check_targets(y, len(predicted), columns=False)
    guarantees.check_in_range(y, low, high)
    losses, largest = (np.clip(predicted, low, high) - y) ** 2, (high - low) ** 2
    value = held_out.betting_upper(losses, largest, delta, random_state)
    return HeldOutBound(
        value,
        _by_bernstein(losses, largest, delta),
        float(losses.mean()),
        len(y),
        "expected squared error",
        delta,
        bool(value >= largest / 4),
        "betting",
        (guarantees.SAMPLE, UNSEEN, *guarantees.range_hypotheses(low, high)),
    )


def _by_bernstein(losses, largest, delta):
    from alignlearn.theory.bounds.held_out import empirical_bernstein_upper

    if len(losses) < 2:
        return largest
    return min(empirical_bernstein_upper(losses, largest, delta), largest)


def _predictions(estimator, X):
    predicted = estimator.predict(X)
    refuse_training_samples(estimator, X, len(predicted))
    return predicted


def refuse_training_samples(estimator, X, n_samples):
    """An error where the samples that the fit kept are in X at their places."""
    kept = estimator._predictor.support_samples
    if n_samples != estimator.statistics_.n_samples or not isinstance(kept, np.ndarray):
        return
    X = estimator._predictor.check(X)
    if isinstance(X, np.ndarray) and np.array_equal(X[estimator.support_], kept):
        raise ValueError("held_out=True: X must be samples that took no part in the fit.")
