"""Alignment statistics of every training set of a cross-validation from one pass over the pairs.

Sums over pairs of folds are kept apart; those of a training set (all folds but one) are differences
of sums, centred with the training set's own means.
"""

from __future__ import annotations

import numpy as np

from alignlearn._centring import finish_sums
from alignlearn.engine import cpu
from alignlearn.validation import take


def fold_codes(folds, n_samples):
    """Fold numbers 0, 1, ... of each sample, in the order of the sorted labels."""
    folds = np.asarray(folds)
    if folds.shape != (n_samples,):
        raise ValueError(
            f"folds must hold one label a sample, shape ({n_samples},); got {folds.shape}."
        )
    labels, codes = np.unique(folds, return_inverse=True)
    if len(labels) < 2:
        raise ValueError(f"folds must hold at least 2 different labels, got {labels!r}.")
    return codes


def fold_statistics(X, Y, kernels, names, codes):
    """Statistics of the samples outside each fold; see ``alignment_statistics(..., folds=...)``.

    Parameters
    ----------
    X : ndarray of shape (m, d) or list of m objects
        Validated.
    Y : ndarray of shape (m, c)
        Target columns, centred over all samples.
    kernels : list of Kernel
        Resolved on all samples.
    names : tuple of str
    codes : ndarray of int of shape (m,)
        See :func:`fold_codes`.

    Returns
    -------
    list of AlignmentStatistics
    """
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    X = take(X, order)
    Y = Y[order]
    S, a, row_sums, diagonal = cpu.fold_sums(X, Y, kernels, starts)
    S_all, a_all, rows_all = S.sum(axis=(0, 1)), a.sum(axis=(0, 1)), row_sums.sum(axis=0)
    training_sets = []
    for t in range(len(starts) - 1):
        keep = np.ones(Y.shape[0], dtype=bool)
        keep[starts[t] : starts[t + 1]] = False
        sums = (
            S_all - 2.0 * S[t].sum(axis=0) + S[t, t],
            a_all - 2.0 * a[t].sum(axis=0) + a[t, t],
            (rows_all - row_sums[t])[:, keep],
        )
        target = Y[keep]
        mean = target.mean(axis=0)
        # <K, Yc Yc'> from <K, Y Y'>: the training set has another mean than the whole sample.
        shift = sums[2].sum(axis=1) * (mean @ mean) - 2.0 * sums[2] @ (target @ mean)
        sums = (sums[0], sums[1] + shift, sums[2], diagonal[:, keep])
        training_sets.append(finish_sums(*sums, target - mean, names))
    return training_sets
