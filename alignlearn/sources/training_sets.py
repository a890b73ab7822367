"""Alignment statistics of every training set of a cross-validation from one pass over the pairs.

Samples that are in the same training sets form a *cell* (the folds of a cross-validation). Sums
over the pairs of two cells are kept separately; a training set is the sum of its cells, centered
with its own means. No sums are subtracted, so an outlier outside a training set costs no precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignlearn.engine import pair_sums
from alignlearn.engine.cpu import CPU
from alignlearn.folds import fold_codes
from alignlearn.statistics import centered_columns, finish_sums
from alignlearn.validation import take

# Above these limits, sums of all pairs of cells cost more than one pass per training set.
_MOST_CELLS = 32
_MOST_SUMS = 2**25


def fold_labels(folds, n_samples):
    """Training sets (all samples outside one fold), in the order of the sorted fold labels."""
    codes = fold_codes("folds", folds, n_samples)
    return [np.flatnonzero(codes != t) for t in range(codes.max() + 1)]


class Sample(NamedTuple):
    """Checked samples, m of them, target columns (m, c) and positive weights (m,) or None."""

    X: object
    Y: np.ndarray
    weight: np.ndarray = None

    def take(self, rows):
        """Select some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        return Sample(take(self.X, rows), self.Y[rows], weight)


def training_statistics(
    sample, kernels, names, training_sets, verbose=False, engine=CPU, unbiased=False
):
    """Yield the statistics of every training set.

    Parameters
    ----------
    sample : Sample
    kernels : list of Kernel
        Without data-dependent parameters.
    names : tuple of str
    training_sets : list of ndarray of int
        Sample numbers, each at most once in a set.
    verbose : bool or callable, default False
        Progress callback, see `Progress`.
    engine : Cpu, Cuda or Cluster
        Evaluates pairs of samples.
    unbiased : bool, default False
        As in `alignlearn.statistics.finish_sums`.

    Yields
    ------
    AlignmentStatistics
    """
    m, how = len(sample.Y), (kernels, names, verbose, engine, unbiased)
    inside = np.zeros((len(training_sets), m), dtype=bool)
    for row, rows in zip(inside, training_sets):
        row[rows] = True
    codes = np.zeros(m, dtype=np.intp)
    for row in inside:  # ten times as fast as np.unique(inside, axis=1)
        first, codes = np.unique(2 * codes + row, return_index=True, return_inverse=True)[1:]
    members = inside[:, first]
    n_sets, n_cells = members.shape
    few = n_cells <= _MOST_CELLS and (n_cells * len(kernels)) ** 2 <= _MOST_SUMS
    pairs = float(inside.any(axis=0).sum()) ** 2
    separate = float(np.square(inside.sum(axis=1, dtype=float)).sum())
    if few and n_sets > 1 and pairs < separate:  # one pass over the pairs takes less time
        yield from _from_cells(sample, members, codes, *how)
        return
    for rows in training_sets:
        yield _by_itself(sample.take(rows), *how)


def _from_cells(sample, members, codes, *how):
    """Statistics of the unions of cells that the rows of ``members`` (n_sets, n_cells) name."""
    kernels, names, verbose, engine, unbiased = how
    used = np.flatnonzero(members.any(axis=0)[codes])
    order = used[np.argsort(codes[used], kind="stable")]
    found, sizes = np.unique(codes[order], return_counts=True)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    sample = X, Y, weight = sample.take(order)
    # The origin of Y is free; at the median an outlier in one cell costs the others no precision.
    Y = Y - np.median(Y, axis=0)
    sums = pair_sums.FoldSums(X, Y, kernels, starts, verbose, weight, engine)
    for row in members[:, found]:
        found_sums, canceled, underflowed = sums.union(np.flatnonzero(row))
        keep = np.repeat(row, sizes)
        if canceled.any() or underflowed:
            yield _by_itself(sample.take(np.flatnonzero(keep)), *how)
            continue
        target = Y[keep]
        own, rooted = None, target
        if weight is not None:
            own = weight[keep]
            rooted = np.sqrt(own)[:, None] * target
        mean, row_sums = np.average(target, axis=0, weights=own), found_sums.row_sums
        # <K, Yc Yc'> from <K, Y Y'>, because the training set has another mean.
        with np.errstate(over="ignore", invalid="ignore"):  # finishing the sums raises the error
            shift = pair_sums.sum_of_rows(row_sums, own) * (mean @ mean)
            shift -= 2.0 * row_sums @ (rooted @ mean)
        found_sums = found_sums._replace(a=found_sums.a + shift)
        yield finish_sums(found_sums, centered_columns(target, own), names, unbiased, own)


def _by_itself(sample, kernels, names, verbose, engine, unbiased):
    target = centered_columns(sample.Y, sample.weight)
    sums = pair_sums.centered_sums(sample.X, target, kernels, verbose, sample.weight, engine)
    return finish_sums(sums, target, names, unbiased, sample.weight)
