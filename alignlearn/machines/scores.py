"""Scores of predictions: accuracy of labels and R^2 of targets, as scikit-learn defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from alignlearn.validation import (
    check_label_matrix,
    check_labels,
    check_targets,
    check_weights,
    is_label_matrix,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class LabelScore:
    """Mixin: ``score`` by ``predict``, the accuracy."""

    predict: Callable[..., np.ndarray]

    def score(self, X, y, sample_weight=None) -> float:
        """Share of samples whose label is predicted, weighted by ``sample_weight`` (n,).

        For many labels (n, c), the subset accuracy: the share of samples for which all labels are
        correct.
        ``X`` is what ``predict`` takes.
        """
        return accuracy(self.predict(X), y, sample_weight)


class TargetScore:
    """Mixin: ``score`` by ``predict``, the coefficient of determination."""

    predict: Callable[..., np.ndarray]

    def score(self, X, y, sample_weight=None) -> float:
        """Coefficient of determination, mean over targets; samples weighted by ``sample_weight``.

        ``X`` is what ``predict`` takes. 1 minus the ratio of the residual sum of squares to the sum
        of squares about the mean. For a constant target 1 if the residual is 0, else 0.
        """
        predicted = self.predict(X)
        return r2(check_targets(y, len(predicted)), predicted, sample_weight)


def accuracy(predicted, y, sample_weight=None):
    """Share of samples whose label, or all of whose labels, are predicted, weighted (n,)."""
    if predicted.ndim == 2 and is_label_matrix(y):
        y = check_label_matrix(y, len(predicted))
        if y.shape != predicted.shape:
            raise ValueError(f"y has shape {y.shape}; accepted: {predicted.shape}, as in fit.")
        right = (predicted == y).all(axis=1)
    else:
        right = predicted == check_labels(y, len(predicted))
    weight = check_weights(sample_weight, len(right))
    return float(weight @ right / weight.sum())


def r2(y, predicted, weight=None):
    """The mean over targets of `r2_by_target`."""
    return float(np.mean(r2_by_target(y, predicted, weight)))


def r2_by_target(y, predicted, weight=None):
    """Coefficient of determination of every target, with sample weights (n,) if given.

    1 minus the ratio of the residual sum of squares to the sum of squares about the mean. For a
    constant target 1 if the residual is 0, else 0.
    """
    if y.size != predicted.size:
        raise ValueError(f"y has shape {y.shape}; accepted: {predicted.shape}, the targets of fit.")
    y = y.reshape(predicted.shape)
    weight = check_weights(weight, len(y))
    weight = weight / weight.sum()
    # The ratio does not depend on the unit of y, but overflow of squares does.
    unit = max(np.abs(y).max(), np.abs(predicted).max()) or 1.0
    y, predicted = y / unit, predicted / unit
    residual = weight @ np.square(y - predicted)
    y = y - y[0]  # a constant is exactly 0
    total = weight @ np.square(y - weight @ y)
    flat = np.where(residual == 0.0, 1.0, 0.0)
    explained = 1.0 - residual / np.where(total > 0.0, total, 1.0)
    return np.where(total > 0.0, explained, flat)
