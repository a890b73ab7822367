"""Training on one of equal samples, with the sum of their weights.

Ridge regression on m samples, of which n are different, is that on these n with the mean of the
targets of equal ones: the squared errors around this mean do not depend on the model. The loss of
support vector machines is the same for equal samples with equal targets. Tables of categories and
small integers often have few different rows, and a machine on all pairs costs the square of their
number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn._pairs import PairCoefficients, stored_coefficients
from alignlearn.sources.source import MOST_DIFFERENT
from alignlearn.validation import check_weights

from .choice import Sizes

_LEAST = 2000  # samples; with fewer a fit takes at most some tenths of a second


class Copies(NamedTuple):
    """Groups of equal samples.

    Attributes
    ----------
    first : ndarray of int of shape (n,)
        Position of one sample of each group, in increasing order.
    group : ndarray of int of shape (m,)
        The group of each sample.
    weight : ndarray of shape (n,)
        Sum of the weights of each group.
    share : ndarray of shape (m,)
        Weight of each sample, divided by that of its group.
    """

    first: np.ndarray
    group: np.ndarray
    weight: np.ndarray
    share: np.ndarray

    def means(self, y):
        """Weighted means (n,) or (n, c) of the targets of each group."""
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(len(self.first)))
        return np.add.reduceat((y.T * self.share).T[order], starts, axis=0)

    def divide(self, coef):
        """Coefficients (m, ...) of all samples, from those of the groups, by weight."""
        return (coef[self.group].T * self.share).T

    def divide_of(self, machine):
        """Divide the coefficients of a support vector machine that was trained on the groups."""
        stored, support = stored_coefficients(machine), machine.support_
        machine.n_train_ = len(self.group)
        if isinstance(stored, PairCoefficients):
            machine.support_, machine.dual_coef_ = self._divided_pairs(stored, support)
            return
        coef = np.zeros((len(self.first), stored.shape[1]))
        coef[support] = stored
        coef = self.divide(coef)
        machine.support_ = np.flatnonzero(coef.any(axis=1))
        machine.dual_coef_ = coef[machine.support_]

    def _divided_pairs(self, coef, support):
        """The support and the `PairCoefficients` of all samples, from those of the groups."""
        groups = support[coef.samples]
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(len(self.first) + 1))
        sizes = np.diff(starts)[groups]
        ends = np.cumsum(sizes)
        samples = order[np.repeat(starts[groups] - ends + sizes, sizes) + np.arange(sizes.sum())]
        values = np.repeat(coef.values, sizes) * self.share[samples]
        of_pairs = np.concatenate([[0], ends])[coef.starts]
        return PairCoefficients.of_support(values, samples, of_pairs)


def find_copies(source, rows=None, weight=None, labels=None):
    """Return the `Copies` among some samples; None if few are equal, or for few samples.

    Parameters
    ----------
    source : Source
    rows : ndarray of int of shape (m,), optional
        Positions of the samples. Default: all.
    weight : ndarray of shape (m,), optional
        Their weights, not negative.
    labels : ndarray of shape (m,), optional
        Samples with different labels count as different.
    """
    m = source.n_samples if rows is None else len(rows)
    copies = source.copies() if m >= _LEAST else None
    if copies is None or (labels is not None and labels.ndim != 1):
        return None
    keys = copies if rows is None else copies[rows]
    if labels is not None:
        number = np.unique(labels, return_inverse=True)[1].reshape(-1)
        keys = keys + source.n_samples * number
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) > MOST_DIFFERENT * m:
        return None
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    group = rank[group.reshape(-1)]
    weight = check_weights(weight, m)
    total = np.bincount(group, weight)
    share = np.divide(weight, total[group], where=total[group] > 0.0, out=np.zeros(m))
    return Copies(first[order], group, total, share)


def number_of_different(source):
    """The number of different samples, or of all samples if few are equal or it is unknown."""
    copies = find_copies(source)
    return source.n_samples if copies is None else len(copies.first)


def sizes_of_different(combination, labels=None):
    """The `Sizes` of a combination, with the number of samples that `find_copies` leaves."""
    sizes = Sizes.of(combination)
    copies = find_copies(combination.source, None, combination.weight, labels)
    return sizes if copies is None else sizes._replace(n_samples=len(copies.first))
