"""Several classes by problems of two: the signs of each problem, and the one rule that decides."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def problem_signs(codes, n_classes, multiclass):
    """Signs (n_problems, m) of the two-class problems, 0 for samples left out.

    Two classes: ``[1]`` against ``[0]``. "ovo": the pairs (i, j), i < j in lexicographic order, j
    positive. "ovr": each class against the rest.
    """
    if n_classes > 2 and multiclass == "ovr":
        return np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0)
    pairs = combinations(range(n_classes), 2)
    return np.array([(codes == j).astype(float) - (codes == i) for i, j in pairs])


def confidences(raw, n_classes, multiclass):
    """Confidence of each class from the decisions (n, n_problems) of the problems.

    Returns
    -------
    ndarray of shape (n,) or (n, n_classes)
        For two classes positive for the second. Otherwise the decisions of "ovr", or for "ovo" the
        votes plus the summed decisions squeezed into (-1/3, 1/3), which decide between classes of
        equal votes, as scikit-learn does with ``break_ties=True``.
    """
    if n_classes == 2:
        return raw[:, 0]
    if multiclass == "ovr":
        return raw
    votes, sums = np.zeros((len(raw), n_classes)), np.zeros((len(raw), n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        wins = raw[:, column] >= 0.0
        votes[:, j] += wins
        votes[:, i] += ~wins
        sums[:, j] += raw[:, column]
        sums[:, i] -= raw[:, column]
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def predicted_labels(scores, classes):
    """The class of the largest confidence; of two, the second where it is positive."""
    if scores.ndim == 1:
        return classes[(scores > 0.0).astype(np.intp)]
    return classes[scores.argmax(axis=1)]
