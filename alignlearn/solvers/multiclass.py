"""Classes: codes and weights of labels, problems of two classes, and the decision rule.

Many labels are a matrix y (m, c) of 0 and 1, a problem of two classes for each column. Their
``classes`` are a matrix (c, 2): ``[0, 1]`` for a label that varies, and twice its value for one
that is constant, which needs no problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._pairs import ClassSums, PairDecisions, pair_indices
from alignlearn.validation import (
    check_choice,
    check_label_matrix,
    check_labels,
    check_number,
    check_rows,
    check_weights,
    is_label_matrix,
)


class Problems(NamedTuple):
    """Problems of two classes.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or, of many labels, (c, 2)
        Sorted.
    signs : ndarray of shape (n_problems, m)
        0 for omitted samples; see `problem_signs`.
    weight : ndarray of shape (m,) or, of many labels with weights of classes, (n_problems, m)
        Weights of the samples times those of their classes.
    """

    classes: np.ndarray
    signs: np.ndarray
    weight: np.ndarray


def two_class_problems(y, multiclass="ovr", *, sample_weight=None, class_weight=None, n_rows=None):
    """The `Problems` that a machine of two classes solves for labels (m,) or (m, c).

    ``n_rows`` is the number of rows of K, if y has not been compared with it.
    """
    check_choice("multiclass", multiclass, ("ovo", "ovr"))
    if is_label_matrix(y):
        Y = check_label_matrix(y)
        if n_rows is not None:
            check_rows("K", n_rows, len(Y))
        return _label_problems(Y, sample_weight, class_weight)
    classes, codes = encode_labels(y)
    if n_rows is not None:
        check_rows("K", n_rows, codes.size)
    weight = check_weights(sample_weight, codes.size)
    weight = class_weighted(weight, class_weight, classes, codes)
    return Problems(classes, problem_signs(codes, classes.size, multiclass), weight)


def _label_problems(Y, sample_weight, class_weight):
    """The `Problems` of the labels that vary among the samples of positive weight."""
    weight = check_weights(sample_weight, len(Y))
    classes = present_classes(Y[weight > 0.0])
    varies = varying_labels(classes)
    if class_weight is not None:
        each = zip(Y.T, weights_of_labels(class_weight, Y.shape[1]))
        weight = [_label_weight(weight, *of_one) for of_one, v in zip(each, varies) if v]
        weight = np.stack(weight) if weight else np.ones((0, len(Y)))
    return Problems(classes, 2.0 * Y.T[varies] - 1.0, weight)


def weights_of_labels(class_weight, n_labels):
    """The ``class_weight`` of each of many labels: one for all, or a list of one for each."""
    if not isinstance(class_weight, (list, tuple)):
        return [class_weight] * n_labels
    if len(class_weight) != n_labels:
        raise ValueError(
            f"class_weight has {len(class_weight)} entries for {n_labels} labels; accepted: one "
            "for each label, or one for all."
        )
    return list(class_weight)


def _label_weight(weight, labels, class_weight):
    """Sample weights (m,) times the class weights of the values 0 and 1 of one label."""
    return class_weighted(weight, class_weight, np.arange(2), np.asarray(labels, dtype=np.intp))


def present_classes(y):
    """Sorted distinct labels (m,); for many labels, their smallest and largest values, (c, 2)."""
    return np.unique(y) if y.ndim == 1 else np.stack([y.min(axis=0), y.max(axis=0)], axis=1)


def varying_labels(classes):
    """Which of many labels vary, bool (c,), by their ``classes`` (c, 2)."""
    return classes[:, 0] != classes[:, 1]


def label_decisions(raw, classes):
    """Decisions (n, c) of many labels, -1 or 1 for those that are constant."""
    varies = varying_labels(classes)
    if raw.ndim != 2 or raw.shape[1] != np.count_nonzero(varies):
        raise ValueError(
            f"decisions have shape {raw.shape}; accepted: (n, {np.count_nonzero(varies)}), a "
            "column for each label that varies."
        )
    found = np.tile(2.0 * classes[:, 0] - 1.0, (len(raw), 1))
    found[:, varies] = raw
    return found


def encode_labels(y):
    """Sorted distinct labels and the position of each sample's label among them."""
    classes, codes = np.unique(check_labels(y), return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"y has {classes.size} class; a classifier needs at least two.")
    return classes, codes.reshape(-1)


def class_weighted(weight, class_weight, classes, codes):
    """Weights of the samples (m,) times those of their classes, all of positive weight."""
    totals = np.bincount(codes, weights=weight)
    if (totals == 0.0).any():
        label = classes[totals.argmin()]
        raise ValueError(f"sample_weight is zero for all samples of class {label.item()!r}.")
    return weight * _class_weights(class_weight, classes, totals)[codes]


def check_class_weight(class_weight, labels):
    """Raise an error unless ``class_weight`` fits these labels; a training set may have some."""
    if labels.ndim == 2:
        for one in weights_of_labels(class_weight, labels.shape[1]):
            _class_weights(one, np.arange(2), np.ones(2))
        return
    classes, codes = encode_labels(labels)
    class_weighted(np.ones(codes.size), class_weight, classes, codes)


def weights_differ(class_weight, labels, weight=None):
    """Whether classes have different weights; for many labels, whether any weights are given."""
    if class_weight is None or labels.ndim == 2:
        return class_weight is not None
    classes, codes = np.unique(labels, return_inverse=True)
    return np.ptp(_class_weights(class_weight, classes, np.bincount(codes, weight))) > 0.0


def of_present_classes(class_weight, labels):
    """The parameter ``class_weight`` for a training set, which may not have all classes."""
    if not isinstance(class_weight, dict):
        return class_weight
    present = set(np.unique(labels).tolist())
    return {label: weight for label, weight in class_weight.items() if label in present}


def _class_weights(class_weight, classes, totals):
    """Weight of each class; ``totals`` are the summed sample weights of the classes."""
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, str):
        check_choice("class_weight", class_weight, ("balanced",))
        return totals.sum() / (classes.size * totals)
    if not isinstance(class_weight, dict):
        raise TypeError(
            "class_weight must be None, 'balanced' or a dict from label to weight, got "
            f"{class_weight!r}."
        )
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(f"class_weight has labels that are not in y: {unknown}; y has {known}.")
    weights = [check_number("class_weight", class_weight.get(k, 1.0), low=0.0) for k in known]
    if min(weights) == 0.0:
        raise ValueError("class_weight must be > 0 for every class.")
    return np.array(weights)


def problem_signs(codes, n_classes, multiclass):
    """Signs (n_problems, m) of the two-class problems, 0 for omitted samples.

    Two classes: ``[1]`` against ``[0]``. "ovo": the pairs (i, j), i < j in lexicographic order, j
    positive. "ovr": each class against the rest.
    """
    if n_classes > 2 and multiclass == "ovr":
        return np.where(codes == np.arange(n_classes)[:, None], 1.0, -1.0)
    i, j = pair_indices(n_classes)
    return (codes == j[:, None]).astype(float) - (codes == i[:, None])


def orientations(signs):
    """Sign (n_problems,) of the first sample in each problem, from signs (n_problems, m).

    Solvers use the signs times these, so their steps do not depend on which class is positive.
    """
    return signs[np.arange(len(signs)), (signs != 0.0).argmax(axis=1)]


class ListedPairs(NamedTuple):
    """The problems of all pairs of classes, each with its samples alone, pair by pair.

    Attributes
    ----------
    samples : ndarray of int of shape (n,)
        In increasing order for each pair.
    signs : ndarray of shape (n,)
        -1 or 1, as of `problem_signs`.
    starts : ndarray of int of shape (n_problems + 1,)
        Where the samples of each pair start.
    """

    samples: np.ndarray
    signs: np.ndarray
    starts: np.ndarray

    @property
    def sizes(self):
        """Number of samples of each pair."""
        return np.diff(self.starts)

    @property
    def problems(self):
        """The pair of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), self.sizes)


def listed_pairs(codes, n_classes, used):
    """The `ListedPairs` of all classes, of the samples that are ``used``, bool (m,)."""
    i, j = pair_indices(n_classes)
    number = np.zeros((n_classes, n_classes), dtype=np.int32)
    number[i, j] = number[j, i] = np.arange(len(i))
    others = ~np.eye(n_classes, dtype=bool)
    number = number[others].reshape(n_classes, -1)
    sign = np.tril(np.full((n_classes, n_classes), 2.0)) - 1.0
    sign = sign[others].reshape(n_classes, -1)
    samples = np.flatnonzero(used)
    problem = number[codes[samples]].ravel()
    order = np.argsort(problem, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(problem, minlength=len(i)))])
    samples = np.repeat(samples, n_classes - 1)[order]
    return ListedPairs(samples, sign[codes[np.flatnonzero(used)]].ravel()[order], starts)


def _check_problems(raw, n_classes, multiclass):
    """Raise unless the decisions (n, n_problems) have a column for each problem."""
    ovr = n_classes > 2 and multiclass == "ovr"
    expected = n_classes if ovr else len(pair_indices(n_classes)[0])
    if raw.ndim != 2 or raw.shape[1] != expected:
        raise ValueError(
            f"decisions have shape {raw.shape}; accepted: (n, {expected}), a column for each "
            f"problem of two classes that {multiclass!r} makes of {n_classes} classes."
        )


def summed_decisions(raw, n_classes):
    """Sums of the decisions (n, n_problems) of pairs for each class, (n, n_classes)."""
    _check_problems(raw, n_classes, "ovo")
    columns, (i, j) = np.arange(raw.shape[1]), pair_indices(n_classes)
    sides = np.zeros((len(columns), n_classes))
    sides[columns, j], sides[columns, i] = 1.0, -1.0
    return raw @ sides


def class_logits(raw, n_classes, multiclass):
    """Decisions as a column for each class: means over the problems that it is in."""
    if n_classes == 2:
        return np.hstack([-0.5 * raw, 0.5 * raw])
    if multiclass == "ovr":
        return raw
    raw = summed_by_class(raw, n_classes)
    sums = raw.sums if isinstance(raw, ClassSums) else summed_decisions(raw, n_classes)
    return sums / (n_classes - 1)


def summed_by_class(raw, n_classes):
    """The `ClassSums` of `PairDecisions`, so that these are read once; other decisions unchanged.

    `class_logits`, `class_confidences` and `decided_labels` accept the result as decisions.
    """
    if not isinstance(raw, PairDecisions):
        return raw
    _check_problems(raw, n_classes, "ovo")
    return raw.class_sums(n_classes)


def class_confidences(raw, classes, multiclass):
    """Confidence of each class from the decisions (n, n_problems) of the problems.

    Returns
    -------
    ndarray of shape (n,) or (n, n_classes)
        For two classes positive for the second. Otherwise the decisions of "ovr", or for "ovo" the
        votes plus the summed decisions squeezed into (-1/3, 1/3), which decide between classes of
        equal votes, as scikit-learn does with ``break_ties=True``. Of many labels the
        `label_decisions`.

    Raises
    ------
    ValueError
        The number of columns is not that of the problems.
    """
    if classes.ndim == 2:
        return label_decisions(raw, classes)
    n_classes = len(classes)
    raw = summed_by_class(raw, n_classes)
    if isinstance(raw, ClassSums):
        return _with_votes(*raw)
    _check_problems(raw, n_classes, multiclass)
    if n_classes == 2:
        return raw[:, 0]
    if multiclass == "ovr":
        return raw
    votes = 0.5 * (summed_decisions(np.where(raw >= 0.0, 1.0, -1.0), n_classes) + n_classes - 1)
    return _with_votes(votes, summed_decisions(raw, n_classes))


def _with_votes(votes, sums):
    """Votes, and sums that decide between classes of equal votes."""
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def decided_labels(raw, classes, multiclass):
    """Labels from the decisions (n, n_problems) of a machine that was trained on ``classes``.

    ``classes`` are sorted. Those of a training set may be fewer than all classes.
    """
    return predicted_labels(class_confidences(raw, classes, multiclass), classes)


def predicted_labels(scores, classes):
    """The class of the largest confidence; for two classes, the second if it is positive.

    For many labels, 1 if the decision is positive, (n, c).
    """
    if classes.ndim == 2:
        return (scores > 0.0).astype(classes.dtype)
    if scores.ndim == 1:
        return classes[(scores > 0.0).astype(np.intp)]
    return classes[scores.argmax(axis=1)]
